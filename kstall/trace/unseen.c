// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "trace/probe.h"
#include "trace/unseen.h"

/* Events that each answer is made of. @or does as well; without @only_with its lack makes no difference. */
static const struct {
	const char *layer, *system, *name, *or, *only_with, *why;
} needed[] = {
	{ "cpu", "sched", "sched_waking", "sched_wakeup", NULL, "the time from a wake-up to the CPU is in blocked" },
	{ "kernel", "raw_syscalls", "sys_enter", NULL, NULL, "system calls have no names, on_cpu is all user" },
	{ "user", "raw_syscalls", "sys_exit", NULL, "sys_enter", "the time after a system call counts as the call's" },
};

/* Events with times of CLOCK_MONOTONIC in their fields. */
static const struct {
	const char *system, *name;
} by_mono[] = {
	{ "drm_sched", "drm_sched_job_dispatch" },
	{ "drm_sched", "drm_sched_job_complete" },
	{ "io_uring_trace", "io_uring_req_done" },
};

static const char *layer_of(const struct ks_type *t)
{
	const char *module = ks_module_layer(t->system);

	if (module)
		return module;
	if (t->layer)
		return ks_layer_name[t->layer];
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		if (!strcmp(needed[i].system, t->system))
			return needed[i].layer;
	}
	return "process";
}

void ks_unseen_fields(struct ks_engine *e, const struct ks_decoder *d)
{
	char why[160];

	for (size_t i = 0; i < ks_nr_types; i++) {
		const char *field = ks_decoder_lacks(d, &ks_types[i]);

		if (field)
			ks_engine_unseen(e, layer_of(&ks_types[i]), ks_types[i].name,
					 ks_fmt(why, sizeof(why), "%s has no field %s", ks_types[i].name, field));
	}
}

void ks_unseen_phases(struct ks_engine *e, const struct ks_decoder *d, const char *clock)
{
	char why[160];

	ks_fmt(why, sizeof(why), "the clock is %s, phases need mono", clock);
	for (size_t i = 0; i < ARRAY_SIZE(by_mono); i++) {
		if (ks_decoder_seen(d, ks_type_find(by_mono[i].system, by_mono[i].name)))
			ks_engine_unseen(e, ks_module_layer(by_mono[i].system), by_mono[i].name, why);
	}
}

static u64 seen(const struct ks_decoder *d, const char *system, const char *name)
{
	return name ? ks_decoder_seen(d, ks_type_find(system, name)) : 0;
}

static bool has_system(const struct ks_decoder *d, const char *system)
{
	for (size_t i = 0; i < ks_nr_types; i++) {
		if (!strcmp(ks_types[i].system, system) && ks_decoder_has(d, &ks_types[i]))
			return true;
	}
	return false;
}

/* An event that is rare may not have happened: only its format says whether it was recorded. */
static void unseen_modules(struct ks_engine *e, const struct ks_decoder *d)
{
	for (size_t i = 0; i < ks_nr_types; i++) {
		const struct ks_type *t = &ks_types[i];
		const char *layer = ks_module_layer(t->system);

		if (!layer || ks_decoder_has(d, t))
			continue;
		ks_engine_unseen(e, layer, t->name,
				 has_system(d, t->system) ? "some events were not recorded" : "not recorded");
	}
}

static bool has_unborn(const struct ks_engine *e)
{
	const struct ks_thread *t;

	ks_for_each_thread(e, t) {
		if (t->in_job && !t->born)
			return true;
	}
	return false;
}

void ks_unseen_events(struct ks_engine *e, const struct ks_decoder *d)
{
	char why[160];

	if (has_unborn(e) || !seen(d, "task", "task_newtask"))
		ks_engine_unseen(e, "process", "task_newtask",
				 "which process a thread belongs to was not recorded: each thread counts as one");
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		const char *system = needed[i].system;

		if (seen(d, system, needed[i].name) || seen(d, system, needed[i].or) ||
		    (needed[i].only_with && !seen(d, system, needed[i].only_with)))
			continue;
		ks_engine_unseen(e, needed[i].layer, needed[i].name,
				 ks_fmt(why, sizeof(why), "the recording has no %s: %s", needed[i].name,
					needed[i].why));
	}
	if (!ks_decoder_has(d, ks_type_find("kstall", "unthrottle")))
		ks_engine_unseen(e, "quota", "throttle", "not recorded: it is in cpu");
	unseen_modules(e, d);
}
