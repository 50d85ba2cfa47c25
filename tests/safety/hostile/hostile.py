#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
hostile.py - what a user might try with no good in mind, or by mistake

	hostile.py status MODULE...	reads and writes status files in every odd way
	hostile.py parameters MODULE...	writes what no parameter takes, and what it takes
	hostile.py filters INSTANCE SYSTEM...
					every operator on every type of field, and nonsense
	hostile.py formats SYSTEM...	what fields and print formats there are
	hostile.py files PATH...	tries to list, read and write each
	hostile.py perf ID...		tries to count that event of its own, and to record it

Each prints a line for whatever is wrong, and nothing if all is well; files and perf print what they were let do.
The choices are the same each time.
"""

import ctypes
import os
import random
import re
import struct
import subprocess
import sys
import threading

TRACING = "/sys/kernel/tracing"
rand = random.Random(1)


def noise(size):
    return bytes(rand.getrandbits(8) for _ in range(size))


def wrong(*what):
    print(*what, flush=True)


def write(path, data):
    """None, or the name of the error."""
    try:
        fd = os.open(path, os.O_WRONLY)
        try:
            os.write(fd, data)
        finally:
            os.close(fd)
    except OSError as err:
        return os.strerror(err.errno)
    return None


def read(path):
    with open(path, "rb") as f:
        return f.read()


# --- status files ---

LINE = re.compile(rb"[a-z]\S*( .*)?")


def well_formed(text, module):
    return (text.startswith(b"module %s version=" % module.encode()) and text.endswith(b"\n") and
            all(LINE.fullmatch(line) for line in text[:-1].split(b"\n")))


def partial_reads(path):
    before = read(path)
    parts = []
    fd = os.open(path, os.O_RDONLY)
    for _ in range(30):
        offset, size = rand.choice((rand.randrange(len(before) + 100), rand.randrange(1 << 20))), rand.choice((1, 3, 7, 1023, 4097))
        parts.append((offset, size, os.pread(fd, size, offset)))
    for offset in (1 << 31, 1 << 32, (1 << 63) - 16, -1, -(1 << 63)):
        try:
            if os.pread(fd, 16, offset):
                wrong(path, "has something at", offset)
        except OSError:
            pass
    os.close(fd)
    if before != read(path):
        return
    for offset, size, part in parts:
        if part != before[offset:offset + size]:
            wrong(path, f"has other {size} bytes at {offset}")


def read_in_pieces(path, size):
    fd = os.open(path, os.O_RDONLY)
    parts = []
    while part := os.read(fd, size):
        parts.append(part)
    os.close(fd)
    return b"".join(parts)


def concurrent_reads(module, path, system):
    """Each sees a whole file though others read, and events come and go."""
    def reader(size):
        for _ in range(2):
            text = read_in_pieces(path, size)
            if not well_formed(text, module):
                wrong(path, f"read {size} bytes at a time:", text)

    readers = [threading.Thread(target=reader, args=(size,)) for size in (17, 1023, 4095, 65536)]
    for thread in readers:
        thread.start()
    enable = f"{TRACING}/instances/hostile/events/{system}/enable"
    for value in b"1", b"0":
        if err := write(enable, value):
            wrong(enable, err)
    for thread in readers:
        thread.join()


def status(modules):
    for arg in modules:
        module, system = arg.split("/")
        path = f"/sys/kernel/debug/{module}/status"
        for data in (b"0", b"\0", noise(1), noise(4096), noise(65536), b"%s%n" * 100):
            if write(path, data) is None:
                wrong(path, "can be written")
        if not well_formed(read(path), module):
            wrong(path, read(path))
        partial_reads(path)
        concurrent_reads(module, path, system)


# --- parameters ---

GOOD = [b"%d", b"%d\n"]
BAD = [b"\n", b" ", b"-1", b"-0x1", b"x", b"1x", b"1 2", b"0x", b"1e3", b"1.0", b"\xff\xfe", b"--1", b"%n%s", b"18446744073709551616",
       b"9" * 100, b"0" * 4000 + b"x", b"1" * 4095, b"\0" * 100, b"A" * 4096, b"7" * 65536]


def parameters_of(module):
    """(name, lowest, highest) of each; one without an upper bound has 64 bits."""
    out = subprocess.run(["modinfo", "-F", "parm", f"../../../{module}/{module}.ko"], stdout=subprocess.PIPE, check=True).stdout.decode()
    for line in out.splitlines():
        name, text = line.split(":", 1)
        bounds = re.search(r" \((\d+) to (\d+), default", text)
        low, high = (int(bounds[1]), int(bounds[2])) if bounds else (0, 1 if "(0 or 1," in text else (1 << 64) - 1)
        yield name, low, high


def parameter(module, name, low, high):
    path = f"/sys/module/{module}/parameters/{name}"
    first = read(path)

    def fits(text):
        text = text.strip().replace(b"N", b"0").replace(b"Y", b"1")
        return text.isdigit() and low <= int(text) <= high

    if not fits(first):
        wrong(path, "holds", first)
    if not os.stat(path).st_mode & 0o200:
        if write(path, b"%d" % low) is None:
            wrong(path, "can be written")
        return
    bad = BAD + [noise(rand.randrange(1, 64)) + b"\xff" for _ in range(20)] + [b"%d" % (high + 1), b"%d" % (high + (1 << 32))]
    for data in bad + ([b"%d" % (low - 1)] if low else []):
        if write(path, data) is None:
            wrong(path, "takes", data[:40])
        if read(path) != first:
            wrong(path, "holds", read(path), "after", data[:40])
    for value in low, high, rand.randrange(low, high + 1):
        for form in GOOD:
            if (err := write(path, form % value)) or int(read(path)) != value:
                wrong(path, "does not take", value, err)
    if write(path, first) or read(path) != first:
        wrong(path, "does not take", first)


def parameters(modules):
    for arg in modules:
        module = arg.split("/")[0]
        for name, low, high in parameters_of(module):
            parameter(module, name, low, high)


# --- filters ---

def fields_of(directory):
    """(type, name, size, signed) of each, without those that all events have."""
    for line in read(f"{directory}/format").decode().splitlines():
        field = re.match(r"\tfield:(.*?) ?(\w+)(\[\d*\])?;\toffset:\d+;\tsize:(\d+);\tsigned:(\d);", line)
        if field and not field[2].startswith("common_"):
            yield field[1] + (field[3] or ""), field[2], int(field[4]), field[5] == "1"


NONSENSE = [b"(", b")", b"pid ==", b"== 1", b"pid = 1", b"pid === 1", b"pid == 1 && || pid == 2", b"pid ~ 1", b"pid ~ \"x\"", b"comm < \"x\"",
            b"comm & \"x\"", b"comm == x y", b"no_such_field == 1", b"pid == 99999999999999999999999", b"pid == 1x", b"comm == \"" + b"x" * 1000, b"!", b"!!pid",
            b"(" * 2000, b"pid == 1 || " * 300 + b"(", b"\xff\xfe\xfd", b"%s%n", b"pid == %p", b"A" * 4095]


def set_filter(directory, text):
    """None, or the error; what was taken has to be there."""
    err = write(f"{directory}/filter", text)
    if err is None and text != b"0" and read(f"{directory}/filter").strip() != text.strip():
        return "it is not there afterwards"
    return err


def filter_fields(directory, seen):
    tests = []
    for kind, name, size, signed in fields_of(directory):
        if (kind, signed) in seen:
            continue
        seen.add((kind, signed))
        if kind.startswith("char["):
            tests += [f'{name} {op} "{v}"' for op in ("==", "!=", "~") for v in ("", "x", "*x*", "[a-c]?", "x" * 200)]
        else:
            most = (1 << 8 * size - signed) - 1
            values = [0, most, hex(most)] + ([-1, -most - 1] if signed else [])
            tests += [f"{name} {op} {v}" for op in ("==", "!=", "<", "<=", ">", ">=", "&") for v in values]
    some = tests[::7] + ["pid > 0"]
    tests += [" && ".join(some[:8]), " || ".join(f"!({t})" for t in some[:8]), f"({some[0]} || {some[-1]}) && !(pid == 1)"]
    for text in tests:
        if err := set_filter(directory, text.encode()):
            wrong(directory, "filter", text, "is refused:", err)


def filters(instance, *systems):
    for system in systems:
        events = f"{instance}/events/{system}"
        seen = set()
        # those with the most types of fields first; one that adds none is left alone
        names = sorted(d for d in os.listdir(events) if os.path.isdir(f"{events}/{d}"))
        names.sort(key=lambda n: -len({f[0] for f in fields_of(f"{events}/{n}")}))
        for i, name in enumerate(names):
            directory = f"{events}/{name}"
            types = {(f[0], f[3]) for f in fields_of(directory)}
            if types <= seen:
                continue
            filter_fields(directory, seen)
            for text in NONSENSE + [noise(rand.randrange(1, 200)) for _ in range(5)] if i == 0 else []:
                if set_filter(directory, text) is None:
                    wrong(directory, "filter", text[:60], "is taken")
            set_filter(directory, b"0")


# --- formats ---

def formats(systems):
    for system in systems:
        for name in sorted(os.listdir(f"{TRACING}/events/{system}")):
            directory = f"{TRACING}/events/{system}/{name}"
            if not os.path.isdir(directory):
                continue
            text = read(f"{directory}/format").decode()
            printed = text.split("print fmt: ", 1)[1]
            if re.search(r"%-?\d*p(?!I)", printed):
                wrong(directory, "prints a pointer")
            for kind, field, size, _ in fields_of(directory):
                if "*" in kind:
                    wrong(directory, field, "is a pointer")
                # what could hold an address has to be in the trace, where it is looked for
                if size == 8 and not re.search(rf"REC->{field}\b", printed):
                    wrong(directory, field, "is not printed")


# --- what is tried without privileges ---

def files(paths):
    for path in paths:
        for what, flags in ("read", os.O_RDONLY), ("written", os.O_WRONLY):
            try:
                fd = os.open(path, flags)
                if what == "read" and not os.path.isdir(path):
                    os.read(fd, 1)
                os.close(fd)
                print(path, "can be", what)
            except OSError:
                pass


PERF_TYPE_TRACEPOINT, PERF_SAMPLE_RAW, EXCLUDE_KERNEL = 2, 1 << 10, 3 << 5


def perf_event_open(event, sample_type, flags):
    attr = struct.pack("<IIQQQQQ", PERF_TYPE_TRACEPOINT, 128, event, bool(sample_type), sample_type, 0, flags).ljust(128, b"\0")
    return ctypes.CDLL(None, use_errno=True).syscall(298, attr, 0, -1, -1, 0)


def perf(ids):
    for event in ids:
        for what, sample_type, flags in ("counted", 0, EXCLUDE_KERNEL), ("recorded", PERF_SAMPLE_RAW, 0):
            fd = perf_event_open(int(event), sample_type, flags)
            if fd >= 0:
                os.close(fd)
                print(event, "can be", what)


if __name__ == "__main__":
    command = {"status": status, "parameters": parameters, "formats": formats, "files": files, "perf": perf}
    if sys.argv[1] == "filters":
        filters(*sys.argv[2:])
    else:
        command[sys.argv[1]](sys.argv[2:])
