#!/usr/bin/env bash
# description: a command that kstall starts is that of the user who called sudo, whose markers are seen; kstall itself stays root
# requires: python3 unshare
# tier1: 6.12
# takes: 17
# known: failed to allocate ring buffer on CPU

. ../../events.sh
KSTALL=$PWD/../../../kstall/kstall
[ -x "$KSTALL" ] || skip_all "kstall is not built here"
[ -e $TRACEFS/kprobe_events ] || skip_all "no kprobe events"
chmod 711 "$work"
cd "$work" || exit
plan 11

# by_sudo COMMAND…: as sudo starts it for user 4711
by_sudo() { SUDO_UID=4711 SUDO_GID=4712 SUDO_USER=trainer SUDO_COMMAND="$*" "$@"; }

# shellcheck disable=SC2016 # the command's
echo 'id -u; id -g; id -G; grep -c "^CapEff:.0*$" /proc/self/status; echo ${SUDO_UID-none} ${SUDO_COMMAND-none}' >ids
chmod 644 ids

t_eq "a user of whom only the numbers are known" "$(by_sudo "$KSTALL" record -o a.dat -- sh ids 2>a.err | xargs)$(cat a.err)" \
	"4711 4712 4712 1 none none"
t_eq "--as-root" "$(by_sudo "$KSTALL" record --as-root -o a.dat -- id -u 2>&1)" 0
t_eq "root called sudo" "$(SUDO_UID=0 SUDO_GID=0 SUDO_USER=root "$KSTALL" record -o a.dat -- id -u 2>&1)" 0
t_eq "the recording is root's" "$(stat -c '%u %a' a.dat)" "0 600"
t_eq "no number" "$(SUDO_UID=x "$KSTALL" record -o a.dat -- id -u 2>&1)" "kstall: SUDO_UID=x is no number (--as-root: the command runs as root)"
t_eq "one without the other" "$(SUDO_UID=7 "$KSTALL" record -o a.dat -- id -u 2>&1)" \
	"kstall: SUDO_GID is not set, though SUDO_UID is (--as-root: the command runs as root)"

# A user with a name, in a name space of its own.
(cat /etc/passwd && echo "trainer:x:4711:4712::/home/trainer:/bin/trainersh") >passwd
(cat /etc/group && echo "render:x:4720:trainer") >group
# shellcheck disable=SC2016
echo 'id -u; id -g; id -G; echo $USER $LOGNAME $HOME $SHELL' >named
named=$(by_sudo unshare -m sh -c "mount --bind passwd /etc/passwd && mount --bind group /etc/group && exec $KSTALL why --every 1s -- sh named" \
	2>named.err | head -n 4 | xargs)
t_eq "a user with a name: groups and home, too" "$named$(cat named.err)" "4711 4712 4712 4720 trainer trainer /home/trainer /bin/trainersh"

# --- markers ---

# marked OPTION…: the steps that a command of the user's has marked
marked() {
	# shellcheck disable=SC2016
	by_sudo "$KSTALL" record -o marks.dat "$@" -- sh -c 'for i in 1 2 3; do echo "kstall step $i" >"$KSTALL_MARKER"; done' 2>&1
	"$KSTALL" why -i marks.dat --step marker --json 2>&1 | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(*(s["id"] for s in d["steps"]), [u for u in d["unseen"] if u["layer"] == "marker"])'
}
t_eq "markers of the user's" "$(marked)" "1 2 []"
t_eq "... and of root's" "$(marked --as-root)" "1 2 []"
# shellcheck disable=SC2016
t_eq "they go to /dev/null, as tracefs is root's" "$(by_sudo "$KSTALL" record -o a.dat -- sh -c 'echo "$KSTALL_MARKER"' 2>&1)" /dev/null
t_eq "nothing is left" "$(ls -d $TRACEFS/instances/kstall-????????-* 2>/dev/null)" ""
