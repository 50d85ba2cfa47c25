#!/usr/bin/env bash
# abi.sh fields|arguments: what users of io_uring_trace's events rely on, in the form in which abi/*.txt keep it.
#
# A field or an argument may be added at the end, never renamed, retyped, moved or removed. To add one:
#	abi.sh arguments >abi/arguments.txt, here; abi.sh fields >abi/fields.txt, as root, with the module loaded.
cd "$(dirname "$0")" || exit

# From tracefs, without what differs between kernels: ids, the fields every event has, and whether char is signed.
fields() {
	local dir
	for dir in /sys/kernel/tracing/events/io_uring_trace/*/; do
		basename "$dir"
		sed -n '/^\tfield:/{/field:[a-z ]* common_/!{/char/s/signed:.;//; p}}' "$dir/format"
	done
}

# TP_PROTO() from the source: what rawtracepoint: and raw_tp programs see.
arguments() {
	awk '
		/^KSTALL_TRACE_EVENT\(/ { name = $0; sub(/.*\(/, "", name); sub(/,.*/, "", name) }
		/TP_PROTO\(/ { proto = ""; on = 1 }
		on { proto = proto " " $0 }
		on && /\),$/ {
			on = 0
			gsub(/[ \t]+/, " ", proto)
			sub(/^ ?TP_PROTO\(/, "", proto)
			sub(/\),$/, "", proto)
			print name "(" proto ")"
		}' ../../io_uring_trace/io_uring_trace_events.h | sort
}

case ${1-} in
fields | arguments) "$1" ;;
*) echo "usage: abi.sh fields|arguments" >&2; exit 2 ;;
esac
