/* SPDX-License-Identifier: GPL-2.0 */
/*
 * identity.h - task and place, the same fields in the same order in every event
 *
 *   dev        BDF or the name sysfs has; empty if the event is not about a device
 *   dev_node   its NUMA node, -1 unknown
 *   cpu_node   NUMA node the causing task ran on
 *   pid, tgid  the causing thread and its process (bpftrace's pid is tgid)
 *   comm       of the causing task, not of the worker it ran in
 *   cgroup_id  its cgroup v2 id (bpftrace's cgroup); of what the kernel does for a process the
 *              process's, if it is known, even where pid is 0 or a kernel thread's. 0: no process
 *              caused it, none is known, or the kernel has no CONFIG_CGROUPS
 */
#ifndef _KSTALL_IDENTITY_H
#define _KSTALL_IDENTITY_H

#include <linux/cgroup.h>
#include <linux/sched.h>
#include <linux/topology.h>

/**
 * struct kstall_who - a task's identity, copied because the event outlives its reach
 * @pid: thread
 * @tgid: process
 * @cgroup_id: cgroup v2 id
 * @comm: command name
 */
struct kstall_who {
	s32 pid;
	s32 tgid;
	u64 cgroup_id;
	char comm[TASK_COMM_LEN];
};

/**
 * struct kstall_id - identity of one event, as its probe knows it
 * @dev: device name, NULL if none
 * @dev_node: its NUMA node, NUMA_NO_NODE if none
 * @cpu_node: NUMA node at the time of the cause
 * @task: the causing task, alive during the emission; NULL if @who is set
 * @who: copy of its identity
 */
struct kstall_id {
	const char *dev;
	s32 dev_node;
	s32 cpu_node;
	struct task_struct *task;
	const struct kstall_who *who;
};

/* The current task, about no device. Preemption disabled. */
#define KSTALL_ID_CURRENT						\
	((struct kstall_id){ .dev_node = NUMA_NO_NODE,			\
			     .cpu_node = numa_node_id(), .task = current })

/* The cause of what an interrupt does: its current task only happens to run. */
static const struct kstall_who kstall_nobody __maybe_unused;

static inline u64 kstall_cgroup_id(struct task_struct *task)
{
#ifdef CONFIG_CGROUPS
	u64 id;

	rcu_read_lock();
	id = cgroup_id(task_dfl_cgroup(task));
	rcu_read_unlock();
	return id;
#else
	return 0;
#endif
}

/* Any context; @task must be held. */
static inline void kstall_who_read(struct kstall_who *who, struct task_struct *task)
{
	who->pid = task->pid;
	who->tgid = task->tgid;
	who->cgroup_id = kstall_cgroup_id(task);
	/* Like get_task_comm(), but takes no lock: a torn name is better than a stall. */
	memcpy(who->comm, task->comm, TASK_COMM_LEN);
	who->comm[TASK_COMM_LEN - 1] = '\0';
}

static inline struct kstall_who kstall_id_who(const struct kstall_id *id)
{
	struct kstall_who who;

	if (id->who)
		return *id->who;
	kstall_who_read(&who, id->task);
	return who;
}

/*
 * A name in an event, cut off where it is longer. Not a __string(): bpftrace 0.23 (Debian 13)
 * looks for those at a wrong address, four times as far into the record as they are.
 */
#define KSTALL_NAME_LEN		32
#define KSTALL_NAME_FIELD(name)	__array(char, name, KSTALL_NAME_LEN)

/* Any context; nothing that was in the ring buffer before is left in @dst. */
static inline void kstall_name_copy(char *dst, const char *src)
{
	ssize_t len = src ? strscpy(dst, src, KSTALL_NAME_LEN) : 0;

	if (len >= 0)
		memset(dst + len, 0, KSTALL_NAME_LEN - len);
}

/*
 * kstall_symbol_at() - "function [module]" of a kernel address, "?" where there is none: "%ps"
 * alone would print the address then. Any context.
 */
static inline void kstall_symbol_at(char *buf, size_t size, const void *addr)
{
	snprintf(buf, size, "%ps", addr);
	if (buf[0] == '0')
		strscpy(buf, "?", size);
}

#define KSTALL_NAME_ASSIGN(name, src)	kstall_name_copy(__entry->name, src)

/* Inside TP_STRUCT__entry(). */
#define KSTALL_ID_FIELDS						\
	KSTALL_NAME_FIELD(dev)						\
	__field(s32, dev_node)						\
	__field(s32, cpu_node)						\
	__field(s32, pid)						\
	__field(s32, tgid)						\
	__array(char, comm, TASK_COMM_LEN)				\
	__field(u64, cgroup_id)

/* Inside TP_fast_assign(). */
#define KSTALL_ID_ASSIGN(_id)						\
	do {								\
		struct kstall_who __who = kstall_id_who(_id);		\
									\
		KSTALL_NAME_ASSIGN(dev, (_id)->dev);			\
		__entry->dev_node = (_id)->dev_node;			\
		__entry->cpu_node = (_id)->cpu_node;			\
		__entry->pid = __who.pid;				\
		__entry->tgid = __who.tgid;				\
		memcpy(__entry->comm, __who.comm, TASK_COMM_LEN);	\
		__entry->cgroup_id = __who.cgroup_id;			\
	} while (0)

/* Inside TP_printk(). */
#define KSTALL_ID_FMT	"dev=%s dev_node=%d cpu_node=%d pid=%d tgid=%d comm=%s cgroup_id=%llu"
#define KSTALL_ID_ARGS							\
	__entry->dev, __entry->dev_node, __entry->cpu_node, __entry->pid, \
	__entry->tgid, __entry->comm, __entry->cgroup_id

#endif /* _KSTALL_IDENTITY_H */
