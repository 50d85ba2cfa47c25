// SPDX-License-Identifier: GPL-2.0
/*
 * LD_PRELOAD for kstall: what does not happen on a test's machine. KS_FAIL="NAME ERRNO": enabling the event
 * NAME, reading from or appending to the file NAME of tracefs, opening the file or directory NAME, or the call NAME (pwrite)
 * fails. KS_CPUS, KS_PAGES: so many CPUs are online, so many pages of memory there are. KS_LOG: a file that gets
 * a line "NAME" for each append. KS_FULL: a command that runs before a write to a full disk returns.
 * KS_TRACEFS: a directory that is tracefs. KS_SECCOMP: a process that puts itself under a filter dies of SIGSEGV.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tracefs.h>

static int fails(const char *name)
{
	const char *fail = getenv("KS_FAIL");
	size_t n = strlen(name);

	if (!fail || strncmp(fail, name, n) || fail[n] != ' ')
		return 0;
	errno = atoi(fail + n);
	return 1;
}

static void note(const char *name)
{
	const char *log = getenv("KS_LOG");
	FILE *f = log ? fopen(log, "a") : NULL;

	if (!f)
		return;
	fprintf(f, "%s\n", name);
	fclose(f);
}

int tracefs_event_file_write(struct tracefs_instance *in, const char *system, const char *event,
			     const char *file, const char *str)
{
	int (*real)(struct tracefs_instance *, const char *, const char *, const char *, const char *) =
		dlsym(RTLD_NEXT, __func__);

	return !strcmp(file, "enable") && fails(event) ? -1 : real(in, system, event, file, str);
}

int tracefs_instance_file_append(struct tracefs_instance *in, const char *file, const char *str)
{
	int (*real)(struct tracefs_instance *, const char *, const char *) = dlsym(RTLD_NEXT, __func__);

	note(file);
	return fails(file) ? -1 : real(in, file, str);
}

char *tracefs_instance_file_read(struct tracefs_instance *in, const char *file, int *size)
{
	__typeof__(tracefs_instance_file_read) *real = dlsym(RTLD_NEXT, __func__);

	return fails(file) ? NULL : real(in, file, size);
}

int tracefs_instance_file_open(struct tracefs_instance *in, const char *file, int mode)
{
	__typeof__(tracefs_instance_file_open) *real = dlsym(RTLD_NEXT, __func__);

	return fails(file) ? -1 : real(in, file, mode);
}

struct tracefs_instance *tracefs_instance_create(const char *name)
{
	__typeof__(tracefs_instance_create) *real = dlsym(RTLD_NEXT, __func__);
	const char *dir = getenv("KS_TRACEFS");
	char path[4096];

	if (!dir)
		return real(name);
	snprintf(path, sizeof(path), "%s/instances/%s", dir, name);
	mkdir(path, 0700);
	return tracefs_instance_alloc(dir, name);
}

int open(const char *path, int flags, ...)
{
	__typeof__(open) *real = dlsym(RTLD_NEXT, __func__);
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	return fails(path) ? -1 : real(path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	__typeof__(fopen) *real = dlsym(RTLD_NEXT, __func__);

	return fails(path) ? NULL : real(path, mode);
}

DIR *opendir(const char *path)
{
	__typeof__(opendir) *real = dlsym(RTLD_NEXT, __func__);

	return fails(path) ? NULL : real(path);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t at)
{
	__typeof__(pwrite) *real = dlsym(RTLD_NEXT, __func__);
	const char *meanwhile = getenv("KS_FULL");
	ssize_t w;

	if (fails("pwrite"))
		return -1;
	w = real(fd, buf, n, at);
	if (w < 0 && errno == ENOSPC && meanwhile)
		errno = system(meanwhile) ? EIO : ENOSPC;
	return w;
}

int prctl(int option, ...)
{
	__typeof__(prctl) *real = dlsym(RTLD_NEXT, __func__);
	unsigned long arg[4];
	va_list ap;

	va_start(ap, option);
	for (int i = 0; i < 4; i++)
		arg[i] = va_arg(ap, unsigned long);
	va_end(ap);
	if (option == PR_SET_SECCOMP && getenv("KS_SECCOMP"))
		raise(SIGSEGV);
	return real(option, arg[0], arg[1], arg[2], arg[3]);
}

long sysconf(int name)
{
	long (*real)(int) = dlsym(RTLD_NEXT, __func__);
	const char *v = name == _SC_NPROCESSORS_ONLN ? getenv("KS_CPUS")
			: name == _SC_PHYS_PAGES     ? getenv("KS_PAGES")
						     : NULL;

	return v ? atol(v) : real(name);
}

static __attribute__((constructor)) void elsewhere(void)
{
	if (getenv("KS_TRACEFS"))
		tracefs_set_tracing_dir(getenv("KS_TRACEFS"));
}
