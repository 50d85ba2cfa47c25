// SPDX-License-Identifier: GPL-2.0
/* kstall recorder status, events, setup-crash. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "recorder/recorder.h"

#define MAX_NAME 16	/* RESERVE_MEM_NAME_SIZE in the kernel's mm/memblock.c, with NUL */

/* The kernel takes no longer one; what is left out is in the last four digits. */
static void short_name(char buf[MAX_NAME], const char *ring)
{
	const char *name = ring + strlen("kstall-");
	u16 sum = 0;

	if (strlen(name) < MAX_NAME - strlen("ks_")) {
		ks_fmt(buf, MAX_NAME, "ks_%s", name);
		return;
	}
	for (const char *c = name; *c; c++)
		sum = sum * 31 + *c;
	ks_fmt(buf, MAX_NAME, "ks_%.8s%04x", name, sum);
}

static bool recorded(const struct ks_rec_config *c, struct ks_ring *ring, int *nr)
{
	char path[256];

	*nr = 0;
	for (size_t i = 0; i < c->nr_events; i++) {
		const struct ks_rec_event *e = &c->events[i];

		ks_fmt(path, sizeof(path), "events/%s/%s/enable", e->system, e->name);
		*nr += ks_ring_file_is(ring, path, "1");
	}
	return *nr && ks_ring_file_is(ring, "tracing_on", "1");
}

static bool print_ring(const struct ks_rec_config *c, struct ks_ring *ring)
{
	struct ks_ring_stats s;
	int nr;
	bool on = recorded(c, ring, &nr);

	if (!ks_ring_stats(ring->in, &s))
		ks_die("%s: its records cannot be counted: %s", ring->name, strerror(errno));
	printf("%-18s %-9s %2d events on, %llu records, %llu lost to newer ones%s\n", ring->name,
	       on ? "recording" : "idle", nr, (unsigned long long)s.entries,
	       (unsigned long long)s.lost, ring->kept ? ", survives a reboot" : "");
	return on;
}

static u64 memory_kib(struct ks_rings *r)
{
	u64 sum = 0;
	char *text;

	for (int i = 0; i < r->nr; i++) {
		text = ks_ring_text(r->ring[i].in, "buffer_total_size_kb");
		sum += text ? strtoull(text, NULL, 10) : 0;
		free(text);
	}
	return sum;
}

static void print_absent(const struct ks_rec_config *c)
{
	const char *last = "";

	for (size_t i = 0; i < c->nr_events; i++) {
		const char *system = c->events[i].system;

		if (strcmp(last, system) && !ks_rec_has_system(system) && !ks_rec_is_absent_driver(system))
			printf("%s: its module is not loaded, nothing of it is recorded\n", system);
		last = system;
	}
}

static void print_nvidia(void)
{
	if (!access("/sys/module/nvidia", F_OK) && ks_rec_is_absent_driver("nvidia"))
		puts("nvidia: this driver has no nvidia_dev_xid (575 has it): Xids are in the kernel's log only");
}

static void print_copies(const char *dir)
{
	static const char *const kinds[] = { "last-boot-", "snapshot-" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		char **list = ks_copies(dir, kinds[i]);

		for (char **p = list; *p; p++)
			printf("copy %s/%s\n", dir, *p);
		ks_copies_free(list);
	}
}

int ks_rec_status(const struct ks_rec_config *c)
{
	struct ks_rings r;
	bool any = false;

	ks_rec_check_dir(c->dir);
	ks_rings_open(&r, c, false);
	for (int i = 0; i < r.nr; i++)
		any |= print_ring(c, &r.ring[i]);
	if (r.nr)
		printf("%d rings take %llu KiB of memory\n", r.nr, (unsigned long long)memory_kib(&r));
	print_absent(c);
	print_nvidia();
	if (!ks_armed_is_now(c->dir))
		puts(any ? "no copies are made: the formats of this boot are not kept on the disk" :
		     "the recorder has not been started in this boot");
	print_copies(c->dir);
	ks_rings_close(&r);
	return any ? 0 : 3;
}

/* ---- events ---- */

static char *when_text(char *buf, size_t size, const struct ks_rec_event *e)
{
	char time[32];

	switch (e->when) {
	case KS_REC_OFF:
		return ks_fmt(buf, size, "off");
	case KS_REC_ALWAYS:
		return ks_fmt(buf, size, "always");
	case KS_REC_ABOVE:
		return ks_fmt(buf, size, "above %s", ks_time(time, e->ns));
	default:
		return ks_fmt(buf, size, "if %s", e->filter);
	}
}

void ks_rec_print_events(const struct ks_rec_config *c)
{
	char name[256], when[256];

	printf("%-44s %-15s %-7s %s\n", "event", "recorded", "trigger", "while on, its hooks run at each");
	for (size_t i = 0; i < c->nr_events; i++) {
		const struct ks_rec_event *e = &c->events[i];

		ks_fmt(name, sizeof(name), "%s:%s", e->system, e->name);
		printf("%-44s %-15s %-7s %s\n", name, when_text(when, sizeof(when), e),
		       e->trigger ? "yes" : "-", e->cost ? e->cost : "?");
	}
}

/* ---- setup-crash ---- */

#define MAX_CMDLINE 65536	/* no architecture has a longer one */
#define MAX_RESERVED 8	/* RESERVE_MEM_MAX_ENTRIES in the kernel's mm/memblock.c */

static FILE *open_proc(const char *path)
{
	FILE *f = fopen(path, "r");

	if (!f)
		ks_die("%s: %s", path, strerror(errno));
	return f;
}

static char *read_cmdline(void)
{
	FILE *f = open_proc("/proc/cmdline");
	char *text = ks_alloc(MAX_CMDLINE);

	if (!fgets(text, MAX_CMDLINE, f))
		*text = '\0';
	fclose(f);
	return text;
}

static bool has_symbol(const char *name)
{
	FILE *f = open_proc("/proc/kallsyms");
	char *line = NULL, *at;
	size_t size = 0;
	bool found = false;

	while (!found && getline(&line, &size, f) > 0) {
		at = strstr(line, name);
		found = at && at[-1] == ' ' && strchr("\n\t ", at[strlen(name)]);
	}
	free(line);
	fclose(f);
	return found;
}

static void print_line(void *priv, const char *line)
{
	(void)priv;
	printf("  the kernel says: %s\n", line);
}

/* Of "trace_instance=NAME^FLAGS@MEMORY ..." the memory's name is too long for the kernel. */
static bool has_long_memory(const char *entry)
{
	size_t name = strcspn(entry, "@ \n");

	return entry[name] == '@' && strcspn(entry + name + 1, ", \n") >= MAX_NAME;
}

/* What the ring's line of the command line has come to. */
static int check_ring(const char *name, const char *cmdline, struct ks_rings *r)
{
	char entry[80];
	const char *at;
	bool kept = false;

	for (int i = 0; i < r->nr; i++)
		kept |= !strcmp(r->ring[i].name, name) && r->ring[i].kept;
	ks_fmt(entry, sizeof(entry), "trace_instance=%s", name);
	at = strstr(cmdline, entry);
	if (!at) {
		printf("%s: not on the command line of this boot\n", name);
		return 1;
	}
	if (has_long_memory(at)) {
		printf("%s: reserve_mem= takes a name of less than %d bytes, and its memory has a longer one\n", name, MAX_NAME);
		return 1;
	}
	if (!kept) {
		printf("%s: on the command line, but its memory was not reserved\n", name);
		ks_kernel_log("reserve_mem", print_line, NULL);
		ks_kernel_log("Tracing: Failed", print_line, NULL);
		return 1;
	}
	ks_fmt(entry, sizeof(entry), "trace_instance=%s^traceoff@", name);
	printf("%s: in place%s\n", name,
	       strstr(cmdline, entry) ? "" :
	       ", but without ^traceoff: events of the next boot may be mixed into the last one's");
	return 0;
}

static u64 reserve_kib(const struct ks_rec_config *c)
{
	u64 want = ks_rec_ring_kib(c) * sysconf(_SC_NPROCESSORS_CONF), kib = 1024;

	while (kib < want)
		kib *= 2;
	return kib;
}

static void print_entry(const struct ks_rec_config *c, const char *name)
{
	char reserve[MAX_NAME];

	short_name(reserve, name);
	printf("reserve_mem=%lluM:4096:%s trace_instance=%s^traceoff@%s ",
	       (unsigned long long)reserve_kib(c) / 1024, reserve, name, reserve);
}

struct names {
	char name[KS_MAX_RINGS][40];
	int nr;
};

static void add_name(struct names *n, const char *name)
{
	for (int i = 0; i < n->nr; i++) {
		if (!strcmp(n->name[i], name))
			return;
	}
	if (n->nr < KS_MAX_RINGS)
		strcpy(n->name[n->nr++], name);
}

static void add_rings(struct names *n, const struct ks_rec_config *c, bool used)
{
	char name[40];

	for (size_t i = 0; i < c->nr_events; i++) {
		struct ks_rec_event e = c->events[i];

		if ((used && e.when != KS_REC_ALWAYS) || ks_rec_is_absent_driver(e.system))
			continue;
		e.when = KS_REC_ALWAYS;
		add_name(n, ks_ring_name(name, sizeof(name), &e));
	}
}

/* Those with errors first, those that nothing is recorded in last: there is not room for any number. */
static void rings_by_worth(struct names *n, const struct ks_rec_config *c)
{
	n->nr = 0;
	add_rings(n, c, true);
	add_name(n, "kstall-slow");
	add_rings(n, c, false);
}

static void print_left_out(const struct names *n)
{
	if (n->nr <= MAX_RESERVED)
		return;
	printf("The kernel reserves memory %d times at most: there is none for %s", MAX_RESERVED,
	       n->name[MAX_RESERVED]);
	for (int i = MAX_RESERVED + 1; i < n->nr; i++)
		printf(", %s", n->name[i]);
	puts(", of which a crash leaves nothing.\n");
}

int ks_rec_setup_crash(const struct ks_rec_config *c)
{
	char *cmdline = read_cmdline();
	int missing = 0, nr;
	struct utsname u;
	struct names n;
	struct ks_rings r;

	uname(&u);
	if (!has_symbol("reserve_mem_find_by_name")) {
		printf("This kernel (%s) cannot keep the rings across a crash: it takes 6.12 or later with reserve_mem=. All else of the recorder works, copies on the disk included.\n",
		       u.release);
		free(cmdline);
		return 1;
	}
	puts("The kernel's command line, in one line (on Debian: GRUB_CMDLINE_LINUX in /etc/default/grub, then update-grub):\n");
	rings_by_worth(&n, c);
	nr = n.nr < MAX_RESERVED ? n.nr : MAX_RESERVED;
	for (int i = 0; i < nr; i++)
		print_entry(c, n.name[i]);
	puts("nokaslr\n\nWithout nokaslr the memory may be found elsewhere after the reboot; then last-boot says that nothing is left.\n");
	print_left_out(&n);
	ks_rings_open(&r, c, false);
	for (int i = 0; i < nr; i++)
		missing += check_ring(n.name[i], cmdline, &r);
	if (!missing && !strstr(cmdline, "nokaslr"))
		puts("without nokaslr: the memory may move");
	ks_rings_close(&r);
	free(cmdline);
	return missing ? 1 : 0;
}
