#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
tool_units.py FILE.bt…: where a tool says one unit of time and prints another. A line each, "FILE: WHAT".

Names tell units: fields and variables end in _ns, _us or _ms, and so do maps. A division by 1000 makes us of ns. What is checked:
what goes into a map or variable is in its unit, or print() divides it by the rest; a text above a map that names a unit names the
map's; in printf() a number of a unit is followed by that unit. On standard error "N TOOL": in so many places a unit was found.
"""

import os
import re
import sys

UNITS = ("ns", "us", "ms", "s")
STEP = {"1000": 1, "1000000": 2, "1000000000": 3}
TERM = re.compile(r"(?:args->|\$)(?:\w*_)?(ns|us|ms)\b(?:\s*/\s*(\d+))?")
ALL_BY = re.compile(r"\(.*\)\s*/\s*(\d+)$", re.S)		# a sum, divided
INTO_MAP = re.compile(r"@((?:\w*_)?(ns|us|ms))\b(?:\[[^;]*?\])?\s*=\s*(?:hist|stats|sum|max|min|avg)\(([^;]*)\);")
INTO_VAR = re.compile(r"\$((?:\w*_)?(ns|us|ms))\b\s*=\s*([^;]*);")
TEXT = re.compile(r'printf\(((?:\s*"(?:[^"\\]|\\.)*")+)((?:[^;"]|"[^"]*")*)\);|print\(@(\w+)(?:, 0, (\d+))?\);')


def divided(unit, by):
    """the unit of a number of @unit after a division; None where that is none"""
    if by is None:
        return unit
    at = UNITS.index(unit) + STEP.get(by, len(UNITS))
    return UNITS[at] if at < len(UNITS) else None


def units_of(expr):
    units = {divided(*m.groups()) for m in TERM.finditer(expr)}
    by = ALL_BY.search(expr)
    return {divided(unit, by.group(1)) for unit in units | ({"ns"} if "nsecs" in expr else set())} if by else units


def arguments(text):
    """what commas part, but not those in brackets"""
    args, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            args.append("")
        else:
            args[-1] += c
    return [a.strip() for a in args[1:]]


class Tool:
    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            self.text = re.sub(r"/\*.*?\*/|//[^\n]*", "", f.read(), flags=re.S)
        self.name = os.path.basename(path)
        self.raw = {}		# map: the unit of what is in it, where that is not the map's
        self.printed = set()
        self.found = 0

    def say(self, what):
        print(f"{self.name}: {what}")

    def assignments(self):
        for name, unit, expr in INTO_MAP.findall(self.text):
            units = units_of(expr)
            self.found += bool(units)
            if len(units) > 1:
                self.say(f"@{name} has {units}")
            elif units and units != {unit}:
                self.raw[name] = units.pop()
        for name, unit, expr in INTO_VAR.findall(self.text):
            units = units_of(expr)
            self.found += bool(units)
            if units - {unit}:
                self.say(f"${name} has {units}")

    def printf(self, fmt, rest):
        numbers = re.findall(r"%[-0-9.]*(?:ll|l)?([a-z])(?:\s?(ns|us|ms|s)\b)?", fmt.replace("%%", ""))
        for (_, says), arg in zip(numbers, arguments(rest)):
            units = units_of(arg)
            if units and units != {says}:
                self.say(f"\"{says}\" stands behind {arg}")
            self.found += bool(units)

    def shown(self, name, by, above):
        m = re.search(r"(?:^|_)(ns|us|ms)$", name)
        if not m:
            return
        if divided(self.raw.get(name, m.group(1)), by) != m.group(1):
            self.say(f"@{name} is printed as another unit")
        if set(re.findall(r"\b(?:ns|us|ms)\b", above)) - {m.group(1)}:
            self.say(f"@{name} is printed under \"{above}\"")
        self.printed.add(name)
        self.found += 1

    def check(self):
        above = ""
        self.assignments()
        for m in TEXT.finditer(self.text):
            fmt, rest, name, by = m.groups()
            if fmt is None:
                self.shown(name, by, above)
            else:
                above = re.sub(r'"\s*"', "", fmt).strip().strip('"').replace("\\n", "")
                self.printf(above, rest)
        for name in sorted(set(self.raw) - self.printed):		# by bpftrace itself, at the end
            self.say(f"@{name} has {self.raw[name]}")


for file in sys.argv[1:]:
    tool = Tool(file)
    tool.check()
    print(tool.found, tool.name, file=sys.stderr)
