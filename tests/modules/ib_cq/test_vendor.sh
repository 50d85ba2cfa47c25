#!/usr/bin/env bash
# description: beside a vendor's ib_core, of other structures, the module refuses to load and says why
# requires: module:ib_core python3
. ../../lib.sh
plan 4

# The kernel's own, but for the mark that says so, and for the signature.
ko=$(mktemp --suffix=.ko)
file=$(modinfo -n ib_core)
at_exit rm -f "$ko"
case $file in
*.xz) xz -dc "$file" ;;
*) cat "$file" ;;
esac | python3 -c '
import sys
ko = sys.stdin.buffer.read().replace(b"\0intree=Y\0", b"\0intren=Y\0")
magic = b"~Module signature appended~\n"
if ko.endswith(magic):
    end = len(ko) - len(magic) - 12
    ko = ko[:end - int.from_bytes(ko[end + 8:end + 12], "big")]
sys.stdout.buffer.write(ko)' >"$ko"
modprobe -ra ib_uverbs rdma_cm ib_cm iw_cm ib_core 2>/dev/null
is_loaded ib_core && skip_all "somebody uses ib_core"
for dep in $(modinfo -F depends "$ko" | tr , ' '); do
	modprobe "$dep"
done
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
