// SPDX-License-Identifier: GPL-2.0
/*
 * Is there a tracepoint for functions that other CPUs are to call?
 *
 * include/trace/events/csd.h; "trace,smp: Add tracepoints for scheduling remotelly called
 * functions", v6.5.
 */
#ifndef OTHERWISE
#include <linux/smp.h>
#include <trace/events/csd.h>

void test_CSD_QUEUE_CPU(void *data, const unsigned int cpu, unsigned long callsite,
			smp_call_func_t func, call_single_data_t *csd);
void test_CSD_QUEUE_CPU(void *data, const unsigned int cpu, unsigned long callsite,
			smp_call_func_t func, call_single_data_t *csd)
{
	check_trace_callback_type_csd_queue_cpu(test_CSD_QUEUE_CPU);
}
#else
int test_CSD_QUEUE_CPU;
#endif
