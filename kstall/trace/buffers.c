// SPDX-License-Identifier: GPL-2.0
/* The ring buffers of a session. A CPU that is not online has no memory of them. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "trace/session.h"

/* What a node can miss: of everybody's events there are fewer than of the job's. */
#define USUAL_KIB 8192ULL
#define MOST_KIB (1ULL << 20)
#define PART_OF_MEMORY 64

static void choose_sizes(size_t kib[KS_BUFFERS])
{
	u64 memory = (u64)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 1024;
	u64 cpu = min_u64(MOST_KIB, memory / PART_OF_MEMORY) / sysconf(_SC_NPROCESSORS_ONLN);

	kib[KS_JOB] = min_u64(USUAL_KIB, cpu * 2 / 3);
	kib[KS_ALL] = kib[KS_JOB] / 2;
	if (kib[KS_JOB] < USUAL_KIB)
		ks_warn("ring buffers of %zu and %zu KiB a CPU, not of %llu and %llu: all together take at most 1 GiB and 1/%d of memory (-b sets them)",
			kib[KS_JOB], kib[KS_ALL], USUAL_KIB, USUAL_KIB / 2, PART_OF_MEMORY);
}

static struct tracefs_instance *make(const char *id, int b, size_t kib)
{
	struct tracefs_instance *in;
	char name[KS_NAME];

	in = tracefs_instance_create(ks_buffer_name(name, id, b));
	if (!in)
		ks_die("no buffer %s: %s", name, strerror(errno));
	/* Not before, or what the size costs would be allocated twice. */
	if (tracefs_instance_set_buffer_size(in, kib, -1))
		ks_warn("buffers of %zu KiB are not to be had: %s", kib, strerror(errno));
	if (tracefs_instance_file_write(in, "trace_clock", "mono") < 0)
		ks_die("trace_clock: %s", strerror(errno));
	return in;
}

void ks_buffers_make(struct ks_session *s, size_t kib_a_cpu)
{
	size_t kib[KS_BUFFERS] = { [KS_JOB] = kib_a_cpu, [KS_ALL] = kib_a_cpu };

	if (!kib_a_cpu)
		choose_sizes(kib);
	s->buffer[KS_JOB] = make(s->id, KS_JOB, kib[KS_JOB]);
	s->buffer[KS_ALL] = make(s->id, KS_ALL, kib[KS_ALL]);
}

int ks_buffer_read(int cpu, int n)
{
	/* A CPU that never was online has no buffer. */
	if (n >= 0 || errno == EAGAIN || errno == EINTR || errno == ENODEV)
		return n > 0 ? n : 0;
	ks_die("the buffer of CPU %d: %s", cpu, strerror(errno));
}
