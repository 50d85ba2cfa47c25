# shellcheck shell=bash
# What tests/packages/pkg/run does in a guest of what the packages have left: the rest of the README's commands, as they stand there.
. ../../lib.sh
mapfile -t commands <readme
mapfile -t modules < <(sed -n 's/^module \([^ ]*\).*/\1/p' /usr/share/kstall/modules)
plan $((${#commands[@]} + 9))

sudo() { "$@"; }

for command in "${commands[@]}"; do
	t_ok "README: ${command%%  *#*}" eval "$command"
done
t_eq "each module is loaded" "$(for m in "${modules[@]}"; do is_loaded "$m" || echo "$m"; done)" ""
t_ok "kstall-doctor: healthy" kstall-doctor
t_eq "... and it knows each of them" "$(kstall-doctor | grep -cE '^  ok +[a-z_]+_trace: loaded, version')" ${#modules[@]}
kstall-io_uring_lat -c '/usr/bin/fio --name=x --ioengine=io_uring --size=1M --filename=/tmp/x --output=/dev/null' >/tmp/out 2>&1
# "count 256, …", on bpftrace 0.27 "{ .count = 256, …"
t_eq "an installed tool counts what fio did" "$(grep -oP '^@exec_us\[fio, \d+, READ\]: ({ \.)?count (= )?\K\d+' /tmp/out)" 256
kstall-io_uring_lat -f json -c '/usr/bin/fio --name=x --ioengine=io_uring --size=1M --filename=/tmp/x --output=/dev/null' >/tmp/out 2>/tmp/err
t_eq "... -f json: an object a line (0.17 has empty lines, too, and 0.27 empty maps), with the map's name" "$(python3 -c 'import json, sys
lines = [json.loads(line) for line in sys.stdin if line.strip()]
print(sum(bool(line["data"].get("@exec_us")) for line in lines if isinstance(line["data"], dict)))' </tmp/out)" 1
kstall-io_uring_sat >/tmp/out 2>&1 &
wait_until 120 grep -q ^Tracing /tmp/out
kill -INT $!
wait $!
t_eq "... Ctrl-C: what it says when nothing happened" "$? $(grep -cE '^(No ring was full|No hook of io_uring_trace was hit)\.' /tmp/out)" "0 2"
kstall-io_uring_lat --help >/tmp/out
t_ok "... --help" grep -q '^OPTIONS: ' /tmp/out
t_ok "all can be removed" rmmod "${modules[@]}"
t_eq "a tool without its module" "$(kstall-io_uring_lat 2>&1)" \
	"kstall-io_uring_lat: io_uring_trace is not loaded: modprobe io_uring_trace   (if that fails: kstall-doctor)"
