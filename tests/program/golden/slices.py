#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
slices.py FILE BEGIN: what `kstall timeline` wrote, as lines in order of time:

    FROM - TO  TRACK  CATEGORY: NAME  (CAUSE)  #FLOW
    AT - AT  TRACK = COUNT

Times are in ns after BEGIN. Flows, whose numbers mean nothing, are counted as they come. Where a thread's slice goes on in
another of the same kind, both are one line: the program may cut them as it likes. Field numbers are those that Perfetto publishes
(protos/perfetto/trace/).
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "../why"))
from pftrace import message, one, text  # noqa: E402

PACKET = 1
TIMESTAMP, EVENT, DESCRIPTOR = 8, 11, 60        # of a packet
BEGIN, END, COUNTER = 1, 2, 4                   # types of an event


def track_of(descriptor):
    """Its number, its name, and that of the track it is in."""
    if 4 in descriptor:
        thread = message(descriptor[4][0])
        name = f"{text(thread, 5)}/{one(thread, 2)} of {one(thread, 1)}"
    elif 3 in descriptor:
        process = message(descriptor[3][0])
        name = f"process {text(process, 6)}/{one(process, 1)}"
    else:
        name = text(descriptor, 2) + (" (counter)" if 8 in descriptor else "")
    return one(descriptor, 1), name, one(descriptor, 5)


def causes(event):
    return [f"{text(a, 10)}: {text(a, 6)}" for a in map(message, event.get(4, []))]


class Lines:
    def __init__(self, start):
        self.start, self.tracks, self.open, self.flows, self.lines = start, {}, {}, {}, []
        self.last = {}          # slice of a thread

    def descriptor(self, descriptor):
        number, name, parent = track_of(descriptor)
        self.tracks[number] = f"{self.tracks[parent]} > {name}" if parent else name
        self.lines.append([-1, 0, f"track {self.tracks[number]}"])

    def event(self, ts, event):
        number, kind, ts = one(event, 11), one(event, 9), ts - self.start
        if kind == BEGIN:
            self.open.setdefault(number, []).append((ts, event))
        elif kind == END:
            begin, opened = self.open[number].pop()
            flows = "".join(f"  #{self.flows.setdefault(f, len(self.flows) + 1)}" for f in opened.get(47, []))
            what = f"{text(opened, 22)}: {text(opened, 23)}" + "".join(f"  ({c})" for c in causes(opened))
            self.slice(number, begin, ts, f"{self.tracks[number]}  {what}{flows}", text(opened, 22) != "elsewhere")
        elif kind == COUNTER:
            self.lines.append([ts, ts, f"{self.tracks[number]} = {one(event, 30)}"])
        else:
            sys.exit(f"an event of type {kind}")

    def slice(self, track, begin, end, what, of_thread):
        last = self.last.get(track)
        if of_thread and last and last[1:] == [begin, what]:
            last[1] = end
        else:
            self.last[track] = [begin, end, what]
            self.lines.append(self.last[track])


def main():
    out = Lines(int(sys.argv[2]))
    with open(sys.argv[1], "rb") as f:
        trace = message(f.read())
    for packet in map(message, trace[PACKET]):
        if DESCRIPTOR in packet:
            out.descriptor(message(packet[DESCRIPTOR][0]))
        if EVENT in packet:
            out.event(one(packet, TIMESTAMP), message(packet[EVENT][0]))
    left = [t for t, opened in out.open.items() if opened]
    if left:
        sys.exit(f"slices without end on {left}")
    for begin, end, what in sorted(out.lines):
        print(what if begin < 0 else f"{begin} - {end}  {what}")


main()
