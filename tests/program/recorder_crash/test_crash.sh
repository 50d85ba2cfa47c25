#!/usr/bin/env bash
# description: what was recorded before a crash is there after the reboot, decoded right or refused with the reason
# timeout: 600
# requires: python3
#
# The guest reboots, and each boot runs this test again: how far it is stands on the scratch disk, where the recorder's directory
# is, too. All results are printed in the last boot.
. ../recorder/lib.sh

modprobe -n aer_inject 2>/dev/null || skip_all "no aer_inject"
grep -q ' reserve_mem_find_by_name$' /proc/kallsyms || skip_all "this kernel keeps no ring across a reboot"

disk=/dev/disk/by-id/virtio-scratch
state=/var/lib/kstall
mkdir -p $state
mount $disk $state 2>/dev/null || { mkfs.ext4 -q $disk && mount $disk $state; } || bail "no scratch disk"
at_exit umount $state
boot=$(($(cat $state/boot 2>/dev/null || echo 0) + 1))
echo $boot >$state/boot
echo "recorder_crash: boot $boot" >/dev/kmsg
recorder() { "$KSTALL" recorder "$@"; }
instances=$TRACEFS/instances

# kept NAME command…: its output, for the last boot
kept() { local name=$1; shift; "$@" >"$state/$name" 2>&1; echo "exit=$?" >>"$state/$name.exit"; }
ids() { cat "$TRACEFS"/events/{aer,io_uring_trace}/*/id | xargs; }
# entries RING: records in it
entries() { cat "$instances/$1"/per_cpu/cpu*/stats | awk '$1 == "entries:" { n += $2 } END { print n }'; }
# modules OPTION MODULE…
modules() { local option=$1 m; shift; for m; do insmod "../../../$m/$m.ko" "$option" || bail "cannot load $m"; done; }
die() { sync; echo "$1" >/proc/sysrq-trigger; sleep 600; }

case $boot in
1)	# 100 overflows and an error, then a crash
	. ../../modules/aer/lib.sh
	modules recorder=1 aer_trace io_uring_trace
	kept setup recorder setup-crash
	kept started recorder start
	for ((i = 0; i < 100; i++)); do "$URING" short-submit >/dev/null; done
	python3 ../../modules/aer/aer.py inject "$NIC" 0x1000 0 0x60000001 0x0123450f 0x1 0x23456788 || bail "no error"
	recovered() { recorder show --module aer | grep 'aer_recovery.*step=recovery'; }
	wait_until 30 recovered || bail "the error is not recorded"
	cat "$instances"/kstall*/trace | grep -E ': (io_uring_sq_overflow|aer_[a-z]*): ' | tee /dev/ttyS0 >$state/printed
	kept entries entries kstall
	kept ids ids
	kept boot_id cat /proc/sys/kernel/random/boot_id
	die c
	;;
2)	# modules in another order, which record by themselves, before anybody has saved
	modules recorder=1 io_uring_trace aer_trace
	kept ids2 ids
	kept by_module entries kstall
	entries kstall-ib_cq >$state/by_tracefs
	echo 1 >$instances/kstall-ib_cq/events/sched/sched_process_exec/enable
	entries kstall-ib_cq >>$state/by_tracefs
	echo 0 >$instances/kstall-ib_cq/events/sched/sched_process_exec/enable
	cat $instances/kstall-ib_cq/last_boot_info >$state/info
	"$URING" short-submit >/dev/null
	kept last recorder last-boot --json
	kept text recorder last-boot
	kept started2 recorder start
	"$URING" short-submit >/dev/null
	kept now recorder show --module io_uring
	mv $state/recorder/armed $state/armed
	die b
	;;
3)	# the formats of boot 2 are gone
	kept unknown recorder last-boot
	kept copies ls $state/recorder
	modules recorder=0 aer_trace io_uring_trace
	kept started3 recorder start
	for ((i = 0; i < 5; i++)); do "$URING" short-submit >/dev/null; done
	recorder stop
	read -r start size < <(dmesg | sed -n 's/.*boot instance kstall-io_uring at physical memory \(0x[0-9a-f]*\) of size \(0x[0-9a-f]*\).*/\1 \2/p')
	insmod ./kstall_scribble.ko start="$start" size="$size" 2>/dev/null
	kept scribbled dmesg
	die c
	;;
4)	;;
*)	bail "boot $boot: it dies again and again" ;;
esac

load io_uring_trace
kept started4 recorder start
kept damaged recorder last-boot
at_exit recorder stop
plan 22

t_eq "setup-crash: all in place" "$(grep -c ': in place$' $state/setup) $(<$state/setup.exit)" "7 exit=0"
t_eq "boot 1: started" "$(<$state/started.exit)" exit=0
t_eq "boot 1: 100 overflows and an error" "$(grep -c sq_overflow $state/printed) $(grep -c aer_uncorrectable $state/printed)" "100 1"
t_ok "boot 2: other ids" test "$(<$state/ids)" != "$(<$state/ids2)"
fields $state/last | grep -E '^(io_uring_sq|aer)' | sort >"$work/last"
printed $state/printed | sort >"$work/printed"
# Documentation/recorder.md has both
t_eq "boot 2: recorder=1 (trace_array_set_clr_event()) leaves the old records where they are" "$(<$state/by_module)" "$(<$state/entries)"
case $(xargs <$state/by_tracefs) in
"1 1" | "1 0") t_pass "boot 2: an event enabled through tracefs leaves them, or clears them all ($(xargs <$state/by_tracefs))" ;;
*) t_fail "boot 2: an event enabled through tracefs" "$(<$state/by_tracefs)" ;;
esac
diag <$state/info
t_eq "last-boot: 100 overflows and an error" "$(grep -c sq_overflow "$work/last") $(grep -c aer_uncorrectable "$work/last")" "100 1"
t_eq "last-boot: field by field as they were printed" "$(diff "$work/last" "$work/printed" | head -5)" ""
t_eq "last-boot: whose boot it was, of which kernel and modules" "$(grep -c "boot $(<$state/boot_id), Linux $(uname -r); .*io_uring_trace [0-9.]* [0-9A-F]*" $state/text)" 1
t_eq "last-boot: nothing of this boot is in it" "$(<$state/last.exit) $(grep -c sq_overflow $state/text)" "exit=0 100"
t_eq "boot 2: what is recorded then is shown alone" "$(grep -c sq_overflow $state/now)" 1
t_eq "boot 3: without formats nothing is guessed" "$(<$state/unknown.exit) $(grep -c sq_overflow $state/unknown)" "exit=1 0"
t_eq "boot 3: the reason is shown" "$(grep -c 'the formats of the boot that recorded these [0-9]* events were not kept' $state/unknown)" 1
t_eq "boot 3: two copies" "$(grep -c '^last-boot-.*dat$' $state/copies)" 2
first=$(find $state/recorder -name 'last-boot-*.dat' | sort | head -1)
t_eq "the second reboot keeps the first copy" "$(recorder show --json "$first" >"$work/again"; fields "$work/again" | grep -E '^(io_uring_sq|aer)' | sort | diff - "$work/printed" | head -5)" ""
t_eq "it is root's only" "$(stat -c %a "$first")" 600

# the formats of one boot, the records of another
python3 - "$first" "$work/other" "$(<$state/boot_id)" <<-'END'
	import sys
	data = open(sys.argv[1], "rb").read()
	at = data.rindex(sys.argv[3].encode())
	open(sys.argv[2], "wb").write(data[:at] + b"0" * 36 + data[at + 36:])
	END
t_eq "another boot's formats: refused" "$(recorder show "$work/other" 2>&1 | grep -c 'not shown: the rings are of boot')" 1

t_eq "boot 3: a page was overwritten" "$(grep -c 'kstall_scribble: page .* overwritten' $state/scribbled | sed 's/[1-9][0-9]*/some/')" some
t_eq "boot 4: that is reported" "$(grep -cE 'the kernel said at boot: .*[Rr]ing buffer' $state/damaged | sed 's/[1-9][0-9]*/some/')" some
diag <$state/damaged
t_range "boot 4: no more events than there were" "$(grep -c sq_overflow $state/damaged)" 0 5
t_eq "boot 4: none of them wrong" "$(grep sq_overflow $state/damaged | grep -vc 'cause=short_submit sq_entries=8 queued=6 to_submit=6 submitted=3')" 0
t_eq "boot 4: it records again" "$(recorder status | awk '$2 == "recording" { print $1 }' | xargs)" "kstall-slow kstall-io_uring"
