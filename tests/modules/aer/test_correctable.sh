#!/usr/bin/env bash
# description: each correctable error is reported by type, with its device, how often and since when, as sysfs counts it
# tier1: all
# timeout: 400
. ./lib.sh
plan 26

e=aer_correctable
names="RxErr BadTLP BadDLLP Rollover Timeout NonFatalErr CorrIntErr HeaderOF"
masked=$(aer mask "$NIC")
at_exit eval "python3 ./aer.py mask $NIC $masked >/dev/null"
aer mask "$NIC" 0 >/dev/null
echo 0 >"/sys/bus/pci/devices/$NIC/numa_node"
trace $e

before=$(cat "/sys/bus/pci/devices/$NIC/aer_dev_correctable")
errors $e 8 inject "$NIC" 0 0xf1c1
t_eq "all bits: an event each, by name" "$(ev_get $e error | xargs)" "$names"
t_eq "all bits: each tells the whole report" "$(ev_get $e errors | sort -u) $(ev_get $e status | sort -u)" "${names// /|} 0xf1c1"
t_eq "all bits: nothing is masked" "$(ev_get $e mask | sort -u)" 0x0
t_eq "all bits: whose" "$(ev_awk $e 'print f["dev"], f["id"], f["class"], f["driver"], f["root_port"], f["source"]' | sort -u)" \
	"$NIC 8086:10d3 020000 e1000e $PORT native"
t_eq "all bits: on which node" "$(ev_get $e dev_node | sort -u)" 0
t_eq "no task has caused it" "$(ev_awk $e 'print f["pid"], f["tgid"], f["cgroup_id"]' | sort -u)" "0 0 0"
t_eq "the first of each" "$(ev_awk $e 'print f["count"], f["total"], f["since_ns"], f["last_minute"]' | sort -u)" "1 1 0 1"
t_eq "sysfs counts the same names" "$(diff <(echo "$before") "/sys/bus/pci/devices/$NIC/aer_dev_correctable" | awk '/^>/ && !/TOTAL/ { print $2 }' | xargs)" "$names"

first=$(ev_get $e last_mono_ns 'f["error"] == "BadTLP"')
errors $e 2 inject "$NIC" 0 0x41
t_eq "again: two events" "$(ev_get $e error | xargs)" "RxErr BadTLP"
t_eq "again: counted on" "$(ev_awk $e 'print f["count"], f["total"], f["last_minute"]' | sort -u)" "1 2 2"
t_eq "again: since the one before" "$(ev_get $e since_ns 'f["error"] == "BadTLP"')" \
	"$(($(ev_get $e first_mono_ns 'f["error"] == "BadTLP"') - first))"
t_eq "one occurrence: first and last are one" "$(ev_n $e 'f["first_mono_ns"] != f["last_mono_ns"]')" 0

aer mask "$NIC" 0x40 >/dev/null
errors $e 1 inject "$NIC" 0 0x41
t_eq "one bit masked: the other only, the mask, and what was masked" "$(ev_awk $e 'print f["error"], f["status"], f["mask"], f["raw_status"], f["total"]')" "RxErr 0x1 0x40 0x41 3"
aer mask "$NIC" 0 >/dev/null

errors $e 1 inject "$PORT" 0 0x1
t_eq "of a root port" "$(ev_awk $e 'print f["dev"], f["root_port"], f["driver"], f["total"]')" "$PORT $PORT pcieport 1"

if firmware_reports; then
	errors $e 2 firmware "$NIC" 2 0 0x1080
	t_eq "from firmware" "$(ev_get $e error | xargs)" "BadDLLP Timeout"
	t_eq "from firmware: whose, and firmware's mask" "$(ev_awk $e 'print f["dev"], f["id"], f["driver"], f["root_port"], f["source"], f["mask"], f["raw_status"]' | sort -u)" \
		"$NIC 8086:10d3 e1000e $PORT firmware 0x2000 0x1080"
	t_eq "from firmware: counted on" "$(ev_get $e total | sort -u)" 2
	# 7.3 reports what it stands for, too, inside the same report
	ev_enable aer/aer_uncorrectable
	if kernel_since 7.3; then
		errors aer_uncorrectable 1 firmware "$NIC" 2 0x4000 0x2000
		t_eq "from firmware: what an advisory error stands for" \
			"$(ev_awk aer_uncorrectable 'print f["dev"], f["driver"], f["source"], f["severity"], f["errors"], f["mask"]')" \
			"$NIC e1000e firmware nonfatal CmpltTO 0x0"
	else
		errors $e 1 firmware "$NIC" 2 0x4000 0x2000
		t_eq "from firmware: this kernel does not report what an advisory error stands for" "$(ev_n aer_uncorrectable)" 0
	fi
	ev_disable aer/aer_uncorrectable
	t_eq "from firmware: an advisory error" "$(ev_awk $e 'print f["dev"], f["driver"], f["source"], f["error"], f["count"], f["mask"]')" \
		"$NIC e1000e firmware NonFatalErr 1 0x0"
else
	for i in 1 2 3 4 5; do t_skip "from firmware $i" "no firmware reports errors here"; done
fi

t_no_losses
t_eq "recording devices" "$(status_field aer_trace table counts in_use)" 9
ev_disable aer/$e
t_all_idle "disabled: nothing armed"
is_freed() { [ "$(status_field aer_trace table counts state)" = idle ]; }
t_ok "disabled: tables freed" wait_until 30 is_freed
aer inject "$NIC" 0 0x1
ev_clear
ev_enable aer/$e
errors $e 1 inject "$NIC" 0 0x1
t_eq "enabled again: counts from new" "$(ev_awk $e 'print f["error"], f["total"]')" "RxErr 1"

# the device goes while its driver's name may be read
t_ok "unbound" eval "echo $NIC >/sys/bus/pci/drivers/e1000e/unbind"
errors $e 1 inject "$NIC" 0 0x1
t_eq "without a driver" "$(ev_awk $e 'print f["dev"], f["driver"], f["total"]')" "$NIC  2"
echo "$NIC" >/sys/bus/pci/drivers/e1000e/bind
