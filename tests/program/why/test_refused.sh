#!/usr/bin/env bash
# description: a user who is not root, has no tracefs or asks for a process that is not there gets the right sentence, and a status that is not 0
# requires: setpriv unshare
# tier1: 6.12
# known: failed to allocate ring buffer on CPU

. ../../events.sh
KSTALL=$PWD/../../../kstall/kstall
[ -x "$KSTALL" ] || skip_all "kstall is not built here"
cp "$KSTALL" "$work/kstall"	# where any user finds it
chmod 711 "$work"
cd "$work" || exit
plan 19

# says DESC TEXT COMMAND…: status 1, and one line
says() {
	local desc=$1 want=$2 said status=0
	shift 2
	said=$("$@" 2>&1) || status=$?
	t_eq "$desc" "$status $said" "1 kstall: $want"
}

user() { timeout 60 setpriv --reuid 65534 --regid 65534 --clear-groups ./kstall "$@"; }
says "no root: record" "no tracing here: it takes root (sudo)" user record -o /dev/null -- true
says "... why" "no tracing here: it takes root (sudo)" user why -p 1
says "... recorder status, which knows nothing of modules then" "no tracing here: it takes root (sudo)" user recorder status
says "... recorder last-boot" "no tracing here: it takes root (sudo)" user recorder last-boot
says "... recorder setup-crash" "no tracing here: it takes root (sudo)" user recorder setup-crash
says "... recorder start" "no tracing here: it takes root (sudo)" user recorder start
[ -d /run/kstall-metrics ] || mkdir -m 700 /run/kstall-metrics	# in a guest anybody may make it
says "... metrics" "/run/kstall-metrics/lock: it takes root (sudo)" user metrics --textfile .
t_eq "... --help does not take it" "$(user why --help | head -n 1)" "$(./kstall why --help | head -n 1)"

# No tracefs, and none that could be mounted.
# shellcheck disable=SC2016
without_tracefs() {
	unshare -m sh -c 'sed -nE "s/^[^ ]* ([^ ]*) (tracefs|debugfs) .*/\1/p" /proc/mounts | tac | xargs -r umount -l
		exec setpriv --bounding-set -sys_admin ./kstall "$@"' sh "$@"
}
not_mounted="no tracing here: tracefs is not mounted (mount -t tracefs nodev /sys/kernel/tracing)"
says "no tracefs: record" "$not_mounted" without_tracefs record -o /dev/null -- true
for command in status last-boot setup-crash; do
	says "... recorder $command" "$not_mounted" without_tracefs recorder $command
done

# There is no such number: pid_max is at most 4194304.
says "no such process" "no process 4194303" ./kstall why -p 4194303 --time 1s
says "none of two" "no process 4194303" ./kstall record -o /dev/null -p 4194303,4194302 --time 1s
sleep 1000 &
sleeper=$!
at_exit kill $sleeper
t_eq "one of two: the other is traced" "$(./kstall record -o some.dat -p "4194303,$sleeper" --time 0.1s 2>&1; echo $?)" "kstall: no process 4194303
0"
says "no process of that name" "no process nosuch" ./kstall why --comm nosuch --time 1s
t_eq "... and nothing of the session is left when that is said" "$(ls -d $TRACEFS/instances/kstall-????????-* 2>/dev/null)" ""
says "no cgroup" "/nosuch: No such file or directory" ./kstall why --cgroup /nosuch --time 1s
t_eq "nothing is left" "$(ls -d $TRACEFS/instances/kstall-????????-* 2>/dev/null)" ""
