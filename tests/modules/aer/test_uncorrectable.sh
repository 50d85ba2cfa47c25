#!/usr/bin/env bash
# description: an uncorrectable error is reported with its severity, all bits and the decoded header of the packet
# tier1: 6.12
# timeout: 600
. ./lib.sh
plan 23

e=aer_uncorrectable
trace $e aer_recovery

# said KEY…: of the one event
said() {
	local key
	for key; do ev_get $e "$key"; done | xargs
}

# one WORD…: ./aer.py, until the device has recovered: a link that is being reset reports nothing
one() {
	errors $e 1 "$@"
	recovered() { snap; [ "$(ev_n aer_recovery 'f["step"] == "recovery"')" = 1 ]; }
	wait_until 60 recovered || diag <"$INSTANCE/trace"
}

one inject "$NIC" 0x4000 0
t_eq "nonfatal: whose" "$(said dev id class driver root_port source)" "$NIC 8086:10d3 020000 e1000e $PORT native"
t_eq "nonfatal: what" "$(said severity errors status tlp)" "nonfatal CmpltTO 0x4000 00000000:00000000:00000000:00000000"
t_eq "nonfatal: no header, no type" "$(ev_n $e 'f["tlp_type"] == ""')" 1
t_eq "nonfatal: the mask is the device's" "$(said mask)" \
	"$(python3 - "$NIC" <<-'END'
		import struct, sys
		f = open('/sys/bus/pci/devices/%s/config' % sys.argv[1], 'rb')
		f.seek(0x100 + 8)
		print('%#x' % struct.unpack('<I', f.read(4)))
	END
	)"
t_eq "no task has caused it" "$(said pid tgid cgroup_id)" "0 0 0"

one inject "$NIC" 0x111000 0
t_eq "three bits at once" "$(said errors status)" "TLP|UnxCmplt|UnsupReq 0x111000"

# header of poisoned packets: what it says, decoded by hand from the specification
headers=(
	"0x60000001 0x0123450f 0x00000001 0x23456788" "MWr 0x123 0x0 0x45 4 0x123456788"
	"0x00000400 0x0208ff0f 0xfedcba98 0" "MRd 0x208 0x0 0xff 4096 0xfedcba98"
	"0x4a000010 0x02000040 0x01230500 0" "CplD 0x123 0x200 0x5 64 0x0"
	"0x0a000000 0x02002004 0x01230600 0" "Cpl 0x123 0x200 0x6 0 0x0"
	"0x04000001 0x0000010f 0x01000010 0" "CfgRd0 0x0 0x0 0x1 4 0x0"
	"0x4c000001 0x0123070f 0x80001000 0" "FetchAdd 0x123 0x0 0x7 4 0x80001000"
	"0x34000000 0x01000030 0 0" "Msg 0x100 0x0 0x0 0 0x0"
	"0x5b000002 0x01230800 0x80002000 0" "DMWr 0x123 0x0 0x8 8 0x80002000"
	"0x80000000 1 2 3" "prefix 0x0 0x0 0x0 0 0x0"
)
for ((i = 0; i < ${#headers[@]}; i += 2)); do
	# shellcheck disable=SC2086 # four words
	one inject "$NIC" 0x1000 0 ${headers[i]}
	want=${headers[i + 1]}
	t_eq "header: ${want%% *}" "$(said tlp_type tlp_requester tlp_completer tlp_tag tlp_bytes tlp_addr)" "$want"
done
# shellcheck disable=SC2086
t_eq "header: the words themselves" "$(said tlp)" "$(printf '%08x:%08x:%08x:%08x' ${headers[i - 2]})"

one inject "$NIC" 0x10 0
t_eq "fatal: the kernel reads nothing of a dead link" "$(said severity status mask first_error)" "fatal 0x0 0x0 -1"

# What QEMU makes, as a device does: with the first error's pointer. It writes each word of a header with its bytes reversed. The
# kernel clears nothing of a device that it gives up.
aer clear "$DISK"
one monitor pcie_aer_inject_error vb0 POISON_TLP 0x01000060 0x0f452301 0x01000000 0x88674523
t_eq "of the device itself: the packet's header" "$(said errors first_error tlp tlp_type tlp_requester tlp_addr)" \
	"TLP 12 60000001:0123450f:00000001:23456788 MWr 0x123 0x123456788"
aer clear "$DISK"
one monitor pcie_aer_inject_error vb0 COMP_TIME
t_eq "of the device itself: whose" "$(said dev id driver root_port)" "$DISK 1af4:1042 virtio-pci $(above "$DISK")"
t_eq "of the device itself: which came first" "$(said errors first_error)" "CmpltTO 14"

# kernels before 7.0 do not tell the tracepoint of this header: bit 12 is above what they look at
if firmware_reports; then
	one firmware "$NIC" 0 0x1000 0 0x60000001 0x0123450f 0x00000001 0x23456788
	t_eq "from firmware: with its header and mask" "$(said source severity errors mask tlp_type tlp_addr)" \
		"firmware nonfatal TLP 0x11000000 MWr 0x123456788"
	t_eq "from firmware: whose" "$(said dev id driver root_port)" "$NIC 8086:10d3 e1000e $PORT"
else
	for i in 1 2; do t_skip "from firmware $i" "no firmware reports errors here"; done
fi
t_no_losses
