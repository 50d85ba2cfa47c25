// SPDX-License-Identifier: GPL-2.0
/*
 * What it takes to decode this boot's records in the next one: ids are given as modules are
 * loaded, and the rings hold no formats. So formats are kept on disk before anything is recorded.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "recorder/recorder.h"
#include "trace/datfile.h"
#include "trace/tracing.h"

#define MAGIC "kstall-armed 1\n"
#define MAX_HEAD (64 << 20)

const char *ks_boot_id(void)
{
	static char id[40];
	FILE *f = *id ? NULL : fopen("/proc/sys/kernel/random/boot_id", "r");

	if (*id)
		return id;
	if (!f || fscanf(f, "%39s", id) != 1)
		ks_die("the boot's id cannot be read: %s", strerror(errno));
	fclose(f);
	return id;
}

s64 ks_real_ns(void)
{
	struct timespec real;

	clock_gettime(CLOCK_REALTIME, &real);
	return real.tv_sec * (s64)NSEC + real.tv_nsec - (s64)ks_mono_ns();
}

static bool read_word(char *buf, size_t size, const char *module, const char *file)
{
	char path[256];
	FILE *f = fopen(ks_fmt(path, sizeof(path), "/sys/module/%s/%s", module, file), "r");
	bool good = f && fgets(buf, size, f);

	if (!f && errno != ENOENT)
		ks_die("%s: %s", path, strerror(errno));
	if (f)
		fclose(f);
	buf[good ? strcspn(buf, "\n") : 0] = '\0';
	return good;
}

/* NVIDIA's driver has both of its systems in one module. */
static bool is_driver(const char *system)
{
	return !strcmp(system, "nvidia") || !strcmp(system, "nvswitch");
}

char *ks_rec_module(char *buf, size_t size, const char *system)
{
	if (is_driver(system))
		return ks_fmt(buf, size, "nvidia");
	return ks_fmt(buf, size, "%s%s", system, strstr(system, "_trace") ? "" : "_trace");
}

static void tell_module(FILE *out, const char *system)
{
	char name[64], version[64], source[64];

	ks_rec_module(name, sizeof(name), system);
	if (!read_word(version, sizeof(version), name, "version"))
		return;
	read_word(source, sizeof(source), name, "srcversion");
	fprintf(out, "%s%s %s %s", ftell(out) ? ", " : "", name, version, source);
}

const char *const *ks_rec_systems(const struct ks_rec_config *c)
{
	static const char *list[16];
	int n = 0;

	for (size_t i = 0; i < c->nr_events && n < 15; i++) {
		if (!n || strcmp(list[n - 1], c->events[i].system))
			list[n++] = c->events[i].system;
	}
	list[n] = NULL;
	return list;
}

bool ks_rec_has_system(const char *system)
{
	char path[128];

	return ks_tracefs_has(ks_fmt(path, sizeof(path), "events/%s/enable", system));
}

bool ks_rec_is_absent_driver(const char *system)
{
	return is_driver(system) && !ks_rec_has_system(system);
}

void ks_armed_now(struct ks_armed *a, const struct ks_rec_config *c, const struct ks_rings *r,
		  bool formats)
{
	const char *const *list = ks_rec_systems(c);
	const char *there[16];
	struct utsname u;
	size_t size;
	int n = 0;
	FILE *f;

	memset(a, 0, sizeof(*a));
	uname(&u);
	ks_fmt(a->boot, sizeof(a->boot), "%s", ks_boot_id());
	ks_fmt(a->kernel, sizeof(a->kernel), "%s", u.release);
	a->real_ns = ks_real_ns();
	a->cpus = sysconf(_SC_NPROCESSORS_CONF);
	for (int i = 0; i < r->nr; i++)
		a->kept |= r->ring[i].kept;
	f = open_memstream(&a->modules, &size);
	for (int i = 0; list[i]; i++) {
		tell_module(f, list[i]);
		if (formats && ks_rec_has_system(list[i]))
			there[n++] = list[i];
	}
	fclose(f);
	there[n] = NULL;
	f = open_memstream(&a->head, &a->head_bytes);
	ks_dat_head(f, "formats", there);
	ks_dat_tasks(f, "formats");
	fclose(f);
}

void ks_armed_write(const struct ks_armed *a, const char *dir)
{
	char path[PATH_MAX], to[PATH_MAX];
	FILE *f = ks_rec_fopen(ks_fmt(path, sizeof(path), "%s/armed.new", dir),
			       O_WRONLY | O_CREAT | O_TRUNC);

	if (!f)
		ks_die("%s: %s", path, strerror(errno));
	fprintf(f, MAGIC "boot %s\nkernel %s\nreal_ns %lld\ncpus %d\nkept %d\nmodules %s\nhead %zu\n\n",
		a->boot, a->kernel, (long long)a->real_ns, a->cpus, a->kept, a->modules,
		a->head_bytes);
	if (fwrite(a->head, a->head_bytes, 1, f) != 1 || fflush(f) || fsync(fileno(f)) ||
	    fclose(f) || rename(path, ks_fmt(to, sizeof(to), "%s/armed", dir)))
		ks_die("%s: %s", path, strerror(errno));
	/* or a crash soon after has the last boot's formats beside this one's records */
	ks_sync_dir(dir);
}

static bool parse(struct ks_armed *a, FILE *f)
{
	char magic[sizeof(MAGIC)], *line = NULL, text[16];
	size_t size = 0;
	ssize_t n;

	if (!fgets(magic, sizeof(magic), f) || strcmp(magic, MAGIC))
		return false;
	while ((n = getline(&line, &size, f)) > 1) {
		ks_about_get(a->boot, sizeof(a->boot), line, "boot");
		ks_about_get(a->kernel, sizeof(a->kernel), line, "kernel");
		if (ks_about_find(line, "real_ns"))
			a->real_ns = strtoll(ks_about_find(line, "real_ns"), NULL, 10);
		if (ks_about_find(line, "cpus"))
			a->cpus = atoi(ks_about_find(line, "cpus"));
		if (ks_about_find(line, "kept"))
			a->kept = atoi(ks_about_find(line, "kept"));
		if (ks_about_find(line, "modules") && !a->modules)
			a->modules = ks_strdup(strtok(line + strlen("modules "), "\n") ?: "");
		if (*ks_about_get(text, sizeof(text), line, "head"))
			a->head_bytes = strtoull(text, NULL, 10);
	}
	free(line);
	if (!*a->boot || a->cpus <= 0 || a->cpus > 8192 || !a->head_bytes ||
	    a->head_bytes > MAX_HEAD)
		return false;
	a->head = ks_alloc(a->head_bytes);
	return fread(a->head, a->head_bytes, 1, f) == 1;
}

bool ks_armed_read(struct ks_armed *a, const char *dir)
{
	char path[PATH_MAX];
	FILE *f = ks_rec_fopen(ks_fmt(path, sizeof(path), "%s/armed", dir), O_RDONLY);
	bool good;

	memset(a, 0, sizeof(*a));
	if (!f && errno != ENOENT)
		ks_die("%s: %s", path, strerror(errno));
	if (!f)
		return false;
	good = parse(a, f);
	fclose(f);
	if (!good) {
		ks_warn("%s: damaged", path);
		ks_armed_free(a);
	}
	return good;
}

bool ks_armed_is_now(const char *dir)
{
	struct ks_armed armed;
	bool now = ks_armed_read(&armed, dir) && !strcmp(armed.boot, ks_boot_id());

	ks_armed_free(&armed);
	return now;
}

void ks_armed_free(struct ks_armed *a)
{
	free(a->modules);
	free(a->head);
	memset(a, 0, sizeof(*a));
}
