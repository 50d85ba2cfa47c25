#!/usr/bin/env bash
# description: kstall-doctor tells a healthy machine from an ill one, names what is ill, and says what to type
# timeout: 400
# once: the installed package (pkg) asks the doctor on each kernel
# requires: python3
. ../../lib.sh
. lib.sh
plan 24

release=$(uname -r)
release=${release//+/\\+} # in regular expressions

! command -v bpftrace >/dev/null || bpftrace --version >/dev/null # from the disk once: the doctor gives a program a minute
doctor
t_eq "nothing loaded: healthy" "$status" 0
t_says "its first line says so" "^kstall-doctor on $release: healthy \(0 FAIL, "
t_each "each module: installed, not loaded; and how to" '^  (note|warn)  MODULE: installed, not loaded(; .* was refused: .*)?$' # by a test before this one
state=('^  ok    config: all that is needed$' '^  ok    lockdown: none$')
# one that was not installed by a package of Debian's
[ -e "/boot/config-$(uname -r)" ] || state=('^  note  config: .* not checked$' '^  note  lockdown: not known')
t_says "the kernel's state" "${state[@]}" \
	'^  ok    secure boot: none' '^  ok    module.sig_enforce: off$' '^  ok    BTF: ' \
	'^  ok    tracefs: /sys/kernel/tracing$' '^  ok    bpftrace: v?0\.'

modprobe ib_core
for m in "${modules[@]}"; do
	load "$m"
done
doctor
t_eq "all loaded: healthy" "$status" 0
t_each "each module's version" '^  ok    MODULE: loaded, version [0-9.]+, recorder off'
count() { cat /sys/kernel/debug/*_trace/status | grep -cE "^$1 "; }
for kind in event hook table; do
	t_eq "a line for each $kind" "$(grep -cE "^  (ok|note|warn) +$kind [a-z0-9_]+: " "$report")" "$(count $kind)"
done

doctor --json
t_eq "the same for programs" "$(python3 - "$report" <<-'END'
	import json, sys
	r = json.load(open(sys.argv[1]))
	events = [c for c in r["checks"] if c["name"].startswith("event ")]
	print(r["format"], r["healthy"], len(events), all("state" in e["values"] for e in events))
END
)" "1 True $(count event) True"

ko=$(modinfo -n "${modules[0]}")
rmmod "${modules[0]}"
mv "$ko" /tmp/hidden.ko
at_exit mv /tmp/hidden.ko "$ko"
doctor
t_eq "a module's file is missing: not healthy" "$status" 1
t_says "it says which" "^  FAIL  ${modules[0]}: not installed for $release$" '^ +\$ make install'

mkdir -p /etc/modules-load.d
echo "${modules[1]}" >/etc/modules-load.d/kstall-test.conf
at_exit rm -f /etc/modules-load.d/kstall-test.conf
rmmod "${modules[1]}"
doctor
t_says "a module that was to be loaded at boot" \
	"^  FAIL  ${modules[1]}: not loaded, though /etc/modules-load.d/kstall-test.conf asks for it(; .* was refused: .*)?$" "^ +\\$ modprobe ${modules[1]}$"

# The module of tests/modules/core has an event of each fate.
load kstall_test
mk_instance doctor
echo 1 >"$INSTANCE/events/kstall_test/enable" 2>/dev/null
doctor
t_says "a failed hook: why, and what to do" '^  FAIL  event kt_missing: cannot be armed: ENOENT, the function it hooks is not in this kernel' \
	'^  FAIL  hook [a-z_]+: cannot be armed: ENOENT' '^ +\$ grep -w [a-z_]+ /proc/kallsyms$'
t_says "an event that waits for a module" '^  note  event kt_[a-z]+: enabled, waits for kstall_target, which is not loaded'
t_says "an event that no kernel has" '^  note  event kt_absent: cannot be had here: no kernel has it$'
echo 0 >"$INSTANCE/events/kstall_test/enable" 2>/dev/null

echo 0 >/sys/kernel/debug/kprobes/enabled
doctor
echo 1 >/sys/kernel/debug/kprobes/enabled
t_says "kprobes switched off" '^  FAIL  kprobes: switched off'

echo 0 >/sys/kernel/tracing/tracing_on
doctor
echo 1 >/sys/kernel/tracing/tracing_on
t_says "recording switched off" '^  warn  tracefs: .*tracing_on' '^ +\$ echo 1 > /sys/kernel/tracing/tracing_on$'

doctor --nonsense
t_eq "called wrongly" "$status" 2

# What it says is only as good as the state it can see.
rmmod kstall_test
umount /sys/kernel/debug
doctor
mount -t debugfs debugfs /sys/kernel/debug
t_eq "no debugfs: not healthy" "$status" 1
t_says "... and why" '^  FAIL  debugfs: not mounted' '^ +\$ mount -t debugfs debugfs /sys/kernel/debug$' \
	"^  FAIL  ${modules[2]}: loaded, but has no status file"

# The audit only reads.
settings() { grep -rs . /proc/sys/vm/{swappiness,dirty_ratio,zone_reclaim_mode} /sys/kernel/mm/transparent_hugepage/enabled; }
before=$(settings)
doctor --node
t_says "the node's settings" '^  (fine|costs) +transparent huge pages: enabled=[a-z]+ defrag=' '^  (fine|costs) +swap: 0 devices, vm.swappiness=' \
	'^  (fine|costs) +dirty limits: writers are held at [0-9.]+ GiB'
t_eq "are what they were" "$(settings)" "$before"
t_eq "every command of the report exists here or is a package away" "$(sed -nE 's/^ +\$ ([a-z-]+).*/\1/p' "$report" | sort -u |
	grep -vxE 'apt|dkms|mokutil|journalctl|update-grub|reboot|sudo' | while read -r c; do command -v "$c" >/dev/null || echo "$c"; done)" ""
