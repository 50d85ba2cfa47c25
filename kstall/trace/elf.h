/* SPDX-License-Identifier: GPL-2.0 */
/* Functions of a program or a library, by its symbol tables. */
#ifndef KSTALL_ELF_H
#define KSTALL_ELF_H

#include "base/util.h"

/* @fn gets each function with its offset in the file, until it returns true. False: the file cannot be read, as errno says. */
bool ks_elf_functions(int fd, bool (*fn)(void *priv, const char *symbol, u64 offset), void *priv);

/* 0: there is none of this name. A file, @name in the message, that cannot be read ends the program. */
u64 ks_elf_offset(int fd, const char *name, const char *symbol);

#endif
