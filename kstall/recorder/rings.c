// SPDX-License-Identifier: GPL-2.0
/* The recorder's ftrace instances. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/recorder.h"
#include "trace/tracing.h"

#define SLOW "kstall-slow"

char *ks_ring_name(char *buf, size_t size, const struct ks_rec_event *e)
{
	const char *end = strstr(e->system, "_trace");

	if (e->when != KS_REC_ALWAYS)
		return ks_fmt(buf, size, SLOW);
	return ks_fmt(buf, size, "kstall-%.*s",
		      (int)(end ? end - e->system : (long)strlen(e->system)), e->system);
}

static struct tracefs_instance *attach(const char *name, bool create)
{
	struct tracefs_instance *in;
	char path[64];

	if (!create && !ks_tracefs_has(ks_fmt(path, sizeof(path), "instances/%s", name)))
		return NULL;
	in = create ? tracefs_instance_create(name) : tracefs_instance_alloc(NULL, name);
	if (!in)
		ks_die("no tracing here: %s", geteuid() ? "it takes root" : strerror(errno));
	return in;
}

struct ks_ring *ks_rings_find(struct ks_rings *r, const char *name)
{
	for (int i = 0; i < r->nr; i++) {
		if (!strcmp(r->ring[i].name, name))
			return &r->ring[i];
	}
	return NULL;
}

/* Of this boot, should the directory outlive it. */
static char *run_file(char *buf, size_t size, const struct ks_ring *ring)
{
	return ks_fmt(buf, size, KS_REC_RUN "/%s@%s", ring->name, ks_boot_id());
}

/* Memory, so there is room. */
void ks_ring_started(struct ks_ring *ring)
{
	char path[128];
	int fd;

	if (!ring->last)
		return;
	mkdir(KS_REC_RUN, 0700);
	fd = open(run_file(path, sizeof(path), ring), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		ks_warn("%s: %s", path, strerror(errno));
	else
		close(fd);
	ring->last = false;
}

static void add(struct ks_rings *r, const char *name, bool create)
{
	struct ks_ring *ring = &r->ring[r->nr];
	struct tracefs_instance *in;
	char path[128];

	if (ks_rings_find(r, name))
		return;
	in = r->nr < KS_MAX_RINGS ? attach(name, create) : NULL;
	if (!in)
		return;
	ks_fmt(ring->name, sizeof(ring->name), "%s", name);
	ring->in = in;
	ring->kept = tracefs_file_exists(in, "last_boot_info");
	ring->last = ring->kept && access(run_file(path, sizeof(path), ring), F_OK);
	r->nr++;
}

void ks_rings_open(struct ks_rings *r, const struct ks_rec_config *c, bool create)
{
	char name[40];

	memset(r, 0, sizeof(*r));
	add(r, KS_REC_OWN, false);
	add(r, SLOW, create);
	for (size_t i = 0; i < c->nr_events; i++) {
		struct ks_rec_event e = c->events[i];

		e.when = KS_REC_ALWAYS;
		add(r, ks_ring_name(name, sizeof(name), &e), create && !ks_rec_is_absent_driver(e.system));
	}
}

void ks_rings_close(struct ks_rings *r)
{
	for (int i = 0; i < r->nr; i++)
		tracefs_instance_free(r->ring[i].in);
	r->nr = 0;
}

static u64 number_after(const char *text, const char *name)
{
	const char *at = text ? strstr(text, name) : NULL;

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* NULL: it is empty or not there, or errno says why it cannot be read. A CPU that never was online has no files. */
static char *read_file(struct tracefs_instance *in, const char *file)
{
	char *text;

	errno = 0;
	text = tracefs_instance_file_read(in, file, NULL);
	if (text || errno == ENOENT || errno == ENODEV)
		errno = 0;
	return text;
}

char *ks_ring_text(struct tracefs_instance *in, const char *file)
{
	char *text = read_file(in, file);

	if (errno)
		ks_die("%s: %s: %s", tracefs_instance_get_name(in), file, strerror(errno));
	return text;
}

bool ks_ring_cpu_stats(struct tracefs_instance *in, int cpu, struct ks_ring_stats *s)
{
	char file[64], *text;

	text = read_file(in, ks_fmt(file, sizeof(file), "per_cpu/cpu%d/stats", cpu));
	if (errno)
		return false;
	s->entries += number_after(text, "entries: ");
	/* "commit overrun:" is another, and always 0 */
	s->lost += number_after(text, "\noverrun: ") + number_after(text, "dropped events: ");
	free(text);
	return true;
}

bool ks_ring_stats(struct tracefs_instance *in, struct ks_ring_stats *s)
{
	int cpus = sysconf(_SC_NPROCESSORS_CONF);

	memset(s, 0, sizeof(*s));
	for (int c = 0; c < cpus; c++) {
		if (!ks_ring_cpu_stats(in, c, s))
			return false;
	}
	return true;
}

bool ks_ring_file_is(struct ks_ring *r, const char *file, const char *value)
{
	char *text = ks_ring_text(r->in, file);
	bool is = text && strstr(text, value);

	free(text);
	return is;
}

/*
 * A ring that survives keeps the kernel's default clock: 7.2 sets the last boot's again as the
 * first CPU comes up, which clears that CPU's records if it is another than the default.
 */
const char *ks_ring_clock(const struct ks_ring *ring)
{
	return ring->kept ? "local" : "mono";
}

void ks_ring_mark(struct ks_ring *ring)
{
	char text[128];

	ks_fmt(text, sizeof(text), "kstall recorder boot=%s clock=%s mono_ns=%llu\n", ks_boot_id(),
	       ks_ring_clock(ring), (unsigned long long)ks_mono_ns());
	if (tracefs_instance_file_append(ring->in, "trace_marker", text) < 0)
		ks_warn("%s: trace_marker: %s", ring->name, strerror(errno));
}

/* A record a read(); what is there already is never waited for. */
void ks_kernel_log(const char *what, void (*fn)(void *priv, const char *line), void *priv)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char buf[8192], *text;
	ssize_t n;

	if (fd < 0) {
		ks_warn("what the kernel said is not known: /dev/kmsg: %s", strerror(errno));
		return;
	}
	while ((n = read(fd, buf, sizeof(buf) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		buf[n > 0 ? n : 0] = '\0';
		text = strchr(buf, ';');
		if (!text++)
			continue;
		text[strcspn(text, "\n")] = '\0';
		if (strcasestr(text, what))
			fn(priv, text);
	}
	close(fd);
}
