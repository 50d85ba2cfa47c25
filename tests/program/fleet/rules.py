#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
rules.py METRICS_TEST: what the rules say of fleets whose noise is made up here (always the same, by seed), by `promtool test
rules`. Prints TAP.

A fleet is two jobs of 8 and 16 nodes whose loads differ by four; a node differs from its peers by some fifth and from itself
from scrape to scrape by as much; clocks of scrapes are apart by up to 10 s. Some layers only a node in five uses, and little.
"""

import os
import random
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import tap  # noqa: E402
from promtool import FIRING, check as run, firing, series  # noqa: E402

metrics_test = sys.argv[1]
SCRAPE, SAMPLES = 30, 41	# twenty minutes


def layers():
    """Those that have time in them, as the program has them: not pcie and xid"""
    page = subprocess.run([metrics_test, "/nonexistent"], capture_output=True, text=True, check=True).stdout
    return [l.split('"')[1] for l in page.splitlines() if l.startswith("kstall_reach{") and not {'"pcie"', '"xid"'} & set(re.findall('"[a-z_]*"', l))]


LAYERS = layers()


class Fleet:
    """What 24 nodes send. Of @slow, a set of (node, layer), the layer takes five times what its peers take, all of it by dev1."""

    def __init__(self, seed, slow=(), jobs=True):
        self.random = random.Random(seed)
        self.slow = slow
        self.text = ""
        base = {layer: 10 ** (self.random.uniform(-4, -3) if layer in LAYERS[-3:] else self.random.uniform(-3.5, -1)) for layer in LAYERS}
        for _, layer in slow:
            base[layer] = base[layer] if layer in LAYERS[-3:] else max(base[layer], 0.03)
        for n in range(24):
            self.node(f"node{n:02}", "big" if n % 3 else "small", base, jobs)

    def node(self, node, job, base, jobs):
        skew = self.random.uniform(0, 10)
        self.text += series("kstall_metrics_passes_total", {"instance": node}, [f"0+1x{SAMPLES}"])
        if jobs:
            self.text += series("kstall_job_info", {"instance": node, "slot": "0", "workload": job}, [f"1x{SAMPLES}"])
        for layer in LAYERS:
            self.text += series("kstall_reach", {"instance": node, "layer": layer, "state": "armed"}, [f"1x{SAMPLES}"])
            own = self.random.lognormvariate(0, 0.2) * (4 if job == "big" and jobs else 1)
            if layer in LAYERS[-3:] and self.random.random() > 0.2 and (node, layer) not in self.slow:
                continue
            for device, part in ("dev0", 0.6), ("dev1", 0.4):
                if (node, layer) in self.slow and device == "dev1":
                    part = 0.15 / base[layer] if layer in LAYERS[-3:] else 4.4
                labels = {"instance": node, "layer": layer, "event": layer + "_event", "device": device, "cause": "some"}
                self.text += series("kstall_stall_seconds_total", labels, self.counter(base[layer] * own * part, skew))

    def counter(self, rate, skew):
        total, out = self.random.uniform(0, 1e4) + rate * skew, []
        for _ in range(SAMPLES):
            out.append(f"{total:.6f}")
            total += rate * SCRAPE * self.random.lognormvariate(0, 0.2)
        return out


def straggler(node, layer):
    return firing("KstallStraggler", node, layer=layer, device="dev1", cause="some")


def quiet(fleet):
    return fleet.text, [('count by (alertname, instance, layer) (ALERTS)', at, []) for at in ("8m", "14m", "20m")]


def stragglers():
    brief = bool(os.environ.get("KSTALL_BRIEF"))	# their expressions know no layer by name: one in five, and one of the last three
    for seed in range(4 if brief else 20):
        run(f"quiet fleet {seed + 1}: no alert", [quiet(Fleet(seed, jobs=seed % 4 != 3))], "30s")
    for seed, layer in enumerate(LAYERS):
        if brief and seed % 5 and layer != LAYERS[-1]:
            continue
        node = f"node{seed * 5 % 24:02}"
        run(f"a node spends 5 times its peers' seconds in {layer}: one alert, with node, device, cause",
            [(Fleet(1000 + seed, {(node, layer)}).text, [(FIRING, "18m", [straggler(node, layer)])])], "30s")
    for seed, two in enumerate(([("node05", "iommu"), ("node11", "disk")], [("node05", "iommu"), ("node10", "iommu")])):
        run(f"two nodes, by {two[0][1]} and {two[1][1]}: two alerts",
            [(Fleet(7 + seed, set(two)).text, [(FIRING, "18m", [straggler(*one) for one in two])])], "30s")


def unlike():
    """Nodes that are no peers: without a job, or of another one with other devices"""
    run("a node without a job that spends 5 times the others' seconds: no alert", [quiet(Fleet(1100, {("node05", "iommu")}, jobs=False))], "30s")
    text = ""
    def node(name, job, rates):
        out = series("kstall_job_info", {"instance": name, "slot": "0", "workload": job}, [f"1x{SAMPLES}"])
        out += series("kstall_reach", {"instance": name, "layer": "iommu", "state": "armed"}, [f"1x{SAMPLES}"])
        for device, rate in rates.items():
            out += series("kstall_stall_seconds_total", {"instance": name, "layer": "iommu", "event": "e", "device": device, "cause": "some"},
                          [f"0+{rate * SCRAPE}x{SAMPLES}"])
        return out
    # dev1 is what the slow node of job a has more of than its peers; dev0 is what that job has more of than job b
    for n in range(6):
        text += node(f"a{n}", "a", {"dev0": 0.3, "dev1": 0.02 if n else 0.25}) + "".join(node(f"b{n}{m}", "b", {"dev0": 0.001, "dev1": 0.02}) for m in range(3))
    run("the device that is named is the one that the peers' have less of, not the other job's", [(text, [(FIRING, "18m", [straggler("a0", "iommu")])])], "30s")


def flat(name, labels, *values):
    return series(name, {"instance": "a", **labels}, values)


def others():
    up = flat("kstall_metrics_passes_total", {}, "0+1x240")
    hang = {"layer": "gpu_hang", "event": "drm_sched_job_timeout", "device": "0000:03:00.0", "cause": "gfx"}
    fired = firing("KstallGpuHang", "a", layer="gpu_hang", device="0000:03:00.0", cause="gfx")
    run("a GPU hangs for the first time: an alert, and it ends",
        [(up + flat("kstall_events_total", hang, "_x60", "1x180"), [(FIRING, "14m", []), (FIRING, "16m", [fired]), (FIRING, "40m", [])])])
    run("one that hangs again: an alert",
        [(up + flat("kstall_events_total", hang, "5x60", "6x180"), [(FIRING, "14m", []), (FIRING, "17m", [fired])])])
    run("a node that is new with old hangs: none",
        [(flat("kstall_metrics_passes_total", {}, "_x60", "7+1x180") + flat("kstall_events_total", hang, "_x60", "5x180"), [(FIRING, at, []) for at in ("16m", "24m", "27m", "50m")])])
    run("modules that are loaded anew, with less than before: none",
        [(up + flat("kstall_events_total", hang, "5x60", "0x180"), [(FIRING, "16m", []), (FIRING, "30m", [])])])

    qp = {"layer": "rdma", "event": "ib_qp_error", "device": "mlx5_0", "cause": "RETRY_EXC_ERR"}
    first = 'kstall_job_info{instance="%s",slot="0",workload="w"}'
    def node(name, start):
        return "".join(series(m, {"instance": name, **l}, v) for m, l, v in (
            ("kstall_metrics_passes_total", {}, ["0+1x240"]), ("kstall_job_info", {"slot": "0", "workload": "w"}, ["1x240"]),
            ("kstall_events_total", qp, [f"_x{start}", "1x200"])))
    run("queue pairs fail, one node's first: an alert for that node alone",
        [(node("a", 60) + node("b", 80) + node("c", 90), [
            ('count by (instance, device) (ALERTS{alertname="KstallFirstQpError"})', "15m30s", ["{labels: '{instance=\"a\", device=\"mlx5_0\"}', value: 1}"]),
            ('count by (instance) (ALERTS{alertname="KstallFirstQpError"})', "20m30s", []), ('count by (instance) (ALERTS{alertname="KstallFirstQpError"})', "23m", [])])])
    run("an uncorrectable PCIe error: an alert",
        [(up + flat("kstall_events_total", {"layer": "pcie", "event": "aer_uncorrectable", "device": "d", "cause": "fatal"}, "_x60", "1x180"),
          [(FIRING, "16m", [firing("KstallDeviceError", "a", layer="pcie", device="d", cause="fatal")])])])

    for code, event, alert in (("119", "xid", "KstallXid"), ("20034", "sxid", "KstallSxid")):
        run(f"{event} {code}: an alert",
            [(up + flat("kstall_events_total", {"layer": "xid", "event": event, "device": "d", "cause": code}, "_x60", "1x180"),
              [(FIRING, "16m", [firing(alert, "a", layer="xid", device="d", cause=code)])])])
    run("a row that was remapped: none",
        [(up + flat("kstall_events_total", {"layer": "xid", "event": "xid", "device": "d", "cause": "63"}, "_x60", "1x180"), [(FIRING, "16m", [])])])

    run("a node that vanishes: an alert", [(flat("kstall_metrics_passes_total", {}, "0+1x60", "_x300"), [(FIRING, "14m", []), (FIRING, "28m", [firing("KstallSilent", "a")])])])
    run("one whose file stands still: an alert", [(flat("kstall_metrics_passes_total", {}, "0+1x60", "60x180"), [(FIRING, "14m", []), (FIRING, "27m", [firing("KstallSilent", "a")])])])
    lost = {"module": "iommu_trace", "reason": "dropped"}
    run("one that loses events: an alert; one that has lost some: none",
        [(up + flat("kstall_lost_events_total", lost, "0x60", "0+1x180"), [(FIRING, "14m", []), (FIRING, "40m", [firing("KstallLosesEvents", "a")])]),
         (up + flat("kstall_lost_events_total", lost, "9x240"), [(FIRING, "40m", [])])])
    run("a node whose jobs are not known: an alert; one without a job: none",
        [(up + flat("kstall_job_source_up", {}, "1x60", "0x180"), [(FIRING, "28m", []), (FIRING, "40m", [firing("KstallJobsUnknown", "a")])]),
         (up + flat("kstall_job_source_up", {}, "1x240"), [(FIRING, "40m", [])])])
    for what, state in ("whose hooks fail", "failed"), ("that cannot be read", "unreadable"):
        run(f"a layer {what}: an alert", [(up + flat("kstall_reach", {"layer": "pin", "state": state}, "1x240"), [(FIRING, "20m", [firing("KstallLayerFailed", "a", layer="pin")])])])


def days():
    rises = 'count by (alertname, instance, layer, device, cause) (ALERTS{alertname="KstallPcieErrorsRise",alertstate="firing"})'
    up = flat("kstall_metrics_passes_total", {}, "0+1x1152")
    error = {"layer": "pcie", "event": "aer_correctable", "device": "d", "cause": "BadTLP"}
    rise = [0]
    for i in range(1152):	# 8 days, from 100 a day on by half each
        rise.append(rise[-1] + 100 / 144 * 1.5 ** (i / 144))
    alert = firing("KstallPcieErrorsRise", "a", device="d", cause="BadTLP")
    run("ever more correctable PCIe errors, for days: an alert", [(up + flat("kstall_events_total", error, *(f"{v:.0f}" for v in rise)), [(rises, "3d", []), (rises, "7d", [alert])])], "10m", "10m")
    run("as many every day: none", [(up + flat("kstall_events_total", error, "0+7x1152"), [(rises, f"{d}d", []) for d in (1, 2, 3, 4, 5, 7)])], "10m", "10m")


stragglers()
unlike()
others()
days()
tap.end()
