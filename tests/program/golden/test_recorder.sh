#!/usr/bin/env bash
# description: kstall recorder show puts a copy's rings on one time line, with each field as the kernel prints it
# host: it reads copies that the test writes
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3
. ./lib.sh
plan 11

copy() { python3 "$here/mkdat.py" --instances --about "$1" "$here/recorder.txt"; }
echo "dir $work/state" >conf
show() { "$KSTALL" recorder show --config conf "$@" recorder.dat; }

copy "$here/recorder.about" || bail "no copy"
golden "events of three rings in order of time" recorder.want show
golden "JSON" recorder.json.want show --json
same "--since: from the last one back" "$(show --since 2.1s)" "$(sed '2,3d' "$here/recorder.want")"
# Asia/Tokyo and America/St_Johns, where there are no zones, too
same "text: local time, and how far it is from UTC" "$(TZ=JST-9 show)" "$(sed 's/01-01 00:\(.*\)+00:00 \[/01-01 09:\1+09:00 [/' "$here/recorder.want")"
same "JSON: the same, half an hour and to the west, too" "$(TZ=NST3:30 show --json)" \
	"$(sed 's/2026-01-01T00:0\(.*\)+00:00", "mono/2025-12-31T20:3\1-03:30", "mono/' "$here/recorder.json.want")"
same "--module" "$(show --module io_uring_trace)" "$(grep -E '^#|io_uring' "$here/recorder.want")"

# the configuration file may name any event of the kernel's
{ cat "$here/recorder.txt"; echo "43600000000 3 400 0 sched:sched_process_exec filename=/bin/true pid=400 old_pid=400"; } >more.txt
python3 "$here/mkdat.py" --instances --about "$here/recorder.about" more.txt || bail "no copy with more"
same "JSON: an event of no module of ours" "$("$KSTALL" recorder show --config conf --json more.dat | grep -o '"system": "sched".*"event": "[a-z_]*"')" \
	'"system": "sched", "module": "", "event": "sched_process_exec"'

# A name of 15 bytes, as long as that of the stream with what it is filled up with.
forge() { python3 -c 'import sys; d = open(sys.argv[1], "rb").read(); open(sys.argv[1], "wb").write(d.replace(b"trainer" + bytes(9), b"a=b pid=7 tgid=\0"))' "$1"; }
forge recorder.dat
same "JSON: a name that reads like fields is one field" "$(show --json)" "$(sed 's/"trainer"/"a=b pid=7 tgid="/' "$here/recorder.json.want")"

sed 's/^boot 1111/boot 9999/' "$here/recorder.about" >about
copy about
same "rings of another boot than the formats are refused" "$(show 2>&1)" \
	"kstall: not shown: the rings are of boot 11111111-2222-3333-4444-555555555555, the formats kept of boot 99991111-2222-3333-4444-555555555555; ids would name the wrong events"

# What is on by default and what that costs are said in one place, and read there.
"$KSTALL" recorder events --config /dev/null >events
same "Documentation/recorder.md has what is on, and its cost" "$(sed -n '/^    event .*hooks run at each$/,/^$/p' "$here/../../../Documentation/recorder.md" | sed 's/^    //; /^$/d')" \
	"$(grep -v ' off ' events)"
same "what it says to be off is off" "$(grep -cE 'hooks each io_uring request, DMA mapping or pin of pages' "$here/../../../Documentation/recorder.md") $(grep -E 'io_uring request|DMA mapping|pin of pages' events | grep -vc ' off ')" "1 0"
