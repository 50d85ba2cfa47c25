#!/usr/bin/env bash
# description: feature tests take a vendor's kernel for what it is, not for what its version number or a neighbouring feature says
# requires: gcc make
# once: it asks the tree
# host: it asks the tree
# tier1: 6.12
#
# Each directory here is a few headers, as a kernel of that name declares what is asked for (Documentation/vendor-kernels.md says where
# that is known from).
. ../../lib.sh

cd ../../..
work=$(mktemp -d)
at_exit rm -rf "$work"

# fake KERNEL RELEASE: a tree of it in $work
fake() {
	mkdir -p "$work/$1/include/generated"
	cp -r tests/packages/features/common/. "tests/packages/features/$1/." "$work/$1"
	echo "#define UTS_RELEASE \"$2\"" >"$work/$1/include/generated/utsrelease.h"
	touch "$work/$1/include/generated/autoconf.h"
}

# answers KERNEL NAME…: yes or no, to each; only these are asked
answers() {
	local kernel=$1 out name
	shift
	mkdir -p "$work/$kernel.ask/scripts/features"
	cp -r scripts/features/run scripts/features/sanity "${@/#/scripts/features/}" "$work/$kernel.ask/scripts/features"
	out=$("$work/$kernel.ask/scripts/features/run" "$work/$kernel" 2>&1) || { echo "$out"; return; }
	cp "$out/generated/kstall_features.h" "$work/$kernel.h"
	for name in "${@%.c}"; do
		if grep -q "define HAVE_$name " "$work/$kernel.h"; then echo "$name yes"; else echo "$name no"; fi
	done
}

# overflow KERNEL: the function that io_uring_trace hooks there
overflow() {
	sed '/^#include/d' io_uring_trace/io_uring_compat.h |
		gcc -E -dM -include "$work/$1.h" - | sed -n 's/^#define URING_REQ_OVERFLOW "\(.*\)"/\1/p'
}

# kernel NAME RELEASE FUNCTION QUESTION=ANSWER…
kernel() {
	local name=$1 release=$2 function=$3
	shift 3
	fake "$name" "$release"
	t_eq "$name: features" "$(answers "$name" "${@/=*/.c}")" "$(printf '%s\n' "${@/=/ }")"
	t_eq "$name: the function of overflows" "$(overflow "$name")" "$function"
}

plan 6
# 5.14 by its number; what it has of 6.x and what not
kernel rhel9.6 5.14.0-570.32.1.el9_6.x86_64 io_req_cqe_overflow \
	IO_URING_SUBMIT_REQ=yes PCIE_TLP_LOG=yes MM_MIGRATE_LARGE_SPLIT=yes DEV_DMA_IOMMU_BIT=yes \
	IO_URING_COMPLETE_CQE=no IO_BIG_CQE=no IO_KIOCB_TCTX_TASK=no \
	TRACE_ARRAY_GET_BY_NAME_SYSTEMS=no RETHOOK_OBJPOOL=no MR_DAMON=no
# 6.13 to 6.15: the tracepoint of the new kernels, the function of the old ones
kernel ubuntu6.14 6.14.0-35-generic io_req_cqe_overflow \
	IO_URING_SUBMIT_REQ=yes IO_URING_COMPLETE_CQE=yes IO_KIOCB_TCTX_TASK=yes IO_BIG_CQE=no
kernel mainline6.16 6.16.0 io_alloc_ocqe \
	IO_URING_SUBMIT_REQ=yes IO_URING_COMPLETE_CQE=yes IO_KIOCB_TCTX_TASK=yes IO_BIG_CQE=yes
