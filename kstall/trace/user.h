/* SPDX-License-Identifier: GPL-2.0 */
/* The user who called sudo: a command that kstall starts is that user's, not root's. */
#ifndef KSTALL_USER_H
#define KSTALL_USER_H

#include <stdbool.h>
#include <sys/types.h>

struct ks_user {
	uid_t uid;
	gid_t gid;
	const char *name, *home, *shell;	/* NULL: not known */
};

/* False: nobody, or root, called sudo. What cannot be understood ends the program. */
bool ks_user_of_sudo(struct ks_user *u);

/* In the child that becomes the command. It can never be root again. */
void ks_user_become(const struct ks_user *u);

#endif
