#!/usr/bin/env bash
# description: a kernel that clang has built is built for by clang, unless a compiler was chosen; of KCFLAGS the questions know nothing
# once: it asks the tree, about headers that it makes
# host: it asks the tree, about headers that it makes
# tier1: 6.12
. ../../lib.sh
plan 5

kdir=$(mktemp -d)
at_exit rm -rf "$kdir"
mkdir -p "$kdir/include/config" "$kdir/include/generated"
: >"$kdir/include/generated/autoconf.h"
# Headers that note by which compiler they are asked, and then have no answer.
# shellcheck disable=SC2016 # make's
printf '%s:\n\t@%s\n' '%.s' 'echo LLVM=$(LLVM) CC=$(CC) KCFLAGS=$(KCFLAGS) >>$(CURDIR)/asked; false' >"$kdir/Makefile"

# asked [VAR=value…]: what kbuild was given by make
asked() {
	rm -f "$kdir/asked"
	(cd ../../.. && env -u LLVM -u CC make -s modules "$@" KDIR="$kdir" >"$kdir/log" 2>&1) || :
	sort -u "$kdir/asked" || cat "$kdir/log"
}

echo CONFIG_CC_IS_GCC=y >"$kdir/include/config/auto.conf"
t_eq "a kernel of gcc's" "$(asked)" "LLVM= CC=cc KCFLAGS="
echo CONFIG_CC_IS_CLANG=y >"$kdir/include/config/auto.conf"
t_eq "a kernel of clang's" "$(asked)" "LLVM=1 CC=cc KCFLAGS="
t_eq "... another clang" "$(asked LLVM=-19)" "LLVM=-19 CC=cc KCFLAGS="
t_eq "... as DKMS before 3.2 says it" "$(asked CC=clang)" "LLVM= CC=clang KCFLAGS="
t_eq "KCFLAGS" "$(asked KCFLAGS=-Wno-error LLVM=1)" "LLVM=1 CC=cc KCFLAGS="
