// SPDX-License-Identifier: GPL-2.0
/*
 * Slurm's jobs, by their cgroups. Those that hold them are called, with cgroup v2,
 *	system.slice/[NODE_]slurmstepd.scope/{job_17,s5K1KKYAYG5D00,system}/step_0/…		or in the slice that CgroupSlice= names
 * (job_N up to 25.11 and with CgroupJobIdPaths=yes, the SLUID from 26.05 on) and, with v1,
 *	CONTROLLER/slurm[_NODE]/uid_1000/job_17/step_0/…
 */
#include <string.h>

#include "metrics/metric.h"

#define DEPTH 8			/* of cgroups that are looked through */

/* A unit of systemd's may be called slurm_exporter.service, a slice slurm_jobs.slice. */
static bool is_unit(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".service") || !strcmp(dot, ".slice") || !strcmp(dot, ".scope") || !strcmp(dot, ".mount"));
}

static bool holds_jobs(const char *name)
{
	static const char scope[] = "slurmstepd.scope";
	size_t len = strlen(name), at = len - (sizeof(scope) - 1);

	if (len >= sizeof(scope) - 1 && !strcmp(name + at, scope))
		return !at || name[at - 1] == '_';
	return !strcmp(name, "slurm") || (!strncmp(name, "slurm_", 6) && !is_unit(name));
}

/* s and 13 digits of Crockford's base 32, as print_sluid() writes it; a job has the same on all its nodes. */
static bool is_sluid(const char *name)
{
	return name[0] == 's' && strlen(name) == 14 &&
	       strspn(name + 1, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") == 13;
}

static bool add_job(struct ks_workloads *w, const char *name)
{
	struct ks_workload j = { 0 };
	const char *id = name + strlen("job_");

	if (is_sluid(name))
		ks_fmt(j.workload, KS_WORKLOAD, "slurm/%s", name);
	else if (!strncmp(name, "job_", 4) && *id && strspn(id, "0123456789") == strlen(id))
		ks_fmt(j.slurm_job_id, KS_WORKLOAD, "%s", id);
	else
		return false;
	ks_workloads_add(w, &j);
	return true;
}

/* Where jobs are; what is below a job is its own. */
static void read_job(void *priv, const char *path, const char *name)
{
	struct ks_workloads *w = priv;

	if (!strcmp(name, "system") || add_job(w, name))
		return;
	if (!strncmp(name, "uid_", 4))
		ks_each_dir(w, path, read_job, w);
	else
		ks_workloads_fail(w, "%s is no job as Slurm is known to name them", path);
}

struct search {
	struct ks_workloads *w;
	int depth;
	bool found;		/* a cgroup that holds jobs */
};

static void find(void *priv, const char *path, const char *name)
{
	struct search *s = priv;

	if (holds_jobs(name)) {
		s->found = true;
		ks_each_dir(s->w, path, read_job, s->w);
		return;
	}
	if (++s->depth < DEPTH)
		ks_each_dir(s->w, path, find, s);
	s->depth--;
}

void ks_slurm_read(struct ks_workloads *w)
{
	struct search s = { .w = w };
	char cgroups[4096];

	ks_each_dir(w, ks_host_path(cgroups, sizeof(cgroups), "/sys/fs/cgroup"), find, &s);
	if (!s.found)
		ks_workloads_fail(w, "no cgroup of Slurm's in %s: does slurmd run, with ProctrackType=proctrack/cgroup?", cgroups);
}
