#!/usr/bin/env bash
# description: io_uring_block_rq names the request that a disk's I/O was for, on disks and files, and never a wrong one
# tier1: 6.12
# requires: module:null_blk mkfs.ext4
. ./lib.sh
plan 35

trace io_uring_block_rq
ev=io_uring_block_rq
disk=$(basename "$(readlink $SCRATCH)")
disks="ks0|ks1|$disk"

# bytes_of DISK ATTRIBUTION: "user_data bytes" of each request of the program, summed over its parts
bytes_of() {
	ev_awk $ev 'if (f["dev"] == "'"$1"'" && f["attribution"] == "'"$2"'") n[f["user_data"]] += f["len_bytes"]' \
		'for (u in n) print u, n[u]' | sort -n
}

# each FIRST LAST BYTES: what bytes_of should say
each() { seq -f "%.0f $3" "$1" "$2"; }

# ours DISK: identity is the program's, its ring is one, and the fields are those of a request of its
ours() {
	ev_n $ev "f[\"dev\"] == \"$1\" && f[\"tgid\"] == $(said pid) && f[\"comm\"] == \"uring\" && f[\"fd\"] == $(said fd) &&
		f[\"ring\"] != \"00000000\" && f[\"opcode\"] != \"-\""
}

# stranger DISK: events that claim to know nothing and say something all the same
stranger() {
	ev_n $ev "f[\"dev\"] == \"$1\" && f[\"attribution\"] == \"none\" &&
		(f[\"user_data\"] != 0 || f[\"ring\"] != \"00000000\" || f[\"opcode\"] != \"-\" || f[\"fd\"] != -1)"
}

null_blk ks0
base=$((0x1badb00200001)) # more than 32 bits

# --- direct I/O on a disk: exact ---

uring io read /dev/ks0 13 4096 1 $base
t_eq "disk: each read" "$(bytes_of ks0 exact)" "$(each $base $((base + 12)) 4096)"
t_eq "disk: identity" "$(ours ks0) $(ev_get $ev opcode | sort -u) $(ev_get $ev ring | sort -u | wc -l)" "13 READ 1"
t_eq "disk: nothing else" "$(ev_n $ev 'f["dev"] == "ks0"')" 13

uring io write /dev/ks0 13 4096 13 501 async fixed
t_eq "from a worker: each write" "$(bytes_of ks0 exact)" "$(each 501 513 4096)"
t_eq "from a worker: identity" "$(ours ks0) $(ev_get $ev opcode | sort -u)" "13 WRITE_FIXED"

uring io read /dev/ks0 32 4096 32 601 sqpoll
t_eq "SQPOLL: each read" "$(bytes_of ks0 exact)" "$(each 601 632 4096)"
t_eq "SQPOLL: identity" "$(ours ks0) $(ev_n $ev 'f["sqpoll"]')" "32 32"

# A kworker queues what io.max held back.
group=/sys/fs/cgroup/kstall-$$
echo +io >/sys/fs/cgroup/cgroup.subtree_control
mkdir $group
at_exit rmdir $group
if echo "$(cat /sys/block/ks0/dev) riops=20" >$group/io.max; then
	# shellcheck disable=SC2016 # for the inner shell
	run out bash -c 'echo $$ >"$1/cgroup.procs"; exec ./uring io read /dev/ks0 8 4096 8 521' in_group $group
	t_range "io.max: it held them" "$(said ns | sort -n | tail -1)" 100000000 99999999999
	t_eq "io.max: identity" "$(ours ks0) $(ev_get $ev cgroup_id | sort -u)" "8 $(stat -c %i $group)"
else
	for t in held identity; do t_skip "io.max: $t" "this kernel has none"; done
fi

# --- parts ---

merges() { awk '{ print $2 + $6 }' /sys/block/ks0/stat; }
before=$(merges)
uring io write /dev/ks0 32 4096 32 701
t_range "merged: the disk did" $(($(merges) - before)) 1 31
t_eq "merged: each write" "$(bytes_of ks0 exact)" "$(each 701 732 4096)"
t_eq "merged: each at its sector" "$(ev_get $ev sector | sort -n | xargs)" "$(seq 0 8 248 | xargs)"

echo 64 >/sys/block/ks0/queue/max_sectors_kb
uring io read /dev/ks0 3 1048576 1 801
t_eq "split: all parts of each read" "$(bytes_of ks0 exact)" "$(each 801 803 1048576)"
t_eq "split: no part larger than the disk takes" "$(ev_n $ev 'f["len_bytes"] <= 65536')" 48
t_eq "split: each at its sector" "$(ev_get $ev sector | sort -n | xargs)" "$(seq 0 128 6143 | xargs)"
uring io read /dev/ks0 2 2097152 1 811 scattered
t_eq "split, and several bios: all parts of each read" "$(bytes_of ks0 exact)" "$(each 811 812 2097152)"
uring io write /dev/ks0 4 524288 4 821 sqpoll
t_eq "split, SQPOLL: all parts of each write" "$(bytes_of ks0 exact)" "$(each 821 824 524288)"

# --- the page cache: reads by window, writes by nobody ---

null_blk ks1 size=1
uring io read /dev/ks1 16 65536 4 901 buffered
t_eq "buffered read: the whole disk, by window" "$(ev_sum $ev len_bytes 'f["dev"] == "ks1" && f["attribution"] == "window"')" 1048576
t_eq "buffered read: for reads of this program only" \
	"$(ev_n $ev 'f["dev"] == "ks1" && (f["user_data"] < 901 || f["user_data"] > 916)') $(($(ev_n $ev 'f["dev"] == "ks1"') - $(ours ks1)))" "0 0"
uring io read /dev/ks1 16 65536 4 901 buffered async
t_eq "buffered read, by workers: nothing by anybody else" "$(ev_n $ev 'f["dev"] == "ks1" && f["attribution"] != "window"')" 0

uring io write /dev/ks1 16 65536 16 951 buffered
written=$(ev_sum $ev len_bytes 'f["dev"] == "ks1"')
t_eq "buffered write: never claimed" "$(ev_n $ev 'f["dev"] == "ks1" && f["op"] == "WRITE" && f["attribution"] != "none"')" 0
t_eq "buffered write: none is none" "$(stranger ks1)" 0
run out blockdev --flushbufs /dev/ks1
t_eq "buffered write: every byte is seen" $((written + $(ev_sum $ev len_bytes 'f["dev"] == "ks1"'))) 1048576

# --- a file on ext4 ---

mkfs.ext4 -q -F -E lazy_itable_init=0,nodiscard $SCRATCH 64M
mkdir "$work/ext4"
mount $SCRATCH "$work/ext4"
at_exit umount "$work/ext4"
dd if=/dev/zero of="$work/ext4/file" bs=1M count=1 status=none
sync -f "$work/ext4/file"

uring io read "$work/ext4/file" 16 65536 1 1001
t_eq "ext4, direct: each read" "$(bytes_of "$disk" exact)" "$(each 1001 1016 65536)"
t_eq "ext4, direct: identity" "$(ev_n $ev 'f["attribution"] == "exact"') $(ours "$disk")" "16 16"
uring io write "$work/ext4/file" 16 65536 16 1101
t_eq "ext4, direct: each write" "$(bytes_of "$disk" exact)" "$(each 1101 1116 65536)"
uring io read "$work/ext4/file" 16 65536 16 1201 sqpoll
t_eq "ext4, SQPOLL: each read" "$(bytes_of "$disk" exact)" "$(each 1201 1216 65536)"

echo 3 >/proc/sys/vm/drop_caches
uring io read "$work/ext4/file" 16 65536 1 1301 buffered
t_range "ext4, buffered: the whole file, by window" "$(ev_sum $ev len_bytes "f[\"dev\"] == \"$disk\" && f[\"attribution\"] == \"window\"")" 1048576 1114112
t_eq "ext4, buffered: for reads of this program only" \
	"$(ev_n $ev "f[\"attribution\"] == \"window\" && (f[\"user_data\"] < 1301 || f[\"user_data\"] > 1316)")" 0

uring io write "$work/ext4/file" 16 65536 16 1401 buffered
cp "$work/trace" "$work/trace.1"
run out sync -f "$work/ext4/file"
cat "$work/trace.1" >>"$work/trace"
t_range "ext4, writeback: all of it is seen" "$(ev_sum $ev len_bytes "f[\"dev\"] == \"$disk\" && f[\"op\"] == \"WRITE\"")" 1048576 99999999
t_eq "ext4, writeback: never claimed" "$(ev_n $ev "f[\"dev\"] == \"$disk\" && f[\"op\"] == \"WRITE\" && f[\"attribution\"] != \"none\"")" 0
t_eq "ext4, writeback: none is none" "$(stranger "$disk")" 0

# --- others ---

run out dd if=/dev/ks0 of=/dev/null bs=64k count=4 iflag=direct
t_eq "no io_uring: none" "$(ev_get $ev attribution 'f["dev"] == "ks0" && f["comm"] == "dd"' | sort | uniq -c | xargs)" "4 none"
t_eq "no io_uring: none is none" "$(stranger ks0)" 0
t_no_losses
