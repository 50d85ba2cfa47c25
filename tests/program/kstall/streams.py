#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
streams.py ENGINE_TEST FILE... - event streams with the right answer; KTAP lines.

A stream begins with comments: its title; "options:" of engine_test; "markers:", those without their other half, those refused and
collectives without an end; and each step with its parts, "step TID-ID: NS [inexact] [ATTRIBUTES]" and "STATE NS NAME CULPRIT".
Columns are separated by blanks, as many as look well. Then come the events, a line each: "NS CPU TID FLAGS SYSTEM:EVENT FIELD=VALUE
...", as engine_test reads them. Parts of a step that have one state and name are one line: their sum, and the culprit of the largest.
If the program says something else from now on, work out the new numbers by hand.
"""

import json
import os
import subprocess
import sys


def stated(lines):
    """The comments but the title, with single blanks between columns."""
    return [" ".join(line[1:].split()) for line in lines[1:] if line.startswith("#")]


def said(answer, options):
    yield f"options: {options}"
    markers = answer["markers"]
    yield (f"markers: {markers['unmatched']} unmatched, {markers['refused']} refused" +
           (f", {markers['unended']} unended" if markers["unended"] else ""))
    for step in answer["steps"]:
        yield f"step {step['tid']}-{step['id']}: {step['duration_ns']}" + ("" if step["exact"] else " inexact") + (
            f" {step['attributes']}" if step["attributes"] else "")
        for part in step["parts"]:
            yield f"{part['state']} {part['ns']} {part['name']} {part['culprit']}".rstrip()


def wrong(engine, lines):
    """What is wrong; "" if nothing is."""
    options = next(line for line in lines if line.startswith("# options: "))[11:]
    res = subprocess.run([engine, *options.split()], input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
    if res.returncode:
        return f"exit {res.returncode}: {res.stderr}"
    answer = json.loads(res.stdout)
    want, got = stated(lines), list(said(answer, options))
    sums = [step["id"] for step in answer["steps"] if sum(part["ns"] for part in step["parts"]) != step["duration_ns"]]
    if sums:
        return f"parts are not the step: {sums}"
    return "" if want == got else "\n".join([f"- {w}" for w in want if w not in got] + [f"+ {g}" for g in got if g not in want]) or "another order"


def main():
    engine, *paths = sys.argv[1:]
    failed = 0
    print("KTAP version 1")
    print(f"1..{len(paths)}")
    for number, path in enumerate(paths, 1):
        with open(path, encoding="utf-8") as f:
            lines = f.read().splitlines()
        why = wrong(engine, lines)
        failed += bool(why)
        print(f"{'not ok' if why else 'ok'} {number} - {os.path.basename(path).removesuffix('.txt')}: {lines[0][2:].replace('#', '')}")
        for line in why.splitlines():
            print("# " + line)
    sys.exit(failed > 0)


main()
