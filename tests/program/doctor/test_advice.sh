#!/usr/bin/env bash
# description: kstall-doctor --quiet says only what is wrong, and what it says to type can be typed on this distribution; on a made-up machine
# requires: python3
# once: it asks the tree, about files that it makes
# host: it asks the tree, about files that it makes
# tier1: 6.12
. ../../lib.sh
. lib.sh
plan 37

node=$(mktemp -d)
at_exit rm -rf "$node"
release=6.12.0-1-amd64

put /proc/sys/kernel/osrelease "$release"
put /proc/mounts "$(printf 'tracefs /sys/kernel/tracing tracefs rw 0 0\ndebugfs /sys/kernel/debug debugfs rw 0 0')"
put /sys/kernel/tracing/tracing_on 1
put /sys/kernel/btf/vmlinux ""
put "/boot/config-$release" "$(printf 'CONFIG_%s=y\n' MODULES EVENT_TRACING KPROBES KRETPROBES DEBUG_FS FTRACE_SYSCALLS BPF_EVENTS DEBUG_INFO_BTF DYNAMIC_FTRACE)"
put /usr/share/kstall/modules "$(printf 'module some_trace\nevent one\n')"
put /sys/module/some_trace/version 1

# status LINE…: of that module
status() {
	put /sys/kernel/debug/some_trace/status "$(printf '%s\n' "module some_trace version=1 recorder=off clamped=0" "$@")"
	doctor --root "$node" "${options[@]}"
}

# --- only what is wrong ---

optional="hook far kind=entry target=far_function state=failed errno=2 hits=0 missed=0 recursed=0 bytes=0"
options=(--quiet)
status "event one users=0 state=idle min_ns=0 suppressed=0" "$optional"
t_eq "--quiet, all is well" "$status $(cat "$report")" "0 "
table="state=idle capacity=64 in_use=0 high_water=64 dropped=5 evicted=0 unmatched=0 bytes=0"
status "event one users=0 state=idle min_ns=0 suppressed=0" "table t $table"
t_eq "... something was lost" "$status $(grep -cE '^  (ok|note)' "$report") $(grep -c '^  warn  table t: ' "$report")" "0 0 1"
options=(--quiet --json)
status "event one users=0 state=idle min_ns=0 suppressed=0" "table t $table"
t_eq "... as JSON" "$(python3 -c 'import json, sys; print(*[c["name"] for c in json.load(sys.stdin)["checks"]])' <"$report")" "table t"

# --- what a session has left ---

options=(--quiet)
session=$node/sys/kernel/tracing/instances/kstall-0123abcd-job
mkdir -p "$session"
status "event one users=0 state=idle min_ns=0 suppressed=0"
t_eq "a session without an owner" "$status $(grep -o '^  warn  session: 0123abcd was left by a kstall that was killed' "$report")" \
	"0   warn  session: 0123abcd was left by a kstall that was killed"
exec 7<"$session"
flock 7
status "event one users=0 state=idle min_ns=0 suppressed=0"
exec 7<&-
rmdir "$session"
t_eq "... one that lives is nobody's business" "$status $(cat "$report")" "0 "
for left in instances/kstall-0123abcd-all events/kstall_0123abcd; do
	mkdir -p "$node/sys/kernel/tracing/$left"
	status "event one users=0 state=idle min_ns=0 suppressed=0"
	rmdir "$node/sys/kernel/tracing/$left"
	t_eq "... of which only ${left%/*} are left" "$(grep -c '^  warn  session: 0123abcd was left by a kstall' "$report")" 1
done
counters=$node/sys/kernel/tracing/instances/kstall_metrics
mkdir -p "$counters"
status "event one users=0 state=idle min_ns=0 suppressed=0"
t_says "counters without kstall metrics" '^  warn  metrics: kstall metrics was killed: ' '^ +\$ rmdir /sys/kernel/tracing/instances/kstall_metrics'
put /run/kstall-metrics/lock ""
exec 7<"$node/run/kstall-metrics/lock"
flock 7
status "event one users=0 state=idle min_ns=0 suppressed=0"
exec 7<&-
t_eq "... it runs" "$status $(cat "$report")" "0 "
status "event one users=0 state=idle min_ns=0 suppressed=0"
t_says "... it has left its lock" '^  warn  metrics: '
mv "$counters" "${counters}_xid"
status "event one users=0 state=idle min_ns=0 suppressed=0"
t_says "... and what takes Xids" '^  warn  metrics: kstall metrics was killed: Xids ' '^ +\$ rmdir /sys/kernel/tracing/instances/kstall_metrics_xid'
rmdir "${counters}_xid"
trigger=$node/sys/kernel/tracing/instances/kstall-trigger
mkdir -p "$trigger" "$node/proc/7/fd"
ln -s /sys/kernel/tracing/instances/kstall-trigger/trace_pipe "$node/proc/7/fd/3"
status "event one users=0 state=idle min_ns=0 suppressed=0"
t_eq "the recorder's watch runs" "$status $(cat "$report")" "0 "
rm -r "$node/proc/7"
status "event one users=0 state=idle min_ns=0 suppressed=0"
t_says "... it was killed" '^  warn  recorder: kstall recorder watch was killed: ' '^ +\$ rmdir /sys/kernel/tracing/instances/kstall-trigger'
rmdir "$trigger"

# --- calls that have not left a hook ---

now() { put /sys/kernel/debug/some_trace/status "module some_trace version=1 recorder=off clamped=0 now_mono_ns=9000000000000
$1"; }
now "draining far function=far_function calls=2 since_mono_ns=8700000000000"
doctor --root "$node" --quiet
t_says "a call that has not left a hook: of which module, since when" \
	'^  warn  draining far: 2 calls of far_function\(\) have not returned since the hook was removed, 5 min ago: some_trace cannot be unloaded' \
	'^ +\$ grep -lw far_function /proc/\[0-9\]'
now "draining far function=far_function calls=2 since_mono_ns=8999999000000"
doctor --root "$node" --quiet
t_eq "... one that will in a moment" "$status $(cat "$report")" "0 "

# --- mounts, and the configuration in /proc ---

put /proc/mounts "$(printf '%s /mnt/%s %s rw 0 0\n' t t tracefs d d debugfs
	printf 'tracefs /sys/kernel/tracing tracefs rw 0 0\ndebugfs /sys/kernel/debug debugfs rw 0 0')"
options=(--quiet)
status "event one users=0 state=idle min_ns=0 suppressed=0"
t_eq "debugfs and tracefs are mounted elsewhere first" "$status $(cat "$report")" "0 "
put /proc/mounts "$(printf '%s /mnt/%s %s rw 0 0\n' t t tracefs d d debugfs)"
status "event one users=0 state=idle min_ns=0 suppressed=0"
t_says "... and only there" '^  FAIL  debugfs: not mounted at /sys/kernel/debug'
put /proc/mounts "$(printf 'tracefs /sys/kernel/tracing tracefs rw 0 0\ndebugfs /sys/kernel/debug debugfs rw 0 0')"
config=$(<"$node/boot/config-$release")
grep -v KRETPROBES <<<"$config" | gzip >"$node/proc/config.gz"
status "event one users=0 state=idle min_ns=0 suppressed=0"
t_says "/proc/config.gz is this kernel's, whatever lies in /boot" '^  warn  config: no CONFIG_KRETPROBES'
rm "$node/boot/config-$release"
gzip <<<"$config" >"$node/proc/config.gz"
options=()
status "event one users=0 state=idle min_ns=0 suppressed=0"
t_says "... and enough" '^  ok    config: all that is needed'
rm "$node/proc/config.gz"
put "/boot/config-$release" "$config"

# --- the node's settings ---

put /proc/sys/vm/zone_reclaim_mode 1
put /proc/sys/vm/swappiness 0
options=(--quiet --node)
status "event one users=0 state=idle min_ns=0 suppressed=0"
t_eq "... of the node's settings those that cost" "$(grep -cE '^  fine' "$report") $(grep -cE '^  costs vm.zone_reclaim_mode' "$report")" "0 1"

# --- what this kernel cannot have ---

options=()
status "event one users=0 state=idle min_ns=0 suppressed=0" "$optional"
t_says "a hook that no event needs: not in this kernel" '^  note  hook far: not in this kernel: far_function; no event needs it'
t_not "... without an errno" 'hook far.*ENOENT'

# --- parameters ---

rm -r "$node/sys/module" "$node/sys/kernel/debug"
put "/lib/modules/$release/modules.dep" updates/some_trace.ko:
mkdir -p "$node/lib/modules/$release/updates"
{
	printf '\x7fELF%036d\x40\0\0\0\0\0\0\0%016d' 0 0
	printf '\0vermagic=%s SMP\0parm=max_things:things at a time (64 to 4096, default 128)\0parm=other:it (0 to 9, default 1)\0' "$release"
} >"$node/lib/modules/$release/updates/some_trace.ko"
options=()
doctor --root "$node"
t_says "a module that can be loaded" '^  note  some_trace: installed, not loaded$'
put /etc/modprobe.d/kstall.conf "$(printf '# options some_trace max_things=2\noptions some_trace other=9 max_things=1\n')"
doctor --root "$node"
t_says "a parameter in modprobe.d that will be refused: which values are not" \
	'^  FAIL  some_trace: /etc/modprobe.d/kstall.conf has max_things=1, which is refused: allowed are 64 to 4096$'
t_not "... but for that" 'other=9'
put /etc/modprobe.d/kstall.conf "options some_trace max_things=64"
put /var/log/dmesg "[    9.0] some_trace: max_things=1 refused: want 64 to 4096"
doctor --root "$node"
t_says "one that was refused" '^  warn  some_trace: installed, not loaded; max_things=1 was refused: allowed are 64 to 4096$'

# --- kernels that lack something ---

config=$(<"$node/boot/config-$release")
put "/boot/config-$release" "$(grep -vE 'K(RET)?PROBES' <<<"$config")"
doctor --root "$node"
t_says "without kprobes some events work" '^  warn  config: no CONFIG_KPROBES: most events cannot work' '^  warn  config: no CONFIG_KRETPROBES: '
put "/boot/config-$release" "$(grep -v EVENT_TRACING <<<"$config")"
doctor --root "$node"
t_says "without trace events none does" '^  FAIL  config: without CONFIG_EVENT_TRACING the modules cannot work$'
put "/boot/config-$release" "$config"

# --- packages ---

rm "$node/lib/modules/$release/modules.dep"
for name in debian ubuntu; do
	put /etc/os-release "ID=$name"
	doctor --root "$node"
	t_says "$name: headers" "^ +\\$ apt install linux-headers-$release\$"
done
put /etc/os-release "$(printf 'ID="rocky"\nID_LIKE="rhel centos fedora"')"
doctor --root "$node"
t_says "RHEL: headers" "^ +\\$ dnf install kernel-devel-$release\$"

put /etc/os-release "ID=gentoo"
doctor --root "$node"
t_says "another distribution: no command that it does not have" "^ +install linux-headers-$release, or what this distribution calls it\$"
put /etc/os-release "ID=debian"
for own in 6.18.3 6.18.0-custom; do
	put /proc/sys/kernel/osrelease $own
	doctor --root "$node"
	t_says "a kernel of one's own ($own): no package is made up" "^ +$own is none of this distribution's kernels: its headers are where it was built\$"
done
t_not "... not even an image" 'apt install linux-headers'
put /proc/sys/kernel/osrelease 5.15.0-25-generic
put /etc/os-release "$(printf 'ID=ubuntu\nID_LIKE=debian')"
doctor --root "$node"
t_says "Ubuntu's kernels have Ubuntu's names" '^ +\$ apt install linux-image-generic'

# --- of those it names, on this very machine ---

doctor
missing=$(grep -oP '^ +\$ apt install \K[^#]*' "$report" | tr ' ' '\n' | grep -v '^[&-]\|^reboot$' | sort -u | while read -r package; do
	! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null || apt-cache policy "$package" | grep -q 'Candidate: [^(]' || echo "$package"
done)
t_eq "each package that it wants installed can be had" "$missing" ""
