#!/usr/bin/env bash
# description: a storm is folded, and neither an error nor what the kernel drops is lost from the counts
# timeout: 900
# once: errors are folded by the same code on each kernel
. ./lib.sh
plan 16

e=aer_correctable
trace $e
quiet
rate() { echo "$1" >/sys/module/aer_trace/parameters/aer_correctable_per_s; }

# storm NAME WORD…: ./aer.py; waits until what was folded has come. $grown is what sysfs counted of NAME meanwhile.
storm() {
	local name=$1 before
	shift
	before=$(counted aer_dev_correctable "$name")
	ev_clear
	"${as[@]}" python3 ./aer.py "$@" || bail "aer.py $* failed"
	over() { [ "$(status_field aer_trace table folded in_use)" = 0 ] && [ "$(counted aer_dev_correctable "$name")" = "$now" ]; }
	# the kernel's thread may lag behind: it is over when nothing grows for as long as a summary takes
	while :; do
		now=$(counted aer_dev_correctable "$name")
		sleep 2
		over && break
	done
	snap
	grown=$((now - before))
}
as=()

rate 1000000
storm RxErr paced 100 "$NIC" 0x1
t_eq "paced: none is lost" "$grown" 100
t_eq "paced, below the rate: one by one" "$(ev_n $e 'f["error"] == "RxErr" && f["count"] == 1') $(ev_n $e)" "100 100"
t_eq "each counted on" "$(ev_get $e total | xargs)" "$(seq -s' ' 100)"

rate 0
storm BadTLP paced 50 "$NIC" 0x40
t_eq "no rate: all folded" "$(ev_sum $e count) $(ev_get $e total | tail -1)" "50 50"
t_range "no rate: in fewer events" "$(ev_n $e)" 1 49
t_eq "a summary ends later than it begins" "$(ev_n $e 'f["count"] > 1 && f["first_mono_ns"] >= f["last_mono_ns"]')" 0

rate 3
storm BadDLLP paced 50 "$NIC" 0x80
t_eq "the rate's number at once, each by itself" "$(ev_n $e 'f["total"] <= 3 && f["count"] == 1')" 3
t_eq "the sum is exact" "$(ev_sum $e count)" 50

rate 10
storm RxErr storm 10000 "$NIC" 0x1
t_range "10,000 as fast as it goes: the kernel has dealt with" "$grown" 1 10000
t_eq "10,000: as many as sysfs has counted" "$(ev_sum $e count 'f["error"] == "RxErr"')" "$grown"
seconds=$((($(ev_get $e last_mono_ns | tail -1) - $(ev_get $e first_mono_ns | head -1)) / 1000000000 + 1))
t_range "10,000: few events" "$(ev_n $e 'f["error"] == "RxErr"')" 1 $((seconds * 20 + 20))

# The kernel's thread cannot run until 300 interrupts are over: its queue takes 128.
irq=$(find "/sys/bus/pci/devices/$PORT/msi_irqs/" -type f -printf '%f\n' | head -1)
as=(taskset -c "$(<"/proc/irq/$irq/effective_affinity_list")" chrt -f 99)
storm Rollover storm 300 "$NIC" 0x100
t_eq "a full queue: what the kernel dropped" "$(ev_sum $e count 'f["error"] == "queue_full"')" 172
t_eq "a full queue: of which port" "$(ev_awk $e 'if (f["error"] == "queue_full") print f["dev"], f["root_port"], f["status"]' | sort -u)" \
	"$PORT $PORT 0x0"
t_eq "a full queue: what sysfs has counted" "$(ev_sum $e count 'f["error"] == "Rollover"')" "$grown"
as=()
t_eq "nothing left to tell" "$(status_field aer_trace table folded in_use)" 0
# An interrupt that comes while one of our probes runs on its CPU is not probed, and counted as missed (7.2).
t_eq "the status file knows of no other loss" "$(status_losses | grep -v '^hook irq ')" ""
