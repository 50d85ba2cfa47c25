#!/usr/bin/env bash
# description: NVMe over RDMA to itself: every signaled request is followed to its end, every flushed completion is counted and named
# timeout: 400
# requires: fio module:nvme_rdma module:nvmet_rdma module:brd
. ./lib.sh
plan 13

target=/sys/kernel/config/nvmet
soft_roce

end_target() {
	rm -f $target/ports/1/subsystems/kstall
	rmdir $target/ports/1 $target/subsystems/kstall/namespaces/1 $target/subsystems/kstall
	wait_until 20 modprobe -qr nvmet-rdma
	wait_until 20 modprobe -qr nvme-rdma
	wait_until 20 modprobe -qr brd
	wait_until 20 modprobe -qr rdma_cm
}

modprobe -a nvmet-rdma nvme-rdma || bail "no nvme over RDMA"
modprobe brd rd_nr=1 rd_size=32768 || bail "no brd"
at_exit end_target
[ -d $target ] || mount -t configfs configfs /sys/kernel/config
mkdir -p $target/subsystems/kstall/namespaces/1 $target/ports/1 || bail "no nvmet"
echo 1 >$target/subsystems/kstall/attr_allow_any_host
echo -n /dev/ram0 >$target/subsystems/kstall/namespaces/1/device_path
echo 1 >$target/subsystems/kstall/namespaces/1/enable
for setting in trtype=rdma adrfam=ipv4 traddr=10.9.0.1 trsvcid=4420; do
	echo -n "${setting#*=}" >"$target/ports/1/addr_${setting%=*}"
done
ln -s $target/subsystems/kstall $target/ports/1/subsystems/kstall || bail "the target does not listen"

trace ib_wr_latency ib_wc_error ib_cq_process ib_qp_error
ev_enable nvme/nvme_setup_cmd
# No keep-alives meanwhile.
echo "transport=rdma,traddr=10.9.0.1,trsvcid=4420,nqn=kstall,nr_io_queues=2,keep_alive_tmo=1200" >/dev/nvme-fabrics || bail "no connection"
wait_until 30 test -b /dev/nvme0n1 || bail "no disk"

# Once the kernel has looked for partitions.
quiet() {
	local n
	n=$(ev_count ib_wr_latency)
	sleep 2
	[ "$(ev_count ib_wr_latency)" = "$n" ]
}
wait_until 60 quiet || bail "never quiet"

# snap() is for lines with a device
commands() { ev_count nvme_setup_cmd; }
group=/sys/fs/cgroup/kstall-$$
mkdir $group || bail "no cgroup v2"
at_exit rmdir $group
# shellcheck disable=SC2016 # for the inner shell
run out bash -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' in_group $group taskset -c 0 fio --name=randrw --filename=/dev/nvme0n1 --rw=randrw --bs=16k --size=4M --direct=1 --ioengine=psync
t_eq "fio: 256 requests, all well" "$(grep -oP 'issued rwts: total=\K\d+,\d+' "$work/out" | awk -F, '{ print $1 + $2 }') $(ev_n ib_wr_latency 'f["status"] != "SUCCESS"') $(ev_n ib_wc_error)" "256 0 0"
t_eq "fio: each was a command, sent once and answered once" "$(commands) $(ev_n ib_wr_latency 'f["opcode"] ~ /^SEND/')" "256 512"
t_eq "fio: on one queue, a queue pair at each end" "$(ev_get ib_wr_latency qp_num 'f["opcode"] ~ /^SEND/' | sort | uniq -c | awk '{ print $1 }' | xargs)" "256 256"
# What the host's block layer leaves to a worker, and what the target answers, nobody's system call posts.
ours="f[\"opcode\"] ~ /^SEND/ && f[\"cgroup_id\"] == $(stat -c %i $group)"
t_range "fio: its requests have its cgroup" "$(ev_n ib_wr_latency "$ours && f[\"pid\"] == 0")" 128 256
t_eq "fio: what others post has none" "$(ev_get ib_wr_latency cgroup_id 'f["opcode"] ~ /^SEND/' | sort -nu | xargs)" "0 $(stat -c %i $group)"
t_eq "fio: of it the status file knows none unmatched" "$(status_field ib_cq_trace table posts unmatched)" 0
t_range "fio: they were processed in rounds" "$(ev_sum ib_cq_process completed)" 512 100000
t_eq "in softirq by the host, by a worker in the target" "$(ev_get ib_cq_process poll_ctx 'f["user"] != "ib_mad" && f["completed"] > 0' | grep -v unbound | sort -u | xargs)" "softirq workqueue"
ev_clear
echo 1 >/sys/class/nvme/nvme0/delete_controller
wait_until 30 test ! -e /sys/class/nvme/nvme0
settled
t_range "disconnected: queue pairs were moved to ERR" "$(ev_n ib_qp_error 'f["source"] == "modify" && f["user"] == "rdma_cm"')" 3 100
t_eq "disconnected: all is flushed, after no error" "$(ev_get ib_wc_error status | sort -u) $(ev_get ib_wc_error first_status | sort -u)" "WR_FLUSH_ERR SUCCESS"
t_range "disconnected: named by their handlers" "$(ev_get ib_wc_error 'done' | grep -cE '\[nvmet?_rdma\]|\[ib_core\]')" 3 1000
# A function hook that an interrupt hits in another's handler misses, and says so: not counted here.
t_eq "no table lost anything" "$(status_losses | grep -v ^hook)" ""
t_eq "nothing is left in the tables" "$(in_use posts) $(in_use flushes)" "0 0"
