#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
judge.py stalls LOG WHY TABLE       compares what the program said of each stall (WHY, its JSON) with the loop's own log
judge.py nccl LOG WHY               the same of the collectives to which the other rank came late (WHY: by --step nccl)
judge.py ab KSTALL DIR ROUNDS       the plain loop by turns with and without `kstall record`: how much slower is a step?

Prints what was found; exit status 1 if something is not as expected.
"""

import fnmatch
import glob
import json
import os
import statistics
import subprocess
import sys
import time

MS = 1e6
NAMELESS = ("user", "kernel", "unexplained")    # layers that say where, not what for
SIZE_OVER = 0.02, 10 * MS    # of a stall: this share, and what the step may have had of it anyway
NAMED = 0.95                # of a stalled step's time has a name that says what for
PEER = 0.9                  # of a collective's wait for a rank; the proxy thread may lose its CPU meanwhile
ROUND_S, SETTLE_S = 2.5, 0.5
SLOWER = 0.004              # at most so much, or what two plain rounds differ by

wrong = []


def lines(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.endswith("\n")]


def complain(text):
    wrong.append(text)


# --- stalls ---

def read_table(text):
    """NAME | patterns of names, "-" for none | at least so many per cent | layer that has to be seen | what it is"""
    for line in text.splitlines():
        if line.strip():
            name, names, least, needs, about = (word.strip() for word in line.split("|"))
            yield name, [] if names == "-" else names.split(","), int(least or 0) / 100, needs, about


def fits(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def told(part):
    text = f"{part['state']} {part['name']}"
    return f"{text} ({part['culprit']})" if part.get("culprit") else text


class Stalled:
    """One stalled step, by both accounts. What the loop ran on purpose has the right name, "user"."""

    def __init__(self, log, step, patterns):
        parts = step["parts"]
        self.injected, self.length = log["ns"], step["duration_ns"]
        self.first = next((p for p in parts if fits(p["name"], patterns)), None) if patterns else None
        self.largest = parts[0]
        self.is_first = bool(patterns) and fits(parts[0]["name"], patterns)
        self.found = sum(p["ns"] for p in parts if fits(p["name"], patterns)) if patterns else parts[0]["ns"]
        nameless = sum(p["ns"] for p in parts if p["layer"] in NAMELESS)
        self.named = 1 - max(0, nameless - log["own"]) / (step["duration_ns"] - log["own"])

    def size_fits(self, least):
        return least * self.injected <= self.found <= (1 + SIZE_OVER[0]) * self.injected + SIZE_OVER[1]


def judge_cause(name, patterns, least, about, steps, named):
    steps = [Stalled(log, step, patterns) for log, step in steps]
    shown = sorted(steps, key=lambda s: s.injected)[len(steps) // 2]
    first = sum(s.is_first for s in steps)
    verdict = f"{first} of {len(steps)}" if patterns else "not named"
    print(f"{name:10} {verdict:10} {shown.injected / MS:10.2f} {shown.found / MS:10.2f} {100 * shown.named:8.1f} %  "
          f"{told(shown.largest)}")
    if patterns and first < len(steps):
        complain(f"{name} ({about}): {' or '.join(patterns)} was first in {first} of {len(steps)} steps")
    for s in steps:
        if patterns and not s.size_fits(least):
            complain(f"{name} ({about}): {s.found / MS:.2f} ms were found of {s.injected / MS:.2f} ms")
        if patterns and s.named < named:
            complain(f"{name} ({about}): {100 * s.named:.1f} % of the step has a name")
    return bool(patterns)


def judge_clocks(log, steps):
    """A step begins and ends while its markers are written."""
    both = [(own, steps[str(own["step"])]) for own in log if str(own["step"]) in steps]
    inexact = sum(not s["exact"] for s in steps.values())
    outside = sum(not (own["step_begin"] <= s["begin_ns"] <= own["step_begun"] and own["step_ending"] <= s["end_ns"] <= own["step_end"])
                  for own, s in both)
    off = max((own["step_end"] - own["step_begin"] - s["duration_ns"] for own, s in both), default=0)
    print(f"{len(both)} of {len(log)} steps, {inexact} of them inexact, {outside} at another time than the loop's own clock says; it has "
          f"them at most {off / MS:.2f} ms longer, with both markers")
    if len(both) < len(log) or inexact or outside:
        complain("steps are missing, inexact or at another time")


def stalls(log_path, why_path, table):
    log = lines(log_path)
    with open(why_path, encoding="utf-8") as f:
        why = json.load(f)
    start = next(x for x in log if x["what"] == "start")
    print(f"{start['device']}, PyTorch {start['torch']}, CUDA {start['cuda']}, NCCL {start['nccl']}")
    own = [x for x in log if x["what"] == "step"]
    steps = {s["id"]: s for s in why["steps"]}
    skipped = {x["cause"]: x["why"] for x in log if x["what"] == "skip"}
    unseen = {u["layer"]: u["why"] for u in why["unseen"]}
    # What CUDA's own code does has a name only where its calls are seen.
    least_named = 0 if "gpu_wait" in unseen else NAMED
    named = had = 0
    print(f"\n{'cause':10} {'first':10} {'injected':>10} {'kstall':>10} {'named':>10}  the largest part\n"
          f"{'':10} {'':10} {'ms':>10} {'ms':>10} {'of it':>10}")
    for name, patterns, least, needs, about in table:
        of_it = [(x, steps[str(x["step"])]) for x in own if x.get("cause") == name and str(x["step"]) in steps]
        if name in skipped:
            print(f"{name:10} skipped: {skipped[name]}")
        elif not of_it:
            complain(f"{name} ({about}): no step")
        else:
            had += 1
            named += judge_cause(name, [] if needs in unseen else patterns, least, about, of_it, least_named)
    print(f"\n{named} of {had} causes have a name; of the others kstall says where, but not what for")
    judge_clocks(own, steps)
    print(f"{why['cost']['events']} events, {why['cost']['lost']} lost; "
          f"{why['markers']['unmatched']} markers without their other one")
    if why["cost"]["lost"] or why["markers"]["unmatched"]:
        complain("events were lost, or markers do not fit")


# --- collectives ---

def collectives(log_path, why_path):
    """The loop's own collective in a step of the cause nccl has to name the other rank, and what it was late."""
    log = lines(log_path)
    pid = next(x["pid"] for x in log if x["what"] == "loop")
    with open(why_path, encoding="utf-8") as f:
        steps = [s for s in json.load(f)["steps"] if s["pid"] == pid]
    late = [x for x in log if x.get("cause") == "nccl"]
    right, shown = 0, "no collective"
    for x in late:
        inside = [s for s in steps if s["begin_ns"] >= x["begin"] and s["end_ns"] <= x["end"]]
        largest = inside[0]["parts"][0] if len(inside) == 1 else {"name": "", "ns": 0}
        fit = largest["name"] == "nccl: peer" and largest["culprit"] == "rank 1"
        right += fit and PEER * x["ns"] <= largest["ns"] <= x["ns"]
        if inside:
            shown = f"{largest['ns'] / MS:.2f} ms of {x['ns'] / MS:.2f} ms  {told(largest)}"
    print(f"by --step nccl: {right} of {len(late)} collectives had to wait for the other rank: {shown}")
    if right < len(late):
        complain(f"{len(late) - right} collectives do not name the rank that came late")


# --- overhead ---

class Loop:
    def __init__(self, where):
        self.log = f"{where}/plain.log"
        here = os.path.dirname(os.path.abspath(__file__))
        self.process = subprocess.Popen([sys.executable, f"{here}/train.py", self.log, "--plain"])
        while not (os.path.exists(self.log) and any(x["what"] == "loop" for x in lines(self.log))):
            if self.process.poll() is not None:
                sys.exit("the plain loop has ended")
            time.sleep(0.1)

    def steps(self):
        self.process.terminate()
        self.process.wait()
        return [(x["step_begin"], x["step_end"]) for x in lines(self.log) if x["what"] == "step"]


def is_recording():
    for path in glob.glob("/sys/kernel/tracing/instances/kstall-*-job/tracing_on"):
        with open(path, encoding="utf-8") as f:
            if f.read().strip() == "1":
                return True
    return False


def window(seconds, command=None):
    """One round: its begin and end, without what starting and ending cost."""
    recorder = subprocess.Popen(command) if command else None
    while recorder and not is_recording():
        if recorder.poll() is not None:
            sys.exit("kstall record has ended")
        time.sleep(0.02)
    time.sleep(SETTLE_S)
    begin = time.monotonic_ns()
    time.sleep(seconds - 2 * SETTLE_S)
    end = time.monotonic_ns()
    time.sleep(SETTLE_S)
    if recorder and recorder.wait():
        sys.exit("kstall record failed")
    return begin, end


def overhead(kstall, where, nr_rounds):
    loop = Loop(where)
    record = [kstall, "record", "-o", f"{where}/plain.dat", "-p", str(loop.process.pid), "--time", f"{int(ROUND_S * 1000)}ms"]
    rounds = [(window(ROUND_S), window(ROUND_S, record)) for _ in range(nr_rounds)]
    steps = loop.steps()

    def median(begin, end):
        inside = [b - a for a, b in steps if a >= begin and b <= end]
        if len(inside) < 10:
            sys.exit("too few steps in a round")
        return statistics.median(inside)

    plain = [median(*r[0]) for r in rounds]
    recorded = [median(*r[1]) for r in rounds]
    print(f"median step in us, {nr_rounds} rounds by turns\n  plain     " + " ".join(f"{ns / 1000:.0f}" for ns in plain) +
          "\n  recorded  " + " ".join(f"{ns / 1000:.0f}" for ns in recorded))
    slower = statistics.median(b / a - 1 for a, b in zip(plain, recorded))
    noise = (max(plain) - min(plain)) / statistics.median(plain)
    print(f"recorded is {100 * slower:+.2f} % slower; plain rounds differ by up to {100 * noise:.2f} %")
    if slower > max(SLOWER, noise):
        complain(f"a recorded step is {100 * slower:.2f} % slower")


def main():
    if sys.argv[1] == "stalls":
        stalls(sys.argv[2], sys.argv[3], list(read_table(sys.argv[4])))
    elif sys.argv[1] == "nccl":
        collectives(sys.argv[2], sys.argv[3])
    else:
        overhead(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    for text in wrong:
        print(f"not as expected: {text}")
    sys.exit(bool(wrong))


main()
