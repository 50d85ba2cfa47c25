// SPDX-License-Identifier: GPL-2.0
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "trace/elf.h"

typedef bool (*symbol_fn)(void *priv, const char *symbol, u64 offset);

struct file {
	const u8 *map;
	size_t size;
	const Elf64_Ehdr *eh;
	const Elf64_Shdr *sections;
};

static bool is_inside(const struct file *f, const Elf64_Shdr *sh)
{
	return sh->sh_offset <= f->size && sh->sh_size <= f->size - sh->sh_offset;
}

/* Returns whether @fn has had enough. */
static bool each_of_table(const struct file *f, const Elf64_Shdr *table, symbol_fn fn, void *priv)
{
	const Elf64_Shdr *str = &f->sections[table->sh_link];
	const char *names = (const char *)f->map + str->sh_offset;

	for (u64 at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
		const Elf64_Sym *sym = (const void *)(f->map + table->sh_offset + at);
		const Elf64_Shdr *text;

		if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || !sym->st_value || sym->st_shndx >= f->eh->e_shnum ||
		    sym->st_name >= str->sh_size || !memchr(names + sym->st_name, '\0', str->sh_size - sym->st_name))
			continue;
		text = &f->sections[sym->st_shndx];
		if (fn(priv, names + sym->st_name, sym->st_value - text->sh_addr + text->sh_offset))
			return true;
	}
	return false;
}

static void each(const struct file *f, symbol_fn fn, void *priv)
{
	for (int i = 0; i < f->eh->e_shnum; i++) {
		const Elf64_Shdr *sh = &f->sections[i];

		if ((sh->sh_type != SHT_SYMTAB && sh->sh_type != SHT_DYNSYM) || sh->sh_link >= f->eh->e_shnum ||
		    !is_inside(f, sh) || !is_inside(f, &f->sections[sh->sh_link]))
			continue;
		if (each_of_table(f, sh, fn, priv))
			return;
	}
}

static bool has_sections(const struct file *f)
{
	const Elf64_Ehdr *eh = f->eh;

	return f->size >= sizeof(*eh) && !memcmp(eh->e_ident, ELFMAG, SELFMAG) && eh->e_ident[EI_CLASS] == ELFCLASS64 &&
	       eh->e_shentsize == sizeof(*f->sections) && eh->e_shoff <= f->size &&
	       eh->e_shnum <= (f->size - eh->e_shoff) / sizeof(*f->sections);
}

bool ks_elf_functions(int fd, symbol_fn fn, void *priv)
{
	struct file f = { NULL };
	struct stat st;
	void *map;

	if (fstat(fd, &st))
		return false;
	map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return false;
	f.map = map;
	f.eh = map;
	f.size = st.st_size;
	if (has_sections(&f)) {
		f.sections = (const void *)(f.map + f.eh->e_shoff);
		each(&f, fn, priv);
	}
	munmap(map, st.st_size);
	return true;
}

struct wanted {
	const char *symbol;
	u64 offset;
};

static bool is_wanted(void *priv, const char *symbol, u64 offset)
{
	struct wanted *w = priv;

	if (strcmp(symbol, w->symbol))
		return false;
	w->offset = offset;
	return true;
}

u64 ks_elf_offset(int fd, const char *name, const char *symbol)
{
	struct wanted w = { .symbol = symbol };

	if (!ks_elf_functions(fd, is_wanted, &w))
		ks_die("%s: %s", name, strerror(errno));
	return w.offset;
}
