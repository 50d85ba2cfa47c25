# shellcheck shell=bash
# shellcheck disable=SC2034 # for the tests
# What the tests of `kstall recorder` share, on top of ../../events.sh.

MODULE=io_uring_trace
SYSTEM=io_uring_trace
# shellcheck source=../../events.sh
. ../../events.sh

KSTALL=$PWD/../../../kstall/kstall
URING=$PWD/../../modules/io_uring/uring
[ -x "$KSTALL" ] || skip_all "kstall is not built here"

# configure LINE…: the recorder's configuration file and directory of this test
configure() { printf '%s\n' "dir $work/state" "$@" >"$work/conf"; }

recorder() { "$KSTALL" recorder "$@" --config "$work/conf"; }

# Rings go with the test.
remove_rings() {
	local ring
	recorder stop
	for ring in "$TRACEFS"/instances/kstall*; do [ ! -d "$ring" ] || rmdir "$ring"; done
}

# copies [PREFIX]: their names
copies() { (cd "$work/state" && printf '%s\n' "${1-}"*.dat | grep -v '\*'); }

# fields FILE: of each event in what `show --json` printed, as "EVENT KEY=VALUE …", sorted by key
fields() {
	python3 -c '
import json, sys
for line in open(sys.argv[1]):
    e = json.loads(line)
    if "event" in e:
        print(e["event"], *sorted("%s=%s" % f for f in e["fields"].items()))' "$1"
}

# printed FILE: the same of lines that the kernel has printed
printed() {
	python3 -c '
import re, sys
for line in open(sys.argv[1]):
    m = re.search(r": ([a-z_]+): ([a-z_]+=.*)", line)
    if m:
        parts = re.split(r" (?=[a-z_0-9]+=)", m[2].rstrip("\n"))
        # libtraceevent prints %#x of 0 as C does
        print(m[1], *sorted(re.sub("=0x0$", "=0", p) for p in parts))' "$1"
}
