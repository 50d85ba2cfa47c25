#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""storm.py KSTALL CALLER PID CONF SECONDS SEED: sessions of kstall start and end at random, some of them by SIGKILL.

Up to MOST live at a time, beside a `kstall metrics` that is only ever killed, and a load whose requests are counted. CALLER is the program of
process PID, CONF the recorder's configuration. Prints as JSON how many sessions of each kind were started, how each was ended, what went
wrong with those that were not killed, and how many requests there were.
"""

import collections
import json
import os
import random
import signal
import subprocess
import sys
import time

MOST = 10
PAUSE_S = 2  # between two beginnings, on average: 300 sessions in ten minutes
REQUESTS = 50
FINE = ("had no owner any more: removed", "goes on without being traced", "no step of a second")
LOAD = ["fio", "--name=storm", "--ioengine=io_uring", "--direct=1", "--filename=/dev/disk/by-id/virtio-scratch", "--size=1M",
        "--rw=randread", "--bs=4k", "--iodepth=4", f"--number_ios={REQUESTS}"]

kstall, caller, pid, conf, seconds, seed = sys.argv[1:]
rnd = random.Random(int(seed))
started, ended, wrong = collections.Counter(), collections.Counter(), []


class Session:
    def __init__(self, number):
        self.kind = rnd.choice(list(KINDS))
        self.output = f"{self.kind}.{number}"
        self.lasts = rnd.uniform(0.5, 6)
        self.end = rnd.choice(["itself", "itself", "INT", "TERM", "KILL", "KILL both"])
        self.ends_at = time.monotonic() + rnd.uniform(0.05, self.lasts + 1)
        with open(self.output + ".out", "w", encoding="utf-8") as out, open(self.output + ".err", "w", encoding="utf-8") as err:
            self.process = subprocess.Popen([kstall, *KINDS[self.kind](self)], stdout=out, stderr=err)
        started[self.kind] += 1

    def guardian(self):
        """It has the session's name, and is its child."""
        found = subprocess.run(["pgrep", "-P", str(self.process.pid), "-x", "kstall-guard"], capture_output=True, text=True, check=False)
        return [int(p) for p in found.stdout.split()]

    def stop(self):
        if self.end == "itself" or time.monotonic() < self.ends_at or self.ended_by:
            return
        if self.end == "KILL both":
            for guardian in self.guardian():
                os.kill(guardian, signal.SIGKILL)
        self.process.send_signal(getattr(signal, "SIG" + self.end.split()[0]))
        self.ended_by = self.end

    ended_by = ""

    def is_over(self):
        self.stop()
        if self.process.poll() is None:
            return False
        ended[self.ended_by or "itself"] += 1
        self.check()
        return True

    def complaints(self):
        """But for those of others' ends, of a command that goes on, and of ends that came before there was a step."""
        with open(self.output + ".err", encoding="utf-8") as f:
            return [line for line in f if not any(fine in line for fine in FINE)]

    def check(self):
        status = self.process.returncode
        if self.ended_by.startswith("KILL"):
            return
        if self.ended_by and status == -getattr(signal, "SIG" + self.ended_by):  # before it had a handler
            return
        if status or self.complaints():
            wrong.append(f"{self.output}, ended by {self.ended_by or 'itself'}: status {status}: {' '.join(self.complaints())[:300]}")
        elif self.kind.startswith("record_"):
            self.check_recording()

    def check_recording(self):
        why = subprocess.run([kstall, "why", "-i", self.output, "--step", "all", "--json"], capture_output=True, text=True, check=False)
        if why.returncode or not all(step["exact"] for step in json.loads(why.stdout)["steps"]):
            wrong.append(f"{self.output}: status {why.returncode}, or steps that are not exact: {why.stderr[:200]}")
        os.unlink(self.output)


KINDS = {
    "why_pid": lambda s: ["why", "-p", pid, "--every", "200ms", "--time", f"{s.lasts:.1f}s"],
    "why_uprobe": lambda s: ["why", "-p", pid, "--step", f"uprobe:{caller}:step_a", "--time", f"{s.lasts:.1f}s"],
    "why_command": lambda s: ["why", "--every", "200ms", "--", "sleep", f"{s.lasts:.1f}"],
    "record_pid": lambda s: ["record", "-o", s.output, "-p", pid, "--time", f"{s.lasts:.1f}s"],
    "record_command": lambda s: ["record", "-o", s.output, "--", "sleep", f"{s.lasts:.1f}"],
    "snapshot": lambda s: ["recorder", "snapshot", "--config", conf],
}


def counts():
    return subprocess.Popen([kstall, "metrics", "--every", "200ms", "--textfile", "page"], stderr=open("metrics.err", "a", encoding="utf-8"))


def storm():
    begin, next_session, next_kill, number, requests = time.monotonic(), 0, 0, 0, 0
    sessions, metrics, load = [], counts(), None
    started["metrics"] += 1
    while time.monotonic() < begin + float(seconds) or sessions or load:
        now, goes_on = time.monotonic(), time.monotonic() < begin + float(seconds)
        if goes_on and len(sessions) < MOST and now >= next_session:
            sessions.append(Session(number))
            number += 1
            next_session = now + rnd.uniform(0, 2 * PAUSE_S)
        if goes_on and now >= next_kill:
            metrics.kill()
            metrics.wait()
            metrics = counts()
            started["metrics"] += 1
            next_kill = now + rnd.uniform(0, 4 * PAUSE_S)
        if load and load.poll() is not None:
            if load.returncode:
                wrong.append(f"fio: status {load.returncode}")
            requests += REQUESTS
            load = None
        if goes_on and not load:
            load = subprocess.Popen(LOAD, stdout=subprocess.DEVNULL)
        sessions = [s for s in sessions if not s.is_over()]
        time.sleep(0.02)
    metrics.kill()
    metrics.wait()
    return requests


total = storm()
print(json.dumps({"started": started, "ended": ended, "wrong": wrong, "requests": total}))
