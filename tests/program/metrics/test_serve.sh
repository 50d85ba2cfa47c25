#!/usr/bin/env bash
# description: kstall metrics answers each client, whatever other clients do, and its file is for node_exporter
# host: it asks the program; without tracefs its page is short
# tier1: 6.12
# once: it does not ask the kernel
# requires: python3 nohup
. ./lib.sh
[ -x "$KSTALL" ] || skip_all "kstall is not built here"
plan 16

export RUNTIME_DIRECTORY=$work/run
mkdir "$work/dir"
at_exit clean_up
port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')

# clients PROGRAM: it has connect(), and ask(REQUEST), which returns the whole answer
clients() {
	python3 - "$port" <<-END 2>&1
		import socket, sys, time
		socket.setdefaulttimeout(60 * ${KSTALL_TIME_SCALE:-1})
		def connect():
		    return socket.create_connection(("127.0.0.1", int(sys.argv[1])))
		def ask(request):
		    with connect() as s:
		        s.sendall(request)
		        return b"".join(iter(lambda: s.recv(65536), b""))
		$1
	END
}

refused() {
	local status=0
	timeout 60 "$KSTALL" metrics --listen "$1" 2>"$err" || status=$?
	[ $status = 2 ] && grep -q 'from 1 to 65535' "$err"
}
for address in 127.0.0.1:99999 127.0.0.1:0 127.0.0.1: 127.0.0.1 localhost:9878; do
	t_ok "--listen $address is refused" refused $address
done

timeout 60 "$KSTALL" metrics --textfile "$work/dir" --jobs "file:$work/dir" 2>"$err"
t_eq "--jobs with a directory for a file is refused" "$? $(head -1 "$err")" "2 kstall metrics: --jobs file:$work/dir: it is a directory, not a file (see kstall metrics --help)"

umask 077
metrics --textfile "$work/dir" --listen "127.0.0.1:$port"
t_ok "it begins" wait_until 60 has_sample kstall_metrics_passes_total

t_eq "clients that say nothing, or half of it, keep nobody waiting" "$(clients '
idle = [connect() for _ in range(300)]
for s in idle[::2]:
    s.sendall(b"GET /metrics HT")
answer = ask(b"GET /metrics HTTP/1.1\r\n\r\n")
print(answer[:15].decode(), answer.endswith(b"\n"))
# those that came last have not been sent away: the answer did not wait for an end of theirs
for s in idle[-8:]:
    s.setblocking(False)
    try:
        print("closed", s.recv(1))
    except BlockingIOError:
        pass
')" "HTTP/1.1 200 OK True"

t_eq "HEAD has the length of GET, and no page" "$(clients '
head = ask(b"HEAD /metrics HTTP/1.1\r\n\r\n")
print(head.split(b"\r\n")[0].decode(), b"Content-Length: 0" in head, head.endswith(b"\r\n\r\n"))
')" "HTTP/1.1 200 OK False True"

t_eq "a long token is read; to one without an end it says that it is too long" "$(clients '
print(ask(b"GET /metrics HTTP/1.1\r\nAuthorization: Bearer " + b"x" * 12000 + b"\r\n\r\n")[:15].decode())
print(ask(b"GET /metrics HTTP/1.1\r\nAuthorization: Bearer " + b"x" * 200000)[:12].decode())
')" $'HTTP/1.1 200 OK\nHTTP/1.1 431'

t_eq "the file is readable for all, whatever the umask" "$(stat -c %a "$page")" 644

kill -HUP "$pid"
status=0
wait "$pid" || status=$?
t_eq "a hang-up ends it as SIGTERM does: well, and without its file" "$status $(ls -A "$work/dir")" "0 "

nohup "$KSTALL" metrics --textfile "$work/dir" --every 200ms 2>>"$err" &
pid=$!
wait_until 60 has_sample kstall_metrics_passes_total
kill -HUP "$pid"
t_ok "under nohup it goes on" next_pass
ends_metrics TERM

# --- few files ---

# files NUMBER: it may open so many more
files() {
	local limit=0 free=0
	while [ -L "/proc/$pid/fd/$limit" ] || [ $((free += 1)) -le "$1" ]; do
		limit=$((limit + 1))
	done
	prlimit --pid "$pid" --nofile="$limit:"
}

# A server that spins never sleeps.
sleeps() { awk '$1 == "voluntary_ctxt_switches:" { print $2 }' "/proc/$pid/status"; }
has_slept() { [ "$(sleeps)" -ge $((was + 5)) ]; }

answers() { clients 'print(ask(b"GET /metrics HTTP/1.1\r\n\r\n")[:15].decode())'; }
is_answered() { [ "$(answers)" = "HTTP/1.1 200 OK" ]; }

: >"$work/jobs"
metrics --every 1h --listen "127.0.0.1:$port" --jobs "file:$work/jobs"
wait_until 60 is_answered
files 5
t_eq "with few files idle clients keep nobody waiting, and leave files for what is asked" "$(clients '
idle = [connect() for _ in range(14)]
def passes(answer):
    return [line for line in answer.splitlines() if line.startswith(b"kstall_metrics_passes_total")]
first = answer = ask(b"GET /metrics HTTP/1.1\r\n\r\n")
while passes(answer) and passes(answer) == passes(first):    # the page is the one before
    time.sleep(0.1)
    answer = ask(b"GET /metrics HTTP/1.1\r\n\r\n")
print(answer[:15].decode(), b"kstall_job_source_up 1" in answer)
')" "HTTP/1.1 200 OK True"

files 0
answers >"$work/answer" &
client=$!
was=$(sleeps)
t_ok "without any it does not spin" wait_until 30 has_slept
files 5
wait $client
t_eq "and answers when there are some" "$(cat "$work/answer")" "HTTP/1.1 200 OK"
