# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # top: of demo-guest
# This module's stop of `make tour`; its words (tell, part, run) are in tests/vm/demo-guest.

# A network card that is sent from all the time, and errors of its link: two, then six, then one
# that loses a packet.
make_card() {
	local d

	modprobe -a e1000e aer_inject
	for d in /sys/bus/pci/devices/*; do
		[ "$(<"$d/vendor") $(<"$d/device")" != "0x8086 0x10d3" ] || card=${d##*/}
	done
	until net=$(ls "/sys/bus/pci/devices/$card/net"); do sleep 0.1; done 2>/dev/null
	ip addr add 10.9.0.1/24 dev "$net"
	ip link set "$net" up
	ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:01 dev "$net"
	ln -s "$top"/tools/*.bt .
	cat >send <<-'END'
		import socket, time
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		while True:
		    try:
		        s.sendto(bytes(1000), ('10.9.0.2', 9))
		    except OSError:    # while it recovers
		        pass
		    time.sleep(0.02)
	END
	cat >dying <<-END
		python3 send &
		sleep 3
		python3 $top/tests/modules/aer/aer.py paced 2 $card 0x40
		sleep 2
		python3 $top/tests/modules/aer/aer.py paced 6 $card 0x40
		sleep 2
		python3 $top/tests/modules/aer/aer.py inject $card 0x1000 0 0x60000001 0x0123450f 0x1 0x23456788
		sleep 4
		kill \$!
	END
}

title "aer_trace: a link is dying. Did anybody notice before the job did?"
dmesg -n 1
make_card

run 'modprobe -a aer_trace iommu_trace'
part "1. How errors become more"
run "./aer_rate.bt -c '/bin/sh dying'"
expect "^..:..:.. $card BadTLP: 2 so far, 2 in the last minute" "the first errors"
expect "^..:..:.. $card BadTLP: 8 so far, 8 in the last minute" "their doubling"
expect "^..:..:.. $card nonfatal error: status 0x1000" "the lost packet"
expect "^..:..:.. $card recovery: recovered after [0-9]+ ms" "the recovery"
tell "Bad packets are sent again, and no program notices: the job only is a little slower. Their number doubles, and \
doubles again; then one is lost for good, and the kernel resets the card. A line at each doubling is the warning \
that comes in time."

part "2. The same, beside the card's DMA"
run "./aer_watch.bt -c '/bin/sh dying'"
expect "^@errors\\[$card, BadTLP\\]: [0-9]" "a second with errors"
expect "^@dma_us\\[$card\\]: [0-9]+" "its DMA in a second with an error"
expect "^@lost\\[$card, nonfatal\\]: 1\$" "the lost packet"
expect "^@before_us\\[$card\\]:" "DMA before the first error"
tell "In the seconds of the recovery @dma_us counts the buffers that the card's driver had to map anew."

run 'rmmod aer_trace iommu_trace'
