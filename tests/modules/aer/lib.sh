# shellcheck shell=bash
# shellcheck disable=SC2034 # for ../../events.sh
# What the tests of aer_trace share, on top of ../../events.sh. They need devices that can be made to report errors, which the
# guest in guest.conf has.

MODULE=aer_trace
SYSTEM=aer
# shellcheck source=../../events.sh
. ../../events.sh

# find_device VENDOR DEVICE: BDF of the first that has an AER capability
find_device() {
	local d
	for d in /sys/bus/pci/devices/*; do
		[ "$(<"$d/vendor") $(<"$d/device")" != "$1 $2" ] || [ ! -e "$d/aer_dev_correctable" ] || { echo "${d##*/}"; return; }
	done
}

above() { basename "$(readlink -f "/sys/bus/pci/devices/$1/..")"; }

modprobe e1000e && modprobe aer_inject || skip_all "no e1000e or aer_inject"
NIC=$(find_device 0x8086 0x10d3)
DISK=$(find_device 0x1af4 0x1042)
[ -n "$NIC" ] && [ -n "$DISK" ] || skip_all "no QEMU devices that report errors"
PORT=$(above "$NIC")

# firmware_reports: there is what `aer.py firmware` writes to. arm64's guests boot without ACPI.
firmware_reports() { [ "$(uname -m)" = x86_64 ] || [ -e /sys/firmware/acpi/tables/HEST ]; }

aer() { python3 ./aer.py "$@"; }

# errors EVENT N WORD…: ./aer.py, and waits until the trace has N such events; then it is in $work/trace
errors() {
	local event=$1 n=$2
	shift 2
	ev_clear
	aer "$@" >"$work/out" 2>"$work/err" || bail "aer.py $* failed: $(tail -3 "$work/err" | xargs)"
	enough() { snap; [ "$(ev_n "$event")" -ge "$n" ]; }
	wait_until 30 enough || diag <"$INSTANCE/trace"
}

# counted FILE NAME [BDF]: what sysfs says of this error
counted() { awk -v name="$2" '$1 == name { print $2 }' "/sys/bus/pci/devices/${3-$NIC}/$1"; }

# quiet: no AER lines on the console, which is slower than the errors
quiet() {
	at_exit dmesg -n "$(cut -f1 /proc/sys/kernel/printk)"
	dmesg -n 1
}
