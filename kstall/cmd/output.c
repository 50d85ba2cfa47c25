// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "cmd/output.h"

/* The file under a name of its own until it is whole; NULL: it is written in place. */
static char *unfinished;

static void remove_unfinished(void)
{
	if (unfinished)
		unlink(unfinished);
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

static FILE *open_beside(const char *name, mode_t mode)
{
	size_t size = strlen(name) + sizeof(".XXXXXX");
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	unfinished = ks_fmt(ks_alloc(size), size, "%s.XXXXXX", name);
	fd = mkostemp(unfinished, O_CLOEXEC);
	if (fd < 0) {
		free(unfinished);
		unfinished = NULL;
		return NULL;
	}
	atexit(remove_unfinished);
	remove_if_interrupted();
	return fchmod(fd, mode & ~mask) ? NULL : fdopen(fd, "w");
}

FILE *ks_output_open(const char *name, mode_t mode)
{
	struct stat st;
	FILE *f = !stat(name, &st) && !S_ISREG(st.st_mode) ? fopen(name, "w") : open_beside(name, mode);

	if (!f)
		ks_die("%s: %s", name, strerror(errno));
	return f;
}

void ks_output_close(FILE *f, const char *name)
{
	char *path = realpath(name, NULL);	/* a link stays one */

	if (fclose(f) || (unfinished && rename(unfinished, path ? path : name)))
		ks_die("%s: %s", name, strerror(errno));
	unfinished = NULL;
	free(path);
}
