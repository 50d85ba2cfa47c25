#!/usr/bin/env bash
# description: kstall metrics counts what happened, exactly, and goes on whatever is done to it
# tier1: 6.12
# takes: 40
# once: the kernel counts by the same triggers on each
# timeout: 400
# requires: python3 fio
. ./lib.sh
[ -x "$KSTALL" ] || skip_all "kstall is not built here"
plan 35

reads() { fio --name=job --ioengine=io_uring --direct=1 --filename=/dev/disk/by-id/virtio-scratch --size=4M --rw=randread --bs=4k --number_ios="$1" --iodepth=8 >"$work/fio" || bail "fio: $(tail -1 "$work/fio")"; }
req_done() { sample "$1" 'event="io_uring_req_done"' 'cause="READ"'; }
is_whole() { tail -1 "$1" | grep -q '^kstall_metrics_cpu_seconds_total [0-9.]*$'; }

mkdir "$work/dir"
mount -t tmpfs -o size=1m metrics "$work/dir" || bail "no tmpfs"
at_exit umount "$work/dir"
load io_uring_trace
load iommu_trace
at_exit clean_up

t_fails "without --textfile and --listen it says so" "$KSTALL" metrics
t_fails "jobs from nowhere are refused" "$KSTALL" metrics --textfile "$work/dir" --jobs nowhere

metrics --textfile "$work/dir" --listen 127.0.0.1:9878 --jobs "file:$work/jobs"
t_ok "the file comes" wait_until 60 has_sample kstall_metrics_passes_total

# --- what it says ---

reads 97
next_pass
t_eq "each request is counted, and its opcode is a name" "$(req_done kstall_events_total)" 97
t_eq "the histogram's count is theirs" "$(sample kstall_io_uring_req_done_seconds_count)" 97
t_eq "so is its last bucket" "$(sample kstall_io_uring_req_done_seconds_bucket 'le="+Inf"')" 97
t_eq "the seconds are the kernel's nanoseconds" "$(req_done kstall_stall_seconds_total)" "$(
	awk '/total_ns:/ && !/#/ { sum += $NF } END { printf "%d.%09d", sum / 1e9, sum % 1e9 }' "$counting/events/io_uring_trace/io_uring_req_done/hist"
)"
t_eq "the module is shown, with its version" "$(sample kstall_module_info 'module="io_uring_trace"' "version=\"$(modinfo -F version "$(ko_of io_uring_trace)")\"")" 1
t_eq "nothing is lost" "$(sample kstall_lost_events_total 'module="io_uring_trace"' 'reason="dropped"')" 0
t_eq "io_uring is seen" "$(sample kstall_reach 'layer="io_uring",state="armed"')" 1
t_eq "the IOMMU is silent, which is said" "$(sample kstall_reach 'layer="iommu",state="silent"')" 1
t_eq "a module that is not loaded, too" "$(sample kstall_reach 'layer="ttm",state="not_loaded"')" 1
t_range "300 series are the limit" "$(grep -vc '^#' "$page")" 20 300

hist=$counting/events/io_uring_trace/io_uring_req_done/hist
chmod 0 "$hist"
t_ok "what cannot be read is no module that is not loaded" wait_until 60 has_sample kstall_reach 'layer="io_uring",state="unreadable"'
t_eq "which is said" "$(grep -c 'cannot be read: io_uring_req_done (Permission denied)$' "$err")" 1
chmod 640 "$hist"
is_97() { [ "$(req_done kstall_events_total)" = 97 ]; }
t_ok "nothing is lost when it can be read again" wait_until 60 is_97

echo "slurm_job_id=17 nonsense" >"$work/jobs"
next_pass
t_eq "the job is shown" "$(sample kstall_job_info 'workload="slurm/17"' 'slurm_job_id="17"')" 1

# --- over HTTP ---

t_eq "it answers a scrape, OpenMetrics too, and refuses the rest, slow clients included" "$(python3 - 2>&1 <<-'END'
	import socket, urllib.request, urllib.error
	url = "http://127.0.0.1:9878"
	def get(path, **headers):
	    with urllib.request.urlopen(urllib.request.Request(url + path, headers=headers)) as r:
	        return r.headers["Content-Type"], r.read().decode()
	idle = socket.create_connection(("127.0.0.1", 9878))	# says nothing
	kind, text = get("/metrics")
	assert "version=0.0.4" in kind and "# TYPE kstall_events_total counter" in text and "# EOF" not in text, kind
	kind, text = get("/metrics", Accept="application/openmetrics-text;version=1.0.0")
	assert "openmetrics" in kind and "# TYPE kstall_events counter" in text and text.endswith("# EOF\n"), kind
	try:
	    get("/metricsx")
	    print("no 404")
	except urllib.error.HTTPError as e:
	    assert e.code == 404
	for rubbish in b"\r\n\r\n", b"POST /metrics HTTP/1.1\r\n\r\n", b"x" * 40000, b"\0\r\n\r\n":
	    s = socket.create_connection(("127.0.0.1", 9878))
	    try:
	        s.sendall(rubbish)
	        got = s.recv(100)
	    except ConnectionError:
	        got = b""
	    assert not got.startswith(b"HTTP/1.1 200"), rubbish[:9]
	    s.close()
	get("/metrics")
END
)" ""

# --- what is done to it ---

t_fails "a second one does not count" "$KSTALL" metrics --textfile "$work"
t_fails "modules stay while their events are counted" rmmod io_uring_trace
ends_metrics KILL
reads 13
metrics --textfile "$work/dir"
is_110() { [ "$(req_done kstall_events_total)" = 110 ]; }
t_ok "one that was killed has lost nothing" wait_until 60 is_110
t_fails "nor can the modules go while nobody runs" rmmod iommu_trace

# a mount of its own has hardly room: the file is the old one or the new one
dd if=/dev/zero of="$work/dir/filler" bs=4k 2>/dev/null
was=$(sample kstall_metrics_passes_total)
t_ok "a full disk is reported" wait_until 60 grep -q 'kstall.prom is not written: No space left' "$err"
t_eq "the file is what it was" "$(is_whole "$page" && sample kstall_metrics_passes_total | awk -v was="$was" '{ print ($1 >= was) }')" 1
t_eq "nothing else stays" "$(cd "$work/dir" && shopt -s dotglob && echo *)" "filler kstall.prom"
rm "$work/dir/filler"
t_ok "it goes on when there is room" wait_until 60 grep -q 'kstall.prom is written again' "$err"

: >"$err"
umount "$work/dir"
mv "$work/dir" "$work/gone"
t_ok "a missing directory is reported" wait_until 60 grep -q 'kstall.prom is not written: No such file' "$err"
mkdir "$work/dir"
mount -t tmpfs -o size=1m metrics "$work/dir"
t_ok "it goes on when it is back" wait_until 60 has_sample kstall_metrics_passes_total

load mm_migrate_trace
at_exit clean_up
t_ok "a module that comes is counted" wait_until 60 has_sample kstall_reach 'layer="pin",state="armed"'

torn=0
for i in $(seq "$(at_length 12 4)"); do
	[ ! -e "$page" ] || is_whole "$page" || torn=$((torn + 1))
	sleep "0.$((i * 7 % 30 + 10))"
	ends_metrics KILL
	metrics --textfile "$work/dir"
done
t_eq "killed at any moment it leaves a whole file" $torn 0
wait_until 60 is_110
t_eq "with what was counted" "$(req_done kstall_events_total)" 110

# busy while it is read; debugfs has one, too
wait_until 30 umount $TRACEFS || bail "tracefs is in use"
wait_until 30 umount -R /sys/kernel/debug || bail "debugfs is in use"
t_ok "without tracefs it says so" wait_until 60 has_sample kstall_reach 'layer="io_uring",state="no_tracing"'
reads 7
mount -t debugfs nodev /sys/kernel/debug
mount -t tracefs nodev $TRACEFS
is_117() { [ "$(req_done kstall_events_total)" = 117 ]; }
t_ok "what happened meanwhile is there when it is back" wait_until 60 is_117

# --- the end ---

ends_metrics TERM
t_eq "it leaves neither its file nor its instance" "$(ls -A "$work/dir"; ls -d "$counting" 2>&-)" ""
t_ok "and modules can go" rmmod io_uring_trace
