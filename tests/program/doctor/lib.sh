# shellcheck shell=bash disable=SC2034,SC2154
# On top of ../../lib.sh: runs the doctor of this tree and looks at what it says.

top=$(cd "$tests/.." && pwd)
report=$(mktemp)
at_exit rm -f "$report"

# doctor [options]: sets status; what it printed is in $report
doctor() {
	status=0
	"$top/tools/kstall-doctor" "$@" >"$report" 2>&1 || status=$?
}

# put FILE VALUE: into the made-up machine below $node
put() {
	mkdir -p "$node${1%/*}"
	printf '%s\n' "$2" >"$node$1"
}

# says REGEX: a line of it is like this
says() { grep -qE -- "$1" "$report"; }

# t_says DESC REGEX…: some line matches each
t_says() {
	local desc=$1 regex
	shift
	for regex; do
		says "$regex" || { t_fail "$desc" "no line matches: $regex" "$(cat "$report")"; return; }
	done
	t_pass "$desc"
}

# t_not DESC REGEX: none does
t_not() {
	if says "$2"; then t_fail "$1" "$(grep -E -- "$2" "$report")"; else t_pass "$1"; fi
}

# The modules of this tree, by its directories.
modules=()
for d in "$top"/*_trace/Kbuild; do
	d=${d%/Kbuild}
	modules+=("${d##*/}")
done

# t_each DESC REGEX: for each of them (MODULE in the regex) a line matches
t_each() {
	local module desc=$1 regex=$2 all=()
	for module in "${modules[@]}"; do
		all+=("${regex//MODULE/$module}")
	done
	t_says "$desc" "${all[@]}"
}
