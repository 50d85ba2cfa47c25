// SPDX-License-Identifier: GPL-2.0
/*
 * From Linux 6.11 on a function with a uretprobe returns through a system call (335 of x86-64), which a seccomp filter refuses that
 * does not know it, as Docker's usual one: the process dies. Commit cf6cb56ef244 lets it pass; which kernels have that, only a trial
 * says.
 */
#include <errno.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/guard.h"
#include "trace/trial.h"

void ks_trial_call(void);

/* What is probed; nothing else calls it. */
__attribute__((noinline)) void ks_trial_call(void)
{
	__asm__ volatile("" ::: "memory");
}

struct place {
	u64 address, offset;
};

/* The first object is the program itself. */
static int find_offset(struct dl_phdr_info *info, size_t size, void *priv)
{
	struct place *p = priv;
	u64 at = p->address - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && at >= ph->p_vaddr && at - ph->p_vaddr < ph->p_filesz)
			p->offset = at - ph->p_vaddr + ph->p_offset;
	}
	return 1;
}

static u64 own_offset(void)
{
	struct place p = { .address = (uintptr_t)ks_trial_call };

	dl_iterate_phdr(find_offset, &p);
	return p.offset;
}

/* Stricter than any container's: all but its end kills it. */
static void __attribute__((noreturn)) live_or_die(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog prog = { ARRAY_SIZE(filter), filter };

	/* Its death leaves no core. */
	if (prctl(PR_SET_DUMPABLE, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(1);
	ks_trial_call();
	syscall(SYS_exit_group, 0);
	__builtin_unreachable();
}

/* Did the probe fire? A child that never met it has proved nothing. */
static bool has_fired(const char *event)
{
	char *all = tracefs_instance_file_read(NULL, "uprobe_profile", NULL);
	char *at = all ? strstr(all, event) : NULL;
	bool fired = at && strtoull(at + strlen(event), NULL, 10);

	free(all);
	return fired;
}

static const char *sacrifice(const char *event)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		live_or_die();
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return strerror(errno);
	if (WIFSIGNALED(status))
		return "a return probe kills a process under seccomp (Linux from 6.11 until cf6cb56ef244)";
	if (status)
		return "whether return probes do harm cannot be tried: there is no seccomp";
	return has_fired(event) ? NULL : "whether return probes do harm cannot be tried: they do not fire";
}

const char *ks_trial(struct tracefs_instance *in, const char *group)
{
	char event[KS_NAME + 8], text[160];
	const char *why;

	ks_fmt(event, sizeof(event), "trial_%s", group);
	ks_fmt(text, sizeof(text), "r:%s/%s /proc/self/exe:0x%llx\n", group, event, (unsigned long long)own_offset());
	if (tracefs_instance_file_append(NULL, "uprobe_events", text) < 0)
		return strerror(errno);
	if (tracefs_event_file_write(in, group, event, "enable", "1") < 0)
		why = strerror(errno);
	else
		why = sacrifice(event);
	tracefs_event_file_write(in, group, event, "enable", "0");
	tracefs_instance_file_append(NULL, "uprobe_events", ks_fmt(text, sizeof(text), "-:%s/%s\n", group, event));
	return why;
}
