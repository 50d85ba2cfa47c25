// SPDX-License-Identifier: GPL-2.0
/*
 * Copies of the rings. To read a ring's pages is to take them out, so each goes to a file of its
 * own first, below ".part.NAME"; of these the copy is made, which gets its name when it is whole
 * and on the disk. The next process finishes what a killed one had begun.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "recorder/recorder.h"
#include "trace/datfile.h"

#define PAGE 4096
#define PART ".part."

/* At the copy's very end, behind what trace-cmd reads. */
struct trailer {
	u64 about_bytes;
	char magic[8];
};

static const char magic[8] = "kstall1\n";

/* ---- what it says of itself ---- */

void ks_about_add(struct ks_about *a, const char *key, const char *fmt, ...)
{
	char value[1024];
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	n = a->size + strlen(key) + strlen(value) + 3;
	a->text = ks_grow(a->text, &a->room, n, 1);
	a->size += sprintf(a->text + a->size, "%s %s\n", key, value);
}

const char *ks_about_find(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (; text && *text; text = strchr(text, '\n'), text = text ? text + 1 : NULL) {
		if (!strncmp(text, key, n) && text[n] == ' ')
			return text + n + 1;
	}
	return NULL;
}

char *ks_about_get(char *buf, size_t size, const char *text, const char *key)
{
	const char *value = ks_about_find(text, key);

	return value ? ks_fmt(buf, size, "%.*s", (int)strcspn(value, "\n"), value) : buf;
}

/* ---- files ---- */

static void __attribute__((noreturn)) failed(const char *path)
{
	ks_die("%s: %s", path, strerror(errno));
}

void ks_sync_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd))
		failed(path);
	close(fd);
}

static bool make_dirs(const char *dir)
{
	char path[PATH_MAX];

	ks_fmt(path, sizeof(path), "%s", dir);
	for (char *p = path + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			return false;
	}
	return !mkdir(path, 0700) || errno == EEXIST;
}

void ks_rec_mkdir(const char *dir)
{
	if (!make_dirs(dir))
		failed(dir);
}

/* A user who may change names in one above could put another directory in its place. Of /tmp (sticky) only owners may. */
static void check_above(const char *dir)
{
	char path[PATH_MAX], *slash;
	struct stat st;

	if (!realpath(dir, path))
		failed(dir);
	while ((slash = strrchr(path, '/')) && path[1]) {
		slash[slash == path] = '\0';
		if (stat(path, &st))
			failed(path);
		if ((st.st_uid && st.st_uid != geteuid()) || (st.st_mode & 022 && !(st.st_mode & S_ISVTX)))
			ks_die("%s: others may change names in %s, who could put another directory in its place", dir, path);
	}
}

/* Another user who may change names in it could have root write to any file. */
static void check_owner(const char *dir, const struct stat *st)
{
	if (st->st_uid && st->st_uid != geteuid())
		ks_die("%s: it belongs to user %u, who could put links in it (chown root)", dir,
		       st->st_uid);
	if (st->st_mode & 022)
		ks_die("%s: others may write to it, who could put links in it (chmod go-w)", dir);
	check_above(dir);
}

void ks_rec_check_dir(const char *dir)
{
	struct stat st;

	if (!stat(dir, &st))
		check_owner(dir, &st);
}

FILE *ks_rec_fopen(const char *path, int flags)
{
	int fd = open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? NULL : fdopen(fd, flags & O_WRONLY ? "w" : "r");
}

static int lock_fd = -1;

/* The directory itself: a file might find no room. */
static bool open_lock(const char *dir)
{
	struct stat st;

	if (lock_fd >= 0)
		return true;
	umask(077);	/* whatever is made here is root's only */
	if (make_dirs(dir))
		lock_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock_fd < 0 || fstat(lock_fd, &st))
		return false;
	check_owner(dir, &st);
	return true;
}

static void lock(const char *dir)
{
	while (flock(lock_fd, LOCK_EX)) {
		if (errno != EINTR)
			failed(dir);
	}
}

bool ks_rec_lock_if(const char *dir)
{
	if (!open_lock(dir)) {
		ks_warn("%s: %s", dir, strerror(errno));
		return false;
	}
	lock(dir);
	return true;
}

void ks_rec_lock(const char *dir)
{
	if (!open_lock(dir))
		failed(dir);
	lock(dir);
}

void ks_rec_unlock(void)
{
	if (lock_fd >= 0)
		flock(lock_fd, LOCK_UN);
}

/* NULL: there is none. */
static DIR *open_dir(const char *path)
{
	DIR *d = opendir(path);

	if (!d && errno != ENOENT && errno != ENOTDIR)
		failed(path);
	return d;
}

/* NULL: there is none. */
static char *read_file(const char *path, size_t *size)
{
	FILE *f = ks_rec_fopen(path, O_RDONLY);
	struct stat st;
	char *text;

	if (!f && errno == ENOENT)
		return NULL;
	if (!f || fstat(fileno(f), &st))
		failed(path);
	text = ks_alloc(st.st_size + 1);
	*size = fread(text, 1, st.st_size, f);
	if (ferror(f))
		failed(path);
	fclose(f);
	return text;
}

static void write_whole(const char *dir, const char *name, const void *data, size_t size)
{
	char path[PATH_MAX], new[PATH_MAX];
	FILE *f;

	ks_fmt(path, sizeof(path), "%s/%s", dir, name);
	f = ks_rec_fopen(ks_fmt(new, sizeof(new), "%s/new", dir), O_WRONLY | O_CREAT | O_TRUNC);
	if (!f || (size && fwrite(data, size, 1, f) != 1) || fflush(f) || fsync(fileno(f)) ||
	    fclose(f) || rename(new, path))
		failed(path);
	ks_sync_dir(dir);
}

/* ---- taking pages ---- */

/*
 * The kernel writes the page where the file is, so that there is no moment in which it has left
 * the ring and is in this process only. The disk has room for it before, or it would leave the
 * ring and be nowhere. Returns 0 at the end, and less if the ring cannot be read.
 */
static int take_page(int in, int out, off_t at, const char *path)
{
	char *page;
	ssize_t n;
	int err;

	do {
		err = posix_fallocate(out, at, PAGE);
	} while (err == EINTR);
	if (err) {
		errno = err;
		failed(path);
	}
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, out, at);
	if (page == MAP_FAILED)
		failed(path);
	n = read(in, page, PAGE);
	err = n < 0 && errno != EAGAIN ? errno : 0;
	munmap(page, PAGE);
	if (n > 0)
		return 1;
	if (ftruncate(out, at))
		failed(path);
	errno = err;
	return err ? -1 : 0;
}

static bool not_taken(const struct ks_ring *ring, const char *file, struct ks_about *about)
{
	int err = errno;

	ks_warn("%s: %s is not copied: %s", ring->name, file, strerror(err));
	ks_about_add(about, "note", "%s: %s is not in this copy, or not all of it: %s", ring->name,
		     file, strerror(err));
	return false;
}

static bool take_cpu(const struct ks_ring *ring, int cpu, const char *part, struct ks_about *about)
{
	char file[PATH_MAX], path[PATH_MAX];
	int in, out, got;
	bool all = true;
	off_t at;

	in = tracefs_instance_file_open(
		ring->in, ks_fmt(file, sizeof(file), "per_cpu/cpu%d/trace_pipe_raw", cpu),
		O_RDONLY | O_NONBLOCK);
	if (in < 0)
		return not_taken(ring, file, about);
	out = open(ks_fmt(path, sizeof(path), "%s/%s@%d", part, ring->name, cpu),
		   O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		failed(path);
	at = lseek(out, 0, SEEK_END);
	while ((got = take_page(in, out, at, path)) > 0)
		at += PAGE;
	if (got < 0)
		all = not_taken(ring, file, about);
	if (fsync(out))
		failed(path);
	close(out);
	close(in);
	return all;
}

static bool take(const struct ks_rings *r, bool last_only, int cpus, const char *part,
		 struct ks_about *about)
{
	bool all = true;

	for (int i = 0; i < r->nr; i++) {
		if (last_only && !r->ring[i].last)
			continue;
		for (int c = 0; c < cpus; c++) {
			struct ks_ring_stats s = { 0 };

			if (!ks_ring_cpu_stats(r->ring[i].in, c, &s) || s.entries)
				all &= take_cpu(&r->ring[i], c, part, about);
		}
	}
	return all;
}

/* ---- from the parts to the copy ---- */

struct pages {
	struct ks_dat_buffer buffer[KS_MAX_RINGS];
	char name[KS_MAX_RINGS][48];
	int nr, cpus;
};

static struct ks_dat_cpu *find_cpu(struct pages *p, const char *name, int cpu)
{
	int i = 0;

	while (i < p->nr && strcmp(p->name[i], name))
		i++;
	if (i == KS_MAX_RINGS || cpu < 0 || cpu >= p->cpus)
		return NULL;
	if (i == p->nr) {
		ks_fmt(p->name[i], sizeof(p->name[i]), "%s", name);
		p->buffer[i].name = p->name[i];
		p->buffer[i].cpu = ks_alloc(p->cpus * sizeof(*p->buffer[i].cpu));
		p->nr++;
	}
	return &p->buffer[i].cpu[cpu];
}

/* Made to be filled by a process that was killed before it was. A page begins with its time. */
static bool is_blank(int fd, off_t at)
{
	u64 time;

	return pread(fd, &time, sizeof(time), at) != sizeof(time) || !time;
}

static u64 pages_in(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	u64 bytes;

	if (fd < 0 || fstat(fd, &st))
		failed(path);
	bytes = st.st_size;
	if (bytes && is_blank(fd, bytes - PAGE))
		bytes -= PAGE;
	close(fd);
	return bytes;
}

static void find_pages(struct pages *p, const char *part)
{
	DIR *d = open_dir(part);
	char path[PATH_MAX], name[256];
	struct ks_dat_cpu *c;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *at;

		ks_fmt(name, sizeof(name), "%s", e->d_name);
		at = strchr(name, '@');
		if (!at)
			continue;
		*at = '\0';
		c = find_cpu(p, name, atoi(at + 1));
		if (!c)
			continue;
		c->path = ks_strdup(ks_fmt(path, sizeof(path), "%s/%s", part, e->d_name));
		c->bytes = pages_in(path);
	}
	if (d)
		closedir(d);
}

static void free_pages(struct pages *p)
{
	for (int i = 0; i < p->nr; i++) {
		for (int c = 0; c < p->cpus; c++)
			free(p->buffer[i].cpu[c].path);
		free(p->buffer[i].cpu);
	}
}

static void build(const char *part, const char *to, const char *head, size_t head_bytes,
		  const char *about, size_t about_bytes)
{
	struct trailer t = { about_bytes };
	struct pages p = { .nr = 0 };
	char path[PATH_MAX], cpus[16] = "";
	FILE *f = ks_rec_fopen(ks_fmt(path, sizeof(path), "%s/new", part), O_WRONLY | O_CREAT | O_TRUNC);

	if (!f)
		failed(path);
	p.cpus = atoi(ks_about_get(cpus, sizeof(cpus), about, "cpus"));
	find_pages(&p, part);
	if (fwrite(head, head_bytes, 1, f) != 1)
		failed(path);
	ks_dat_body(f, path, p.cpus, p.buffer, p.nr);
	free_pages(&p);
	memcpy(t.magic, magic, sizeof(magic));
	if (fseeko(f, 0, SEEK_END) || fwrite(about, about_bytes, 1, f) != 1 ||
	    fwrite(&t, sizeof(t), 1, f) != 1 || fflush(f) || fsync(fileno(f)) || fclose(f))
		failed(path);
	if (rename(path, to))
		failed(to);
}

/* The head last: with it go on, without it there is nothing to go on with. */
static void remove_part(const char *part)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *d;

	unlink(ks_fmt(path, sizeof(path), "%s/head", part));
	ks_sync_dir(part);
	d = open_dir(part);
	while (d && (e = readdir(d))) {
		if (*e->d_name != '.')
			unlink(ks_fmt(path, sizeof(path), "%s/%s", part, e->d_name));
	}
	if (d)
		closedir(d);
	if (rmdir(part))
		failed(part);
}

static void finish(const char *dir, const char *name)
{
	char part[PATH_MAX], path[PATH_MAX + 16], to[PATH_MAX];
	size_t head_bytes, about_bytes;
	char *head, *about;

	ks_fmt(part, sizeof(part), "%s/" PART "%s", dir, name);
	head = read_file(ks_fmt(path, sizeof(path), "%s/head", part), &head_bytes);
	about = read_file(ks_fmt(path, sizeof(path), "%s/about", part), &about_bytes);
	if (head && about && head_bytes && about_bytes) {
		build(part, ks_fmt(to, sizeof(to), "%s/%s", dir, name), head, head_bytes, about,
		      about_bytes);
		ks_sync_dir(dir);
	}
	free(head);
	free(about);
	remove_part(part);
}

void ks_copies_finish(const char *dir)
{
	DIR *d = open_dir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (!strncmp(e->d_name, PART, strlen(PART)))
			finish(dir, e->d_name + strlen(PART));
	}
	if (d)
		closedir(d);
}

bool ks_copy_make(const char *dir, const char *name, const struct ks_rings *r, bool last_only,
		  const struct ks_armed *armed, struct ks_about *about)
{
	char part[PATH_MAX];
	bool all;

	ks_about_add(about, "cpus", "%d", armed->cpus);
	ks_fmt(part, sizeof(part), "%s/" PART "%s", dir, name);
	if (mkdir(part, 0700) && errno != EEXIST)
		failed(part);
	write_whole(part, "about", about->text, about->size);
	write_whole(part, "head", armed->head, armed->head_bytes);
	ks_sync_dir(dir);
	all = take(r, last_only, armed->cpus, part, about);
	if (!all)
		write_whole(part, "about", about->text, about->size);
	finish(dir, name);
	free(about->text);
	memset(about, 0, sizeof(*about));
	return all;
}

/* ---- those that there are ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **ks_copies(const char *dir, const char *prefix)
{
	size_t nr = 0, room = 0;
	char **list = ks_grow(NULL, &room, 1, sizeof(*list));
	DIR *d = open_dir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, prefix, strlen(prefix)) || !strstr(e->d_name, ".dat"))
			continue;
		list = ks_grow(list, &room, nr + 2, sizeof(*list));
		list[nr++] = ks_strdup(e->d_name);
	}
	if (d)
		closedir(d);
	qsort(list, nr, sizeof(*list), by_name);
	list[nr] = NULL;
	return list;
}

void ks_copies_free(char **list)
{
	for (char **p = list; *p; p++)
		free(*p);
	free(list);
}

void ks_copies_limit(const char *dir, const char *prefix, u64 keep, const char *made)
{
	char **list = ks_copies(dir, prefix), path[PATH_MAX];
	u64 nr = 0;

	while (list[nr])
		nr++;
	for (u64 i = 0; list[i] && nr > keep; i++) {
		if (!strcmp(list[i], made))
			continue;
		nr--;
		if (unlink(ks_fmt(path, sizeof(path), "%s/%s", dir, list[i])))
			ks_warn("%s: %s", path, strerror(errno));
	}
	ks_copies_free(list);
}

char *ks_copy_about(const char *file)
{
	FILE *f = fopen(file, "r");
	char *text = NULL;
	struct trailer t;

	if (!f)
		failed(file);
	if (!fseeko(f, -(off_t)sizeof(t), SEEK_END) && fread(&t, sizeof(t), 1, f) == 1 &&
	    !memcmp(t.magic, magic, sizeof(magic)) && t.about_bytes < 1 << 20 &&
	    !fseeko(f, -(off_t)(sizeof(t) + t.about_bytes), SEEK_END)) {
		text = ks_alloc(t.about_bytes + 1);
		if (fread(text, 1, t.about_bytes, f) != t.about_bytes)
			failed(file);
	}
	fclose(f);
	return text;
}

static bool too_soon(const struct ks_rec_config *c, const char *cause)
{
	char **list = ks_copies(c->dir, "snapshot-"), path[PATH_MAX], end[80];
	bool soon = false;
	struct stat st;

	ks_fmt(end, sizeof(end), "-%s.dat", cause);
	for (char **p = list; *p; p++) {
		char *at = strstr(*p, end);

		soon |= at && !at[strlen(end)] &&
			!stat(ks_fmt(path, sizeof(path), "%s/%s", c->dir, *p), &st) &&
			(u64)llabs((long long)time(NULL) - st.st_mtime) * NSEC < c->every;
	}
	ks_copies_free(list);
	return soon;
}

static void tell_lost(struct ks_about *about, const struct ks_rings *r)
{
	struct ks_ring_stats s;

	for (int i = 0; i < r->nr; i++) {
		if (!ks_ring_stats(r->ring[i].in, &s))
			ks_about_add(about, "note", "%s: whether older events were lost cannot be read: %s",
				     r->ring[i].name, strerror(errno));
		else if (s.lost)
			ks_about_add(about, "note", "%s: %llu older events lost since boot, it ran full",
				     r->ring[i].name, (unsigned long long)s.lost);
	}
}

void ks_rec_require(const struct ks_rec_config *c, struct ks_armed *armed)
{
	if (!ks_armed_read(armed, c->dir) || strcmp(armed->boot, ks_boot_id()))
		ks_die("the formats of this boot are not in %s: kstall recorder start keeps them there",
		       c->dir);
}

static void describe(struct ks_about *about, const char *cause, const struct ks_armed *armed,
		     const struct ks_rings *r)
{
	ks_about_add(about, "kind", "snapshot");
	ks_about_add(about, "cause", "%s", cause);
	ks_about_add(about, "boot", "%s", armed->boot);
	ks_about_add(about, "kernel", "%s", armed->kernel);
	ks_about_add(about, "real_ns", "%lld", (long long)ks_real_ns());
	ks_about_add(about, "modules", "%s", armed->modules);
	tell_lost(about, r);
}

static void snapshot(const struct ks_rec_config *c, const char *cause, char *path)
{
	struct ks_about about = { NULL };
	char name[160], when[32];
	struct ks_armed armed;
	struct ks_rings r;
	time_t now = time(NULL);

	ks_rec_require(c, &armed);
	ks_copies_finish(c->dir);
	ks_rings_open(&r, c, false);
	if (!r.nr)
		ks_die("no rings: kstall recorder start makes them");
	describe(&about, cause, &armed, &r);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", gmtime(&now));
	ks_fmt(name, sizeof(name), "snapshot-%s-%06u-%s.dat", when,
	       (unsigned int)(ks_mono_ns() / 1000 % 1000000), cause);
	ks_copy_make(c->dir, name, &r, false, &armed, &about);
	for (int i = 0; i < r.nr; i++) {
		if (r.ring[i].kept)	/* its clock has to be known from what comes now, too */
			ks_ring_mark(&r.ring[i]);
	}
	ks_copies_limit(c->dir, "snapshot-", c->keep, name);
	if (path)
		ks_fmt(path, PATH_MAX, "%s/%s", c->dir, name);
	ks_rings_close(&r);
	ks_armed_free(&armed);
}

bool ks_rec_snapshot(const struct ks_rec_config *c, const char *cause, bool always, char *path)
{
	bool make;

	ks_rec_lock(c->dir);
	make = always || !too_soon(c, cause);
	if (make)
		snapshot(c, cause, path);
	ks_rec_unlock();
	return make;
}
