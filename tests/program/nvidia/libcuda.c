// SPDX-License-Identifier: GPL-2.0
/*
 * Plays libcuda for ../../device/train.py and ./torch: what it has to wait for takes as long as on a GPU, and it is waited for as CUDA
 * does it. The driver is mock_nvidia. The GPU is a time until which it is busy, and collectives that it takes part in.
 */
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "gpu.h"
#include "mock_nvidia.h"

#define NSEC		1000000000ULL
#define COPY_PER_US	8192	/* bytes of pageable memory */
#define PIN_PER_US	2900	/* bytes of pinned memory, in the driver */
#define PTX_PER_MS	1000	/* bytes of PTX that are compiled */
#define ALLOC_NS	300000

static int ctl = -1, uvm = -1, event = -1;
static _Atomic uint64_t busy_until;
static _Atomic int collectives;

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int waiting, asked;
} handler = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NSEC + t.tv_nsec;
}

void gpu_spin(uint64_t ns)
{
	uint64_t end = now() + ns;

	while (now() < end)
		;
}

static void call(int fd, unsigned long what, uint64_t ns)
{
	struct mock_nvidia arg = { .ns = ns };

	if (ioctl(fd, what, &arg))
		err(1, "mock_nvidia");
}

/* CUDA's own thread, which waits for the GPU on behalf of those who sleep. */
static void *handle_events(void *unused)
{
	struct pollfd p = { .fd = event, .events = POLLIN };

	pthread_mutex_lock(&handler.lock);
	for (;;) {
		while (!handler.asked)
			pthread_cond_wait(&handler.changed, &handler.lock);
		handler.asked = 0;
		pthread_mutex_unlock(&handler.lock);
		poll(&p, 1, -1);
		pthread_mutex_lock(&handler.lock);
		handler.waiting = 0;
		pthread_cond_broadcast(&handler.changed);
	}
	return unused;
}

int cuInit(unsigned int flags)
{
	pthread_t thread;

	(void)flags;
	ctl = open("/dev/nvidiactl", O_RDWR | O_CLOEXEC);
	event = open("/dev/nvidiactl", O_RDWR | O_CLOEXEC);
	uvm = open("/dev/nvidia-uvm", O_RDWR | O_CLOEXEC);
	if (ctl < 0 || event < 0 || uvm < 0)
		return 100;	/* CUDA_ERROR_NO_DEVICE */
	return pthread_create(&thread, NULL, handle_events, NULL) ? 999 : 0;
}

/* The stream, which has a kernel of @ns. */
int cuLaunchKernel(uint64_t ns)
{
	uint64_t begin = now();

	if (begin < busy_until)
		begin = busy_until;
	busy_until = begin + ns;
	return 0;
}

void gpu_collective_begins(void)
{
	collectives++;
}

void gpu_collective_ends(void)
{
	collectives--;
}

/* Spins, as CUDA does unless it was asked not to. */
int cuCtxSynchronize(void)
{
	while (collectives || now() < busy_until)
		;
	return 0;
}

/* Sleeps: an event that was made with cudaEventBlockingSync. */
int cuEventSynchronize(void *unused)
{
	uint64_t begin = now();

	(void)unused;
	if (begin >= busy_until)
		return 0;
	call(event, MOCK_RM_EVENT, busy_until - begin);
	pthread_mutex_lock(&handler.lock);
	handler.waiting = handler.asked = 1;
	pthread_cond_broadcast(&handler.changed);
	while (handler.waiting)
		pthread_cond_wait(&handler.changed, &handler.lock);
	pthread_mutex_unlock(&handler.lock);
	return 0;
}

/* Sleeps, too, so that a loop that does nothing but wait costs an emulator nothing. */
int cuStreamSynchronize(void *unused)
{
	return cuEventSynchronize(unused);
}

int cuMemcpyHtoD_v2(void *to, const void *from, size_t bytes)
{
	(void)to;
	(void)from;
	gpu_spin(bytes * 1000 / COPY_PER_US);
	return 0;
}

int cuMemAlloc_v2(void **memory, size_t bytes)
{
	*memory = (void *)bytes;
	call(ctl, MOCK_RM_ALLOC, ALLOC_NS);
	call(uvm, MOCK_UVM_MAP, ALLOC_NS);
	return 0;
}

int cuMemFree_v2(void *memory)
{
	(void)memory;
	call(ctl, MOCK_RM_FREE, ALLOC_NS);
	return 0;
}

int cuMemHostRegister_v2(void *memory, size_t bytes, unsigned int flags)
{
	(void)memory;
	(void)flags;
	call(ctl, MOCK_RM_ALLOC_MEMORY, bytes * 1000 / PIN_PER_US);
	return 0;
}

int cuMemHostUnregister(void *memory)
{
	(void)memory;
	call(ctl, MOCK_RM_FREE, ALLOC_NS);
	return 0;
}

int cuModuleLoadDataEx(void **module, const char *text, unsigned int nr, void *options, void **values)
{
	(void)nr;
	(void)options;
	(void)values;
	*module = NULL;
	gpu_spin(strlen(text) * 1000000 / PTX_PER_MS);
	return 0;
}

int cuModuleUnload(void *module)
{
	(void)module;
	return 0;
}
