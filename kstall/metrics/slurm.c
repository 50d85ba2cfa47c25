// SPDX-License-Identifier: GPL-2.0
/*
 * Slurm's jobs, by their cgroups. Those that hold them are called, with cgroup v2,
 *	system.slice/[NODE_]slurmstepd.scope/{job_17,s5K1KKYAYG5D00,system}/step_0/…
 * (job_N up to 25.11 and with CgroupJobIdPaths=yes, the SLUID from 26.05 on) and, with v1,
 *	CONTROLLER/slurm[_NODE]/uid_1000/job_17/step_0/…
 */
#include <dirent.h>
#include <string.h>

#include "metrics/metric.h"

#define DEPTH 8			/* of cgroups that are looked through */

static bool holds_jobs(const char *name)
{
	static const char scope[] = "slurmstepd.scope";
	size_t len = strlen(name), at = len - (sizeof(scope) - 1);

	if (len >= sizeof(scope) - 1 && !strcmp(name + at, scope))
		return !at || name[at - 1] == '_';
	return !strcmp(name, "slurm") || !strncmp(name, "slurm_", 6);
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
static void read_jobs(struct ks_workloads *w, const char *path)
{
	DIR *d = opendir(path);
	struct dirent *de;
	char below[4096];

	while (d && (de = readdir(d))) {
		if (de->d_type != DT_DIR || de->d_name[0] == '.' || !strcmp(de->d_name, "system") ||
		    add_job(w, de->d_name))
			continue;
		ks_fmt(below, sizeof(below), "%s/%s", path, de->d_name);
		if (!strncmp(de->d_name, "uid_", 4))
			read_jobs(w, below);
		else
			ks_workloads_fail(w, "%s is no job as Slurm is known to name them", below);
	}
	if (d)
		closedir(d);
}

/* Returns how many cgroups hold jobs. */
static int find(struct ks_workloads *w, const char *path, int depth)
{
	DIR *d = depth < DEPTH ? opendir(path) : NULL;
	struct dirent *de;
	char below[4096];
	int found = 0;

	while (d && (de = readdir(d))) {
		if (de->d_type != DT_DIR || de->d_name[0] == '.')
			continue;
		ks_fmt(below, sizeof(below), "%s/%s", path, de->d_name);
		if (!holds_jobs(de->d_name)) {
			found += find(w, below, depth + 1);
			continue;
		}
		found++;
		read_jobs(w, below);
	}
	if (d)
		closedir(d);
	return found;
}

void ks_slurm_read(struct ks_workloads *w)
{
	char cgroups[4096];

	ks_host_path(cgroups, sizeof(cgroups), "/sys/fs/cgroup");
	if (!find(w, cgroups, 0))
		ks_workloads_fail(w, "no cgroup of Slurm's in %s: does slurmd run, with ProctrackType=proctrack/cgroup?", cgroups);
}
