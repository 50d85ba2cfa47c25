#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""load.py KIND N: a stream of events for engine_test, in which N of something happen"""

import sys

APP, LOADER = 100, 101


def switch(ts, prev, state, following, cpu=0):
    return (f"{ts} {cpu} {prev} 0 sched:sched_switch prev_pid={prev} prev_comm=t prev_state={state} "
            f"next_pid={following} next_comm=t")


def mark(ts, what, tid=APP):
    return f"{ts} 0 {tid} 0 kstall:step text=kstall step {what}"


def enter(ts, tid=APP, nr=16):
    return f"{ts} 0 {tid} 0 raw_syscalls:sys_enter id={nr}"


def sleep(ts, tid=APP, state=2, before=()):
    """A sleep of 100 us that an interrupt ends."""
    yield switch(ts, tid, state, 0)
    yield from before
    yield f"{ts + 100000} 0 0 8 sched:sched_waking pid={tid}"
    yield switch(ts + 101000, 0, 0, tid)


def threads(n):
    """N threads of a process, each with a step"""
    for i in range(n):
        yield f"{1000 + i} 0 {APP} 0 task:task_newtask pid={1000 + i} comm=t clone_flags=0x10000"
    for turn, what in enumerate(("1 begin", None, None, "1 end")):
        for i in range(n):
            ts = 10 ** 6 * (turn + 1) * n + 10 * i
            yield mark(ts, what, 1000 + i) if what else enter(ts, 1000 + i)
            yield enter(ts + 5, 1000 + i)


def steps(n):
    """N steps of a thread, all open at once, which another thread ends"""
    yield f"900 0 {APP} 0 task:task_newtask pid={LOADER} comm=t clone_flags=0x10000"
    for i in range(n):
        yield mark(1000 + 10 * i, f"{i} begin")
    for i in range(n):
        yield mark(1000 + 10 * (n + i), f"{i} end", LOADER)
    yield enter(1000 + 20 * n)


def events(n):
    """N events of a thread that sleeps, a step in 100 calls"""
    for i in range(n // 5):
        ts = 10 ** 6 * (i + 1)
        yield mark(ts, i // 100) if i % 100 == 0 else enter(ts)
        yield enter(ts + 10)
        yield from sleep(ts + 20)


def windows(n):
    """windows of --every 10us, N of them"""
    for i in range(n // 100):
        yield enter(10 ** 6 * (i + 1))


def faults(n):
    """N page faults that read from a disk, without a system call"""
    yield mark(1000, "1 begin")
    for i in range(n):
        ts = 10 ** 6 * (i + 1)
        yield from sleep(ts, before=(
            f"{ts + 99000} 0 0 8 io_uring_trace:io_uring_block_rq pid={APP} tgid={APP} comm=t dev=nvme0n1 device_ns=80000 ring=0 "
            f"user_data=0 tag_ns=1000 sched_ns=2000 queue_mono_ns=0 attribution=0",))
    yield mark(10 ** 6 * (n + 1), "1 end")
    yield enter(10 ** 6 * (n + 1) + 1)


def fences(n):
    """a step with N fences, each with a number of its own"""
    yield mark(1000, "1 begin")
    for i in range(n):
        ts = 10 ** 6 * (i + 1)
        yield enter(ts)
        yield from sleep(ts)
        yield (f"{ts + 102000} 0 {APP} 0 drm_sched:dma_fence_wait pid={APP} tgid={APP} comm=t dev= wait_ns=101000 fence_ctx=1 "
               f"fence_seqno={i} driver=amdgpu timeline=gfx")
    yield mark(10 ** 6 * (n + 1), "1 end")
    yield enter(10 ** 6 * (n + 1) + 1)


def quotas(n):
    """N unthrottles of other cgroups' queues, with 1,000 threads"""
    for i in range(1000):
        yield f"{1000 + i} 0 {APP} 0 task:task_newtask pid={1000 + i} comm=t clone_flags=0x10000"
    for i in range(n):
        yield f"{10000 + i} 0 7 0 kstall:unthrottle rq={64 * i}"


KINDS = {f.__name__: f for f in (threads, steps, events, windows, faults, fences, quotas)}


def main():
    print(*KINDS[sys.argv[1]](int(sys.argv[2])), sep="\n")


main()
