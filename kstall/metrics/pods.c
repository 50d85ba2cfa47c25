// SPDX-License-Identifier: GPL-2.0
/*
 * The pods that hold GPUs or RDMA devices, by what kubelet leaves on the node:
 *	/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint	devices of plugins, by the pod's UID
 *	/var/lib/kubelet/dra_manager_state				devices of claims (DRA), if there are any
 *	/var/log/pods/NAMESPACE_POD_UID					names; those of pods that have ended stay
 *	/sys/fs/cgroup/…kubepods…pod<UID>				pods that run
 * Kubelet writes JSON without blanks, its keys in the order of its structures.
 * The operators' own pods on each node (drivers, plugins, exporters) reach devices as privileged ones, so kubelet has given them none.
 */
#include <errno.h>
#include <fnmatch.h>
#include <regex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "metrics/metric.h"

#define DEPTH 5			/* of cgroups down to the pods' */

#define CHECKPOINT "\"PodDeviceEntries\":(null|\\[]|\\[\\{\"PodUID\":\"[^{]*\"ResourceName\":\"[^{]*\"DeviceIDs\":)"
/* Up to 1.31 it has a version and, if there are any, entries. */
#define CLAIMS "\"(ClaimInfoStateList|[Ee]ntries)\":(null|\\[]|\\[\\{[^{]*\"ClaimUID\":\"[^{]*\"PodUIDs\":)|" \
	"^\\{\"version\":\"v1\",\"checksum\":"

struct pod {
	char uid[KS_WORKLOAD], *cgroup;
};

struct kubelet {
	struct ks_workloads *w;
	const char *namespaces;
	char *checkpoint, *claims;
	struct pod *pod;	/* that run */
	size_t nr, room;
	bool has_cgroups;
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

/* The string @key has in @at up to @end. NULL: it has none. */
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

/* Strings but for keys: {"0":["GPU-1","GPU-2"],"1":["GPU-3"]} by NUMA node, before Kubernetes 1.20 ["GPU-1","GPU-2"] */
static u64 entry_devices(const char *at, const char *end)
{
	static const char before[] = "\"DeviceIDs\":", behind[] = "\"AllocResp\":";
	const char *stop;
	u64 nr = 0;

	at = memmem(at, end - at, before, sizeof(before) - 1);
	if (!at)
		return 0;
	at += sizeof(before) - 1;
	stop = memmem(at, end - at, behind, sizeof(behind) - 1);
	end = stop ? stop : end;
	while ((at = memchr(at, '"', end - at)) && (stop = memchr(at + 1, '"', end - at - 1))) {
		nr += stop[1] != ':';
		at = stop + 1;
	}
	return nr;
}

static bool claim_names(const char *at, const char *end, const char *const words[])
{
	return names_one(at, end - at, words);
}

static u64 claim_devices(const char *at, const char *end)
{
	static const char key[] = "\"DeviceName\":";
	u64 nr = 0;

	for (; (at = memmem(at, end - at, key, sizeof(key) - 1)); at += sizeof(key) - 1)
		nr++;
	return nr;
}

/* How kubelet's two lists differ: their entries begin with @first and end at @last. */
struct list {
	const char *first, *last;
	bool (*names)(const char *at, const char *end, const char *const words[]);
	u64 (*devices)(const char *at, const char *end);
};

static const struct list of_plugins = { "\"PodUID\":", "\"PodUID\":", entry_names, entry_devices };
static const struct list of_claims = { "\"PodUIDs\":", "\"ClaimUID\":", claim_names, claim_devices };

/* How many such devices @uid has in entries of @text; 1 of an entry that does not say. */
static u64 count(const char *text, const struct list *l, const char *uid, const char *const words[])
{
	char quoted[KS_WORKLOAD + 2];
	const char *end;
	u64 nr = 0;

	ks_fmt(quoted, sizeof(quoted), "\"%s\"", uid);
	for (const char *at = text ? strstr(text, l->first) : NULL; at; at = strstr(end, l->first)) {
		end = strstr(at + strlen(l->first), l->last);
		end = end ? end : at + strlen(at);
		if (memmem(at, end - at, quoted, strlen(quoted)) && l->names(at, end, words))
			nr += max_u64(l->devices(at, end), 1);
	}
	return nr;
}

static u64 devices_of(const struct kubelet *k, const char *uid, const char *const words[])
{
	return count(k->checkpoint, &of_plugins, uid, words) + count(k->claims, &of_claims, uid, words);
}

/* What follows "pod" in a cgroup's name; NULL: it is no pod's. Others than kubelet's may be called so, as podman. */
static const char *uid_in(const char *dir, const char *path)
{
	const char *uid = strstr(dir, "-pod");

	if ((!uid && strncmp(dir, "pod", 3)) || !strstr(path, "kubepods"))
		return NULL;
	return uid ? uid + 4 : dir + 3;
}

/*
 * Once, also if it has a cgroup below each controller. systemd's slices have '_' for '-'. A static pod has 32 digits, without '-',
 * or whatever its manifest says.
 */
static void add_pod(struct kubelet *k, const char *name, const char *cgroup)
{
	const char *slice = strstr(name, ".slice");
	struct pod p;

	ks_fmt(p.uid, sizeof(p.uid), "%.*s", (int)(slice ? slice - name : (long)strlen(name)), name);
	for (char *c = p.uid; slice && *c; c++)
		*c = *c == '_' ? '-' : *c;
	for (size_t i = 0; i < k->nr; i++) {
		if (!strcmp(k->pod[i].uid, p.uid))
			return;
	}
	p.cgroup = ks_strdup(cgroup);
	k->pod = ks_grow(k->pod, &k->room, k->nr + 1, sizeof(*k->pod));
	k->pod[k->nr++] = p;
}

/* Where pods are, or below which: kind has kubelet.slice/kubelet-kubepods.slice. */
static bool leads_to_pods(const char *dir)
{
	return strstr(dir, "kubepods") || !strcmp(dir, "kubelet") || !strcmp(dir, "kubelet.slice") ||
	       !strcmp(dir, "burstable") || !strcmp(dir, "besteffort");
}

/* Is it in a cgroup that has nothing but pods, and those of their classes? */
static bool is_among_pods(const char *path)
{
	const char *name = strrchr(path, '/'), *above = memrchr(path, '/', name - path);

	return memmem(above, name - above, "kubepods", strlen("kubepods"));
}

/* kubepods[.slice]/[kubepods-]burstable[.slice]/[kubepods-burstable-]pod<UID>[.slice], in v1 below each controller */
static void find_pods(void *priv, const char *path, const char *name)
{
	struct kubelet *k = priv;
	const char *uid = uid_in(name, path);

	k->has_cgroups = k->has_cgroups || uid || strstr(name, "kubepods");
	if (uid) {
		add_pod(k, uid, path);
		return;
	}
	if (is_among_pods(path) && !leads_to_pods(name))
		ks_workloads_fail(k->w, "%s is no pod's cgroup as kubelet is known to name them", path);
	if (++k->depth < DEPTH && (k->depth == 1 || leads_to_pods(name)))
		ks_each_dir(k->w, path, find_pods, k);
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

struct naming {
	const char *uid;
	struct ks_workload *j;
};

/* NAMESPACE_POD_UID. It has a directory for each container, so it changes when the last of them begins. */
static void take_name(void *priv, const char *path, const char *dir)
{
	struct naming *n = priv;
	const char *pod = strchr(dir, '_'), *uid = pod ? strchr(pod + 1, '_') : NULL;
	char name[512];
	struct stat st;

	if (!uid || strcmp(uid + 1, n->uid))
		return;
	ks_printable(name, sizeof(name), dir);
	if (sscanf(name, "%255[^_]_%255[^_]", n->j->namespace, n->j->pod) != 2)
		n->j->pod[0] = '\0';
	n->j->since = stat(path, &st) ? INT64_MAX : st.st_mtime;
}

static void note(void *priv, const char *path, const char *name)
{
	(void)path;
	(void)name;
	*(bool *)priv = true;
}

static void take_pod(struct kubelet *k, const struct pod *p)
{
	struct ks_workload j = { .gpus = devices_of(k, p->uid, gpu), .rdma = devices_of(k, p->uid, rdma) };
	struct naming n = { p->uid, &j };
	bool begun = false;
	char logs[4096];

	if (!j.gpus && !j.rdma)
		return;
	ks_each_dir(k->w, ks_host_path(logs, sizeof(logs), "/var/log/pods"), take_name, &n);
	if (j.pod[0]) {
		if (wanted(j.namespace, k->namespaces))
			ks_workloads_add(k->w, &j);
		return;
	}
	/* While its volumes are awaited a pod has its devices and a cgroup, but no container and no name. */
	ks_each_dir(k->w, p->cgroup, note, &begun);
	if (begun)
		ks_workloads_fail(k->w, "%s has no directory of pod %s, which runs and has devices", logs, p->uid);
}

static bool matches(const char *text, const char *layout)
{
	regex_t re;
	bool good;

	if (regcomp(&re, layout, REG_EXTENDED | REG_NOSUB))
		ks_die("out of memory");
	good = !regexec(&re, text, 0, NULL, 0);
	regfree(&re);
	return good;
}

/* NULL: there is none, or it cannot be read. */
static char *read_state(struct ks_workloads *w, const char *path, const char *layout)
{
	char *text = ks_file_read(path), *to = text;

	if (!text && errno != ENOENT)
		ks_workloads_fail(w, "%s: %s", path, strerror(errno));
	if (!text)
		return NULL;
	/* Claims are JSON in a string of JSON. */
	for (const char *from = text; *from; from++) {
		if (*from != '\\')
			*to++ = *from;
	}
	*to = '\0';
	if (!matches(text, layout))
		ks_workloads_fail(w, "%s is not as kubelet is known to write it", path);
	return text;
}

void ks_pods_read(struct ks_workloads *w, const char *namespaces)
{
	struct kubelet k = { .w = w, .namespaces = namespaces };
	char path[4096], *end;

	k.claims = read_state(w, ks_host_path(path, sizeof(path), "/var/lib/kubelet/dra_manager_state"), CLAIMS);
	ks_host_path(path, sizeof(path), "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint");
	k.checkpoint = read_state(w, path, CHECKPOINT);
	if (!k.checkpoint && !k.claims)
		ks_workloads_fail(w, "%s: %s", path, strerror(ENOENT));
	/* What the node has, and nobody holds. */
	end = k.checkpoint ? strstr(k.checkpoint, "\"RegisteredDevices\"") : NULL;
	if (end)
		*end = '\0';
	ks_each_dir(w, ks_host_path(path, sizeof(path), "/sys/fs/cgroup"), find_pods, &k);
	if (!k.has_cgroups)
		ks_workloads_fail(w, "no cgroup of pods: is %s the node's?", path);
	for (size_t i = 0; i < k.nr; i++) {
		take_pod(&k, &k.pod[i]);
		free(k.pod[i].cgroup);
	}
	free(k.pod);
	free(k.checkpoint);
	free(k.claims);
}
