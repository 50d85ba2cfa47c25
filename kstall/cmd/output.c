// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "cmd/output.h"

#define MAX_LINKS	40	/* as many as the kernel follows (include/linux/namei.h) */

/* The file, and what it is called until it is whole; "": it is written in place. */
static char whole[NAME_MAX + 64], unfinished[sizeof(whole) + sizeof(".XXXXXX")];
static int directory;

/* The same without the directory's descriptor: a program that ends early may have closed all there are. */
static char leftover[PATH_MAX + sizeof(".XXXXXX")];

static void remove_unfinished(void)
{
	if (unfinished[0])
		unlink(leftover);
}

static void interrupted(int sig)
{
	remove_unfinished();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void remove_if_interrupted(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		if (signal(signals[i], interrupted) == SIG_IGN)	/* nohup */
			signal(signals[i], SIG_IGN);
	}
}

/* The user who logged in, through sudo and su; nobody's links if the kernel does not know. */
static uid_t login_user(void)
{
	FILE *f = fopen("/proc/self/loginuid", "re");
	unsigned int uid;
	bool known = f && fscanf(f, "%u", &uid) == 1;

	if (f)
		fclose(f);
	return known ? uid : (uid_t)-1;
}

/*
 * If @path is a link: puts into @to what it leads to. One that neither root nor the user has made
 * could have root write anywhere. Those of /proc lead to what the program has open.
 */
static bool read_link(const char *name, const char *path, char *to, size_t size)
{
	struct stat st, proc;
	ssize_t n;

	if (lstat(path, &st) || !S_ISLNK(st.st_mode) ||
	    (!stat("/proc", &proc) && st.st_dev == proc.st_dev))
		return false;
	if (st.st_uid && st.st_uid != geteuid() && st.st_uid != login_user())
		ks_die("%s: %s is a link of user %u: name the file itself", name, path, st.st_uid);
	n = readlink(path, to, size - 1);
	if (n < 0)
		ks_die("%s: %s", name, strerror(errno));
	to[n] = '\0';
	return true;
}

/* @name without any link in it but those of /proc. */
static char *follow(const char *name)
{
	char path[PATH_MAX], to[PATH_MAX], rest[PATH_MAX];
	size_t begin = 0, end;
	int links = 0;

	if (strlen(name) >= sizeof(path))
		ks_die("%s: %s", name, strerror(ENAMETOOLONG));
	strcpy(path, name);
	while (path[begin]) {
		end = begin + strspn(path + begin, "/");
		end += strcspn(path + end, "/");
		strcpy(rest, path + end);
		path[end] = '\0';
		if (!read_link(name, path, to, sizeof(to))) {
			strcpy(path + end, rest);
			begin = end;
			continue;
		}
		begin = to[0] == '/' ? 0 : begin + (path[begin] == '/');
		if (++links > MAX_LINKS || begin + strlen(to) + strlen(rest) >= sizeof(path))
			ks_die("%s: %s", name, strerror(ELOOP));
		strcpy(stpcpy(path + begin, to), rest);
	}
	return ks_strdup(path);
}

/* A link that comes there after follow() has looked is refused by the kernel. */
static int open_followed(const char *path, u64 flags)
{
	return ks_openat2(AT_FDCWD, path, flags, RESOLVE_NO_SYMLINKS);
}

/* What the program has open itself is known by a link only. */
static FILE *open_in_place(const char *path, bool link)
{
	int fd = link ? open(path, O_WRONLY | O_CLOEXEC) : open_followed(path, O_WRONLY);

	directory = open("/var/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 || directory < 0 ? NULL : fdopen(fd, "w");
}

/* The directory is named by its descriptor from now on: it stays what it is. */
static FILE *open_beside(const char *path, mode_t mode)
{
	const char *slash = strrchr(path, '/');
	char to[PATH_MAX];
	mode_t mask;
	int fd;

	ks_fmt(to, sizeof(to), "%.*s", slash ? (int)(slash + 1 - path) : 1, slash ? path : ".");
	directory = open_followed(to, O_PATH | O_DIRECTORY);
	if (directory < 0)
		return NULL;
	ks_fmt(whole, sizeof(whole), "/proc/self/fd/%d/%s", directory, slash ? slash + 1 : path);
	ks_fmt(unfinished, sizeof(unfinished), "%s.XXXXXX", whole);
	fd = mkostemp(unfinished, O_CLOEXEC);
	if (fd < 0) {
		unfinished[0] = '\0';
		return NULL;
	}
	ks_fmt(leftover, sizeof(leftover), "%s%s", path, unfinished + strlen(whole));
	atexit(remove_unfinished);
	remove_if_interrupted();
	mask = umask(0);
	umask(mask);
	return fchmod(fd, mode & ~mask) ? NULL : fdopen(fd, "w");
}

FILE *ks_output_open(const char *name, mode_t mode)
{
	char *path = follow(name);
	struct stat st;
	FILE *f;

	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		f = open_in_place(path, S_ISLNK(st.st_mode));
	else
		f = open_beside(path, mode);
	if (!f)
		ks_die("%s: %s", name, strerror(errno));
	free(path);
	return f;
}

void ks_output_close(FILE *f, const char *name)
{
	if (fclose(f) || (unfinished[0] && rename(unfinished, whole)))
		ks_die("%s: %s", name, strerror(errno));
	unfinished[0] = '\0';
}

int ks_output_temporary(void)
{
	char dir[32], name[48];
	int fd = open(ks_fmt(dir, sizeof(dir), "/proc/self/fd/%d", directory),
		      O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	fd = mkostemp(ks_fmt(name, sizeof(name), "%s/.kstall.XXXXXX", dir), O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}
