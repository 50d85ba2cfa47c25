#!/usr/bin/env bash
# description: kstall-doctor names what modules have lost, what other kernels lack, and damaged files, on a made-up machine
# requires: python3 xz gzip
# once: it asks the tree, about files that it makes
# host: it asks the tree, about files that it makes
# tier1: 6.12
. ../../lib.sh
. lib.sh
plan 18

node=$(mktemp -d)
at_exit rm -rf "$node"

put /proc/sys/kernel/osrelease 6.12.0-test
put /sys/kernel/btf/vmlinux ""

# --- counters of losses ---

# status LINE…: of a module that is loaded
status() {
	put /sys/module/some_trace/version 1
	put /sys/kernel/debug/some_trace/status "$(printf '%s\n' "module some_trace version=1 recorder=off clamped=0 now_mono_ns=9000000000000" "$@")"
	doctor --root "$node"
}

quiet='missed=0 recursed=0 bytes=0'
status "hook a kind=pair target=f state=armed hits=9 $quiet" 'frames too_deep=0' 'callbacks known=2 unlearned=0 cut_short=0 quiet_waits=3' \
	'table t state=allocated capacity=64 in_use=0 high_water=9 dropped=0 evicted=0 unmatched=4 bytes=99'
t_not "nothing lost: no warning" '^  warn '

status "hook a kind=pair target=f state=armed hits=9 missed=8 recursed=0 bytes=0" "hook b kind=entry target=g state=armed hits=9 missed=7 recursed=6 bytes=0"
t_says "missed and recursed hits" '^  warn  hook a: armed, pair f, hits 9: 8 missed: more tasks ' \
	'^  warn  hook b: armed, entry g, hits 9: 7 missed: hit inside another probe; 6 recursed: '
t_eq "max_sleepers only where it can help, and at a fit time" "$(grep -B 1 max_sleepers= "$report" | xargs)" \
	"when nobody uses its events (it clears what was recorded of them): \$ modprobe -r some_trace && modprobe some_trace max_sleepers=4096"

table='state=allocated capacity=64 in_use=0 high_water=64'
status "table t $table dropped=5 evicted=0 unmatched=0 bytes=99" "table u $table dropped=0 evicted=4711 unmatched=0 bytes=99"
t_says "records dropped and evicted" '^  warn  table t: 5 dropped: ' '^  warn  table u: 4711 evicted: ' '^ +\$ modinfo -p some_trace \| grep max_'

# A listener that has gone takes nothing of it along.
status "table t state=idle capacity=64 in_use=0 high_water=128 dropped=384 evicted=2 evicted_oldest_ns=930000000000 unmatched=0 last_loss_mono_ns=8998750000000 bytes=0" \
	"hook a kind=pair target=f state=idle hits=9 missed=8 recursed=0 last_loss_mono_ns=1000000000 bytes=0"
t_says "lost by a listener that has gone: since when, when last and how old" \
	'^  warn  table t: 384 dropped: .*; 2 evicted: .* at most 15 min; capacity 64; since it was loaded, the last 1\.2 s ago$' \
	'^  warn  hook a: idle, .*: 8 missed: .*; since it was loaded, the last 2 h ago$'
t_says "the module's line has no times" '^  ok    some_trace: loaded, version 1, recorder off, clamped 0$'

status 'frames too_deep=99' 'callbacks known=16 unlearned=7 cut_short=3 quiet_waits=0' 'sweep rxe0 state=idle sweeps=1 asked=9 left=0 cut=1 busy_ns=9'
t_says "what one module counts" '^  warn  frames: too_deep=99: ' '^  warn  callbacks: .*: drivers.* callbacks .*; processes ' '^  warn  sweep: rxe0 .*: sweeps '

# --- other kernels ---

rm -r "$node"/sys/module "$node"/sys/kernel/debug

# kernel RELEASE MODULE…: one that has these modules
kernel() {
	local release=$1 m
	shift
	put "/lib/modules/$release/modules.dep" "$(printf 'updates/%s.ko:\n' "$@")"
	for m; do
		put "/lib/modules/$release/updates/$m.ko" "a file"
	done
}

kernel 6.12.1-all one_trace two_trace three_trace
doctor --root "$node"
t_says "without any module" '^  FAIL  kstall: no module of kstall is installed$'
t_not "... it does not say that other kernels have them" 'modules are installed$'

put /usr/share/kstall/modules "$(printf 'module one_trace\nevent one\nmodule two_trace CONFIG_TWO\nevent two\nmodule three_trace\n')"
put /usr/src/kstall-1.9/dkms.conf ""
put /usr/src/kstall-1.10/dkms.conf ""
kernel 6.12.2-some one_trace
kernel 6.12.3-none
kernel 6.12.4-one one_trace three_trace
put /boot/config-6.12.4-one CONFIG_ONE=y
kernel 6.12.5-broken one_trace two_trace
put /var/lib/dkms/kstall/1.10/6.12.5-broken/x86_64/log/make.log "kstall: three_trace is left out: error: so"
put /lib/modules/6.12.5-broken/build/Makefile ""
doctor --root "$node"
t_says "other kernels: what each lacks" '^  ok    6.12.1-all: modules are installed$' '^  warn  6.12.2-some: .* no three_trace, two_trace$' \
	'^  warn  6.12.3-none: no module is installed' '^ +\$ dkms build kstall/1.10 -k 6.12.2-some --force$'
t_says "... but for what it cannot have" '^  ok    6.12.4-one: modules are installed$' '^  warn  6.12.5-broken: .* no three_trace$' \
	'^ +three_trace does not compile for it: error: so, see /var/lib/dkms/'
t_not "... which DKMS is not asked for" 'dkms .* 6.12.5-broken'

# --- files that are not what they should be ---

# The least that is a module: an ELF header whose sections begin at 64, what modinfo says of it, a signature as in refused.sh.
ko() {
	printf '\x7fELF%036d\x40\0\0\0\0\0\0\0%016d' 0 0
	printf '\0vermagic=6.12.0-test SMP\0%b' 'kstall'
	printf %b '0\x82\x01\x02\x06\x03\x55\x04\x03\x0c\x0bkstall test1\x18\0\0\x02\0\0\0\0\0\0\0\0\x18~Module signature appended~\n'
}

updates=/lib/modules/6.12.0-test/updates
mkdir -p "$node$updates"
rm -r "$node"/lib/modules/6.12.[1-9]*
put /lib/modules/6.12.0-test/modules.dep "$(printf "updates/%s:\n" one_trace.ko.gz two_trace.ko.xz three_trace.ko)"
put /lib/modules/6.12.0-test/build/Makefile ""
put /sys/module/module/parameters/sig_enforce Y
put /proc/keys "1a2b3c4d I------     1 perm 1f030000     0     0 asymmetri kstall test: 0123456789: X509.rsa 23456789 []"
ko | gzip >"$node$updates/one_trace.ko.gz"
ko | xz >"$node$updates/two_trace.ko.xz"
ko >"$node$updates/three_trace.ko"
doctor --root "$node"
t_says "modules packed by gzip and xz are read" '^  note  one_trace: installed, not loaded$' '^  note  two_trace: installed, ' '^  note  three_trace: installed, '

# damaged DESC SIZE: each file is cut to this size
damaged() {
	local f
	for f in "$node$updates"/*; do
		truncate -s "$2" "$f"
	done
	doctor --root "$node"
	t_says "$1: damaged, and how to build it anew" "^  FAIL  one_trace: $updates/one_trace.ko.gz is damaged" '^  FAIL  two_trace: .* is damaged' \
		'^  FAIL  three_trace: .* is damaged' '^ +\$ dkms build kstall/1.10 -k 6.12.0-test --force$'
}
damaged "cut off" 60
damaged "empty" 0

put /sys/module/one_trace/srcversion 0123
put /sys/kernel/debug/one_trace/status "module one_trace version=1 recorder=off clamped=0"
doctor --root "$node"
t_says "... of a module that is loaded, too" '^  ok    one_trace: loaded' '^  FAIL  one_trace: .* is damaged'

put /usr/share/kstall/modules "$(printf 'module one_trace\n\nevent\nmodule two_trace\nmod')"
doctor --root "$node"
t_says "lines of the list that are cut off are passed over" '^  ok    one_trace: loaded' '^  FAIL  two_trace: '

# --- without that list where a package has it: what make install leaves, with and without DKMS ---

mkdir "$node/usr/local"
mv "$node/usr/share" "$node/usr/local/"
put /usr/src/kstall-1.10/four_trace/Kbuild "# requires: CONFIG_FOUR"
put /boot/config-6.12.0-test CONFIG_ONE=y
doctor --root "$node"
t_says "without the package" '^  ok    one_trace: loaded' '^  FAIL  two_trace: ' '^  note  four_trace: .*CONFIG_FOUR'
