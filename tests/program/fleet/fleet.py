#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
fleet.py PAGE KSTALL [NODES]: a real Prometheus that scrapes many nodes made of one's page (serve.py), on the loopback
interface: what its rules say, whether each panel of the dashboards shows something, kstall top, and what it costs.
Prints TAP. With NODES (a bench) only the cost.
"""

import importlib.machinery
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
import tap  # noqa: E402

here = os.path.dirname(os.path.abspath(__file__))
examples = os.path.join(here, "../../../examples")
page, kstall = sys.argv[1], sys.argv[2]
bench = len(sys.argv) > 3
nodes = int(sys.argv[3]) if bench else 1000
WEB, PROMETHEUS, NODE_EXPORTER = 19870, 19871, 19872
URL = f"http://127.0.0.1:{PROMETHEUS}"


def get(url):
    with urllib.request.urlopen(url, timeout=60) as r:
        return r.read().decode()


def ask(expr):
    answer = json.loads(get(f"{URL}/api/v1/query?query={urllib.parse.quote(expr)}"))
    return answer["data"]["result"]


def wait_for(what, seconds):
    """Not how fast it is, but whether it comes at all"""
    until = time.time() + seconds
    while time.time() < until:
        try:
            found = what()
            if found:
                return found
        except OSError:
            pass
        time.sleep(2)
    return None


def configure(directory, scrape):
    """The rules as they are, but for how often and how long: minutes are too long for a test"""
    for name in "kstall-rules.yml", "kstall-alerts.yml":
        text = open(f"{examples}/prometheus/{name}", encoding="utf-8").read()
        text = re.sub(r"interval: \S+", f"interval: {scrape}s", text)
        text = re.sub(r"for: \S+", "for: 10s", text)
        with open(f"{directory}/{name}", "w", encoding="utf-8") as f:
            f.write(text)
    with open(f"{directory}/targets.json", "w", encoding="utf-8") as f:
        json.dump([{"targets": [f"127.0.0.1:{WEB}"], "labels": {"__metrics_path__": f"/{n}/metrics", "instance": f"node{n}"}} for n in range(nodes)], f)
    with open(f"{directory}/prometheus.yml", "w", encoding="utf-8") as f:
        f.write(f"""global: {{ scrape_interval: {scrape}s, evaluation_interval: {scrape}s }}
rule_files: [ kstall-rules.yml, kstall-alerts.yml ]
scrape_configs:
  - job_name: kstall
    file_sd_configs: [ {{ files: [ targets.json ] }} ]
""" + ("" if bench else f"""  - job_name: node
    static_configs: [ {{ targets: [ "127.0.0.1:{NODE_EXPORTER}" ] }} ]
"""))


def check_verdict(culprit):
    found = wait_for(lambda: ask('ALERTS{alertname="KstallStraggler",alertstate="firing"}'), 300)
    labels = dict(re.findall(r'(\w+)="([^"]*)"', culprit))
    want = {"instance": "node7", **{k: labels[k] for k in ("layer", "event", "device", "cause")}}
    got = [{k: s["metric"].get(k, "") for k in want} for s in found or []]
    tap.result(got == [want], f"of {nodes} nodes the one with 5 times the IOTLB seconds is named, with device and cause", f"got {got}\nwant {want}")
    top = subprocess.run([kstall, "top", "--fleet", URL], capture_output=True, text=True)
    line = [l.split() for l in top.stdout.splitlines() if "node7 " in l]
    tap.result(len(line) == 1 and line[0][2:5] == ["slurm/1", "iommu", want["event"]], "kstall top says the same", top.stdout + top.stderr)
    as_json = json.loads(subprocess.run([kstall, "top", "--json", "--fleet", URL], capture_output=True, text=True).stdout)
    tap.result([s["instance"] for s in as_json["stragglers"]] == ["node7"], "and as JSON", as_json)


def check_dashboards():
    module = importlib.machinery.SourceFileLoader("dashboards", f"{examples}/../scripts/dashboards").load_module()
    for name in module.DASHBOARDS:
        made = module.dashboard(name)
        stale = json.load(open(f"{examples}/grafana/{name}.json", encoding="utf-8")) != made
        tap.result(not stale, f"{name}.json is what scripts/dashboards makes", "run it")
        empty = []
        for panel in made["panels"]:
            for target in panel["targets"]:
                expr = target["expr"].replace("$instance", "node7")
                try:
                    if not ask(expr):
                        empty.append(f"{panel['title']}: {expr}")
                except OSError as e:
                    empty.append(f"{panel['title']}: {e}")
        tap.result(not empty, f"each panel of {name} shows something", "\n".join(empty))


def check_textfile():
    found = wait_for(lambda: ask('count({job="node",__name__=~"kstall_.*"})'), 60)
    tap.result(bool(found), "node_exporter passes the page on", found)
    tap.result([s["value"][1] for s in ask("node_textfile_scrape_error")] == ["0"], "without an error", "")
    lint = subprocess.run(["promtool", "check", "metrics"], stdin=open(page, "rb"), capture_output=True, text=True)
    tap.result(lint.returncode == 0 and not lint.stdout + lint.stderr, "promtool check metrics has nothing to say", lint.stdout + lint.stderr)
    series = sum(not line.startswith("#") for line in open(page, encoding="utf-8"))
    tap.result(series <= 300, f"a node has {series} series, of 300", "")


def tell_cost():
    def value(expr):
        return float(ask(expr)[0]["value"][1])
    print(f"# {nodes} nodes: {value('prometheus_tsdb_head_series'):.0f} series, {value('process_resident_memory_bytes') / 1e6:.0f} MB of Prometheus")
    for s in sorted(ask("prometheus_rule_group_last_duration_seconds"), key=lambda s: s["metric"]["rule_group"]):
        print(f"# {s['metric']['rule_group'].split(';')[1]}: {float(s['value'][1]):.3f} s")


def main():
    directory = tempfile.mkdtemp()
    scrape = 30 if bench else 10
    children = []

    def start(*command, **more):
        children.append(subprocess.Popen(command, stderr=open(f"{directory}/log", "ab"), **more))
        return children[-1]

    try:
        configure(directory, scrape)
        web = start(sys.executable, f"{here}/serve.py", page, str(nodes), str(WEB), stdout=subprocess.PIPE, text=True)
        culprit = web.stdout.readline().strip()
        if not bench:
            shutil.copy(page, f"{directory}/kstall.prom")
            start("prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
                  f"--collector.textfile.directory={directory}", f"--web.listen-address=127.0.0.1:{NODE_EXPORTER}")
        with open(f"{directory}/prometheus.yml", "a", encoding="utf-8") as f:
            f.write(f'  - job_name: self\n    static_configs: [ {{ targets: [ "127.0.0.1:{PROMETHEUS}" ] }} ]\n')
        start("prometheus", f"--config.file={directory}/prometheus.yml", f"--storage.tsdb.path={directory}/data",
              f"--web.listen-address=127.0.0.1:{PROMETHEUS}", "--log.level=warn")
        if bench:
            wait_for(lambda: ask(f"count(kstall:stall_workload:excess) > {nodes}"), 900)
            time.sleep(4 * scrape)
        else:
            check_verdict(culprit)
            check_dashboards()
            check_textfile()
        tell_cost()
    finally:
        for child in children:
            child.send_signal(signal.SIGTERM)
        for child in children:
            child.wait()
        if tap.failed:
            print(*("# " + l for l in open(f"{directory}/log", errors="replace").read().splitlines()[-10:]), sep="\n")
        shutil.rmtree(directory)


main()
tap.end()
