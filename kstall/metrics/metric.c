// SPDX-License-Identifier: GPL-2.0
/* The events that are counted, and by what. The layers are those of kstall why, and three more. */
#include <string.h>

#include "metrics/metric.h"

#define MODULE_aer "aer_trace"
#define MODULE_drm_sched "drm_sched_trace"
#define MODULE_ib_cq "ib_cq_trace"
#define MODULE_io_uring_trace "io_uring_trace"
#define MODULE_iommu_trace "iommu_trace"
#define MODULE_mm_migrate "mm_migrate_trace"
#define MODULE_nvidia "nvidia"

/* The parts of events.def for the counters. */
#define EVENT(system, event, duration, part) ROW(system, event, duration, part)
#define ROW(system, event, duration, ...) __VA_OPT__(ROW_(system, event, duration, __VA_ARGS__))
#define ROW_(sys, event, duration, ...) \
	{ .system = #sys, .module = MODULE_##sys, .name = #event, .ns = sizeof(#duration) > 1 ? #duration : NULL, __VA_ARGS__ },
#define COUNT(in, help, ...) .layer = in, .what = help, ##__VA_ARGS__

const struct ks_metric_event ks_metric_events[] = {
#include "events.def"
};

const size_t ks_nr_metric_events = ARRAY_SIZE(ks_metric_events);
_Static_assert(ARRAY_SIZE(ks_metric_events) <= KS_MAX_METRIC_EVENTS, "room for each event");

static size_t add_once(const char **list, size_t nr, size_t max, const char *s)
{
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(list[i], s))
			return nr;
	}
	if (nr == max)
		ks_die("more than %zu of the kind of %s", max, s);
	list[nr] = s;
	return nr + 1;
}

size_t ks_metric_modules(const char *module[KS_MAX_MODULES])
{
	size_t nr = 0;

	for (size_t i = 0; i < ks_nr_metric_events; i++)
		nr = add_once(module, nr, KS_MAX_MODULES, ks_metric_events[i].module);
	return nr;
}

size_t ks_metric_layers(const char *layer[KS_MAX_METRIC_LAYERS])
{
	size_t nr = 0;

	for (size_t i = 0; i < ks_nr_metric_events; i++)
		nr = add_once(layer, nr, KS_MAX_METRIC_LAYERS, ks_metric_events[i].layer);
	return nr;
}
