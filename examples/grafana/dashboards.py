#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
dashboards.py [DIR]: makes kstall-fleet.json and kstall-node.json for Grafana (beside itself, or in DIR) from the panels below.

A panel is: title, kind, width of 24, unit, then its queries, each with the legend of its series. The queries need
../prometheus/kstall-rules.yml.
"""

import json
import os
import sys

NODE = 'instance=~"$instance"'
DASHBOARDS = {
    "kstall-fleet": ("kstall: fleet", [
        ("Nodes", "stat", 6, "short", ("count(count by (instance) (kstall_metrics_passes_total))", "")),
        ("Stragglers", "stat", 6, "short", ("count(kstall:straggler) or vector(0)", "")),
        ("Send nothing", "stat", 6, "short", ('count(ALERTS{alertname="KstallSilent",alertstate="firing"}) or vector(0)', "")),
        ("Layers that cannot be seen", "stat", 6, "short", ('count(kstall_reach{state!~"armed|partly"})', "")),
        ("Stragglers: seconds a second more than their peers", "table", 24, "s",
         ("sort_desc(kstall:straggler:culprit)", "{{instance}} {{layer}} {{device}} {{cause}}")),
        ("Held up, nodes by layers: deviations from their peers", "state-timeline", 24, "short",
         ("topk(40, kstall:straggler:score)", "{{instance}} {{layer}}")),
        ("Held up, seconds a second, by layer (all nodes)", "timeseries", 12, "s", ("sum by (layer) (kstall:stall_seconds:rate5m)", "{{layer}}")),
        ("Most held up", "timeseries", 12, "s", ("topk(10, sum by (instance) (kstall:stall_seconds:rate5m))", "{{instance}}")),
        ("PCIe errors mended in a day", "table", 12, "short", ("topk(20, kstall:pcie_correctable:increase1d)", "{{instance}} {{device}} {{cause}}")),
        ("Errors in ten minutes", "table", 12, "short", ("topk(20, kstall:errors:increase10m)", "{{instance}} {{event}} {{device}} {{cause}}")),
    ]),
    "kstall-node": ("kstall: node", [
        ("Held up, seconds a second, by layer", "timeseries", 12, "s", (f"kstall:stall_seconds:rate5m{{{NODE}}}", "{{layer}}"),
         (f"sum by (layer) (kstall:stall_workload:median and on (workload) kstall:workload{{{NODE}}})", "peers: {{layer}}")),
        ("By device and cause", "timeseries", 12, "s", (f"topk(15, kstall:stall_device:rate5m{{{NODE}}})", "{{layer}} {{device}} {{cause}}")),
        ("Events a second", "timeseries", 12, "short", (f"topk(15, rate(kstall_events_total{{{NODE}}}[5m]))", "{{event}} {{device}} {{cause}}")),
        ("io_uring requests: nine of ten are done in", "timeseries", 12, "s",
         (f"histogram_quantile(0.9, rate(kstall_io_uring_req_done_seconds_bucket{{{NODE}}}[5m]))", "90 %"),
         (f"histogram_quantile(0.5, rate(kstall_io_uring_req_done_seconds_bucket{{{NODE}}}[5m]))", "half")),
        ("What can be seen", "table", 8, "short", (f"kstall_reach{{{NODE}}}", "{{layer}}: {{state}}")),
        ("Events lost", "timeseries", 8, "short", (f"increase(kstall_lost_events_total{{{NODE}}}[5m])", "{{module}} {{reason}}")),
        ("Modules", "table", 8, "short", (f"kstall_module_info{{{NODE}}}", "{{module}} {{version}}")),
        ("CPU time of kstall metrics", "timeseries", 8, "percentunit", (f"rate(kstall_metrics_cpu_seconds_total{{{NODE}}}[5m])", "")),
    ]),
}


def panel(number, title, kind, width, unit, queries, x, y):
    instant = kind in ("table", "stat")
    return {
        "id": number, "title": title, "type": kind, "gridPos": {"x": x, "y": y, "w": width, "h": 4 if kind == "stat" else 9},
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
        "targets": [{"refId": chr(ord("A") + i), "expr": expr, "legendFormat": legend, "instant": instant, "range": not instant,
                     "format": "table" if kind == "table" else "time_series"} for i, (expr, legend) in enumerate(queries)],
    }


def variables(name):
    source = {"name": "datasource", "type": "datasource", "query": "prometheus"}
    if name != "kstall-node":
        return [source]
    query = "label_values(kstall_metrics_passes_total, instance)"
    return [source, {"name": "instance", "type": "query", "datasource": {"type": "prometheus", "uid": "${datasource}"},
                     "definition": query, "query": {"query": query, "refId": "A"}, "refresh": 2, "sort": 1}]


def dashboard(name):
    title, panels = DASHBOARDS[name]
    placed, x, y = [], 0, 0
    for number, (heading, kind, width, unit, *queries) in enumerate(panels, 1):
        if x + width > 24:
            x, y = 0, y + placed[-1]["gridPos"]["h"]
        placed.append(panel(number, heading, kind, width, unit, queries, x, y))
        x += width
    return {"uid": name, "title": title, "tags": ["kstall"], "schemaVersion": 38, "editable": True, "refresh": "30s",
            "time": {"from": "now-3h", "to": "now"}, "templating": {"list": variables(name)}, "panels": placed}


if __name__ == "__main__":
    there = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for which in DASHBOARDS:
        with open(os.path.join(there, which + ".json"), "w", encoding="utf-8") as f:
            json.dump(dashboard(which), f, indent=1)
            f.write("\n")
