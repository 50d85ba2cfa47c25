# shellcheck shell=bash
# What tests/pkg/run does in a guest of what the packages have left: the rest of the README's commands, as they stand there.
. ../lib.sh
mapfile -t commands <readme
mapfile -t modules < <(sed -n 's/^module \([^ ]*\).*/\1/p' /usr/share/kstall/modules)
plan $((${#commands[@]} + 5))

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
t_ok "all can be removed" rmmod "${modules[@]}"
