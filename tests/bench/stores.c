// SPDX-License-Identifier: GPL-2.0
/*
 * stores - a plugin of QEMU (-plugin stores.so,to=FILE): where the guest's kernel writes
 *
 * FILE is a ring of struct store: the last NR_STORES stores of the kernel to its own memory, after
 * a page whose first word counts all there were. Read by ./lines. Needs -accel tcg,thread=multi:
 * else QEMU takes the CPU that had an instruction translated for the one that executes it
 * (gen_cpu_index() in accel/tcg/plugin-gen.c).
 *
 * Debian has no package with qemu-plugin.h: what is used of it is declared here, as of version 4 of
 * the interface (QEMU 10, docs/devel/tcg-plugins.rst).
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NR_STORES	(1UL << 23)
#define PAGE		4096
#define EXPORT		__attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*tb_cb)(uint64_t id, struct qemu_plugin_tb *tb);
typedef void (*mem_cb)(unsigned int cpu, uint32_t info, uint64_t addr, void *data);
enum { CB_NO_REGS = 0 };
enum { MEM_W = 2 };

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, tb_cb cb);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t len);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, mem_cb cb, int flags, int rw,
				      void *data);

EXPORT int qemu_plugin_version = 4;

struct store {
	uint64_t pc;
	uint64_t line;	/* of 64 bytes; in the bits that leaves: 0x20 locked, 0x1f CPU */
};

static uint64_t *count;
static struct store *stores;

static bool is_kernel(uint64_t addr)
{
	return addr >> 63;
}

static void on_store(unsigned int cpu, uint64_t addr, uint64_t pc, unsigned int locked)
{
	static struct store last[0x20];
	struct store store = { pc, (addr & ~63ULL) | locked | (cpu & 0x1f) };
	struct store *before = &last[cpu & 0x1f];

	if (!is_kernel(addr))
		return;
	/* "rep stosb" goes through a line byte by byte */
	if (!locked && before->pc == store.pc && before->line == store.line)
		return;
	*before = store;
	stores[__atomic_fetch_add(count, 1, __ATOMIC_RELAXED) % NR_STORES] = store;
}

static void on_plain(unsigned int cpu, uint32_t info, uint64_t addr, void *pc)
{
	on_store(cpu, addr, (uint64_t)pc, 0);
}

static void on_locked(unsigned int cpu, uint32_t info, uint64_t addr, void *pc)
{
	on_store(cpu, addr, (uint64_t)pc, 0x20);
}

/* A lock prefix, or an xchg with memory, which is locked without one. */
static bool is_locked(const uint8_t *code, size_t len)
{
	static const uint8_t prefixes[] = {
		0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf2, 0xf3
	};
	size_t i = 0;

	while (i < len && (memchr(prefixes, code[i], sizeof(prefixes)) || (code[i] & 0xf0) == 0x40))
		i++;
	if (i < len && code[i] == 0xf0)
		return true;
	return i + 1 < len && (code[i] & 0xfe) == 0x86 && code[i + 1] >> 6 != 3;
}

static void on_translation(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t pc = qemu_plugin_insn_vaddr(insn);
		uint8_t code[16];
		size_t len = qemu_plugin_insn_data(insn, code, sizeof(code));

		if (is_kernel(pc))
			qemu_plugin_register_vcpu_mem_cb(insn, is_locked(code, len) ? on_locked :
							 on_plain, CB_NO_REGS, MEM_W, (void *)pc);
	}
}

EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	size_t size = PAGE + NR_STORES * sizeof(*stores);
	void *map;
	int fd;

	if (argc != 1 || strncmp(argv[0], "to=", 3))
		return -1;
	fd = open(argv[0] + 3, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, size))
		return -1;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return -1;
	count = map;
	stores = map + PAGE;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	return 0;
}
