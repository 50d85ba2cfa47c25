#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
commands.py: the command that an alert says to type shows the alert's event: the tool exists, and traces it. Prints TAP.

Events are those of kstall/events.def that are counted. A nested event's time is in that of the event around it, which is the one to look at.
"""

import os
import re
import sys

sys.dont_write_bytecode = True
TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(1, f"{TOP}/tests/program/golden")
import events as table  # noqa: E402
import tap  # noqa: E402


def read(*path):
    with open(os.path.join(TOP, *path), encoding="utf-8") as f:
        return f.read()


def events():
    """Of each event: its system, its layer, whether it has a time, whether that is in another's"""
    return {row.name: (row.system, row.parts["COUNT"][0].strip('"'), bool(row.duration), row.has("COUNT", "nested"))
            for row in table.rows().values() if "COUNT" in row.parts and not row.has("COUNT", "by_line")}


def holds(condition, labels):
    """Of a template: eq $labels.NAME "VALUE", or (…) (…)"""
    tests = re.findall(r'eq \$labels\.(\w+) "([^"]*)"', condition)
    assert tests and re.sub(r'\(?eq \$labels\.\w+ "[^"]*"\)?|\bor\b|\s', "", condition) == "", condition
    return any(labels.get(name) == value for name, value in tests)


def rendered(template, labels):
    """@template with the branches that @labels take; no {{ if }} is inside of another."""
    out, branch = "", "outside"
    for text, word, condition in re.findall(r"(.*?)(?:\{\{ (if|else if|else|end)\b ?(.*?) ?\}\}|$)", template, re.S):
        out += text if branch in ("outside", "taken") else ""
        if word == "end":
            branch = "outside"
        elif word and branch in ("taken", "over"):
            branch = "over"
        elif word:
            branch = "taken" if word == "else" or holds(condition, labels) else "not yet"
    return out


def alerts():
    """(name, expression, description)"""
    for block in read("examples/prometheus/kstall-alerts.yml").split("- alert: ")[1:]:
        expr, notes = re.search(r"expr:(.*?)\n        (?:for|labels):.*?description:(.*?)(?:\n\n|\Z)", block, re.S).groups()
        yield block.split()[0], expr, notes


def traced(tool):
    """SYSTEM:EVENT of a tool; None: there is no such tool"""
    path = os.path.join("tools", tool + ".bt")
    return set(re.findall(r"^tracepoint:(\w+:\w+)", read(path), re.M)) if os.path.exists(os.path.join(TOP, path)) else None


def about(expr, known):
    """The events that an alert is about"""
    named = re.search(r'event=~?"([^"]*)"', expr)
    if named:
        return named[1].split("|")
    return [e for e, (_, layer, timed, nested) in known.items() if timed and not nested and layer != "pcie"] if "straggler" in expr else []


def shows(event, known, description):
    """What is wrong with what is to be typed for @event; "" if nothing is"""
    system, layer, *_ = known[event]
    text = rendered(description, {"event": event, "layer": layer})
    tools = re.findall(r"\bkstall-(\w+)", text)
    if system == "nvidia":
        return "" if "journalctl -u kstall-metrics | grep " in text else text
    missing = [t for t in tools if t not in ("metrics", "doctor") and traced(t) is None]
    if missing:
        return f"no such tool: {missing}"
    return "" if any(f"{system}:{event}" in (traced(t) or ()) for t in tools) else f"{tools} do not trace {system}:{event}"


KNOWN = events()
KNOWN.update({e: ("nvidia", "xid", False, False) for e in ("xid", "sxid")})
count = 0
for name, expression, text in alerts():
    wrong = {event: why for event in about(expression, KNOWN) if (why := shows(event, KNOWN, text))}
    count += len(about(expression, KNOWN))
    if about(expression, KNOWN):
        tap.result(not wrong, f"{name}: its command shows the event", wrong)
tap.result(count > 30, "they are about most events", count)
tap.end()
