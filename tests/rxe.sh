# shellcheck shell=bash
# A soft-RoCE device rxe0 on a network interface that leads nowhere, on top of lib.sh. Its GID 1 is ::ffff:10.9.0.1.

# Some kernels' dummy comes with a dummy0.
rxe_up() {
	modprobe -a rdma_rxe dummy || return
	[ -d /sys/class/net/dummy0 ] || ip link add dummy0 type dummy || return
	ip addr replace 10.9.0.1/24 dev dummy0
	ip link set dummy0 up
	rdma link add rxe0 type rxe netdev dummy0 && wait_until 10 rxe_has_gid
}

rxe_has_gid() { grep -q ffff:0a09:0001 /sys/class/infiniband/rxe0/ports/1/gids/1; }

rxe_down() {
	rdma link delete rxe0 2>/dev/null
	ip link delete dummy0
}
