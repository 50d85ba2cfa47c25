#!/usr/bin/env bash
# description: beside a vendor's ib_core, of other structures, the module refuses to load and says why
# requires: module:ib_core python3
. ../../lib.sh
plan 4

ko=$(mktemp --suffix=.ko)
at_exit rm -f "$ko"
modprobe -ra ib_uverbs rdma_cm ib_cm iw_cm 2>/dev/null
vendors_ko ib_core "$ko"
insmod "$ko" || bail "cannot load ib_core"
at_exit rmmod ib_core

module=$(ko_of ib_cq_trace)
t_eq "it is refused" "$(insmod "$module" 2>&1)" "insmod: ERROR: could not insert module $module: No such device"
t_eq "the log says why" "$(dmesg | grep -c 'ib_cq_trace: absent: vendor ib_core')" 1
t_ok "it is not there" test ! -e /sys/module/ib_cq_trace

# Where it lies tells kstall-doctor whose it is.
node=$(mktemp -d)
at_exit rm -rf "$node"
dir=/lib/modules/$(uname -r)/updates
mkdir -p "$node/proc/sys/kernel" "$node$dir" "$node/usr/share/kstall"
uname -r >"$node/proc/sys/kernel/osrelease"
echo "module ib_cq_trace" >"$node/usr/share/kstall/modules"
cp "$ko" "$node$dir/ib_core.ko"
cp "$module" "$node$dir"
printf 'updates/%s.ko:\n' ib_core ib_cq_trace >"$node$dir/../modules.dep"
t_eq "kstall-doctor says it, too" "$(../../../tools/kstall-doctor --root "$node" | grep -o '^  note  ib_cq_trace: .*), ')" \
	"  note  ib_cq_trace: absent: vendor ib_core ($dir/ib_core.ko), "
