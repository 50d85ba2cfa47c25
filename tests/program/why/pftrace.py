#!/usr/bin/env python3
"""pftrace.py FILE JSON: what `kstall timeline` wrote, read by the field numbers that Perfetto publishes (protos/perfetto/trace/), beside
what `kstall why --json` says of the same recording. Prints a line for each thing that is checked, as check.py does.
"""
import bisect
import functools
import json
import struct
import sys

from check import Checks

BEGIN, END, COUNTER = 1, 2, 4


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


@functools.lru_cache(maxsize=None)
def message(data):
    """Field number to the list of its values. Most messages of a file are like another one."""
    fields, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise ValueError("cut short")
        else:
            raise ValueError(f"wire type {key & 7}")
        fields.setdefault(key >> 3, []).append(value)
    return fields


def packets(data):
    """(time, the other fields) of each: the time, field 8, is written first, and what follows is mostly like another packet's."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        size, at = varint(data, at)
        end = at + size
        if key != 1 << 3 | 2 or end > len(data):
            raise ValueError("no packet, or cut short")
        ts = None
        if at < end and data[at] == 8 << 3:
            ts, at = varint(data, at + 1)
        yield ts, message(data[at:end])
        at = end


def one(fields, number, default=None):
    return fields.get(number, [default])[0]


def text(fields, number):
    return one(fields, number, b"").decode()


class Timeline:
    """tracks: uuid to (name, parent, tid or None, is a counter); slices: (track, begin, end, name, flows)"""

    def __init__(self, data):
        self.tracks, self.slices, self.counts, self.wrong, open_ = {}, [], [], [], {}
        for ts, packet in packets(data):
            if 60 in packet:
                track = message(packet[60][0])
                thread = message(one(track, 4)) if 4 in track else {}
                self.tracks[one(track, 1)] = (text(track, 2), one(track, 5), one(thread, 2), 8 in track)
            if 11 in packet:
                self.event(message(packet[11][0]), ts, open_)
        self.wrong += [f"track {t} has a slice without end" for t, s in open_.items() if s]

    def event(self, event, ts, open_):
        track, kind = one(event, 11), one(event, 9)
        if track not in self.tracks:
            self.wrong.append(f"an event of a track that is not there: {track}")
        elif kind == BEGIN:
            open_.setdefault(track, []).append((ts, text(event, 23), event.get(47, [])))
        elif kind == END and open_.get(track):
            begin, name, flows = open_[track].pop()
            self.slices.append((track, begin, ts, name, flows))
            if ts < begin:
                self.wrong.append(f"{name} ends before it begins")
        elif kind == COUNTER:
            self.counts.append((track, one(event, 30)))
        else:
            self.wrong.append(f"an event of type {kind} at {ts}")


def check_threads(check, timeline, answer):
    """A thread's slices do not overlap, and within a step they are the step."""
    slices = {}
    for track, begin, end, _, _ in timeline.slices:
        slices.setdefault(timeline.tracks[track][2], []).append((begin, end))
    for tid in {step["tid"] for step in answer["steps"]}:
        mine = slices.setdefault(tid, [])
        mine.sort()
        check("slices of a thread do not overlap", all(a[1] <= b[0] for a, b in zip(mine, mine[1:])), f"thread {tid}")
    for step in answer["steps"]:
        mine, begin, end = slices[step["tid"]], step["begin_ns"], step["end_ns"]
        # as they do not overlap, those that lie in it stand together
        inside, i = 0, max(bisect.bisect_left(mine, (begin,)) - 1, 0)
        while i < len(mine) and mine[i][0] < end:
            inside += max(min(mine[i][1], end) - max(mine[i][0], begin), 0)
            i += 1
        check("a thread's slices are its steps", inside == end - begin, f"step {step['id']}: {inside} of {end - begin}")


def check_flows(check, timeline):
    ends = {}
    for track, _, _, _, flows in timeline.slices:
        for flow in flows:
            ends.setdefault(flow, set()).add(timeline.tracks[track][2] is None)
    both = sum(len(kinds) == 2 for kinds in ends.values())
    check("arrows from the thread that waits to what it waited for", both > 0, f"{len(ends)} flows, {both} with both ends")


def main():
    timeline = Timeline(open(sys.argv[1], "rb").read())
    answer = json.load(open(sys.argv[2]))
    check = Checks()
    check("each slice has a track, a begin and an end", not timeline.wrong and timeline.slices, str(timeline.wrong[:3]))
    check_threads(check, timeline, answer)
    check_flows(check, timeline)
    names = {t[0] for t in timeline.tracks.values()}
    for what in sys.argv[3:]:
        check(f"a track: {what}", any(what in n for n in names), str(sorted(names))[:400])
    check("a counter's values are on a counter's track", timeline.counts and all(timeline.tracks[t][3] for t, _ in timeline.counts),
          f"{len(timeline.counts)} values")
    steps = {s[3] for s in timeline.slices}
    check("the steps are there", all(f"step {s['id']}" in steps for s in answer["steps"]), "a step is not")
    check.report()
    sys.exit(bool(check.bad))


if __name__ == "__main__":
    main()
