#!/usr/bin/env bash
# description: Documentation/events.md is what the code says, and scripts/events-doc sees when a comment and its code part
# once: it asks the tree
# host: it asks the tree
# tier1: 6.12
. ../../lib.sh
plan 11

cd ../../..
work=$(mktemp -d)
at_exit rm -rf "$work"

scripts/events-doc >"$work/events.md" 2>"$work/complaints"
t_eq "no complaints" "$? $(cat "$work/complaints")" "0 "
t_eq "Documentation/events.md is up to date (scripts/events-doc >Documentation/events.md)" \
	"$(diff Documentation/events.md "$work/events.md")" ""
t_eq "every event is in it" "$(grep -c '^### ' "$work/events.md")" "$(cat ./*_trace/*_events.h | grep -c '^KSTALL_TRACE_EVENT(')"

# complaint SED: what it says of the header so changed
complaint() {
	mkdir -p "$work/tree/scripts" "$work/tree/include" "$work/tree/io_uring_trace" "$work/tree/kstall"
	cp scripts/events-doc "$work/tree/scripts"
	cp kstall/events.def "$work/tree/kstall"
	cp -r include/kstall "$work/tree/include"
	sed "$1" io_uring_trace/io_uring_trace_events.h >"$work/tree/io_uring_trace/io_uring_trace_events.h"
	"$work/tree/scripts/events-doc" 2>&1 >/dev/null | sed 's/.*_events\.h: //'
}
t_eq "a field without a doc line" "$(complaint '/^ \* @wq_ns:/d')" "io_uring_req_done: field 'wq_ns' has no doc line"
t_eq "a doc line without a field" "$(complaint 's/@wq_ns:/@wk_ns:/')" \
	"$(printf "io_uring_req_done: %s\n" "field 'wq_ns' has no doc line" "documented field 'wk_ns' does not exist")"
t_eq "an argument more than the comment has" "$(complaint 's/Arguments: 0, user_data, pending_reqs,/Arguments: 0, user_data,/')" \
	"io_uring_wq_punt: the comment has 4 arguments, TP_PROTO() 5"
t_eq "no word on its reach" "$(complaint '/^ \* Reach: requests submitted after enabling; of/s/Reach: //')" \
	"io_uring_wq_punt: no 'Reach:' in its comment"
t_eq "an event without a comment" "$(complaint '/^\/\*\*$/{N;/io_uring_wq_punt -/s/^\/\*\*/\/*/}')" \
	"io_uring_wq_punt: has no comment"
t_eq "an event that takes time, without duration_ns" "$(complaint '/@duration_ns: total_ns/d; /__entry->wq_ns = /,/^);/s/__entry->duration_ns = total_ns;//; /__field(u64, submit_mono_ns)/{n; /duration_ns/d}')" \
	"io_uring_req_done: no field 'duration_ns'"
t_eq "duration_ns is another" "$(complaint 's/__entry->duration_ns = total_ns;/__entry->duration_ns = r->exec_ns;/')" \
	"io_uring_req_done: duration_ns is not 'total_ns'"
t_eq "an event that the program does not know" "$(complaint 's/KSTALL_TRACE_EVENT(io_uring_wq_punt,/KSTALL_TRACE_EVENT(io_uring_wq_plan,/; s/^ \* io_uring_wq_punt -/ * io_uring_wq_plan -/')" \
	"io_uring_wq_plan: no row in kstall/events.def"
