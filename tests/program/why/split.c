// SPDX-License-Identifier: GPL-2.0
/*
 * split - plays NCCL's callbacks to kstall/nccl/split.c, with clocks of its own; prints what was said at each "end"
 *
 *	TIME begin
 *	TIME handed_over
 *	TIME gpu [TIMER]		the first channel has begun there, when its clock was TIMER
 *	TIME through [TIMER]
 *	TIME end
 *	TIME op OP PEER STEPS
 *	TIME step OP STEP
 *	TIME state OP STEP STATE	send_gpu, send_peer, send_wire, recv_peer, recv_flush, recv_gpu
 *	TIME step_end OP STEP
 *	TIME op_end OP
 *	TIME off NS			until now the thread was off its CPU for so long
 *
 * TIME and NS in microseconds, TIMER in nanoseconds. TIME 0 is one second after the clock began.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OPS	16

static unsigned long long now, off;

static int fake_clock(clockid_t id, struct timespec *ts)
{
	const unsigned long long t = id == CLOCK_MONOTONIC ? now : now - off;

	ts->tv_sec = t / 1000000000;
	ts->tv_nsec = t % 1000000000;
	return 0;
}

#define clock_gettime fake_clock
#include "../../../kstall/nccl/split.c"

static struct split split;
static struct split_op op[OPS];
static struct gpu_clock gpu;

static void die(const char *what)
{
	fprintf(stderr, "split: %s\n", what);
	exit(2);
}

static enum op_state state_called(const char *name)
{
	static const char *const names[] = { "", "send_gpu", "send_peer", "send_wire", "recv_peer", "recv_flush", "recv_gpu" };

	for (size_t i = 1; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(names[i], name))
			return i;
	}
	die("no such state");
	return 0;
}

/* What has to do with the collective. */
static int play_collective(const char *what, const unsigned long long *n)
{
	char text[SPLIT_TEXT];

	if (!strcmp(what, "begin"))
		split_begin(&split, now);
	else if (!strcmp(what, "handed_over"))
		split_handed_over(&split, now);
	else if (!strcmp(what, "gpu"))
		split_on_gpu(&split, split_on_host(&gpu, n[0], now), now);
	else if (!strcmp(what, "through"))
		split_through(&split, split_on_host(&gpu, n[0], now), now);
	else if (!strcmp(what, "end"))
		split_end(&split, now), puts(split_text(text, &split));
	else
		return 0;
	return 1;
}

/* ... with operation @n[0] */
static int play_op(const char *what, const unsigned long long *n, const char *word)
{
	if (n[0] >= OPS)
		die("too many operations");
	if (!strcmp(what, "op"))
		split_op_begin(&split, &op[n[0]], n[1], n[2]);
	else if (!strcmp(what, "step"))
		split_step_begin(&split, &op[n[0]], n[1]);
	else if (!strcmp(what, "state"))
		split_step_state(&split, &op[n[0]], n[1], state_called(word));
	else if (!strcmp(what, "step_end"))
		split_step_end(&split, &op[n[0]], n[1]);
	else if (!strcmp(what, "op_end"))
		split_op_end(&split, &op[n[0]]);
	else
		return 0;
	return 1;
}

int main(void)
{
	char line[256], what[16], word[16];
	unsigned long long n[3];

	while (fgets(line, sizeof(line), stdin)) {
		memset(n, 0, sizeof(n));
		if (sscanf(line, "%llu %15s %llu %llu %llu", &now, what, n, n + 1, n + 2) < 2)
			die(line);
		if (sscanf(line, "%*u %*s %*u %*u %15s", word) != 1)
			*word = '\0';
		now = (now + 1000000) * 1000;
		if (!strcmp(what, "off"))
			off += n[0] * 1000;
		else if (!play_collective(what, n) && !play_op(what, n, word))
			die(line);
	}
	return 0;
}
