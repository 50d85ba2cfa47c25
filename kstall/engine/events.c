// SPDX-License-Identifier: GPL-2.0
/* The events that are read, and what each means to the engine: the parts of events.def for it. */
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"

#define DEV 1			/* value 0 */
#define MORE 2			/* value 1 */

#define EVENT(system, event, duration, part) KS_ROW(TYPE, system, event, duration, part)
#define TYPE(sys, event, duration, all, list, ...) \
	{ .system = #sys, .name = #event, .fields = { NAMES(all(duration, list)) }, __VA_ARGS__ },
#define NAMES(...) KS_EACH(NAME, none, __VA_ARGS__)
#define NAME(none, field) #field,

#define READ(function, list, ...) KS_THESE, list, .fn = function, ##__VA_ARGS__
#define OWN(function, list, ...) KS_AFTER_ID, list, .fn = function, ##__VA_ARGS__
#define INTERVAL(...) LAID(KS_INTERVAL, __VA_ARGS__)
#define ASLEEP(...) LAID(KS_ASLEEP_SUM, __VA_ARGS__)
#define LAID(how, which, phase_, list, ...) \
	OWN(ks_on_own, list, .carve = how, .layer = which, .phase = phase_, .form = { __VA_ARGS__ }, \
	    .form.value = { "dev", NAMES(KS_OPEN list) })
#define BEGIN(which, list, module) READ(ks_on_span_begin, list, .span = which, .module_has = module)
#define END(which, layer_, phase_, module) \
	READ(ks_on_span_end, (), .span = which, .layer = layer_, .phase = phase_, .module_has = module)

const char ks_no_text[] = "";

const struct ks_type ks_types[] = {
#include "events.def"
};

const size_t ks_nr_types = ARRAY_SIZE(ks_types);

const struct ks_type *ks_type_find(const char *system, const char *name)
{
	for (size_t i = 0; i < ks_nr_types; i++) {
		if (!strcmp(ks_types[i].system, system) && !strcmp(ks_types[i].name, name))
			return &ks_types[i];
	}
	return NULL;
}

const struct ks_type *ks_type_of_module(const struct ks_type *type)
{
	for (size_t i = 0; type->module_has && i < ks_nr_types; i++) {
		if (!strcmp(ks_types[i].name, type->module_has))
			return &ks_types[i];
	}
	return NULL;
}
