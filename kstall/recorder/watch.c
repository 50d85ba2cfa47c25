// SPDX-License-Identifier: GPL-2.0
/*
 * kstall recorder watch: switches on what is wanted and is off, such as what a module that is loaded
 * later brings, and makes a copy when a trigger comes. Triggers have an instance of their own, which
 * is read as they come. ftrace's "snapshot" trigger would freeze its own instance only, needs its
 * memory twice, is not there for memory that survives a reboot, and keeps the module from being
 * unloaded.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "recorder/recorder.h"

#define RETRY_NS (60 * NSEC)	/* of a disk that could not be written */
#define CLOCK_SET_NS (NSEC / 10)	/* what lies between two looks at two clocks is less */
#define SETTLE_US 200000	/* what follows at once belongs to it: the reset after a timeout */

static volatile sig_atomic_t over;

static void end(int sig)
{
	(void)sig;
	over = 1;
}

static void enable_triggers(struct tracefs_instance *in, const struct ks_rec_config *c)
{
	char path[256];

	for (size_t i = 0; i < c->nr_events; i++) {
		const struct ks_rec_event *e = &c->events[i];

		ks_fmt(path, sizeof(path), "events/%s/%s/enable", e->system, e->name);
		if (e->trigger && tracefs_file_exists(in, path) &&
		    tracefs_instance_file_write(in, path, "1") < 0)
			ks_warn("%s:%s cannot be a trigger here: %s", e->system, e->name,
				strerror(errno));
	}
}

static struct tracefs_instance *triggers(void)
{
	struct tracefs_instance *in = tracefs_instance_create(KS_REC_TRIGGERS);

	if (!in)
		ks_die("no tracing here: %s", strerror(errno));
	tracefs_instance_set_buffer_size(in, 16, -1);
	/* or a reader is woken when the buffer is half full */
	tracefs_instance_file_write(in, "buffer_percent", "0");
	return in;
}

static const char *cause(const struct ks_rec_config *c, char *line)
{
	struct ks_frame f;

	if (!ks_frame_find(&f, line))
		return NULL;
	for (size_t i = 0; i < c->nr_events; i++) {
		if (c->events[i].trigger && !strcmp(f.event, c->events[i].name))
			return c->events[i].name;
	}
	return NULL;
}

/*
 * What writes to the disk is done in a process of its own: a full disk ends that one, and this one
 * goes on, as what the kernel records does. Its lock is ours, too.
 */
static int apart(int (*fn)(void *), void *arg)
{
	int status = ks_in_child("the recorder's directory", fn, arg);

	ks_rec_unlock();
	return status;
}

struct copy {
	const struct ks_rec_config *c;
	const char *why;
};

enum { MADE, FAILED, TOO_SOON };

static int make_copy(void *arg)
{
	struct copy *copy = arg;

	return ks_rec_snapshot(copy->c, copy->why, false, NULL) ? MADE : TOO_SOON;
}

static int arm(void *arg)
{
	return ks_rec_start(arg) ? MADE : FAILED;
}

/* Everything that is there, a copy a cause. One that fails is tried again with the next trigger. */
static void act(const struct ks_rec_config *c, int fd, char *buf, size_t size)
{
	const char *last = NULL;
	int status = MADE;
	ssize_t n;

	usleep(SETTLE_US);
	while (!over && (n = read(fd, buf, size - 1)) > 0) {
		char *save = NULL;

		buf[n] = '\0';
		for (char *p = strtok_r(buf, "\n", &save); p; p = strtok_r(NULL, "\n", &save)) {
			struct copy copy = { c, cause(c, p) };

			if (!copy.why || copy.why == last || status == FAILED)
				continue;
			last = copy.why;
			status = apart(make_copy, &copy);
			if (status == MADE)
				ks_warn("%s: copied what was before it to %s", copy.why, c->dir);
		}
	}
}

struct watch {
	const struct ks_rec_config *c;
	struct tracefs_instance *in;
	struct ks_rec_state done;	/* the state of which care was taken last */
	u64 retry;			/* when that is to be done again; 0: it went well */
};

/* What the kernel refused to switch on is not asked for again while nothing else changes. */
static bool is_in_order(const struct watch *w, const struct ks_rec_state *now)
{
	return now->modules == w->done.modules && (!now->off || now->off == w->done.off) &&
	       llabs(now->real_ns - w->done.real_ns) < (s64)CLOCK_SET_NS &&
	       (!w->retry || ks_mono_ns() < w->retry);
}

static void keep_on(struct watch *w)
{
	struct ks_rec_state now;

	ks_rec_look(&now, w->c, w->in);
	if (now.stopped || is_in_order(w, &now)) {
		w->done.off = now.off;
		return;
	}
	w->done = now;
	w->retry = apart(arm, (void *)w->c) == MADE ? 0 : ks_mono_ns() + RETRY_NS;
	enable_triggers(w->in, w->c);
}

static void follow(struct watch *w, int fd)
{
	static char buf[65536];

	enable_triggers(w->in, w->c);
	while (!over) {
		struct pollfd p = { fd, POLLIN, 0 };

		keep_on(w);
		if (poll(&p, 1, 1000) > 0)
			act(w->c, fd, buf, sizeof(buf));
	}
}

int ks_rec_watch(const struct ks_rec_config *c)
{
	struct sigaction sa = { .sa_handler = end };
	struct watch w = { c };
	int fd;

	ks_rec_check_dir(c->dir);
	w.in = triggers();
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	fd = tracefs_instance_file_open(w.in, "trace_pipe", O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		ks_die("%s: %s", KS_REC_TRIGGERS, strerror(errno));
	ks_rec_look(&w.done, c, w.in);
	if (!ks_rec_start(c))
		w.retry = ks_mono_ns() + RETRY_NS;
	follow(&w, fd);
	close(fd);
	tracefs_event_disable(w.in, NULL, NULL);
	tracefs_instance_destroy(w.in);
	tracefs_instance_free(w.in);
	return 0;
}
