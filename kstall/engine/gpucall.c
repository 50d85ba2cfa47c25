// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of the GPU's library, by uprobes on its functions. They make few system calls or none: a wait that spins, or a copy, is
 * the program's own code for the kernel. A call names what nothing inside it explains, and of calls inside calls the outermost does.
 */
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/gpucall.h"

/*
 * Of CUDA's names the version is that which programs are built with ("_v2" is the ABI's name where cuda.h has a macro for it); HIP's
 * are those of hip_runtime_api.h. What is polled (cuEventQuery, cuStreamQuery) or only queues (cuEventRecord) is not among them.
 */
static const struct ks_gpu_function functions[] = {
	{ "cuStreamSynchronize", KS_GPU_WAIT },
	{ "cuEventSynchronize", KS_GPU_WAIT },
	{ "cuCtxSynchronize", KS_GPU_WAIT },
	{ "cuMemcpyHtoD_v2", KS_COPY, 3, 0, "H2D" },
	{ "cuMemcpyHtoDAsync_v2", KS_COPY, 3, 0, "H2D" },
	{ "cuMemcpyDtoH_v2", KS_COPY, 3, 0, "D2H" },
	{ "cuMemcpyDtoHAsync_v2", KS_COPY, 3, 0, "D2H" },
	{ "cuMemcpyDtoD_v2", KS_COPY, 3, 0, "D2D" },
	{ "cuMemcpyDtoDAsync_v2", KS_COPY, 3, 0, "D2D" },
	{ "cuMemcpy", KS_COPY, 3, 0, "any" },
	{ "cuMemcpyAsync", KS_COPY, 3, 0, "any" },
	{ "cuMemcpyPeer", KS_COPY, 5, 0, "peer" },
	{ "cuMemcpyPeerAsync", KS_COPY, 5, 0, "peer" },
	{ "cuMemcpy2D_v2", KS_COPY, 0, 0, "2D" },
	{ "cuMemcpy2DUnaligned_v2", KS_COPY, 0, 0, "2D" },
	{ "cuMemcpy2DAsync_v2", KS_COPY, 0, 0, "2D" },
	{ "cuMemcpy3D_v2", KS_COPY, 0, 0, "3D" },
	{ "cuMemcpy3DAsync_v2", KS_COPY, 0, 0, "3D" },
	{ "cuMemcpyBatchAsync", KS_COPY, 0, 0, "batch" },
	{ "cuMemAlloc_v2", KS_GPU_MEM, 2, 0, "alloc" },
	{ "cuMemAllocPitch_v2", KS_GPU_MEM, 0, 0, "alloc" },
	{ "cuMemAllocAsync", KS_GPU_MEM, 2, 0, "alloc" },
	{ "cuMemAllocFromPoolAsync", KS_GPU_MEM, 2, 0, "alloc" },
	{ "cuMemAllocManaged", KS_GPU_MEM, 2, 0, "alloc" },
	{ "cuMemCreate", KS_GPU_MEM, 2, 0, "alloc" },
	{ "cuMemFree_v2", KS_GPU_MEM, 0, 0, "free" },
	{ "cuMemFreeAsync", KS_GPU_MEM, 0, 0, "free" },
	{ "cuMemRelease", KS_GPU_MEM, 0, 0, "free" },
	{ "cuMemMap", KS_GPU_MEM, 2, 0, "map" },
	{ "cuMemUnmap", KS_GPU_MEM, 2, 0, "unmap" },
	{ "cuMemSetAccess", KS_GPU_MEM, 2, 0, "map" },
	{ "cuMemPrefetchAsync", KS_GPU_MEM, 2, 0, "prefetch" },
	{ "cuMemHostAlloc", KS_PIN, 2, 0, "alloc" },
	{ "cuMemAllocHost_v2", KS_PIN, 2, 0, "alloc" },
	{ "cuMemHostRegister_v2", KS_PIN, 2, 0, "register" },
	{ "cuMemHostUnregister", KS_PIN, 0, 0, "unregister" },
	{ "cuMemFreeHost", KS_PIN, 0, 0, "free" },
	{ "cuModuleLoad", KS_GPU_LOAD, 0, 0, "module" },
	{ "cuModuleLoadData", KS_GPU_LOAD, 0, 0, "module" },
	{ "cuModuleLoadDataEx", KS_GPU_LOAD, 0, 0, "module" },
	{ "cuModuleLoadFatBinary", KS_GPU_LOAD, 0, 0, "module" },
	{ "cuModuleUnload", KS_GPU_LOAD, 0, 0, "unload" },
	{ "cuLibraryLoadData", KS_GPU_LOAD, 0, 0, "library" },
	{ "cuLibraryLoadFromFile", KS_GPU_LOAD, 0, 0, "library" },
	{ "cuLinkComplete", KS_GPU_LOAD, 0, 0, "link" },
	{ "cuModuleGetFunction", KS_GPU_LOAD, 0, 0, "function" },
	{ "cuLibraryGetKernel", KS_GPU_LOAD, 0, 0, "function" },
	{ "cuKernelGetFunction", KS_GPU_LOAD, 0, 0, "function" },
	{ "cuGraphInstantiate", KS_GPU_GRAPH, 0, 0, "instantiate" },
	{ "cuGraphInstantiateWithFlags", KS_GPU_GRAPH, 0, 0, "instantiate" },
	{ "cuGraphInstantiateWithParams", KS_GPU_GRAPH, 0, 0, "instantiate" },
	{ "cuGraphUpload", KS_GPU_GRAPH, 0, 0, "upload" },
	{ "cuGraphExecUpdate", KS_GPU_GRAPH, 0, 0, "update" },
	{ "cuGraphLaunch", KS_GPU_GRAPH, 0, 0, "launch" },
	{ "cuInit", KS_GPU_INIT },
	{ "cuDevicePrimaryCtxRetain", KS_GPU_INIT },
	{ "cuCtxCreate", KS_GPU_INIT },
	{ "cuIpcOpenMemHandle_v2", KS_GPU_INIT },
	{ "cuMulticastCreate", KS_GPU_INIT },
	{ "cuMulticastAddDevice", KS_GPU_INIT },
	{ "cuMulticastBindMem", KS_GPU_INIT },
	{ "cuLaunchKernel", KS_GPU_LAUNCH },
	{ "cuLaunchKernelEx", KS_GPU_LAUNCH },
	{ "cuLaunchCooperativeKernel", KS_GPU_LAUNCH },

	{ "hipStreamSynchronize", KS_GPU_WAIT },
	{ "hipEventSynchronize", KS_GPU_WAIT },
	{ "hipDeviceSynchronize", KS_GPU_WAIT },
	{ "hipCtxSynchronize", KS_GPU_WAIT },
	{ "hipMemcpy", KS_COPY, 3, 4 },
	{ "hipMemcpyAsync", KS_COPY, 3, 4 },
	{ "hipMemcpyWithStream", KS_COPY, 3, 4 },
	{ "hipMemcpyHtoD", KS_COPY, 3, 0, "H2D" },
	{ "hipMemcpyHtoDAsync", KS_COPY, 3, 0, "H2D" },
	{ "hipMemcpyDtoH", KS_COPY, 3, 0, "D2H" },
	{ "hipMemcpyDtoHAsync", KS_COPY, 3, 0, "D2H" },
	{ "hipMemcpyDtoD", KS_COPY, 3, 0, "D2D" },
	{ "hipMemcpyDtoDAsync", KS_COPY, 3, 0, "D2D" },
	{ "hipMemcpyPeer", KS_COPY, 5, 0, "peer" },
	{ "hipMemcpyPeerAsync", KS_COPY, 5, 0, "peer" },
	{ "hipMemcpy2D", KS_COPY, 0, 0, "2D" },
	{ "hipMemcpy2DAsync", KS_COPY, 0, 0, "2D" },
	{ "hipMemcpy3D", KS_COPY, 0, 0, "3D" },
	{ "hipMemcpy3DAsync", KS_COPY, 0, 0, "3D" },
	{ "hipMalloc", KS_GPU_MEM, 2, 0, "alloc" },
	{ "hipExtMallocWithFlags", KS_GPU_MEM, 2, 0, "alloc" },
	{ "hipMallocAsync", KS_GPU_MEM, 2, 0, "alloc" },
	{ "hipMallocManaged", KS_GPU_MEM, 2, 0, "alloc" },
	{ "hipMallocPitch", KS_GPU_MEM, 0, 0, "alloc" },
	{ "hipMemCreate", KS_GPU_MEM, 2, 0, "alloc" },
	{ "hipFree", KS_GPU_MEM, 0, 0, "free" },
	{ "hipFreeAsync", KS_GPU_MEM, 0, 0, "free" },
	{ "hipMemRelease", KS_GPU_MEM, 0, 0, "free" },
	{ "hipMemMap", KS_GPU_MEM, 2, 0, "map" },
	{ "hipMemUnmap", KS_GPU_MEM, 2, 0, "unmap" },
	{ "hipMemSetAccess", KS_GPU_MEM, 2, 0, "map" },
	{ "hipMemPrefetchAsync", KS_GPU_MEM, 2, 0, "prefetch" },
	{ "hipHostMalloc", KS_PIN, 2, 0, "alloc" },
	{ "hipHostAlloc", KS_PIN, 2, 0, "alloc" },
	{ "hipHostRegister", KS_PIN, 2, 0, "register" },
	{ "hipHostUnregister", KS_PIN, 0, 0, "unregister" },
	{ "hipHostFree", KS_PIN, 0, 0, "free" },
	{ "hipModuleLoad", KS_GPU_LOAD, 0, 0, "module" },
	{ "hipModuleLoadData", KS_GPU_LOAD, 0, 0, "module" },
	{ "hipModuleLoadDataEx", KS_GPU_LOAD, 0, 0, "module" },
	{ "hipModuleUnload", KS_GPU_LOAD, 0, 0, "unload" },
	{ "hipModuleGetFunction", KS_GPU_LOAD, 0, 0, "function" },
	{ "hipGraphInstantiate", KS_GPU_GRAPH, 0, 0, "instantiate" },
	{ "hipGraphInstantiateWithFlags", KS_GPU_GRAPH, 0, 0, "instantiate" },
	{ "hipGraphInstantiateWithParams", KS_GPU_GRAPH, 0, 0, "instantiate" },
	{ "hipGraphUpload", KS_GPU_GRAPH, 0, 0, "upload" },
	{ "hipGraphExecUpdate", KS_GPU_GRAPH, 0, 0, "update" },
	{ "hipGraphLaunch", KS_GPU_GRAPH, 0, 0, "launch" },
	{ "hipInit", KS_GPU_INIT },
	{ "hipIpcOpenMemHandle", KS_GPU_INIT },
	{ "hipLaunchKernel", KS_GPU_LAUNCH },
	{ "hipLaunchKernelExC", KS_GPU_LAUNCH },
	{ "hipLaunchCooperativeKernel", KS_GPU_LAUNCH },
	{ "hipExtLaunchKernel", KS_GPU_LAUNCH },
	{ "hipModuleLaunchKernel", KS_GPU_LAUNCH },
	{ "hipExtModuleLaunchKernel", KS_GPU_LAUNCH },
};

/* What names of other versions have at their ends, and of functions for the default stream of each thread. */
static bool is_variant(const char *end)
{
	static const char *const ends[] = { "", "_ptsz", "_ptds", "_v2", "_v2_ptsz", "_v3", "_v4", "_spt" };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		if (!strcmp(end, ends[i]))
			return true;
	}
	return false;
}

const struct ks_gpu_function *ks_gpu_function(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		size_t len = strlen(functions[i].name);

		if (!strncmp(name, functions[i].name, len) && is_variant(name + len))
			return &functions[i];
	}
	return NULL;
}

/* What gpu_begin offers. */
KS_SAME_FIELD(gpu_begin, gpu_end, function);
KS_SAME_FIELD(gpu_begin, gpu_only, function);
#define FUNCTION(ev) KS_STR(ev, gpu_begin, function)

/* "1 GiB", "1.5 GiB", "20 MiB": there are not many, as each stays. */
static char *size_text(char *buf, size_t size, u64 bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	u64 tenths = 0;
	size_t u = 0;

	for (; bytes >= 1024; u++) {
		tenths = bytes % 1024 * 10 / 1024;
		bytes /= 1024;
	}
	if (tenths && bytes < 10)
		return ks_fmt(buf, size, "%u.%u %s", (unsigned int)bytes, (unsigned int)tenths, units[u]);
	return ks_fmt(buf, size, "%u %s", (unsigned int)bytes, units[u]);
}

/* Without the variant's end, and without the ABI's. */
static u32 plain_name(const struct ks_gpu_function *f)
{
	size_t len = strlen(f->name);
	char name[64];

	if (len > 3 && !strcmp(f->name + len - 3, "_v2"))
		len -= 3;
	return ks_intern(ks_fmt(name, sizeof(name), "%.*s", (int)len, f->name));
}

static u32 phase_of(const struct ks_gpu_function *f, const struct ks_event *ev)
{
	static const char *const directions[] = { "H2H", "H2D", "D2H", "D2D" };	/* enum hipMemcpyKind */
	u32 kind = KS_NUM(ev, gpu_begin, kind);

	if (f->phase)
		return ks_intern(f->phase);
	if (f->kind)
		return ks_intern(kind < ARRAY_SIZE(directions) ? directions[kind] : "any");
	return plain_name(f);
}

/* How many bytes; of what has none, which function, unless the phase says it. */
static u32 culprit_of(const struct ks_gpu_function *f, const struct ks_event *ev)
{
	char size[32], text[96];

	if (!f->phase && !f->kind)
		return 0;
	ks_fmt(text, sizeof(text), "%s%s", f->bytes ? size_text(size, sizeof(size), KS_NUM(ev, gpu_begin, bytes)) : ks_string(plain_name(f)),
	       f->layer == KS_COPY ? ", held its caller" : "");
	return ks_intern(text);
}

void ks_gpu_forget(struct ks_thread *t)
{
	t->gpu.what.layer = KS_NONE;
	t->gpu_since = 0;
}

void ks_gpu_check(const struct ks_engine *e, struct ks_thread *t)
{
	if (t->gpu.lost != e->lost)
		ks_gpu_forget(t);
}

/* The thread that calls, if that is one of the job's. */
static struct ks_thread *self(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = ks_thread_of(e, ev);

	if (t)
		ks_thread_runs(e, t, ev->ts);
	return t;
}

/*
 * Is it a call inside the one that the thread is in? Stacks grow downwards: at the same place or above it that one's frame is gone,
 * and how it went is not known (longjmp), unless one function jumps into another.
 */
static bool is_inside(const struct ks_gpu_call *in, u32 name, u64 sp)
{
	return in->what.layer && (sp < in->sp || (sp == in->sp && name != in->name));
}

void ks_on_gpu_begin(struct ks_engine *e, const struct ks_event *ev)
{
	const struct ks_gpu_function *f = ks_gpu_function(FUNCTION(ev));
	struct ks_thread *t = f ? self(e, ev) : NULL;
	u32 name = ks_intern(FUNCTION(ev));
	u64 sp = KS_NUM(ev, gpu_begin, sp);

	if (!t || is_inside(&t->gpu, name, sp))
		return;
	t->gpu = (struct ks_gpu_call){
		.what = { .layer = f->layer, .phase = phase_of(f, ev), .culprit = culprit_of(f, ev) },
		.name = name, .sp = sp, .lost = e->lost,
	};
}

/* Where the call has pushed the address that it returns to, the stack has one word less now. */
void ks_on_gpu_end(struct ks_engine *e, const struct ks_event *ev)
{
	struct ks_thread *t = self(e, ev);
	u32 name = ks_intern(FUNCTION(ev));
	u64 sp = KS_NUM(ev, gpu_end, sp);
	u64 above = t ? sp - t->gpu.sp : 0;

	if (t && t->gpu.what.layer && (above <= sizeof(u64) ? name == t->gpu.name : sp > t->gpu.sp))
		ks_gpu_forget(t);
}

/*
 * Where returns cannot be seen. It may have returned at any time, so it names nothing; but that it was called is
 * shown beside what follows, up to the end of the next system call.
 */
void ks_on_gpu_only(struct ks_engine *e, const struct ks_event *ev)
{
	const struct ks_gpu_function *f = ks_gpu_function(FUNCTION(ev));
	struct ks_thread *t = f ? self(e, ev) : NULL;

	if (!t)
		return;
	t->gpu_since = plain_name(f);
	t->gpu.lost = e->lost;
}
