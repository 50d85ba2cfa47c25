#!/usr/bin/env bash
# description: io_uring_block_rq through md and dm: the right request or none, never a wrong one
# requires: module:null_blk dmsetup mdadm module:raid0 module:dm_delay module:dm_crypt
. ./lib.sh
plan 22

trace io_uring_block_rq
ev=io_uring_block_rq
disks="ks0|ks1"
null_blk ks0
null_blk ks1

# by_request: "attribution user_data bytes" of each request that reached the two disks
by_request() {
	ev_awk $ev 'if (f["dev"] ~ /^ks[01]$/) n[f["attribution"] " " f["user_data"]] += f["len_bytes"]' \
		'for (u in n) print u, n[u]' | sort
}

# each ATTRIBUTION FIRST LAST BYTES
each() { seq -f "$1 %.0f $4" "$2" "$3"; }

ours() { ev_n $ev "f[\"attribution\"] == \"window\" && f[\"tgid\"] == $(said pid) && f[\"comm\"] == \"uring\" && f[\"fd\"] == $(said fd)"; }

# unclaimed: events that claim to know nothing and say something all the same
unclaimed() { ev_n $ev 'f["attribution"] == "none" && (f["user_data"] != 0 || f["ring"] != "00000000" || f["opcode"] != "-")'; }

# map NAME TABLE: /dev/mapper/NAME
map() {
	dmsetup create "$1" --table "$2" || bail "dmsetup: $2"
	dmsetup mknodes "$1"
	at_exit dmsetup remove --retry "$1"
}

# --- mapped by the thread that issues the request: its window ---

modprobe raid0
mdadm --build /dev/md/kstall --run --level=0 --raid-devices=2 --chunk=64 /dev/ks0 /dev/ks1 >"$work/mdadm" 2>&1 || bail "mdadm: $(cat "$work/mdadm")"
md=$(readlink -f /dev/md/kstall)
[ -b "$md" ] || md=$(awk '/active/ { print "/dev/" $1 }' /proc/mdstat)
at_exit eval "mdadm --stop $md 2>/dev/null"
cat "$md" >/dev/null # partitions have been looked for

uring io read "$md" 5 4096 1 101
t_eq "raid0: each read" "$(by_request)" "$(each window 101 105 4096)"
t_eq "raid0: identity" "$(ours)" 5
uring io write "$md" 3 262144 1 111
t_eq "raid0, four chunks each: all parts of each write" "$(by_request)" "$(each window 111 113 262144)"
t_eq "raid0, four chunks each: half on each disk" "$(ev_sum $ev len_bytes 'f["dev"] == "ks1"')" 393216
uring io read "$md" 4 262144 4 121 sqpoll
t_eq "raid0, SQPOLL: all parts of each read" "$(by_request)" "$(each window 121 124 262144)"
uring io read "$md" 7 4096 7 131 async
t_eq "raid0, from workers: each read" "$(by_request)" "$(each window 131 137 4096)"
t_eq "raid0, from workers: identity" "$(ours)" 7
mdadm --quiet --stop "$md"

map ks_linear "0 65536 linear /dev/ks0 0"
uring io read /dev/mapper/ks_linear 5 65536 1 201
t_eq "linear: each read" "$(by_request)" "$(each window 201 205 65536)"
t_eq "linear: identity" "$(ours)" 5
uring io write /dev/mapper/ks_linear 8 65536 8 211 sqpoll
t_eq "linear, SQPOLL: each write" "$(by_request)" "$(each window 211 218 65536)"
max_kb=$(cat /sys/block/ks0/queue/max_sectors_kb)
echo 64 >/sys/block/ks0/queue/max_sectors_kb
uring io read /dev/mapper/ks_linear 2 1048576 1 221
t_eq "linear over a disk that splits: all parts of each read" "$(by_request)" "$(each window 221 222 1048576)"
echo "$max_kb" >/sys/block/ks0/queue/max_sectors_kb

map ks_stripe "0 65536 striped 2 128 /dev/ks0 32768 /dev/ks1 32768"
uring io read /dev/mapper/ks_stripe 3 262144 3 231
t_eq "striped: all parts of each read" "$(by_request)" "$(each window 231 233 262144)"

# --- mapped by another thread: nobody's ---

map ks_delay "0 65536 delay /dev/ks0 0 10"
uring io read /dev/mapper/ks_delay 5 65536 1 301
t_eq "delay: none" "$(by_request)" "none 0 327680"
t_eq "delay: none is none" "$(unclaimed)" 0
uring io write /dev/mapper/ks_delay 8 65536 8 311 sqpoll
t_eq "delay, SQPOLL: none" "$(by_request)" "none 0 524288"

# dm-crypt maps a read in the reader, and a write in a thread of its own once it is encrypted
map ks_crypt "0 65536 crypt aes-xts-plain64 00112233445566778899aabbccddeeff0123456789abcdef0123456789abcdef 0 /dev/ks1 0"
uring io write /dev/mapper/ks_crypt 5 65536 1 401
t_eq "crypt, writes: none" "$(by_request)" "none 0 327680"
t_eq "crypt, writes: none is none" "$(unclaimed)" 0
uring io read /dev/mapper/ks_crypt 5 65536 1 411
t_eq "crypt, reads: each read" "$(by_request)" "$(each window 411 415 65536)"
uring io write /dev/mapper/ks_crypt 8 65536 8 421 sqpoll
t_eq "crypt, writes, SQPOLL: none" "$(by_request)" "none 0 524288"

# --- two at once: each its own ---

ev_clear
./uring io read /dev/mapper/ks_linear 101 4096 1 5000 >"$work/one" &
./uring io read /dev/ks1 101 4096 1 7000 >"$work/out"
wait $!
snap
t_eq "two programs: each request on its disk" \
	"$(ev_awk $ev 'if (f["attribution"] != "none") print f["dev"], f["user_data"]' | sort)" \
	"$(sort <(seq -f 'ks0 %.0f' 5000 5100) <(seq -f 'ks1 %.0f' 7000 7100))"
t_eq "two programs: each its own process" \
	"$(ev_get $ev tgid 'f["dev"] == "ks0"' | sort -u) $(ev_get $ev tgid 'f["dev"] == "ks1"' | sort -u)" \
	"$(grep -oP 'pid=\K.*' "$work/one") $(said pid)"
t_no_losses
