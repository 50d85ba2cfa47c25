// SPDX-License-Identifier: GPL-2.0
/*
 * killat N COMMAND...: kills the command (SIGKILL) before its Nth system call that changes a file.
 * Exit status 0: it was killed; 9: it had ended by itself, well, before that; else its own.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static int changes(const struct user_regs_struct *r)
{
	switch (r->orig_rax) {
	case SYS_write:
	case SYS_pwrite64:
	case SYS_munmap:
	case SYS_ftruncate:
	case SYS_fallocate:
	case SYS_rename:
	case SYS_unlink:
	case SYS_mkdir:
	case SYS_rmdir:
	case SYS_fsync:
		return 1;
	case SYS_read:		/* of a ring: takes a page out of it */
		return r->rdx == 4096;
	case SYS_openat:
		return !!(r->rdx & O_CREAT);
	}
	return 0;
}

static int follow(pid_t pid, long n)
{
	struct user_regs_struct regs;
	int status, entry = 1;

	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			ptrace(PTRACE_GETREGS, pid, 0, &regs);
			if (entry && changes(&regs) && !--n) {
				kill(pid, SIGKILL);
				waitpid(pid, &status, 0);
				return 0;
			}
			entry = !entry;
		}
		ptrace(PTRACE_SYSCALL, pid, 0, 0);
	}
	return WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 9;
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc < 3)
		return 2;
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
	ptrace(PTRACE_SYSCALL, pid, 0, 0);
	return follow(pid, atol(argv[1]));
}
