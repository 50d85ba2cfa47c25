#!/usr/bin/env bash
# description: on a node of 256 CPUs an armed event holds no more than 20 MiB, and all of them together no more than 224 MiB (6.16: 22 and 236)
# once: what is allocated is the same on each kernel
# shellcheck source-path=SCRIPTDIR
. ./lib.sh

[ ! -e /proc/lockdep_stats ] || skip_all "every lock is larger on this kernel"
hurry
mapfile -t modules < <(our_modules)
# Where BPF is on the functions they are return probes: that is the most.
for m in "${modules[@]}"; do load "$m" direct=0; done
# What is hooked has to be there.
for m in gpu_sched ttm ib_uverbs rdma_rxe; do modprobe $m || bail "no $m"; done
events() { awk '$1 == "event" && !/state=absent/ { print $2 }' $dbg/"$1"/status; }
total=0
for m in "${modules[@]}"; do total=$((total + $(events "$m" | wc -l))); done
plan $((total + 3))
mk_instance budget

IFS=- read -r first last </sys/devices/system/cpu/possible
cpus=$((${last:-$first} + 1))

# on_256 STATUS: what it would hold with 256 CPUs; all sizes follow from the capacities and the number of CPUs
# (kstall_inflight_alloc(), kstall_kretprobe_bytes()). "BYTES CHECKS FAILURES": sizes must come out whole.
on_256() {
	awk -v cpus="$cpus" '
	function pow2(n, p) { for (p = 1; p < n; p *= 2); return p }
	function pages(n) { return 4096 * int((n + 4095) / 4096) }
	# a pool of n records on c CPUs; where there are rings, with whole pages for each CPU
	function pool(n, record, c, share, slot) {
		if (!rings) return n * record
		share = int(n / c)
		slot = 16 + 8 * pow2(n) + share * record
		return n % c * pages(slot + record) + (c - n % c) * pages(slot)
	}
	# what a pool that takes so many bytes for n records here takes there for m: the most, where pages hide the size of a record
	function there(bytes, n, m, record, most) {
		for (record = 40; record < 1024; record += 8)
			if (pool(n, record, cpus) == bytes && pool(m, record, 256) > most) most = pool(m, record, 256)
		return most + 0
	}
	{ delete f; for (i = 3; i <= NF; i++) if (k = index($i, "=")) f[substr($i, 1, k - 1)] = substr($i, k + 1) }
	{ bytes = f["bytes"] + 0; c = f["capacity"] + 0 }
	$1 == "hook" && f["kind"] == "pair" && bytes {
		checks++
		few = 2 * cpus > 10 ? 2 * cpus : 10
		most = there(bytes, 512, 512)
		if (there(bytes, 64, 64) > most) most = there(bytes, 64, 64)
		if (there(bytes, few, 512) > most) most = there(bytes, few, 512)
		if (!most) bad++
		all += most
	}
	$1 == "table" && bytes {
		checks++
		stride = (bytes - 176 * cpus) / c
		if (stride % 64 == 0) { # of include/kstall/own.h
			all += (c < 2048 ? 2048 : c) * stride + 176 * 256
			next
		}
		stride = (bytes - 8 * pow2(c) - 176 * cpus) / (c + 32 * cpus + 1)
		if (stride != int(stride) || stride % 8 || stride < 24) bad++
		all += (c + 32 * 256 + 1) * stride + 8 * pow2(c) + 176 * 256
	}
	END { printf "%.0f %d %d\n", all, checks, bad }' rings="$rings" "$1"
}
# where kretprobes take their memory from an objpool
rings=$(grep -c ' objpool_init$' /proc/kallsyms)

# taken: what such pools have of the kernel; whole pages, so nothing else about them matters. arm64's compiler inlines objpool_init().
taken() { awk '/ (objpool_init|rethook_alloc|register_kretprobe)/ { for (i = 4; i <= NF; i++) if (split($i, f, "=") == 2 && f[1] == "pages") n += f[2] } END { print 4096 * n }' /proc/vmallocinfo; }
if [ "$rings" != 0 ]; then
	before=$(taken)
	ev_enable mm_migrate/mm_pin
	t_eq "bytes= is what a hook's pool takes" "$(awk '$1 == "hook" { sub(/.* bytes=/, ""); n += $1 } END { print n }' $dbg/mm_migrate_trace/status)" $(($(taken) - before))
	ev_disable mm_migrate/mm_pin
else
	t_skip "bytes= is what a hook's pool takes" "a kernel without such pools"
fi

sum=0 wrong=0 checked=0 most=20 all=224
# mappings in two steps: four functions more
! grep -q ' dma_iova_try_alloc$' /proc/kallsyms || most=22 all=236
for m in "${modules[@]}"; do
	system=$m
	[ -e "$TRACEFS/events/$m" ] || system=${m%_trace}
	for e in $(events "$m"); do
		[ -e "$INSTANCE/events/$system/$e" ] || { t_fail "$m $e: is an event"; continue; }
		ev_enable "$system/$e"
		read -r bytes n bad < <(on_256 $dbg/"$m"/status)
		checked=$((checked + n)) wrong=$((wrong + bad))
		ev_disable "$system/$e"
		t_range "$m $e: $bytes bytes, at most $most MiB" "$bytes" 0 $((most << 20))
	done
	ev_enable "$system"
	read -r bytes n bad < <(on_256 $dbg/"$m"/status)
	ev_disable "$system"
	sum=$((sum + bytes))
done
t_range "all modules, everything armed: $sum bytes, at most $all MiB" $sum 1 $((all << 20))
[ $wrong = 0 ] && [ $checked -gt 0 ]
t_eq "the formula fits all sizes in the status files" "$? $wrong" "0 0"
