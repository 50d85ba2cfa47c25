#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
serve.py PAGE NODES PORT: many nodes made of one's real page, at http://127.0.0.1:PORT/N/metrics.

Each node has the page's series; its counters grow at a rate of its own, some fifth from the others'. Odd ones are one
job, even ones another with four times the load. Node 7 takes five times the others' seconds in the page's busiest
device of layer iommu. Node 3 has errors of a PCIe device. Each hundredth node vanishes after 60 s.
"""

import http.server
import random
import re
import sys
import time

SLOW, FAULTY = 7, 3
ERRORS = "".join(f'kstall_events_total{{layer="pcie",event="{event}",device="0000:01:00.0",cause="{cause}"}} %d\n'
                 for event, cause in (("aer_correctable", "BadTLP"), ("aer_uncorrectable", "nonfatal")))


def parse(path):
    """[text that stays as it is] and, of counters, [head, value, layer of seconds or None]"""
    page, kind = [], {}
    for line in open(path, encoding="utf-8"):
        if line.startswith("#"):
            words = line.split()
            if words[1] == "TYPE":
                kind[words[2]] = words[3]
            page.append(line)
            continue
        head, value = line.rstrip("\n").rsplit(" ", 1)
        name = head.split("{")[0]
        counts = kind.get(name) == "counter" or kind.get(re.sub("_(bucket|sum|count)$", "", name)) == "histogram"
        if name.startswith("kstall_job_"):
            continue
        layer = re.search('layer="([^"]*)"', head)
        seconds = layer[1] if layer and name == "kstall_stall_seconds_total" else None
        page.append([head, float(value), seconds] if counts else line)
    return page


class Node:
    def __init__(self, number, page, culprit, start):
        rand = random.Random(number)
        self.page, self.start, self.gone = page, start + rand.uniform(0, 10), number % 100 == 99
        own = {}
        load = 1 if number % 2 else 4
        self.rates = []
        for line in page:
            if isinstance(line, str):
                continue
            head, value, layer = line
            share = own.setdefault(layer, rand.lognormvariate(0, 0.15)) * load
            # as if what the page shows had taken a minute, and no layer more than a tenth of it
            rate = min(value / 60, 0.1) if layer else value / 60
            if layer == "iommu":
                rate = 0.02 if head == culprit else 0
                rate *= 5 if number == SLOW else 1
            self.rates.append(1 / 15 if "passes" in head else rate * share if "lost" not in head else 0)
        self.errors = number == FAULTY
        self.job = f'kstall_job_info{{slot="0",workload="slurm/{number % 2}",slurm_job_id="{number % 2}",pod="",namespace=""}} 1\n'

    def text(self):
        now, rates = time.time() - self.start, iter(self.rates)
        if self.gone and now > 60:
            return None
        lines = [line if isinstance(line, str) else f"{line[0]} {line[1] + next(rates) * now:.9f}\n" for line in self.page]
        if self.errors:
            at = next(i for i, line in enumerate(lines) if line.startswith("# TYPE kstall_events_total")) + 1
            lines.insert(at, ERRORS % (now, now))
        return "".join(lines) + self.job


def main():
    path, count, port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    page = parse(path)
    iommu = [line for line in page if not isinstance(line, str) and line[2] == "iommu"]
    culprit = max(iommu, key=lambda line: line[1])[0] if iommu else None
    print(culprit, flush=True)
    start = time.time()
    nodes = [Node(n, page, culprit, start) for n in range(count)]

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            text = nodes[int(self.path.split("/")[1])].text()
            body = (text or "").encode()
            self.send_response(200 if text else 503)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    http.server.ThreadingHTTPServer.request_queue_size = 1024
    http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


main()
