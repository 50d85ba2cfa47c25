# shellcheck shell=bash
# shellcheck disable=SC2034 # for the tests
# What the tests of io_uring_trace share, on top of ../../events.sh.

MODULE=io_uring_trace
SYSTEM=io_uring_trace
# shellcheck source=../../events.sh
. ../../events.sh

SCRATCH=/dev/disk/by-id/virtio-scratch

# uring COMMAND…: ./uring, its output in $work/out
uring() { run out ./uring "$@"; }
