# shellcheck shell=bash
# What tests/packages/pkg/run does in a guest with another kernel: all modules that DKMS has built for it can be loaded and work; of each
# other one kstall-doctor says why it is not there.
. ../../lib.sh
mapfile -t all < <(sed -n 's/^module \([^ ]*\).*/\1/p' /usr/share/kstall/modules)
modules=() others=()
for m in "${all[@]}"; do
	if modinfo "$m" >/dev/null 2>&1; then modules+=("$m"); else others+=("$m"); fi
done
plan 7

echo "kstall-test: begin" >/dev/kmsg
t_ok "the modules can be loaded: ${modules[*]}" modprobe -a "${modules[@]}"
mk_instance pkg
ev_enable io_uring_trace/io_uring_req_done
fio --name=x --ioengine=io_uring --size=64k --bs=4k --rw=write --filename=/tmp/x --output=/dev/null
t_eq "an event is seen" "$(ev_lines io_uring_req_done | grep -c ' opcode=WRITE ')" 16
ev_disable io_uring_trace/io_uring_req_done
kstall-doctor >/tmp/report
diag </tmp/report
case $(uname -r) in *-rt-*) rt=' (PREEMPT_RT)' ;; *) rt='' ;; esac
t_eq "kstall-doctor: what kernel it is" "$(sed -n 's/^  ok    version: //p' /tmp/report)" "$(uname -r)$rt"
t_eq "kstall-doctor: each event works or says why not" "$(grep -E '^  FAIL ' /tmp/report)" ""
t_eq "... of modules that are not there, too" "$(for m in "${others[@]}"; do grep -qE "^  note  $m: not for this kernel" /tmp/report || echo "$m"; done)" ""
t_ok "all can be removed" rmmod "${modules[@]}"
t_eq "the kernel's log is clean" "$(dmesg | sed '1,/kstall-test: begin/d' |
	grep -E 'BUG|WARNING|Oops|Call Trace|blocked for more than|soft lockup')" ""
