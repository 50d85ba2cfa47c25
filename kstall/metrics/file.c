// SPDX-License-Identifier: GPL-2.0
/* Files that are read whole, and files that are the old one or the new one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metrics/metric.h"

char *ks_file_read(const char *path)
{
	size_t room = 0, len = 0;
	char *text = NULL;
	FILE *f = fopen(path, "re");
	size_t n;
	int err;

	if (!f)
		return NULL;
	do {
		text = ks_grow(text, &room, len + 65536, 1);
		n = fread(text + len, 1, room - len - 1, f);
		len += n;
	} while (n);
	text[len] = '\0';
	err = ferror(f) ? errno : 0;
	fclose(f);
	if (!err)
		return text;
	free(text);
	errno = err;
	return NULL;
}

int ks_read_error(void)
{
	return errno == ENOENT || errno == ENODEV ? 0 : errno;
}

static bool put(const char *path, const char *text, size_t len)
{
	ssize_t n;
	int fd;

	/* What is there may be a pipe, for which open() would wait, or another's file. */
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return false;
	/* node_exporter is another user, whatever the umask. */
	n = fchmod(fd, 0644);
	for (size_t at = 0; n >= 0 && at < len; at += n > 0 ? n : 0)
		n = write(fd, text + at, len - at);
	/* On some file systems there is no room only when it is closed. */
	return !(close(fd) | (n < 0));
}

bool ks_file_replace(const char *path, const char *text, size_t len)
{
	const char *name = strrchr(path, '/') + 1;
	char temporary[4096 + 8];
	int err;

	ks_fmt(temporary, sizeof(temporary), "%.*s.%s.new", (int)(name - path), path, name);
	if (put(temporary, text, len) && !rename(temporary, path))
		return true;
	err = errno;
	unlink(temporary);
	errno = err;
	return false;
}
