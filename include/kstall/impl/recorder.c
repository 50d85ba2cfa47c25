// SPDX-License-Identifier: GPL-2.0
/*
 * recorder.c - the flight recorder: rare events kept whether or not anyone listens
 *
 * With recorder=1 the module records its rare events (errors, overflows, timeouts) into the
 * ftrace instance "kstall", shared by all kstall modules, to be read afterwards from
 * /sys/kernel/tracing/instances/kstall/trace. The instance is created if the boot command line
 * (trace_instance=kstall) has not, and it outlives the module; but unloading a module that
 * has recorded makes the kernel clear the instance (trace_module_remove_events()).
 *
 * The clock of an instance cannot be set from a module: write "mono" to its trace_clock, or have
 * `kstall recorder start` do it. In memory that survives a reboot (trace_instance=kstall@...) what
 * is enabled from here neither clears nor keeps apart what the last boot recorded: ^traceoff keeps
 * the ring off until that is saved (Documentation/recorder.md).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/trace.h>

#include "impl.h"

static bool recorder;
module_param(recorder, bool, 0400);
MODULE_PARM_DESC(recorder, "record rare events into the ftrace instance \"kstall\" (0 or 1, default 0)");

static void kstall_recorder_switch(bool on)
{
	unsigned int i;

	for (i = 0; i < kstall.nr_events; i++) {
		const struct kstall_event_def *def = &kstall.events[i];
		int ret;

		if (!def->event || !def->rare)
			continue;
		ret = trace_array_set_clr_event(kstall.recorder, kstall.system, def->name, on);
		if (ret && on)
			pr_warn("recorder: cannot record %s: error %d\n", def->name, ret);
	}
}

/*
 * Takes event_mutex and comes back through kstall_class_reg(), so it runs in init and exit,
 * never in the worker. A recorder that cannot be had does not stop the module.
 */
void kstall_recorder_init(void)
{
	if (!recorder)
		return;
	kstall.recorder = kstall_trace_array_get("kstall");
	if (!kstall.recorder) {
		pr_warn("recorder: no ftrace instance \"kstall\" (tracing locked down or no memory)\n");
		return;
	}
	kstall_recorder_switch(true);
}

void kstall_recorder_exit(void)
{
	if (!kstall.recorder)
		return;
	kstall_recorder_switch(false);
	trace_array_put(kstall.recorder);
}
