// SPDX-License-Identifier: GPL-2.0
/*
 * kcore.c - copies a range of the running kernel's memory to stdout
 *
 *	kcore START END	(hexadecimal virtual addresses, as in /proc/kallsyms)
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Where the file has the memory at @addr; *left: how much of it in one piece. */
static off_t find(int fd, unsigned long addr, unsigned long *left)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	int i;

	if (pread(fd, &eh, sizeof(eh), 0) != sizeof(eh))
		die("ELF header");
	for (i = 0; i < eh.e_phnum; i++) {
		if (pread(fd, &ph, sizeof(ph), eh.e_phoff + i * sizeof(ph)) != sizeof(ph))
			die("program header");
		if (ph.p_type == PT_LOAD && addr >= ph.p_vaddr && addr - ph.p_vaddr < ph.p_memsz) {
			*left = ph.p_memsz - (addr - ph.p_vaddr);
			return ph.p_offset + (addr - ph.p_vaddr);
		}
	}
	fprintf(stderr, "kcore: %lx is not there\n", addr);
	exit(1);
}

int main(int argc, char **argv)
{
	unsigned long addr, end, left;
	static char buf[1 << 16];
	off_t offset;
	ssize_t n;
	int fd;

	if (argc != 3)
		return 2;
	addr = strtoul(argv[1], NULL, 16);
	end = strtoul(argv[2], NULL, 16);
	fd = open("/proc/kcore", O_RDONLY);
	if (fd < 0)
		die("/proc/kcore");
	while (addr < end) {
		offset = find(fd, addr, &left);
		if (left > end - addr)
			left = end - addr;
		n = pread(fd, buf, left < sizeof(buf) ? left : sizeof(buf), offset);
		if (n <= 0)
			die("read");
		if (write(STDOUT_FILENO, buf, n) != n)
			die("write");
		addr += n;
	}
	return 0;
}
