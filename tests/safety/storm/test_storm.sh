#!/usr/bin/env bash
# description: sessions that start, end and are killed at random leave nothing in tracefs, and what is counted meanwhile is counted
# timeout: 900
# requires: python3 fio
# known: failed to allocate ring buffer on CPU

. ../../program/recorder/lib.sh
[ -e $TRACEFS/kprobe_events ] || skip_all "no kprobe events"
here=$PWD
# KSTALL_STORM_SECONDS makes it longer, KSTALL_STORM_SEED repeats the choices of another run, though not their timing.
seconds=${KSTALL_STORM_SECONDS:-60}
seed=${KSTALL_STORM_SEED:-$RANDOM}
cd "$work" || exit
mkdir page
ln -s "$tests/program/why/caller" .

# What sessions have in tracefs; metrics and the recorder have names without an ID.
left() {
	(cd $TRACEFS/instances && printf '%s\n' kstall-????????-*) | grep -v '[*]'
	grep -ho 'kstall_[0-9a-f]\{8\}/[^ ]*' $TRACEFS/{kprobe,uprobe}_events
}
nothing_left() { [ -z "$(left)" ]; }
nobody_left() { ! pgrep -x 'kstall|kstall-guard' >/dev/null; }
said() { python3 -c "import json; d = json.load(open('said')); print($1)"; }
counted() { grep '^kstall_events_total{' page/kstall.prom | grep 'event="io_uring_req_done"' | sed -n '/cause="READ"/s/.* //p'; }
all_counted() { [ "$(counted)" = "$(said 'd["requests"]')" ]; }

plan 9
load io_uring_trace
configure "ring_kib 64" "keep 2" "io_uring_trace:io_uring_req_done 1ns"
at_exit remove_rings
t_ok "the recorder starts" recorder start
./caller &
caller=$!
at_exit kill $caller
# from now on the kernel counts
"$KSTALL" metrics --every 200ms --textfile page 2>metrics.err &
metrics=$!
wait_until 60 test -e page/kstall.prom || bail "metrics does not begin: $(cat metrics.err)"
kill -9 $metrics
wait $metrics 2>/dev/null
echo "# $seconds s, seed $seed"
python3 "$here/storm.py" "$KSTALL" "$work/caller" $caller "$work/conf" "$seconds" "$seed" >said
t_eq "the storm comes to its end" $? 0
echo "# $(said '*d["started"].items(), *d["ended"].items()')"
t_range "sessions were started" "$(said 'sum(d["started"].values())')" $((seconds / 3)) 100000
t_eq "each that was not killed has ended well" "$(said '"\n".join(d["wrong"])')" ""
"$KSTALL" metrics --every 200ms --textfile page 2>>metrics.err &
metrics=$!
wait_until 60 all_counted
t_eq "metrics has counted each request, however often it was killed" "$(counted)" "$(said 'd["requests"]')"
[ ! -s metrics.err ] || diag <metrics.err
kill $metrics
wait $metrics
# a session that finds what a killed guardian has left removes it
"$KSTALL" record -o last.dat --time 1s -p $caller 2>last.err
t_eq "the next session" "$? $(grep -v 'had no owner any more: removed' last.err)" "0 "
wait_until 60 nothing_left
t_eq "nothing is left in tracefs" "$(left)" ""
t_ok "... and nobody" wait_until 60 nobody_left
was=$(recorder show --module io_uring | grep -c req_done)
fio --name=after --ioengine=io_uring --direct=1 --filename=/dev/disk/by-id/virtio-scratch --size=1M --rw=randread --bs=4k --number_ios=1 >/dev/null
t_range "the recorder records" "$(($(recorder show --module io_uring | grep -c req_done) - was))" 1 1
