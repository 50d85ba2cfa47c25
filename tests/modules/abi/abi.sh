#!/usr/bin/env bash
# shellcheck disable=SC2016 # the dollars are awk's
# abi.sh fields|arguments|names MODULE: what users of the module's events rely on, in the form in which MODULE.fields,
# MODULE.arguments and MODULE.names keep it.
#
# A field or an argument may be added at the end, never renamed, retyped, moved or removed. A number may get a name, never another
# one. An event without names has a line in MODULE.names, too. ./renew makes the three anew.
cd "$(dirname "$0")" || exit
header=../../../$2/$2_events.h

# each_format AWK-CODE: runs it over the formats of the module's events, each of which begins with its name. One awk for all: in an
# emulated machine a process costs more than what it does.
each_format() {
	awk 'FNR == 1 { split(FILENAME, path, "/"); print path[7] }'" $1" \
		"/sys/kernel/tracing/events/$(sed -n 's/^#define TRACE_SYSTEM //p' "$header")"/*/format
}

# From tracefs, without what differs between kernels: ids, the fields every event has, and whether char is signed.
fields() { each_format '/^\tfield:/ && !/field:[a-z ]* common_/ { if (/char/) sub(/signed:.;/, ""); print }'; }

# TP_PROTO() from the source: what rawtracepoint: and raw_tp programs see.
arguments() {
	awk '
		/^KSTALL_TRACE_EVENT\(/ { name = $0; sub(/.*\(/, "", name); sub(/,.*/, "", name) }
		/^\tTP_PROTO\(/ { proto = ""; on = 1 }
		on { proto = proto " " $0 }
		on && /\),$/ {
			on = 0
			gsub(/[ \t]+/, " ", proto)
			sub(/^ ?TP_PROTO\(/, "", proto)
			sub(/\),$/, "", proto)
			print name "(" proto ")"
		}' "$header" | sort
}

# From tracefs too, as perf and trace-cmd read them: what is printed as names, of fields with flags without those of gfp_t, which
# kernels differ in.
names() {
	each_format '{
		while (match($0, /__print_(symbolic|flags)\(REC->[A-Za-z0-9_]+, [^()]*\)/)) {
			text = substr($0, RSTART, RLENGTH - 1)
			$0 = substr($0, RSTART + RLENGTH)
			sub(/[^>]*>/, "", text)
			sub(/, "\|"/, "", text)
			gsub(/"/, "", text)
			print "\t" text
		}
	}'
}

case ${1-} in
fields | arguments | names) "$1" ;;
*) echo "usage: abi.sh fields|arguments|names MODULE" >&2; exit 2 ;;
esac
