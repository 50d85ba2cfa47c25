// SPDX-License-Identifier: GPL-2.0
/* caller: calls step_a() every 10 ms and step_b() every 50 ms, until it is killed. */
#include <unistd.h>

void step_a(void);
void step_b(void);

__attribute__((noinline)) void step_a(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void step_b(void)
{
	__asm__ volatile("" ::: "memory");
}

int main(void)
{
	for (unsigned int i = 0;; i++) {
		step_a();
		if (i % 5 == 0)
			step_b();
		usleep(10000);
	}
}
