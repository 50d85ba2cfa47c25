#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
events.py [events.def]: the rows of kstall/events.def, and what is wrong with them, a line each: an event of a module without a row, a
row without an event, a field that the event does not have (tests/modules/abi/*.fields), a culprit's name without a value.

    import events; events.rows() -> {name: Row}
"""

import glob
import itertools
import os
import re
import sys
from typing import NamedTuple

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
TABLE = f"{TOP}/kstall/events.def"
ID = ("pid", "tgid", "comm", "dev")


class Row(NamedTuple):
    system: str
    name: str
    duration: str		# "": it has none
    parts: dict			# of READ, RECORD, COUNT …: the arguments, each as it is written

    def named(self, part, key):
        """The string .KEY = "…" of a part; None: it has none"""
        found = [re.fullmatch(rf'\.{key} = "(\w+)"', a) for a in self.parts.get(part, ())]
        return next((f[1] for f in found if f), None)

    def has(self, part, key):
        return any(a == f".{key} = true" for a in self.parts.get(part, ()))

    @property
    def laid(self):
        """The arguments of INTERVAL or ASLEEP; None: it has neither"""
        return self.parts.get("INTERVAL") or self.parts.get("ASLEEP")

    def fields(self):
        """What the engine reads of an event of a module, after its identity and its duration"""
        lists = [a for part in ("OWN", "INTERVAL", "ASLEEP") for a in self.parts.get(part, ()) if a.startswith("(")]
        return [f for a in lists for f in re.findall(r"\w+", a)]

    def is_read(self):
        """Does the engine read it?"""
        return any(part not in ("RECORD", "COUNT") for part in self.parts)

    def better(self):
        """The module's event that is read where it is; None: there is none"""
        last = (self.parts.get("BEGIN") or self.parts.get("END") or [""])[-1]
        return self.named("READ", "module_has") or (last.strip('"') if last.startswith('"') else None)

    def used(self):
        """All that the program reads of it"""
        named = [self.duration, self.named("COUNT", "cause"), self.named("COUNT", "count")]
        dev = ["dev"] if self.has("COUNT", "dev") else []
        own = [*ID, *self.fields()] if self.fields() or self.laid else []
        return {f for f in (*own, *dev, *named) if f}


def split(text):
    """The arguments of a call, at the commas that are in no parentheses and no string"""
    found, depth, one = [], 0, ""
    for token in re.findall(r'"[^"]*"|.', text, re.S):
        depth += (token == "(") - (token == ")")
        if token == "," and not depth:
            found.append(one.strip())
            one = ""
        else:
            one += token
    return [*found, one.strip()]


def calls(text):
    """(name, arguments) of each NAME(…) in @text that is in no other"""
    at = 0
    while found := re.compile(r"(\w+)\(").search(text, at):
        depth, at = 1, found.end()
        for token in re.finditer(r'"[^"]*"|[()]', text[found.end():]):
            depth += (token[0] == "(") - (token[0] == ")")
            if not depth:
                at = found.end() + token.start()
                break
        yield found[1], split(text[found.end():at])


def rows(path=TABLE):
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"^#.*$", "", re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S), flags=re.M)
    found = {}
    for _, (system, name, duration, parts) in (c for c in calls(text) if c[0] == "EVENT"):
        found[name] = Row(system, name, "" if duration == "NONE" else duration, dict(calls(parts)))
    return found


def modules():
    """{event: its fields} of kstall's modules"""
    found = {}
    for path in glob.glob(f"{TOP}/tests/modules/abi/*.fields"):
        with open(path, encoding="utf-8") as f:
            for line in f:
                if line.startswith("\t"):
                    found[name].add(re.search(r"(\w+)(\[\d*\])?;", line)[1])
                else:
                    name = line.strip()
                    found.setdefault(name, set())
    return found


def complaints(path):
    table, theirs = rows(path), modules()
    runs = [system for system, _ in itertools.groupby(row.system for row in table.values() if row.is_read())]
    for system in sorted({s for s in runs if runs.count(s) > 1}):
        yield f"{system}: its rows do not stand together"
    for name in sorted(theirs.keys() - table.keys()):
        yield f"{name}: no row"
    for row in table.values():
        ours = row.name in theirs
        if "COUNT" in row.parts and not ours and not row.has("COUNT", "by_line"):
            yield f"{row.name}: no module has it"
        for field in sorted(row.used() - theirs.get(row.name, row.used())):
            yield f"{row.name}: no field {field}"
        if ours and "RECORD" not in row.parts:
            yield f"{row.name}: the recorder does not know it"
        if "RECORD" in row.parts and row.parts["RECORD"][0] == "ABOVE_1MS" and not row.duration:
            yield f"{row.name}: recorded above 1 ms, but it has no duration"
        if row.better() and row.better() not in table:
            yield f"{row.name}: the module's event {row.better()} has no row"
        for text in re.findall(r'\{(\w+)\}', " ".join(row.laid[3:]) if row.laid else ""):
            if text not in ("n", "dev", *row.fields()[:2]):
                yield f"{row.name}: a culprit's text has {text}"


if __name__ == "__main__":
    found = list(complaints(*(sys.argv[1:] or [TABLE])))
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))
