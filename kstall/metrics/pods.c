// SPDX-License-Identifier: GPL-2.0
/*
 * The pods that hold GPUs or RDMA devices, by what kubelet leaves on the node:
 *	/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint	devices of plugins, by the pod's UID
 *	/var/lib/kubelet/dra_manager_state				devices of claims (DRA), if there are any
 *	/var/log/pods/NAMESPACE_POD_UID					names; those of pods that have ended stay
 *	/sys/fs/cgroup/…kubepods…pod<UID>				pods that run
 * The operators' own pods on each node (drivers, plugins, exporters) reach devices as privileged ones, so kubelet has given them none.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/metric.h"

#define DEPTH 4			/* of cgroups down to the pods' */

struct kubelet {
	struct ks_workloads *w;
	const char *namespaces;
	char *checkpoint, *claims;
	FILE *listing;
	char *cgroups;		/* names of those of pods and above, a line each */
	int depth;
};

/* In the name of a resource or a driver, or among what the container gets. */
static const char *const gpu[] = { "gpu", "/mig-", "/dev/nvidia", "/dev/kfd", "/dev/dri/", NULL };
static const char *const rdma[] = { "rdma", "/dev/infiniband", NULL };

static bool names_one(const char *text, size_t len, const char *const words[])
{
	for (size_t i = 0; words[i]; i++) {
		if (memmem(text, len, words[i], strlen(words[i])))
			return true;
	}
	return false;
}

static size_t decode_base64(char *out, const char *in, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t n = 0;
	u32 bits = 0;
	int nr = 0;

	for (size_t i = 0; i < len; i++) {
		const char *d = memchr(digits, in[i], sizeof(digits) - 1);

		if (!d)
			break;
		bits = bits << 6 | (u32)(d - digits);
		nr += 6;
		if (nr < 8)
			continue;
		nr -= 8;
		out[n++] = bits >> nr;
	}
	return n;
}

/* The string @key has in @at up to @end: kubelet writes without blanks. NULL: it has none. */
static const char *value_of(const char *at, const char *end, const char *key, size_t *len)
{
	const char *v = memmem(at, end - at, key, strlen(key)), *stop;

	if (!v)
		return NULL;
	v += strlen(key);
	stop = memchr(v, '"', end - v);
	*len = stop ? stop - v : 0;
	return stop ? v : NULL;
}

/* What a container got of a plugin: its answer has device files, variables and mounts. */
static bool entry_names(const char *at, const char *end, const char *const words[])
{
	const char *v;
	char *answer;
	size_t len;
	bool names;

	v = value_of(at, end, "\"ResourceName\":\"", &len);
	if (v && names_one(v, len, words))
		return true;
	v = value_of(at, end, "\"AllocResp\":\"", &len);
	if (!v)
		return false;
	answer = ks_alloc(len);
	len = decode_base64(answer, v, len);
	names = names_one(answer, len, words);
	free(answer);
	return names;
}

static bool claim_names(const char *at, const char *end, const char *const words[])
{
	return names_one(at, end - at, words);
}

/* Entries begin with @first and end at @last: is one of them about @uid and such devices? */
static bool any_entry(const char *text, const char *first, const char *last, const char *uid,
		      bool (*names)(const char *at, const char *end, const char *const words[]),
		      const char *const words[])
{
	const char *end;

	for (const char *at = text ? strstr(text, first) : NULL; at; at = strstr(end, first)) {
		end = strstr(at + strlen(first), last);
		end = end ? end : at + strlen(at);
		if (memmem(at, end - at, uid, strlen(uid)) && names(at, end, words))
			return true;
	}
	return false;
}

static bool holds(const struct kubelet *k, const char *uid, const char *const words[])
{
	return any_entry(k->checkpoint, "\"PodUID\":", "\"PodUID\":", uid, entry_names, words) ||
	       any_entry(k->claims, "PodUIDs", "ClaimUID", uid, claim_names, words);
}

/* systemd's slices have '_' for '-'. */
static bool runs(const struct kubelet *k, const char *uid)
{
	char dir[80];

	ks_fmt(dir, sizeof(dir), "pod%s", uid);
	if (strstr(k->cgroups, dir))
		return true;
	for (char *c = dir; *c; c++)
		*c = *c == '-' ? '_' : *c;
	return strstr(k->cgroups, dir);
}

static bool is_pod(const char *dir)
{
	const char *uid = strstr(dir, "-pod");

	if (!uid && strncmp(dir, "pod", 3))
		return false;
	uid = uid ? uid + 4 : dir + 3;
	return strspn(uid, "0123456789abcdef") >= 8;
}

/* Where pods are, or below which: kind has kubelet.slice/kubelet-kubepods.slice. */
static bool leads_to_pods(const char *dir)
{
	return strstr(dir, "kubepods") || !strcmp(dir, "kubelet") || !strcmp(dir, "kubelet.slice") ||
	       !strcmp(dir, "burstable") || !strcmp(dir, "besteffort");
}

/* kubepods[.slice]/[kubepods-]burstable[.slice]/[kubepods-burstable-]pod<UID>[.slice], in v1 below each controller */
static void list_cgroup(void *priv, const char *path, const char *name)
{
	struct kubelet *k = priv;
	bool pod = is_pod(name);

	if (pod || strstr(name, "kubepods"))
		fprintf(k->listing, "%s\n", name);
	if (pod)
		return;
	if (++k->depth < DEPTH && (k->depth == 1 || leads_to_pods(name)))
		ks_each_dir(k->w, path, list_cgroup, k);
	k->depth--;
}

static bool wanted(const char *namespace, const char *patterns)
{
	char list[1024], *at = list, *pattern;

	ks_fmt(list, sizeof(list), "%s", patterns);
	while ((pattern = strsep(&at, ","))) {
		if (!fnmatch(pattern, namespace, 0))
			return true;
	}
	return !*patterns;
}

static void add_pod(void *priv, const char *path, const char *dir)
{
	const struct kubelet *k = priv;
	struct ks_workload j = { 0 };
	char name[512], uid[64];

	(void)path;
	ks_printable(name, sizeof(name), dir);
	if (sscanf(name, "%255[^_]_%255[^_]_%63[0-9a-f-]", j.namespace, j.pod, uid) != 3 ||
	    !wanted(j.namespace, k->namespaces) || !runs(k, uid))
		return;
	j.gpu = holds(k, uid, gpu);
	if (j.gpu || holds(k, uid, rdma))
		ks_workloads_add(k->w, &j);
}

static void read_cgroups(struct kubelet *k)
{
	char path[4096];
	size_t len;

	k->listing = open_memstream(&k->cgroups, &len);
	if (!k->listing)
		ks_die("out of memory");
	ks_each_dir(k->w, ks_host_path(path, sizeof(path), "/sys/fs/cgroup"), list_cgroup, k);
	if (fclose(k->listing))
		ks_die("out of memory");
	if (!*k->cgroups)
		ks_workloads_fail(k->w, "no cgroup of pods: is %s the node's?", path);
}

/* NULL: there is none, or it cannot be read. */
static char *read_state(struct ks_workloads *w, const char *path)
{
	char *text = ks_file_read(path);

	if (!text && errno != ENOENT)
		ks_workloads_fail(w, "%s: %s", path, strerror(errno));
	return text;
}

void ks_pods_read(struct ks_workloads *w, const char *namespaces)
{
	struct kubelet k = { .w = w, .namespaces = namespaces };
	char path[4096], *end;

	k.claims = read_state(w, ks_host_path(path, sizeof(path), "/var/lib/kubelet/dra_manager_state"));
	k.checkpoint = read_state(w, ks_host_path(path, sizeof(path), "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"));
	if (!k.checkpoint && !k.claims)
		ks_workloads_fail(w, "%s: %s", path, strerror(ENOENT));
	if (k.checkpoint && !strstr(k.checkpoint, "\"PodDeviceEntries\":"))
		ks_workloads_fail(w, "%s is not as kubelet is known to write it", path);
	/* What the node has, and nobody holds. */
	end = k.checkpoint ? strstr(k.checkpoint, "\"RegisteredDevices\"") : NULL;
	if (end)
		*end = '\0';
	read_cgroups(&k);
	ks_each_dir(w, ks_host_path(path, sizeof(path), "/var/log/pods"), add_pod, &k);
	free(k.checkpoint);
	free(k.claims);
	free(k.cgroups);
}
