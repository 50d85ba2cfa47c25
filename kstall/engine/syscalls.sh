#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Writes C: the names of this architecture's system calls. CC is the compiler.
echo '#include <sys/syscall.h>' | ${CC:-cc} -E -dM - | sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/\t[__NR_\1] = "\1",/p' |
	sort -u
