/* SPDX-License-Identifier: GPL-2.0 */
struct trace_array;
struct trace_array *trace_array_get_by_name(const char *name);
