#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
stated.py TEXT: the parts that the comments of an event stream state, a line each: STEP STATE NS NAME, and the step's length.
stated.py --json: the same of what `kstall why --json` printed, on standard input; with --tid for --json, STEP is TID-STEP.

Comments have "step NAME: NS" and below it lines "#<tab>STATE  NS  NAME", with whatever stands two blanks behind the name.
"""

import json
import re
import sys


def of_text(path):
    step = None
    with open(path, encoding="utf-8") as f:
        for line in f:
            found = re.match(r"# .*\bstep (\w+): (\d+)", line)
            if found:
                step = found[1]
                yield step, "all", int(found[2]), ""
            found = re.match(r"#\t(\w+) +(\d+)  (\S+( \S+)*)", line)
            if found:
                yield step, found[1], int(found[2]), found[3]


def of_json(text, with_tid):
    for step in json.loads(text)["steps"]:
        name = f"{step['tid']}-{step['id']}" if with_tid else step["id"]
        yield name, "all", step["duration_ns"], ""
        for part in step["parts"]:
            yield name, part["state"], part["ns"], part["name"]


def main():
    how = sys.argv[1]
    parts = of_json(sys.stdin.read(), how == "--tid") if how in ("--json", "--tid") else of_text(how)
    for step, state, ns, name in sorted(parts):
        print(step, state, ns, name)


main()
