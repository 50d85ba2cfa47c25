#!/usr/bin/env python3
"""check.py [--lossy] LOG JSON [CAUSE=LAYER[: PHASE]...]: what `kstall why --json` says of the steps that trainer measured itself

Prints a line for each thing that is checked, "CHECK: GOOD of ALL", and the first few that are not good.
CAUSE=... says where the stalls of a cause are to be found, other than usual: a layer that could not be seen.
--lossy: events were lost. Some steps have to be inexact, and of those nothing may be claimed.
"""
import json
import re
import sys

# Where each stall belongs; without a phase the layer's are added up, "via" are those of the thread that ended the sleep.
PLACES = {
    "fsync": "writeback",
    "gpu_dependency": "fence: dependency",
    "gpu_ring": "fence: ring",
    "gpu_running": "fence: running",
    "fence": "fence",
    "notifier": "notifier",
    "quota": "quota",
    "hog": "cpu",
    "compaction": "compaction",
    "rdma": "rdma",
    "pipe": "via read ← feeder",
}
# What may be in a step beside what was injected: nobody says that the machine is still.
ALWAYS = {"user", "kernel", "cpu", "unexplained", "sleep", "tlb", "quota", "compaction", "huge_page"}
# What a stall is made by, and takes its time, too: the notifier is called because pages move.
WITH = {"notifier": {"migration"}}


def read_log(name):
    """What trainer measured, by step: its clocks, its stalls as (cause, low, high), whether it is noisy."""
    steps = {}
    for line in open(name):
        words = line.split()
        if not words or not words[0].startswith("step="):
            continue
        pairs = [w.split("=") for w in words if "=" in w]  # a cause may come more than once
        said = dict(pairs)
        step = {k: int(said[k]) for k in ("wall", "cpu", "queued")}
        step["noisy"] = "noisy" in words
        step["stalls"] = [(c, *map(int, r.split("-"))) for c, r in pairs if "-" in r]
        steps[said["step"]] = step
    return steps


def is_at(part, place):
    if place.startswith("via "):
        return part.get("via", "").startswith(place[4:])
    return part["name"] == place if ": " in place else part["layer"] == place


def ns_at(step, place):
    return sum(p["ns"] for p in step["parts"] if is_at(p, place))


# The scheduler reads its own clock a little before a switch is traced, and a thread that is woken up waits for a processor from a little before
# it is in a queue: of the longest wake-ups and switches of an emulated machine that is a few percent of a stall, and more if the machine
# stood still in between. By how much the two clocks differ over the whole step is known; more than a quarter is nobody's clock.
def about(low, high, step, log):
    def ns_in(*states):
        return sum(p["ns"] for p in step["parts"] if p["state"] in states)

    waited, suspended = ns_in("cpu_wait"), ns_in("quota")
    differ = abs(ns_in("on_cpu") - log["cpu"]) + min(abs(waited - log["queued"]), abs(waited + suspended - log["queued"]))
    return low - low // 20 - min(differ, low // 4), high + high // 20 + min(differ, high // 4)


class Checks:
    def __init__(self):
        self.all, self.bad = {}, {}

    def __call__(self, name, good, why):
        self.all[name] = self.all.get(name, 0) + 1
        if not good:
            self.bad.setdefault(name, []).append(why)

    def report(self):
        for name, n in self.all.items():
            bad = self.bad.get(name, [])
            print(f"{name}: {n - len(bad)} of {n}")
            for why in bad[:5]:
                print(f"# {name}: {why}")


def parts_of(step):
    return ", ".join(f"{p['name']}={p['ns']}" for p in step["parts"])


def check_sum(check, name, step):
    parts = step["parts"]
    whole = step["end_ns"] - step["begin_ns"]
    check("parts are the step", whole == step["duration_ns"] == sum(p["ns"] for p in parts) and
          all(isinstance(p["ns"], int) and p["ns"] > 0 for p in parts),
          f"step {name}: {whole} of {parts_of(step)}")
    check("each part once, the largest first",
          [p["ns"] for p in parts] == sorted((p["ns"] for p in parts), reverse=True) and
          len({(p["state"], p["name"]) for p in parts}) == len(parts), f"step {name}: {parts_of(step)}")
    shares = sum(p.get("share", 0) for p in parts)
    check("exact, and the shares make 1", step["exact"] and abs(shares - 1) < 0.01, f"step {name}: {shares}")


def check_clocks(check, name, step, log):
    """The step lies within what the program measured, and so do its states."""
    check("no longer than the program measured", step["duration_ns"] <= log["wall"],
          f"step {name}: {step['duration_ns']} > {log['wall']}")


def check_stalls(check, name, step, log, places):
    for cause in dict.fromkeys(c for c, _, _ in log["stalls"]):
        low, high = (sum(s[i] for s in log["stalls"] if s[0] == cause) for i in (1, 2))
        place = places[cause]
        # others of the same step may be there, too
        also = sum(h for c, l, h in log["stalls"] if c != cause and places[c].split(": ")[0] == place.split(": ")[0]
                   and "fence" not in (c, cause))
        # anybody's waits for a processor are there
        if place == "cpu":
            also += max(log["queued"] - high, 0)
        low, high = about(low, high, step, log)
        ns = ns_at(step, place)
        check(f"size of {cause}", low <= ns <= high + also,
              f"step {name}: {low} <= {ns} <= {high} + {also}: {parts_of(step)}")


def check_first(check, name, step, log, places):
    """The stall comes first, but for what nobody injected and took longer: that the stall has its size is checked elsewhere."""
    cause, _, high = max((s for s in log["stalls"] if s[0] != "fence"), key=lambda s: s[1])
    first = step.get("culprit") or {"name": "none", "layer": "none", "ns": 0}
    noise = first["layer"] in ALWAYS and first["ns"] > high
    check(f"first is {cause}" if len(log["stalls"]) <= 2 else "first of all",
          is_at(first, places[cause]) or noise, f"step {name}: {first['name']}, not {cause}: {parts_of(step)}")


def check_others(check, name, step, log, places):
    """Nothing is blamed that was not injected."""
    causes = {c for c, _, _ in log["stalls"]}
    places = {places[c].split(": ")[0] for c in causes}.union(ALWAYS, *(WITH.get(c, ()) for c in causes))
    wrong = [p["name"] for p in step["parts"] if p["layer"] not in places]
    check("nothing else is blamed", not wrong, f"step {name}: {wrong}: {parts_of(step)}")


def check_inexact(check, name, step):
    check("inexact ones claim nothing", step["lost"] > 0 and not any("share" in p for p in step["parts"]),
          f"step {name}: {step['lost']} lost: {step['parts']}")


def main():
    args = [a for a in sys.argv[1:] if a != "--lossy"]
    lossy = len(args) < len(sys.argv) - 1
    places = dict(PLACES, **dict(a.split("=", 1) for a in args[2:]))
    log = read_log(args[0])
    answer = json.load(open(args[1]))
    steps = {s["id"]: s for s in answer["steps"]}
    check = Checks()
    for name, measured in log.items():
        step = steps.get(name)
        if step is None and lossy:
            continue
        check("steps", step is not None and step["kind"] == "step", f"no step {name}")
        if step is None:
            continue
        if lossy and not step["exact"]:
            check_inexact(check, name, step)
            continue
        check_sum(check, name, step)
        check_clocks(check, name, step, measured)
        if measured["stalls"] and not measured["noisy"]:
            check_stalls(check, name, step, measured, places)
            check_first(check, name, step, measured, places)
            check_others(check, name, step, measured, places)
    if lossy:
        check("some are inexact", answer["total"]["exact"] < len(log), f"{answer['total']['exact']} of {len(log)} are exact")
    else:
        check("no other steps", len(steps) == len(answer["steps"]) == len(log), f"{len(answer['steps'])} of {len(log)}")
    total = answer["total"]
    check("the total is the steps'", total["steps"] == len(steps) and
          total["duration_ns"] == sum(s["duration_ns"] for s in steps.values()) ==
          sum(p["ns"] for p in total["parts"]), str(total)[:200])
    check.report()
    sys.exit(bool(check.bad))


if __name__ == "__main__":
    main()
