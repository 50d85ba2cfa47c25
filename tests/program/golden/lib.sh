# shellcheck shell=bash
# shellcheck disable=SC2034 # for the tests
# What the golden tests share: recordings made of the event streams beside this file, and whole outputs compared with *.want.
#
# A number in a .want was derived from the stream and compared with what the program prints, not copied from it. Whoever changes
# what the program says writes the new lines by hand, or checks what the failing test shows line by line; stated.py compares
# the parts of each step with what the stream's comments state, and has no .want.

# shellcheck source=../../lib.sh
. ../../lib.sh

KSTALL=$PWD/../../../kstall/kstall
ENGINE=$PWD/../../../kstall/engine_test
METRICS=$PWD/../../../kstall/metrics_test
here=$PWD
export LC_ALL=C TZ=UTC

[ -x "$KSTALL" ] || skip_all "kstall is not built (make -C kstall)"
# The program names system calls by its own numbers.
[ "$(uname -m)" = x86_64 ] || skip_all "the streams have the system calls of x86_64"

work=$(mktemp -d)
at_exit rm -rf "$work"
cd "$work" || exit

# make_dat NAME…: NAME.dat, of NAME.txt
make_dat() { printf '%s\0' "$@" | sed -z "s|.*|$here/&.txt|" | xargs -0 python3 "$here/mkdat.py" --session all-first || bail "no recordings: $*"; }

stated() { python3 "$here/stated.py" "$@"; }

# golden DESC WANT command…: it succeeds, says nothing on standard error, and prints what is in WANT
golden() {
	local desc=$1 want=$here/$2 status=0 differs
	shift 2
	"$@" >got 2>err || status=$?
	if [ $status != 0 ] || [ -s err ]; then
		t_fail "$desc" "exit $status: $*" "$(cat err)"
	elif differs=$(diff -u --label "${want##*/}" "$want" --label "what came out" got); then
		t_pass "$desc"
	else
		t_fail "$desc" "$*" "$differs"
	fi
}

# same DESC GOT WANT: of several lines; the difference is shown
same() {
	local differs
	if differs=$(diff <(echo "$3") <(echo "$2")); then t_pass "$1"; else t_fail "$1" "< wanted, > came out" "$differs"; fi
}
