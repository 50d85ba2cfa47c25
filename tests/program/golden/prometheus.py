#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""prometheus.py FILE: answers kstall top's questions with what is below, as a Prometheus does. Its port's number goes to FILE."""

import http.server
import json
import sys
import urllib.parse


def vector(*series):
    result = [{"metric": labels, "value": [1.5, value]} for labels, value in series]
    return {"status": "success", "data": {"resultType": "vector", "result": result}}


STRAGGLERS = (
    ({"instance": "node7:9878", "workload": "slurm/17", "layer": "fence", "event": "dma_fence_wait", "device": "",
      "cause": "amdgpu"}, "2.5000007"),
    ({"instance": "node9:9878", "workload": "ml/训练-trainer", "layer": "disk", "event": "io_uring_block_rq", "device": "nvme0n1",
      "cause": "READ\u001b[2J"}, "0.0124"),
    ({"instance": "node3:9878", "layer": "pin", "event": "mm_pin", "cause": "ib_uverbs"}, "0.003"),
)
ANSWERS = {
    "count(count by (instance) (kstall_metrics_passes_total))": vector(({}, "12")),
    'count(ALERTS{alertname="KstallSilent",alertstate="firing"})': vector(({}, "2")),
    "count(kstall:stall_seconds:rate5m)": vector(({}, "40")),
    "sort_desc(kstall:straggler:culprit)": vector(*STRAGGLERS),
}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        url = urllib.parse.urlparse(self.path)
        query = urllib.parse.parse_qs(url.query)["query"][0]
        answer = ANSWERS.get(query, {"status": "error", "error": f"not expected: {query}"})
        if not url.path.startswith("/api/v1/query"):
            answer = vector()
        # longer than what libcurl hands over at a time
        body = json.dumps(answer).replace(", ", "," + " " * 10000).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[1], "w", encoding="ascii") as f:
    print(server.server_port, file=f)
server.serve_forever()
