// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/perfetto.pb-c.h"
#include "trace/pftrace.h"

struct ks_pftrace {
	const char *name;
	FILE *f;
	u64 next;		/* track */
	bool begun;
};

struct ks_pftrace *ks_pftrace_new(FILE *f, const char *name)
{
	struct ks_pftrace *p = ks_alloc(sizeof(*p));

	p->name = name;
	p->f = f;
	p->next = 1ULL << 40;	/* below are processes */
	return p;
}

void ks_pftrace_free(struct ks_pftrace *p)
{
	free(p);
}

/* A Trace is nothing but its packets one after the other, so it need not be in memory. */
static void put(struct ks_pftrace *p, Kstall__TracePacket *packet)
{
	Kstall__TracePacket *one[] = { packet };
	Kstall__Trace trace = KSTALL__TRACE__INIT;
	static u8 buf[8192];

	packet->has_trusted_packet_sequence_id = 1;
	packet->trusted_packet_sequence_id = 1;
	packet->has_sequence_flags = !p->begun;
	packet->sequence_flags = 1;	/* no state before this */
	p->begun = true;
	trace.packet = one;
	trace.n_packet = 1;
	if (kstall__trace__get_packed_size(&trace) > sizeof(buf))
		return;		/* cannot be: names are shorter */
	if (fwrite(buf, kstall__trace__pack(&trace, buf), 1, p->f) != 1)
		ks_die("%s: %s", p->name, strerror(errno));
}

static void put_track(struct ks_pftrace *p, Kstall__TrackDescriptor *d, u64 uuid)
{
	Kstall__TracePacket packet = KSTALL__TRACE_PACKET__INIT;

	d->has_uuid = 1;
	d->uuid = uuid;
	packet.track_descriptor = d;
	put(p, &packet);
}

u64 ks_pftrace_thread(struct ks_pftrace *p, u64 track, int pid, int tid, const char *comm)
{
	Kstall__ProcessDescriptor process = KSTALL__PROCESS_DESCRIPTOR__INIT;
	Kstall__ThreadDescriptor thread = KSTALL__THREAD_DESCRIPTOR__INIT;
	Kstall__TrackDescriptor d = KSTALL__TRACK_DESCRIPTOR__INIT;

	if (pid == tid) {
		process.has_pid = 1;
		process.pid = pid;
		process.process_name = (char *)comm;
		d.process = &process;
		put_track(p, &d, (1ULL << 32) + pid);
		d.process = NULL;
	}
	thread.has_pid = thread.has_tid = 1;
	thread.pid = pid;
	thread.tid = tid;
	thread.thread_name = (char *)comm;
	d.thread = &thread;
	track = track ? track : p->next++;
	put_track(p, &d, track);
	return track;
}

u64 ks_pftrace_track(struct ks_pftrace *p, const char *name, u64 parent, bool counter)
{
	Kstall__CounterDescriptor count = KSTALL__COUNTER_DESCRIPTOR__INIT;
	Kstall__TrackDescriptor d = KSTALL__TRACK_DESCRIPTOR__INIT;

	d.name = (char *)name;
	d.has_parent_uuid = parent != 0;
	d.parent_uuid = parent;
	d.counter = counter ? &count : NULL;
	put_track(p, &d, p->next);
	return p->next++;
}

static void put_event(struct ks_pftrace *p, Kstall__TrackEvent *event, u64 track, u64 ts, int type)
{
	Kstall__TracePacket packet = KSTALL__TRACE_PACKET__INIT;

	event->has_type = event->has_track_uuid = 1;
	event->type = type;
	event->track_uuid = track;
	packet.has_timestamp = 1;
	packet.timestamp = ts;
	packet.track_event = event;
	put(p, &packet);
}

void ks_pftrace_slice(struct ks_pftrace *p, u64 track, u64 begin, u64 end, const char *category,
		      const char *name, const char *what, u64 flow)
{
	Kstall__TrackEvent event = KSTALL__TRACK_EVENT__INIT, over = KSTALL__TRACK_EVENT__INIT;
	Kstall__DebugAnnotation cause = KSTALL__DEBUG_ANNOTATION__INIT, *causes[] = { &cause };
	char *categories[] = { (char *)category };

	event.name = (char *)name;
	event.categories = categories;
	event.n_categories = 1;
	cause.name = "cause";
	cause.string_value = (char *)what;
	event.debug_annotations = causes;
	event.n_debug_annotations = *what != '\0';
	event.flow_ids = &flow;
	event.n_flow_ids = flow != 0;
	put_event(p, &event, track, begin, KSTALL__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN);
	put_event(p, &over, track, end, KSTALL__TRACK_EVENT__TYPE__TYPE_SLICE_END);
}

void ks_pftrace_count(struct ks_pftrace *p, u64 track, u64 ts, s64 value)
{
	Kstall__TrackEvent event = KSTALL__TRACK_EVENT__INIT;

	event.has_counter_value = 1;
	event.counter_value = value;
	put_event(p, &event, track, ts, KSTALL__TRACK_EVENT__TYPE__TYPE_COUNTER);
}
