// SPDX-License-Identifier: GPL-2.0
/*
 * Is there hrtimer_setup(), in place of hrtimer_init() and setting the function?
 *
 * include/linux/hrtimer.h; 908a1d775422 ("hrtimers: Introduce hrtimer_setup() to
 * replace hrtimer_init()"), v6.13.
 */
#include <linux/hrtimer.h>

void test_HRTIMER_SETUP(struct hrtimer *timer, enum hrtimer_restart (*fn)(struct hrtimer *));
void test_HRTIMER_SETUP(struct hrtimer *timer, enum hrtimer_restart (*fn)(struct hrtimer *))
{
#ifndef OTHERWISE
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	timer->function = fn;
#endif
}
