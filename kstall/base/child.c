// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "base/child.h"

int ks_in_child(const char *name, int (*fn)(void *), void *arg)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		ks_die("fork: %s", strerror(errno));
	if (!pid) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		exit(fn(arg));
	}
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			ks_die("waitpid: %s", strerror(errno));
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM ||
	    WTERMSIG(status) == SIGPIPE)
		return 128 + WTERMSIG(status);
	ks_die("%s: damaged (reading it ended with signal %d)", name, WTERMSIG(status));
}
