#!/usr/bin/env bash
# abi.sh fields|arguments MODULE: what users of the module's events rely on, in the form in which MODULE.fields and
# MODULE.arguments keep it.
#
# A field or an argument may be added at the end, never renamed, retyped, moved or removed. To add one:
#	abi.sh arguments MODULE >MODULE.arguments, here; abi.sh fields MODULE >MODULE.fields, as root, with the module loaded.
cd "$(dirname "$0")" || exit
header=../../$2/$2_events.h

# From tracefs, without what differs between kernels: ids, the fields every event has, and whether char is signed.
fields() {
	local dir
	for dir in "/sys/kernel/tracing/events/$(sed -n 's/^#define TRACE_SYSTEM //p' "$header")"/*/; do
		basename "$dir"
		sed -n '/^\tfield:/{/field:[a-z ]* common_/!{/char/s/signed:.;//; p}}' "$dir/format"
	done
}

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

case ${1-} in
fields | arguments) "$1" ;;
*) echo "usage: abi.sh fields|arguments MODULE" >&2; exit 2 ;;
esac
