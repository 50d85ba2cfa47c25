# shellcheck shell=bash disable=SC2154 # built, keep, out, vm: of run
# What ./run does with results: counts them, from several guests at once, runs once more what failed, and sums up.
#
#   $built/results   "passed", "failed" or "skipped", a line a result
#   $built/failed    the failed tests, as the summary shows them
#   $built/reported  "KERNEL TEST", a line a test whose results are known
#   $built/again     "KERNEL TEST", a line a test that is run once more, alone
#   $built/flaky     the tests that failed once and passed then
#   $built/seconds   "WHAT SECONDS (SECONDS OF PROCESSORS)", a line a phase

most_again=5 # tests that are run once more; of more nobody believes that it was chance
most_flaky=3

# result ok|"not ok" TEXT: prints a numbered line and counts it
result() {
	local kind=failed
	case $1$2 in
	ok*"# SKIP"*) kind=skipped ;;
	ok*) kind=passed ;;
	esac
	echo $kind >>"$built/results"
	echo "$1 $(wc -l <"$built/results") - $2"
}

count() { grep -c "^$1\$" "$built/results" || true; }

# One block of output at a time.
report() {
	local fd
	exec {fd}>"$built/lock"
	flock "$fd"
	"$@"
	exec {fd}>&-
}

# bad TEXT [LOG]: a result that failed. The summary gets it with the comments on standard input: what was expected and seen.
bad() {
	result "not ok" "$1"
	{
		echo "# failed: $1"
		sed -E '/^(# ?)*$/d; s/^(# ?)+/#     /' | head -n 4 | cut -c1-160
		[ -z "${2-}" ] || echo "#     log: $2"
	} >>"$built/failed"
}

# cpu_seconds: sets cpu to what this shell and what it has waited for have taken of processors. Not in a pipe: that is another shell.
cpu_seconds() {
	local file=$built/times.$BASHPID
	times >"$file"
	cpu=$(tr ' ' '\n' <"$file" | awk -F'[ms]' '{ s += $1 * 60 + $2 } END { print int(s) }')
}

# timed WHAT command…: the summary says how long it took, and in parentheses the seconds of processors
timed() {
	local what=$1 begin=$SECONDS cpu before
	shift
	cpu_seconds
	before=$cpu
	"$@"
	cpu_seconds
	echo "$what $((SECONDS - begin)) ($((cpu - before)))" >>"$built/seconds"
}

# last_lines WHAT FILE [TEST]: its end, as a comment; of a console, not what came before the test began
last_lines() {
	echo "# --- the last lines of $1 ($2):"
	awk -v mark="kstall-test: ${3-}" 'mark == "kstall-test: " || index($0, mark) { on = 1 } on' "$2" |
		tail -n 60 | tr -d '\r' | sed 's/^/# /'
}

# --- one test's log ---

# first_bad LOG: its first failed result, without number
first_bad() { sed -nE 's/^not ok [0-9]+ (- )?//p' "$1" | head -n 1; }

# comments LOG: what follows the first failed result there
comments() { awk '/^not ok / { if (on) exit; on = 1; next } on { if (!/^#/) exit; print }' "$1"; }

# is_final LOG: some of what failed is never put down to chance: the kernel complained, the guest died, memory or an event was lost.
# ../run.sh and ../lib.sh mark it.
is_final() { grep -q '^# final: ' "$1"; }

# print_results KERNEL TEST LOG: the results in it. A test that was skipped as a whole has no results but a plan that says why.
print_results() {
	local line text first=1
	while IFS= read -r line; do
		text=${line#*ok }
		text=${text#* }
		case $line in
		"ok "*) result ok "$1 $2: ${text#- }" ;;
		"not ok "*)
			if [ -n "$first" ]; then comments "$3" | bad "$1 $2: ${text#- }" "$3"; else result "not ok" "$1 $2: ${text#- }"; fi
			first=
			;;
		"1..0 # SKIP"*) result ok "$1 $2 # SKIP${line#1..0 # SKIP}" ;;
		esac
	done <"$3"
}

# finish KERNEL TEST LOG CONSOLE: a test has ended. If a result is bad it says how it came to that; unless that is final, the test
# gets one more try, and only then its results count. $alone is "again" at the second try, "never" where there is none.
finish() {
	local first
	first=$(first_bad "$3")
	echo "$1 $2" >>"$built/reported"
	if [ -n "$first" ] && [ -z "$alone" ] && ! is_final "$3"; then
		echo "$1 $2" >>"$built/again"
		cp "$3" "$3.first"
		echo "# $1 $2: failed, and is run once more later: $first"
	else
		print_results "$1" "$2" "$3"
		[ -n "$first" ] || [ "$alone" != again ] || flaky "$1" "$2" "$3"
	fi
	[ -n "$first" ] || { keep "$1" "$2" "$3"; return; }
	last_lines "the test's log" "$3"
	last_lines "the console" "$4" "$2"
}

# keep KERNEL TEST LOG: it has passed, at its first try
keep() {
	[ -n "$keep" ] && [ "$alone" != again ] || return 0
	mkdir -p "$keep/$1/${2%/*}"
	cp "$3" "$keep/$1/$2.log"
}

# missing KERNEL TEST WHY: it has no results
missing() {
	echo "$1 $2" >>"$built/reported"
	bad "$1 $2: not run, $3" </dev/null
}

# flaky KERNEL TEST LOG: both logs are kept in the cache, by commit
flaky() {
	local dir
	dir=$KSTALL_CACHE/flaky/$(commit)/$1/${2%/*}
	mkdir -p "$dir"
	cp "$3" "$dir/${2#*/}.log"
	mv "$3.first" "$dir/${2#*/}.log.first"
	{
		echo "# flaky: $1 $2: $(first_bad "$dir/${2#*/}.log.first")"
		echo "#     log: $dir/${2#*/}.log.first"
	} >>"$built/flaky"
}

# commit: what is tested
commit() {
	local git=(git -c safe.directory='*' -C "$top")
	"${git[@]}" rev-parse --git-dir >/dev/null 2>&1 || { echo unknown; return; }
	echo "$("${git[@]}" rev-parse --short=12 HEAD)$([ -z "$("${git[@]}" status --porcelain)" ] || echo -changed)"
}

# relay WHAT: the results on standard input; the comments after a bad one are what it has to say. They have to be as many as planned.
relay() {
	local line text='' said='' n=0 planned='none'
	tell() { [ -z "$text" ] || report bad "$text" <<<"$said"; [ -z "$said" ] || echo "$said"; text='' said=''; }
	while IFS= read -r line; do
		case $line in
		"1.."*) planned=${line#1..} ;;
		"ok "*) tell; n=$((n + 1)); line=${line#ok } line=${line#* }; report result ok "$1: ${line#- }" ;;
		"not ok "*) tell; n=$((n + 1)); line=${line#not ok } line=${line#* }; text="$1: ${line#- }" ;;
		"#"*) if [ -n "$text" ]; then said+=${said:+$'\n'}$line; else echo "$line"; fi ;;
		esac
	done
	tell
	[ "$planned" = $n ] || report bad "$1: has as many results as planned ($n of $planned)" </dev/null
}

# --- all of them ---

# give_up: too many failed for one more try of each
give_up() {
	local kernel test
	while read -r kernel test; do
		print_results "$kernel" "$test" "$out/$kernel/$test.log"
	done <"$built/again"
}

# summary: the end is what one reads
summary() {
	local n
	echo "1..$(wc -l <"$built/results")"
	if [ -s "$built/failed" ]; then
		head -n 40 "$built/failed"
		n=$(tail -n +41 "$built/failed" | grep -c '^# failed: ' || true)
		[ "$n" = 0 ] || echo "# … and $n more"
	fi
	[ ! -s "$built/flaky" ] || cat "$built/flaky"
	[ ! -s "$built/seconds" ] || sort -s -k1,1 "$built/seconds" | awk '{ text = text ", " $0 } END { print "# seconds (of processors): " substr(text, 3) }'
	echo "# $SECONDS s in all, commit $(commit)"
	echo "$(count passed) passed, $(count failed) failed, $(count skipped) skipped"
}
