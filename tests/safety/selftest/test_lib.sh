#!/usr/bin/env bash
# description: lib.sh and run.sh know a good test from a bad one
# once: it asks the tree
# tier1: 6.12
. ../../lib.sh
plan 18

work=$(mktemp -d)
at_exit rm -rf "$work"

# snippet COMMANDS: what a test of these commands prints
snippet() { bash -c ". ../../lib.sh; $1" 2>&1; }

t_eq "t_ok: success" "$(snippet 't_ok desc true')" "ok 1 - desc"
t_eq "t_ok: failure shows the output" "$(snippet 't_ok desc ls /absent' | tail -1)" \
	"# ls: cannot access '/absent': No such file or directory"
t_eq "t_fails: failure is success" "$(snippet 't_fails desc false')" "ok 1 - desc"
t_eq "t_fails: success is failure" "$(snippet 't_fails desc true' | head -1)" "not ok 1 - desc"
t_eq "t_eq: difference shows both" "$(snippet 't_eq desc a b')" $'not ok 1 - desc\n# got:  a\n# want: b'
t_eq "t_range: bounds belong to it" "$(snippet 't_range desc 1 1 2; t_range desc 2 1 2' | grep -c ^ok)" 2
t_eq "t_range: outside" "$(snippet 't_range desc 3 1 2' | head -1)" "not ok 1 - desc"
t_eq "t_range: nothing is not in any range" "$(snippet 't_range desc "" 0 9' | head -1)" "not ok 1 - desc"
t_eq "at_exit: the last comes first" "$(snippet 'at_exit echo "a  b"; at_exit echo c')" $'c\na  b'
t_fails "a failed result is a failed script" snippet 't_eq desc a b'
snippet 'skip_all why' >/dev/null
t_eq "skip_all: exit status 4" $? 4

status() { printf '%s\n' 'event a users=1 state=armed' 'hook a hits=2 missed=0' 'table a capacity=7'; }
mkdir "$work/debug"
status >"$work/status"
awk() { command awk "${@:1:$#-1}" "$work/status"; }
t_eq "status_field: event" "$(status_field x event a state)" armed
t_eq "status_field: hook" "$(status_field x hook a hits)" 2
t_eq "status_field: absent" "$(status_field x table b capacity)" ""

# A process in a group of its own, as timeout(1) makes one, holds what run.sh waits for.
mkdir -p "$work/tests/safety/x"
cp ../../run.sh ../../lib.sh "$work/tests"
cat >"$work/tests/safety/x/test_left.sh" <<'END'
. ../../lib.sh
plan 1
timeout 1234 sleep 1233 >/dev/null &
wait_until 10 pgrep -f '^sleep 1233'
t_pass "desc"
END
t_eq "run.sh: what a test leaves behind is killed" \
	"$(timeout $((120 * ${KSTALL_TIME_SCALE:-1})) "$work/tests/run.sh" x/left | tail -1) $(pgrep -fc '^sleep 1233')" "# Totals: pass:1 fail:0 skip:0 0"

# --- what the kernel reports ---

mkdir -p "$work/bin"
printf '#!/bin/sh\n%s\ncat %q\n' "$(command -v dmesg)" "$work/report" >"$work/bin/dmesg"
chmod +x "$work/bin/dmesg"
cat >"$work/tests/safety/x/test_known.sh" <<'END'
# known: lock_a.*lock_b
. ../../lib.sh
plan 1
t_pass "desc"
END
# report LOCK…: lockdep's, of these
report() { printf '[ 1.0] %s\n' "WARNING: possible circular locking dependency detected" "$@" "Call Trace:" " </TASK>"; }
totals() { PATH=$work/bin:$PATH timeout $((120 * ${KSTALL_TIME_SCALE:-1})) "$work/tests/run.sh" x/known | tail -1; }
report lock_a lock_b >"$work/report"
t_eq "run.sh: a report that is known" "$(totals)" "# Totals: pass:1 fail:0 skip:0"
report lock_a lock_c >"$work/report"
t_eq "run.sh: another" "$(totals)" "# Totals: pass:0 fail:1 skip:0"
{ report lock_a lock_b; echo '[ 2.0] BUG: another'; } >"$work/report"
t_eq "run.sh: another after it" "$(totals)" "# Totals: pass:0 fail:1 skip:0"
