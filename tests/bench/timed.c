// SPDX-License-Identifier: GPL-2.0
/*
 * timed N COMMAND ARGUMENT... - runs a command that does something N times and prints the mean
 * time of one in ns, which under -icount is instructions; its start and end are in it
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "now.h"

extern char **environ;

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[1]) : 0;
	long long start;
	int status;
	pid_t pid;

	if (n <= 0) {
		fprintf(stderr, "usage: timed N COMMAND ARGUMENT...\n");
		return 1;
	}
	start = now_ns();
	if (posix_spawnp(&pid, argv[2], NULL, NULL, argv + 2, environ) ||
	    waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "timed: %s failed\n", argv[2]);
		return 1;
	}
	printf("%.1f\n", (double)(now_ns() - start) / n);
	return 0;
}
