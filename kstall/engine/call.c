// SPDX-License-Identifier: GPL-2.0
/*
 * System calls by what they do: an ioctl on an accelerator's file, by its number, and if the number alone does not say of which driver it
 * is, by the file. Files are those that the recorder has noted, and those whose first call can be nobody else's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "engine/engine.h"

static const struct {
	u8 layer;
	u32 word;
	const char *name, *phase;
} calls[] = {
#include "engine/ioctls.inc"
};

#define SIZE_BITS 0x3fff0000u	/* of an ioctl's number */
#define UVM_INITIALIZE 0x30000001
#define MAX_OPEN 65536

/* What sys_enter offers. */
#define ARG(ev, n) KS_NUM(ev, sys_enter, args_##n)

static struct ks_open **bucket(struct ks_engine *e, s32 tgid)
{
	return &e->open[(u32)tgid & (KS_OPEN_BUCKETS - 1)];
}

static struct ks_open *find(struct ks_engine *e, s32 tgid, u64 fd)
{
	struct ks_open *o = *bucket(e, tgid);

	while (o && (o->tgid != tgid || o->fd != fd))
		o = o->next;
	return o;
}

static void opened(struct ks_engine *e, s32 tgid, u64 fd, u8 layer, const char *path)
{
	struct ks_open *o = find(e, tgid, fd), **head = bucket(e, tgid);

	if (!o) {
		if (e->nr_files >= MAX_OPEN)
			return;
		e->nr_files++;
		o = ks_alloc(sizeof(*o));
		*o = (struct ks_open){ .next = *head, .tgid = tgid, .fd = fd };
		*head = o;
	}
	o->layer = layer;
	o->path = ks_intern(path);
}

static void closed(struct ks_engine *e, s32 tgid, u64 first, u64 last)
{
	struct ks_open **p = bucket(e, tgid), *o;

	while ((o = *p)) {
		if (o->tgid != tgid || o->fd < first || o->fd > last) {
			p = &o->next;
			continue;
		}
		*p = o->next;
		free(o);
		e->nr_files--;
	}
}

void ks_calls_free(struct ks_engine *e)
{
	for (size_t i = 0; i < KS_OPEN_BUCKETS; i++) {
		while (e->open[i])
			closed(e, e->open[i]->tgid, 0, UINT64_MAX);
	}
}

/* Another program, or another process of the same number, has none of these files. */
void ks_call_forget(struct ks_engine *e, s32 tgid)
{
	closed(e, tgid, 0, UINT64_MAX);
}

/* 0: not a file whose calls have names. */
u8 ks_call_layer(const char *path)
{
	if (!strncmp(path, "/dev/nvidia-uvm", 15))
		return KS_UVM;
	if (!strncmp(path, "/dev/nvidia", 11))
		return KS_NVIDIA;
	if (!strcmp(path, "/dev/kfd"))
		return KS_KFD;
	return strncmp(path, "/dev/infiniband/uverbs", 22) ? KS_NONE : KS_UVERBS;
}

/* fd: TGID FD PATH, as the recorder found it */
void ks_call_note(struct ks_engine *e, const char *text)
{
	int tgid, fd;
	char path[128];

	if (sscanf(text, "%d %d %127s", &tgid, &fd, path) == 3 && fd >= 0 && ks_call_layer(path))
		opened(e, tgid, fd, ks_call_layer(path), path);
}

static void set(struct ks_call *c, u8 layer, const char *phase, const char *name, const struct ks_open *o)
{
	char buf[192];

	c->layer = layer;
	c->phase = ks_intern(phase);
	if (o && o->path)
		name = ks_fmt(buf, sizeof(buf), "%s on %s", name, ks_string(o->path));
	c->culprit = ks_intern(name);
}

/* A bare number says nothing but on a file of a known driver. */
static bool is_bare(u32 word)
{
	return !(word & 0xc0000000) && word != UVM_INITIALIZE;
}

static void on_ioctl(struct ks_engine *e, struct ks_thread *t, u64 fd, u32 word)
{
	struct ks_open *o = find(e, t->tgid, fd);
	char name[32];

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		if (calls[i].word != word && calls[i].word != (word & ~SIZE_BITS))
			continue;
		if (is_bare(calls[i].word) && (!o || o->layer != calls[i].layer))
			continue;
		if (!o || o->layer != calls[i].layer) {
			opened(e, t->tgid, fd, calls[i].layer, "");
			o = NULL;
		}
		set(&t->call, calls[i].layer, calls[i].phase, calls[i].name, o);
		return;
	}
	if (o)
		set(&t->call, o->layer, "other", ks_fmt(name, sizeof(name), "ioctl 0x%x", word), o);
}

static void on_file(struct ks_engine *e, struct ks_thread *t, u64 fd, const char *phase,
		    const char *name)
{
	const struct ks_open *o = find(e, t->tgid, fd);

	if (o)
		set(&t->call, o->layer, phase, name, o);
}

void ks_call_enter(struct ks_engine *e, struct ks_thread *t, const struct ks_event *ev)
{
	u64 fd = (u32)ARG(ev, 0), last = (u32)ARG(ev, 1);

	t->call = (struct ks_call){ 0 };
	if (e->foreign_calls)
		return;
	switch (KS_NUM(ev, sys_enter, id)) {
	case SYS_ioctl:
		on_ioctl(e, t, fd, ARG(ev, 1));
		break;
	case SYS_mmap:
		if (!(ARG(ev, 3) & MAP_ANONYMOUS))
			on_file(e, t, (u32)ARG(ev, 4), "map", "mmap");
		break;
	case SYS_close:
		on_file(e, t, fd, "close", "close");
		closed(e, t->tgid, fd, fd);
		break;
	case SYS_close_range:
		closed(e, t->tgid, fd, last);
		break;
#ifdef SYS_dup2
	case SYS_dup2:
#endif
	case SYS_dup3:
		closed(e, t->tgid, last, last);
		break;
	}
}
