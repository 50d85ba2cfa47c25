#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""oracle.py KSTALL RECORDING OPTIONS...: is each step of `kstall why -i RECORDING OPTIONS` right to the nanosecond?

The time of each state is worked out once more, from the text of `trace-cmd report` and what sched(7) events mean, with nothing of
kstall's. Each of OPTIONS is one argument, as "--step all", and gets a line: right or wrong, and how much was compared. Standard error
has each step that differs.
"""

import collections
import json
import re
import subprocess
import sys

LINE = re.compile(r"\s*(?:[\w.-]+:\s+)?(?P<comm>.*?)-(?P<pid>\d+)\s+\[(?P<cpu>\d+)\]\S*\s+(?:\S+\s+)?(?P<s>\d+)\.(?P<ns>\d{9}):\s+"
                  r"(?P<name>\w+):\s*(?P<args>.*)$")
NAMED = re.compile(r"kstall threads \d+((?: \d+)+)")
TASK = re.compile(r'kstall task (\d+) (\d+) (\S) ')
DEAD, ASLEEP = 0x30, 0xff  # EXIT_DEAD | EXIT_ZOMBIE; the bits above are marks of preemption
SCHED = ("sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new", "sched_process_exec", "task_newtask")
# By the thread that is on the CPU; of locks those that may be slept for
WRITTEN = re.compile("|".join(SCHED) + "|sched_process_exit|sys_enter|sys_exit|step|print|contention_begin|mm_.*|folio_wait_writeback|"
                     "balance_dirty_pages")
SPIN, MUTEX = 1, 32
CLONE_THREAD = 0x10000
STATES = ("on_cpu", "cpu_wait", "blocked", "absent", "unknown")


def number(args, key):
    return int(re.search(rf"\b{key}=(0x[0-9a-f]+|-?\d+)", args)[1], 0)


def flags(args, key):
    return int(re.search(rf"\b{key}=(0x)?([0-9a-f]+)", args)[2], 16)


def read(recording):
    """Its events in order: (ns, pid of the writer, name, arguments). An event may be in two buffers."""
    text = subprocess.run(["trace-cmd", "report", "-t", "-N", "-R", "-i", recording], check=True, capture_output=True).stdout
    seen = set()
    for line in text.decode(errors="replace").splitlines():
        m = LINE.match(line)
        if not m:
            continue
        key = (int(m["s"]) * 10 ** 9 + int(m["ns"]), int(m["cpu"]), int(m["pid"]), m["name"], m["args"])
        if key not in seen:
            seen.add(key)
            yield key[0], *key[2:]


class Thread:
    """Of one number, which several threads may have one after the other."""

    def __init__(self, pid, begin):
        self.pid = self.process = pid
        self.lives = [(begin, True)]  # since when, and whether it is a process's main thread
        self.pieces = [[begin, "unknown"]]  # since when it is in which state

    @property
    def state(self):
        return self.pieces[-1][1]

    def enter(self, ns, state):
        self.pieces.append([ns, state])

    def is_born(self, ns, main):
        if self.state in ("unknown", "runnable"):
            self.pieces[-1][1] = "absent"
        self.lives.append((ns, main))
        self.enter(ns, "cpu_wait")

    def runs(self, ns):
        """Its first event shows that it has run until now; another without a switch before, that it has run for some time."""
        if self.state in ("unknown", "runnable"):
            self.pieces[-1][1] = "on_cpu"
        elif self.state == "absent":  # it has been given the number of the main thread, and will exec
            self.enter(ns, "on_cpu")
        elif self.state in ("cpu_wait", "blocked"):
            self.pieces[-1][1] = "unknown"
            self.enter(ns, "on_cpu")

    def life(self, end, processes):
        """From when until when the last one lived that had begun before @end; @processes: other threads are not asked for."""
        last = max(i for i, (since, main) in enumerate(self.lives) if i == 0 or since < end and (main or not processes))
        return self.lives[last][0], self.lives[last + 1][0] if last + 1 < len(self.lives) else end

    def between(self, begin, end, processes):
        times = collections.Counter()
        born, died = self.life(end, processes)
        ends = [since for since, _ in self.pieces[1:]] + [end]
        for (since, state), until in zip(self.pieces, ends):
            times["on_cpu" if state == "runnable" else state] += max(0, min(until, end, died) - max(since, begin, born))
        times["absent"] += end - begin - sum(times.values())
        return times


class Oracle:
    def __init__(self, begin):
        self.begin = begin
        self.threads = {}
        self.job = None  # its threads; None: everybody

    def thread(self, pid):
        return self.threads.setdefault(pid, Thread(pid, self.begin))

    def is_outside(self, pid):
        return self.job is not None and pid not in self.job

    def is_anothers(self, pid):
        """Not of the job; or a number that a process keeps until its last thread has gone. After that it is somebody's whose coming was
        not recorded."""
        if self.is_outside(pid):
            return True
        thread = self.thread(pid)
        return thread.state == "absent" and not any(
            other.process == pid and other.state != "absent" for other in self.threads.values())

    def runs(self, ns, pid):
        if not self.is_anothers(pid):
            self.thread(pid).runs(ns)

    def sched_switch(self, ns, _, args):
        prev, state, follows = number(args, "prev_pid"), number(args, "prev_state"), number(args, "next_pid")
        if not self.is_anothers(prev):
            self.thread(prev).runs(ns)
            self.thread(prev).enter(ns, "absent" if state & DEAD else "blocked" if state & ASLEEP else "cpu_wait")
        if not self.is_anothers(follows):
            if self.thread(follows).state == "runnable":
                self.thread(follows).pieces[-1][1] = "cpu_wait"
            self.thread(follows).enter(ns, "on_cpu")

    def sched_waking(self, ns, _, args):
        thread = self.thread(number(args, "pid"))
        if self.is_outside(thread.pid):
            return
        if thread.state in ("blocked", "unknown"):
            thread.enter(ns, "cpu_wait")

    sched_wakeup = sched_wakeup_new = sched_waking

    def task_newtask(self, ns, parent, args):
        pid, main = number(args, "pid"), not flags(args, "clone_flags") & CLONE_THREAD
        if self.is_outside(parent):
            return
        if self.job is not None:
            self.job.add(pid)
        self.thread(pid).process = pid if main else self.thread(parent).process
        self.thread(pid).is_born(ns, main)

    def sched_process_exec(self, ns, _, args):
        pid, old = number(args, "pid"), number(args, "old_pid")
        if pid != old:  # a thread that is not the main one takes over that one's number
            self.thread(old).enter(ns, "absent")
            self.thread(pid).enter(ns, "on_cpu")

    def note(self, ns, args):
        """What kstall has read in /proc: the job's threads before the first event; what each does that was there before its first one."""
        named, m = NAMED.search(args), TASK.search(args)
        if named:
            self.job = (self.job or set()).union(int(pid) for pid in named[1].split())
        if not m:
            return
        thread = self.thread(int(m[1]))
        thread.process = int(m[2])
        if self.is_outside(thread.pid):  # until now its events were taken for another's
            self.job.add(thread.pid)
            thread.enter(ns, "unknown")
        if m[3] in "RSDIT" and thread.state == "unknown":  # runnable: on a CPU, unless its first event says that it waited for one
            thread.pieces[-1][1] = "runnable" if m[3] == "R" else "blocked"

    def feed(self, ns, pid, name, args):
        if "kstall t" in args:
            self.note(ns, args)
        if pid and WRITTEN.fullmatch(name) and not (name == "contention_begin" and flags(args, "flags") & (SPIN | MUTEX) == SPIN):
            self.runs(ns, pid)
        if name in SCHED:
            getattr(self, name)(ns, pid, args)


def answer(kstall, recording, options):
    out = subprocess.run([kstall, "why", "-i", recording, "--json", *options.split()], check=True, capture_output=True).stdout
    return json.loads(out)


def compare(oracle, said):
    """Whether there are steps and all are right, and what was compared."""
    right, total = len(said["steps"]) > 0, collections.Counter()
    for step in said["steps"]:
        ns = collections.Counter()
        for part in step["parts"]:
            ns["cpu_wait" if part["state"] == "quota" else part["state"]] += part["ns"]
        own = oracle.thread(step["tid"]).between(step["begin_ns"], step["end_ns"], said["steps_by"] != "marker")
        total += own
        if not step["exact"] or any(ns[s] != own[s] for s in STATES):
            right = False
            print(f"# step {step['id']} of {step['comm']}/{step['tid']}, {step['begin_ns']}-{step['end_ns']}:", file=sys.stderr)
            print("#", {s: (ns[s], own[s]) for s in STATES if ns[s] != own[s]}, "(kstall, oracle)", file=sys.stderr)
    return right, (f"{len(said['steps'])} steps of {len({s['tid'] for s in said['steps']})} threads, "
                   + ", ".join(f"{s} {total[s]} ns" for s in STATES if total[s]) + f" lost {said['cost']['lost']}")


def main():
    kstall, recording, *modes = sys.argv[1:]
    answers = [answer(kstall, recording, options) for options in modes]
    oracle = Oracle(answers[0]["source"]["begin_ns"])
    for event in read(recording):
        oracle.feed(*event)
    for options, said in zip(modes, answers):
        right, compared = compare(oracle, said)
        print("right" if right else "wrong", f"{options}: {compared}")


if __name__ == "__main__":
    main()
