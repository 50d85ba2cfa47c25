#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""again.py job|outside DIR: one number in turn for processes and threads of the job and for processes outside of it.

Both run on one CPU, so that switches between them are recorded. They wake each other while the number is the outsider's.
"""

import ctypes
import glob
import os
import sys
import threading
import time

SYS_MEMBARRIER, MEMBARRIER_CMD_GLOBAL = 324, 1  # x86-64

role, directory = sys.argv[1:]


def work():
    """What a holder of the number does: runs, sleeps, runs."""
    for _ in range(2):
        end = time.monotonic() + 0.002
        while time.monotonic() < end:
            pass
        time.sleep(0.003)


def next_is(number):
    with open("/proc/sys/kernel/ns_last_pid", "w", encoding="ascii") as file:
        file.write(str(number - 1))


def process(number, does):
    """Forks until it has the number; 0: any."""
    while True:
        if number:
            next_is(number)
        pid = os.fork()
        if not pid:
            if number in (0, os.getpid()):
                does()
            os._exit(0)
        os.waitpid(pid, 0)
        if number in (0, pid):
            return pid


def thread(number):
    found = []

    def runs():
        found.append(threading.get_native_id())
        if found[-1] == number:
            work()

    while number not in found:
        next_is(number)
        one = threading.Thread(target=runs)
        one.start()
        one.join()


def wait_until_forgotten(number):
    """The kernel's list of the job's threads lacks a number when its last holder's task is freed, some time after the end."""
    for name in glob.glob(os.environ["TRACEFS"] + "/instances/kstall-*-job/set_event_pid"):
        while str(number) in open(name, encoding="ascii").read().split():
            time.sleep(0.01)


def wait_until_freed():
    """What was the last holder's when its parent had waited for it is freed after a grace period: an outsider's end would take the
    number out of the list although it is the job's by then."""
    for _ in range(2):
        if ctypes.CDLL(None, use_errno=True).syscall(SYS_MEMBARRIER, MEMBARRIER_CMD_GLOBAL, 0, 0):
            raise OSError(ctypes.get_errno(), "membarrier")


def outside():
    with open("ask", encoding="ascii") as ask, open("tell", "w", encoding="ascii", buffering=1) as tell, \
         open("answer", "rb", buffering=0) as answer:
        def stranger():
            work()
            tell.write("here\n")
            answer.read(1)
            work()
        for line in ask:
            process(int(line), stranger)
            tell.write("gone\n")


def job():
    with open("ask", "w", encoding="ascii", buffering=1) as ask, open("tell", encoding="ascii") as tell, \
         open("answer", "wb", buffering=0) as answer:
        number = process(0, work)
        for kind in (process, thread, process, thread, thread, process):
            wait_until_forgotten(number)
            ask.write(f"{number}\n")
            assert tell.readline() == "here\n"
            work()
            answer.write(b".")
            assert tell.readline() == "gone\n"
            wait_until_freed()
            if kind is process:
                process(number, work)
            else:
                thread(number)


os.chdir(directory)
os.sched_setaffinity(0, {0})
{"job": job, "outside": outside}[role]()
