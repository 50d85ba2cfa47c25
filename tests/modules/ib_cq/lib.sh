# shellcheck shell=bash
# shellcheck disable=SC2034 # for ../../events.sh
# What the tests of ib_cq_trace share, on top of ../../events.sh.

MODULE=ib_cq_trace
SYSTEM=ib_cq
# shellcheck source=../../events.sh
. ../../events.sh
# shellcheck source=../../rxe.sh
. ../../rxe.sh

STATUS=/sys/kernel/debug/ib_cq_trace/status
DO=/sys/kernel/debug/mock_ib/do
GID=::ffff:10.9.0.1
GID2=::ffff:10.9.0.2
LINK=$tests/modules/ib_cq/link

# Kprobes do not nest: those that are hit while another is handled, by an interrupt that fell into it, are missed, and counted.
# Where that has happened a result that differs is skipped; and it has to be rare, see t_no_losses.
sum_of() { awk -v key="^$1=" '$1 == "hook" { for (i = 2; i <= NF; i++) if (sub(key, "", $i)) n += $i } END { print n + 0 }' $STATUS; }
missed() { if [ -e $STATUS ]; then sum_of missed; else echo 0; fi; }

eval "exactly_$(declare -f t_eq)"
t_eq() {
	if [ "$2" != "$3" ] && [ "$(missed)" != 0 ]; then
		t_skip "$1" "the status file tells of $(missed) missed probes (got $(xargs <<<"$2"), want $(xargs <<<"$3"))"
	else
		exactly_t_eq "$@"
	fi
}

# t_no_losses: as in ../../events.sh, but probes may have been missed, fewer than were not: one interrupt can be a batch of 600 completions
t_no_losses() {
	local rare='^hook .* recursed=0 '
	[ "$(missed)" -le "$(sum_of hits)" ] || rare='^$'
	exactly_t_eq "the status file knows of no loss but a few missed probes" "$(status_losses | grep -v "$rare")" ""
}

# soft_roce: a device rxe0 on a network interface that leads nowhere. Its GID 1 is $GID.
soft_roce() {
	local module
	for module in ib_uverbs rdma_rxe dummy; do
		modprobe "$module" || skip_all "no module $module"
	done
	at_exit end_soft_roce
	rxe_up || bail "no rxe0"
}

# The modules go too, as nothing a test loaded may stay.
end_soft_roce() {
	rxe_down
	wait_until 10 modprobe -r rdma_rxe
	wait_until 10 modprobe -r dummy
	modprobe -qr rdma_ucm ib_uverbs
	return 0
}

# soft_roce_link: rxe0 and rxe1, the two ends of a cable, see $LINK; their GIDs 1 are $GID and $GID2
soft_roce_link() {
	local module
	for module in rdma_rxe ib_uverbs veth sch_ingress sch_netem cls_flower act_gact; do
		modprobe "$module" || skip_all "no module $module"
	done
	at_exit end_soft_roce_link
	"$LINK" up || bail "no link"
}

end_soft_roce_link() {
	"$LINK" down
	wait_until 10 modprobe -r rdma_rxe
	modprobe -qr rdma_ucm ib_uverbs
	modprobe -qr veth cls_flower act_gact sch_ingress sch_netem
	return 0
}

# counter NAME [DEVICE]: of the port's hardware counters
counter() { cat "/sys/class/infiniband/${2-rxe0}/ports/1/hw_counters/$1"; }

# sweep FIELD [FILE]: of the status file, or of a line of it that was kept
sweep() { awk -v key="^$1=" '/^sweep rxe0/ { for (i = 3; i <= NF; i++) if (sub(key, "", $i)) print $i }' "${2:-$STATUS}"; }

# swept N: so many sweeps have ended
swept() { [ $(($(sweep sweeps) - ($(sweep left) > 0))) -ge "$1" ]; }

# sweep_anyway: where that is off, too. What soft-RoCE answers from is not freed while somebody asks.
sweep_anyway() { echo 1 >/sys/module/ib_cq_trace/parameters/qp_sweep_force; }

# mock COMMAND [N [K]]: has mock_ib do it, what it says is in $work/out and what it caused in $work/trace
mock() { run out mock_do "$@"; }
mock_do() { echo "$*" >"$DO" && cat "$DO"; }

# verbs COMMAND…: ./verbs, likewise
verbs() { run out ./verbs "$@"; }

# both_ends PROGRAM ARGUMENT…: both ends of one of perftest's programs, on rxe0; what the first says is in $work/server
both_ends() {
	local server
	"$@" -d rxe0 -x 1 -F >"$work/server" 2>&1 &
	server=$!
	wait_until 200 listens || return
	"$@" -d rxe0 -x 1 -F 127.0.0.1 && wait $server
}
listens() { ss -ltn | grep -q ':18515 '; }

# settled: until summaries of storms are out, 100 ms after their last
settled() { sleep 1; snap; }

# in_one EVENT command…: a storm and its summary; again if the machine stood still for the 100 ms after which one counts as over
in_one() {
	local try
	for try in 1 2 3; do
		"${@:2}"
		settled
		[ "$(ev_awk "$1" 'if (n++ && f["first_ts_mono_ns"] - last >= 100000000) cut = 1; last = f["last_ts_mono_ns"]' 'print cut + 0')" = 1 ] || break
		echo "# $1: cut in two, try $try"
	done
}

# have EVENT CONDITION N: at least N of them, for wait_until
have() { snap; [ "$(ev_n "$1" "$2")" -ge "$3" ]; }

in_use() { status_field ib_cq_trace table "$1" in_use; }
