#!/usr/bin/env bash
# description: of each command of kstall --help, the completion and the manual page have the same options, and a wrong one is named
# host: it asks the program for its options
# tier1: 6.12
# once: it does not ask the kernel
# timeout: 900
. ./lib.sh
top=$here/../../..
mapfile -t commands < <("$KSTALL" --options words)
mapfile -t single < <(printf '%s\n' "${commands[@]}" | grep -vx recorder && "$KSTALL" --options words recorder | sed 's/^/recorder /')
all=("${single[@]}" recorder)
plan 25

# The options of each one's --help.
declare -A helped
for command in "${all[@]}"; do
	helped[$command]=$("$KSTALL" $command --help | sed -nE 's/^  (-[a-zA-Z]|  )(,|  ?) ?(--[a-z-]+).*/\1\n\3/p' | sort | xargs)
done

# shellcheck source=../../../kstall/kstall.bash
. "$top/kstall/kstall.bash"

# offered WORD…: what completion has for what comes behind these
offered() {
	COMP_WORDS=("$KSTALL" "$@") COMP_CWORD=$# COMPREPLY=()
	_kstall
	printf '%s\n' "${COMPREPLY[@]}" | grep -vx -e -- | sort | xargs
}

# in_page COMMAND: the options that its manual page has between the marks
in_page() {
	sed -n '/^\.\\" of scripts/,/^\.\\" end of it/s/^\\fB//p' "$top/kstall/kstall-$1.8" | sed 's/\\-/-/g; s/\\f[IR][^,]*,*//g; s/ *\\fB/\n/g' |
		grep -oE -- '^--?[a-zA-Z][a-zA-Z-]*' | sort | xargs
}

# --- one table ---

wrong=
for command in "${single[@]}"; do
	[ "${helped[$command]}" = "$(offered $command -)" ] || wrong+=" $command"
done
same "completion offers the options of --help" "$wrong" ""
wrong=
for command in "${commands[@]}"; do
	[ "${helped[$command]}" = "$(in_page "$command")" ] || wrong+=" $command: $(in_page "$command"); "
done
same "the manual pages have them" "$wrong" ""
same "completion offers the commands" "$(offered '')" "$("$KSTALL" --help | sed -n 's/^  \([a-z-]*\) .*/\1/p' | sort | xargs)"
same "... and recorder's" "$(offered recorder '')" "$("$KSTALL" recorder --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' | sort | xargs)"
same "completion offers files where no option begins" "$(: >some.dat && offered why -i some)" some.dat
mkdir pages
"$top/scripts/option-lists" "$work/pages"
same "scripts/option-lists changes no page" "$(for page in pages/*; do cmp "$page" "$top/kstall/${page##*/}" 2>&1; done)" ""

# --- every command ---

same "--help: status 0, nothing on standard error" "$(for command in "${all[@]}" ''; do
	"$KSTALL" $command --help 2>&1 >got || echo "$command: $?"
	grep -q "^usage: kstall ${command:-COMMAND}" got || echo "$command"
done)" ""
same "-h and help are the same" "$(for command in "${all[@]}"; do
	"$KSTALL" $command --help >want
	"$KSTALL" $command -h | cmp - want
	"$KSTALL" help $command | cmp - want
done)" ""
same "--help behind other options" "$("$KSTALL" diff --json --help 2>&1 | head -n 1)" "usage: kstall diff [OPTION ...] GOOD BAD"
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$top/dkms.conf")
same "--version" "$(for command in '' "${all[@]}"; do "$KSTALL" $command --version; "$KSTALL" $command -V; done | sort -u)" "kstall $version"
same "no line of --help is longer than 80 characters but a command's" "$(for command in '' "${all[@]}"; do
	"$KSTALL" $command --help | grep -E '.{81}' | grep -v '^  [a-z]'
done)" ""

# --- what is wrong is named ---

# says DESC TEXT ARGUMENT…: status 2, and one line that says so
says() {
	local desc=$1 want=$2 status=0
	shift 2
	"$KSTALL" "$@" >got 2>err || status=$?
	same "$desc" "$status $(cat got err)" "2 $want"
}
mapfile -t options < <(tr ' ' '\n' <<<"${helped[*]}" | grep ^-- | sort -u)
same "an option of another command" "$(for command in "${commands[@]/%recorder/recorder status}" "recorder show"; do
	for option in "${options[@]}"; do
		[[ " ${helped[$command]} " != *" $option "* ]] || continue
		said=$("$KSTALL" $command "$option=x" 2>&1)
		[ "$said" = "kstall $command: unknown option $option (see kstall $command --help)" ] || echo "$said"
	done
done)" ""
says "one letter" "kstall diff: unknown option -i (see kstall diff --help)" diff -i x
says "without its value" "kstall why: --pid wants PID[,...] (see kstall why --help)" why -p
says "a value where there is none" "kstall why: --json takes no value (see kstall why --help)" why --json=x
says "a number" "kstall why: --slowest 0: not a number from 1 to 1073741824 (see kstall why --help)" why -n 0
says "a kind of step" "kstall why: --step x: not marker, nccl, uprobe:BINARY:SYMBOL or all (see kstall why --help)" why --step x
says "too few arguments" "kstall diff: it takes GOOD BAD (see kstall diff --help)" diff x
says "too many" "kstall recorder start: it takes no argument (see kstall recorder start --help)" recorder start x
says "a command" "kstall: no command wy (see kstall --help)" wy
says "a command of recorder" "kstall: no command recorder strat (see kstall recorder --help)" recorder strat
says "of what goes on now, for a recording" "kstall why: -i: --snapshot, --time and --buffer are for what goes on now (see kstall why --help)" \
	why -i x --time 1s
says "... and which calls of the GPU are seen" "kstall why: -i: --no-cuda and --cuda-launch are for what goes on now (see kstall why --help)" \
	why -i x --cuda-launch
says "both of two that exclude each other" "kstall record: --no-cuda and --cuda-launch exclude each other (see kstall record --help)" \
	record --no-cuda --cuda-launch -p 1
"$KSTALL" why -i x -- true --help >got 2>err
same "a command's options are its own" "$(cat got err)" "kstall why: -i: a recording has no command to start (see kstall why --help)"
