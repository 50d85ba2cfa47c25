#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
cuda.py JSON LOG [FUNCTION...] - the steps of `kstall why --json` that LOG of ./cuda has, too: what is wrong with them

Of a step of FUNCTION (of any, without) that is whole in both, the function's own part must be as long as the two clocks in LOG say, but for
what it waited for its CPU and what has another name. Prints "right FUNCTION" for each function of which one step at least was right, and none wrong.
"""

import json
import sys

NAMES = {
    "cuStreamSynchronize": ("gpu_wait: cuStreamSynchronize", ""),
    "cuEventSynchronize": ("gpu_wait: cuEventSynchronize", ""),
    "cuCtxSynchronize_v2": ("gpu_wait: cuCtxSynchronize", ""),
    "cuMemcpyHtoD_v2": ("copy: H2D", "1 GiB, held its caller"),
    "cuMemHostRegister_v2": ("pin: register", "2 GiB"),
    "cuModuleLoadData": ("gpu_load: module", "cuModuleLoadData"),
    "cuMemAlloc_v2": ("gpu_mem: alloc", "1.5 MiB"),
    "cuLaunchKernel": ("gpu_launch: cuLaunchKernel", ""),
}


def wrong(step, function, low, high):
    """What is; "" if nothing is."""
    name, culprit = NAMES[function]
    parts = [p for p in step["parts"] if p["name"] == name and p["state"] in ("on_cpu", "blocked")]
    other = sum(p["ns"] for p in step["parts"] if p["name"] != name and p["layer"] not in ("user", "kernel", "sleep", "unexplained"))
    own = sum(p["ns"] for p in parts)
    if sum(p["ns"] for p in step["parts"]) != step["duration_ns"]:
        return "its parts are not the step"
    if not low - other <= own <= high:
        return f"{name} has {own} ns, not {low} to {high}, and {other} is of others"
    if {p["culprit"] for p in parts} != {culprit}:
        return f"{name} is of {[p['culprit'] for p in parts]}"
    if own > other and step["parts"][0]["name"] != name:
        return f"the first is {step['parts'][0]['name']}"
    return ""


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        steps = {(step["pid"], step["id"]): step for step in json.load(f)["steps"] if step["exact"]}
    with open(sys.argv[2], encoding="utf-8") as f:
        calls = [line.split() for line in f]
    verdict = {}
    for pid, nr, function, low, high in calls:
        if (int(pid), nr) not in steps or (sys.argv[3:] and function not in sys.argv[3:]):
            continue
        why = wrong(steps[int(pid), nr], function, int(low), int(high))
        verdict[function] = verdict.get(function) or (f"step {nr}: {why}" if why else "")
    for function, why in sorted(verdict.items()):
        print(why or "right", function)


main()
