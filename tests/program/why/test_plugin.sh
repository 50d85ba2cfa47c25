#!/usr/bin/env bash
# description: what NCCL does not report, reports twice or too late costs the profiler plugin no place, and it says what it has not seen
# timeout: 600
# host: it plays NCCL
# tier1: 6.12
# once: it does not ask the kernel
. ../../lib.sh

work=$(mktemp -d)
at_exit rm -rf "$work"
marker=$work/marker
plan 81

# Addresses as gcc 12's thread sanitizer has them.
here() { setarch -R "$@"; }

# play BUILD VERSION N CASE: what it prints in $work/out, what NCCL's log has in $work/told, the lines in $marker
play() {
	: >"$marker"
	NCCL_PROFILER_PLUGIN=$PWD/san/$1/libkstall-nccl.so KSTALL_MARKER=${named-$marker} here "san/$1/nccl" "${@:2}" >"$work/out" 2>"$work/told"
}

# whole: do lines make sense, each a begin, or the end of what is open, or that it is on the GPU? Then how many of which there are: BEGIN END LOST
whole() {
	awk '$1 " " $2 != "kstall nccl" || NF < 4 { bad++ }
		$4 == "gpu" { if (!open[$3]) bad++; next }
		$4 == "begin" { if (open[$3]++) bad++ }
		$4 != "begin" { if (open[$3]-- != 1) bad++ }
		{ n[$4]++ }
		END { for (id in open) left += open[id]; print n["begin"] + 0, n["end"] + 0, n["lost"] + 0 (bad + left ? " wrong" : "") }' "$marker"
}

# whatever BUILD N CASE BEGIN END LOST DESC: with each version of the interface
whatever() {
	local version got=
	for version in 4 5 6; do
		play "$1" $version "$2" "$3" || got+=" exit $?: $(grep -m1 -E 'ERROR|WARNING' "$work/told")"
		got+=" $(whole)"
	done
	t_eq "$1: $7" "${got# }" "$4 $5 $6 $4 $5 $6 $4 $5 $6"
}

# lines: those in $marker, without what is the same in each
lines() { sed -E 's/^kstall nccl //; s/comm=[0-9a-f]+ rank=[0-9]+ //; s/ ranks=8//; s/ end .*/ end/' "$marker"; }

# keys: what collectives were held by, without the times
keys() { sed -nE 's/^kstall nccl [^ ]* end//p' "$marker" | sed -E 's/=[0-9]+//g; s/^ //'; }

for build in address thread; do
	# --- the ends that NCCL does not report (rocm-systems 9882 and 4725, nccl 2221) ---
	whatever $build 10000 nostop 10000 0 10000 "each of 10,000 lacks a channel's stop: as many are lost"
	whatever $build 10000 rare 10000 9000 1000 "every tenth does: the others end"
	play $build 6 10000 rare
	t_eq "$build: ... and it is those" "$(lines | awk '$2 == "lost" { split($1, id, ":"); if (id[4] % 10) print }')" ""
	t_eq "$build: ... and NCCL's log has it, once and at the end" "$(cat "$work/told")" \
		"nccl: WARN kstall: NCCL has not reported the end of abc:3:AllReduce:0: marked as lost, as others will be
nccl: WARN kstall: communicator abc: 10000 collectives, 1000 lost, 0 not split, 0 events too late, 0 lines not written"
	whatever $build 10000 garbage 10000 0 10000 "224 channels are announced, and 4 reported: as many are lost"
	whatever $build 1030 queued 1030 4 1026 "more are on the GPU's queue than there is room for: the oldest are lost"
	whatever $build 700 fused 700 700 0 "collectives of one kernel may end before the first"
	whatever $build 1024 late 1025 0 1025 "what comes too late ends nobody else"
	play $build 6 1 twice
	t_eq "$build: a channel that is stopped twice is through once" "$(cat "$work/out" "$marker" | grep -v begin | sed 's/ end .*/ end/' | xargs)" \
		"asks for 95 so far kstall nccl abc:3:AllReduce:0 end"

	# --- the network ---
	whatever $build 1 pxn 1 1 0 "operations of another process, of another rank, of a send are not this collective's"
	t_eq "$build: ... of which nothing is known" "$(keys | grep -c 'peer\|wire\|credit\|gpu')" 0
	play $build 6 65537 ops
	t_eq "$build: more operations than there is room for: it is not split" "$(sed -n 's/^kstall nccl \(.*\) end$/\1/p' "$marker")" "abc:3:AllReduce:0"
	t_eq "$build: ... the next one is" "$(keys | sed -n 2p | grep -c peer)" 1
	t_eq "$build: ... and NCCL's log has how many" "$(cat "$work/told")" \
		"nccl: WARN kstall: communicator abc: 2 collectives, 0 lost, 1 not split, 0 events too late, 0 lines not written"
	play $build 6 1 lateops
	t_eq "$build: what comes after a collective's end is no other's" "$(lines | grep -c end) $(keys | sed -n 2p | grep -c gpu)" "2 0"
	play $build 6 1 abort
	t_eq "$build: ... or after the communicator's" "$(lines | sed 's/ .* / /' | xargs)" "abc:3:AllReduce:0 func=AllReduce abc:3:AllReduce:0 lost"
	whatever $build 2000 split 2001 2001 0 "2,000 children of ncclCommSplit(), one after the other, while their parent waits"
	play $build 6 20 split
	t_eq "$build: ... each has the peer that it waits for" "$(sed -nE 's/^kstall nccl ([^:]*:[0-9]*).* end .*peer=[0-9]*(:[0-9]*) .*/\1 peer\2/p' "$marker" | sort | uniq -c | xargs)" \
		"1 abc:3 peer:6 20 abd:1 peer:2"
	play $build 6 10 again
	t_eq "$build: a step that is begun again and again is one" "$(keys | tr ' ' '\n' | grep -c '^peer:6$')" 1
	whatever $build 500 busy 500 500 0 "500 of 64 steps, one after the other"

	# --- sends and receives ---
	play $build 6 20 sends
	t_eq "$build: 20 all-to-alls, 600 sends and one are 22 collectives" "$(whole) $(lines | grep -c 'P2p:[0-9]* begin seq=[0-9]* func=P2p first=Send:[04]$')" "22 22 0 22"
	t_eq "$build: ... and the send is held by its receiver" "$(keys | tail -n 1 | grep -c 'credit:0')" 1
	play $build 4 20 sends
	t_eq "$build: v4 does not say enough of them" "$(whole)" "0 0 0"

	# --- the end of a communicator, of the library, of the process ---
	t_ok "$build: stops after the end of the communicator and of the library" play $build 6 1 gone
	t_eq "$build: ... what was under way is lost" "$(lines)" "abc:3:AllReduce:0 begin seq=0 func=AllReduce
abc:3:AllReduce:0 lost"
	play $build 6 1 next
	t_eq "$build: ... when there is another communicator" "$(tail -n 1 "$work/out") $(lines)" "so far abc:3:AllReduce:0 begin seq=0 func=AllReduce
abc:3:AllReduce:0 lost
def:1:Broadcast:7 begin seq=7 func=Broadcast
def:1:Broadcast:7 end"
	t_eq "$build: ... which had not ended by then" "$(sed -n '/^so far/q; / end$/p' "$work/out")" ""
	whatever $build 10000 threads 10000 10000 0 "10,000 of four communicators, in eight threads"
	t_ok "$build: children of a process whose other thread goes on" play $build 6 20 fork
	t_eq "$build: ... write no line" "$(whole | cut -d' ' -f3-) $(grep -c ':1000000 ' "$marker")" "0 0"
	play $build 6 1030 comms
	t_eq "$build: more communicators than there is room for, twice" "$(xargs <"$work/out")" "asks for 95 1023 1023"
	t_eq "$build: ... NCCL's log has each" "$(grep -c "WARN kstall: a communicator's collectives are not marked" "$work/told")" 14
done

# --- the caller: a plain one, NCCL's own thread, a graph that runs twice ---
play address 6 1 callers
tid=$(sed -n 2p "$work/out")
t_eq "v6: a begin that is not the caller's has the caller" "$(lines | grep begin)" "abc:3:AllReduce:0 begin seq=0 func=AllReduce
abc:3:AllReduce:1 begin seq=1 func=AllReduce tid=$tid
abc:3:AllReduce:2 begin seq=2 func=AllReduce tid=$tid owner=inferred
abc:3:AllReduce:3 begin seq=3 func=AllReduce tid=$tid owner=inferred"
play address 4 1 callers
t_eq "v4: which NCCL does not say there" "$(lines | grep begin | cut -d' ' -f2-)" "begin seq=0 func=AllReduce
begin seq=1 func=AllReduce owner=inferred
begin seq=2 func=AllReduce owner=inferred
begin seq=3 func=AllReduce owner=inferred"

# --- what is asked for ---
NCCL_PROFILE_EVENT_MASK=2 play address 6 20 garbage
t_eq "without channels: it asks for none" "$(cat "$work/out")" "asks for 3"
t_eq "... and a collective ends when it has been handed over" "$(whole)" "20 20 0"
NCCL_PROFILE_EVENT_MASK=0x40 play address 6 20 garbage
t_eq "without collectives: it asks for nothing, and writes nothing" "$(cat "$work/out" "$marker")" "asks for 0"
play address 6 1 names
t_eq "names are whole, and an ID has no more than 47 characters" "$(lines | awk '$2 == "begin" { print $1, length($1), $4 }')" \
	"abc:3:ReduceScatter:0 21 func=ReduceScatter
abc:3:?:0 9 func=?
ffffffffffffffff:1234567:Reduce:123456789012345 47 func=ReduceScatter"

# --- where it is ---
says=$(sed -n 's/^.*NCCL_PROFILER_PLUGIN=\(\/[^ ]*\).*/\1/p' ../../../kstall/nccl/profiler.c)
t_ok "make install-nccl" make -s -C ../../.. install-nccl DESTDIR="$work/node" PREFIX=/usr
t_eq "... puts it where it says that it is" "$(cd "$work/node" && find . -type f)" ".$says"
t_ok "... and NCCL can load it" env NCCL_PROFILER_PLUGIN="$work/node$says" KSTALL_MARKER=/dev/null ./nccl 6 1

# --- where its lines go ---
chmod 755 "$work"
mkdir -m 700 "$work/root"
: >"$work/root/marker"
cp ../../../kstall/nccl/libkstall-nccl.so nccl "$work"
# nobody command…: as a user who reaches no trace_marker
nobody() { NCCL_PROFILER_PLUGIN=$work/libkstall-nccl.so setpriv --reuid 65534 --regid 65534 --clear-groups "$@" >"$work/out" 2>"$work/told"; }
nobody env KSTALL_MARKER="$work/root/marker" "$work/nccl" 6 1 where
t_eq "a user who may not write to \$KSTALL_MARKER: to /dev/null, which kstall sees, too" "$(cat "$work/out")" "asks for 95
/dev/null"
t_eq "... NCCL's log has it" "$(grep WARN "$work/told")" "nccl: WARN kstall: cannot write to $work/root/marker: Permission denied"
nobody env -u KSTALL_MARKER "$work/nccl" 6 1 where
t_eq "a user who may not write to trace_marker: to /dev/null" "$(cat "$work/out")" "asks for 95
/dev/null"
t_eq "... which is no reason for a warning" "$(grep -c WARN "$work/told")" 0
named=/dev/full
t_ok "a marker that takes nothing is no reason to fail" play address 6 5 threads
t_eq "... and what was not written is counted" "$(grep -c 'WARN kstall: communicator .*: 1 collectives, 0 lost, 0 not split, 0 events too late, 2 lines not written' "$work/told")" 4
mkfifo "$work/pipe"
exec 3<>"$work/pipe"
named=$work/pipe
t_ok "nor one that nobody reads" play address 6 2000 rare
t_eq "... each line was written, or counted" \
	$(($(dd bs=1M iflag=nonblock <&3 2>/dev/null | wc -l) + $(sed -n 's/.* \([0-9]*\) lines not written/\1/p' "$work/told"))) 4000
