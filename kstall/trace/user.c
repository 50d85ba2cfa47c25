// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "trace/user.h"

static u32 number(const char *name)
{
	const char *text = getenv(name);
	unsigned long v;
	char *end;

	if (!text)
		ks_die("%s is not set, though SUDO_UID is (--as-root: the command runs as root)", name);
	errno = 0;
	v = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || v >= UINT32_MAX)
		ks_die("%s=%s is no number (--as-root: the command runs as root)", name, text);
	return v;
}

bool ks_user_of_sudo(struct ks_user *u)
{
	const struct passwd *pw;

	if (geteuid() || !getenv("SUDO_UID"))
		return false;
	*u = (struct ks_user){ .uid = number("SUDO_UID"), .gid = number("SUDO_GID") };
	if (!u->uid)
		return false;
	pw = getpwuid(u->uid);
	if (pw) {
		u->name = ks_strdup(pw->pw_name);
		u->home = ks_strdup(pw->pw_dir);
		u->shell = ks_strdup(pw->pw_shell);
	}
	return true;
}

static void set_environment(const struct ks_user *u)
{
	static const char *const sudo[] = { "SUDO_UID", "SUDO_GID", "SUDO_USER", "SUDO_COMMAND", "SUDO_HOME" };

	for (size_t i = 0; i < ARRAY_SIZE(sudo); i++)
		unsetenv(sudo[i]);
	if (!u->name)
		return;
	setenv("USER", u->name, 1);
	setenv("LOGNAME", u->name, 1);
	setenv("HOME", u->home, 1);
	setenv("SHELL", u->shell, 1);
}

void ks_user_become(const struct ks_user *u)
{
	int failed = u->name ? initgroups(u->name, u->gid) : setgroups(1, &u->gid);

	if (failed || setgid(u->gid) || setuid(u->uid)) {
		ks_warn("the command cannot run as user %u: %s", u->uid, strerror(errno));
		_exit(127);
	}
	set_environment(u);
}
