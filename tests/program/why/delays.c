// SPDX-License-Identifier: GPL-2.0
/* What the kernel's delay accounting (sysctl kernel.task_delayacct) says of this thread, over taskstats' netlink. */
#define _GNU_SOURCE
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "delays.h"

struct message {
	struct nlmsghdr n;
	struct genlmsghdr g;
	char data[1024];
};

static struct nlattr *next_attr(struct nlattr *a)
{
	return (void *)((char *)a + NLA_ALIGN(a->nla_len));
}

/* The attribute of that type between @a and @end. */
static struct nlattr *find(struct nlattr *a, const char *end, int type)
{
	for (; (char *)a + NLA_HDRLEN <= end && a->nla_len >= NLA_HDRLEN; a = next_attr(a)) {
		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return a;
	}
	return NULL;
}

/* Sends one command with one attribute; the answer takes its place. Return: its end, NULL if there is none. */
static char *ask(int fd, struct message *m, int family, int cmd, int type, const void *value, int len)
{
	struct nlattr *a = (void *)m->data;
	ssize_t n;

	m->n = (struct nlmsghdr){ .nlmsg_type = family, .nlmsg_flags = NLM_F_REQUEST };
	m->g = (struct genlmsghdr){ .cmd = cmd, .version = 1 };
	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	memcpy((char *)a + NLA_HDRLEN, value, len);
	m->n.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN) + NLA_ALIGN(a->nla_len);
	if (send(fd, m, m->n.nlmsg_len, 0) < 0)
		return NULL;
	n = recv(fd, m, sizeof(*m), 0);
	return n < (ssize_t)sizeof(m->n) || m->n.nlmsg_type == NLMSG_ERROR ? NULL : (char *)m + n;
}

static int find_family(int fd)
{
	static const char name[] = TASKSTATS_GENL_NAME;
	struct message m;
	struct nlattr *a;
	char *end = ask(fd, &m, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, name, sizeof(name));

	a = end ? find((void *)m.data, end, CTRL_ATTR_FAMILY_ID) : NULL;
	return a ? *(__u16 *)((char *)a + NLA_HDRLEN) : -1;
}

int64_t compaction_delay(void)
{
	static int fd = -1, family = -1;
	struct message m;
	struct nlattr *a;
	struct taskstats stats = { };
	__u32 tid = gettid();
	char *end;

	if (fd < 0) {
		fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
		family = fd < 0 ? -1 : find_family(fd);
	}
	if (family < 0)
		return -1;
	end = ask(fd, &m, family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_PID, &tid, sizeof(tid));
	a = end ? find((void *)m.data, end, TASKSTATS_TYPE_AGGR_PID) : NULL;
	a = a ? find((void *)((char *)a + NLA_HDRLEN), end, TASKSTATS_TYPE_STATS) : NULL;
	if (!a)
		return -1;
	memcpy(&stats, (char *)a + NLA_HDRLEN, sizeof(stats) < a->nla_len - NLA_HDRLEN ? sizeof(stats) : a->nla_len - NLA_HDRLEN);
	return stats.compact_delay_total;
}
