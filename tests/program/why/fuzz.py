#!/usr/bin/env python3
"""fuzz.py N FILE COMMAND...: runs the command on N spoilt copies of the file, "{}" in it stands for the copy

It has to end with 0, or with 1 and one line that says what is wrong; a file that was cut short is never right. Prints a line for each that did otherwise, and leaves the copy as FILE.bad.
The same N and FILE spoil it the same way.

A command built with AddressSanitizer must not touch what is not its own: what that reports of
kstall's code is wrong; of a library's it is a damaged file, as a crash there is.
"""
import glob
import os
import random
import re
import shutil
import subprocess
import sys

HEAD = 4096     # where most of the structure is
BODY = b"options  "     # what follows the formats: options, tables of pages, pages
INTERESTING = (b"\0", b"\xff", b"\x7f", b"\x80", b"\xff" * 4, b"\0" * 8, b"\xff" * 8, b"\x7f" + b"\xff" * 7)


def cut(data, rnd, i):
    """First where the header is, then anywhere."""
    return data[:rnd.randrange(min(len(data), HEAD)) if i % 2 else rnd.randrange(len(data))]


def overwrite(data, rnd, i):
    body = max(data.find(BODY), 0)
    data = bytearray(data)
    for _ in range(rnd.choice((1, 2, 8, 64))):
        at = rnd.choice((rnd.randrange(min(len(data), HEAD)), rnd.randrange(body, min(len(data), body + HEAD)),
                         rnd.randrange(body, len(data)), rnd.randrange(len(data))))
        new = rnd.choice(INTERESTING) if rnd.random() < 0.5 else bytes([rnd.randrange(256)])
        data[at:at + len(new)] = new
    return bytes(data)


def move(data, rnd, i):
    a, n = rnd.randrange(len(data)), rnd.choice((1, 8, 4096))
    b = rnd.randrange(len(data))
    piece = data[a:a + n]
    return data[:b] + piece + data[b + (n if rnd.random() < 0.5 else 0):]


def blamed(report):
    """The place in kstall's own code that a report is about, else None."""
    for frame in re.findall(r"^ +#\d+ .*", open(report, errors="replace").read(), re.M):
        if re.search(r"(sanitizer|asan_|ubsan_)\w*\.(cpp|h|S|inc)|libasan|libubsan|/libc", frame):
            continue
        return frame.strip() if "/asan/" in frame else None
    return "a report without a place"


def reports(log):
    return [where for where in map(blamed, glob.glob(log + ".*")) if where]


def main():
    n, name, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    rnd = random.Random(n)
    good = open(name, "rb").read()
    refused = 0
    log = name + ".asan"
    env = dict(os.environ, ASAN_OPTIONS=f"log_path={log}:exitcode=1:detect_leaks=0:handle_abort=1",
               UBSAN_OPTIONS=f"log_path={log}:print_stacktrace=1")
    for i in range(n):
        spoil = (cut, overwrite, overwrite, move)[i % 4]
        spoilt = spoil(good, rnd, i // 4)
        copy = name + ".spoilt"
        with open(copy, "wb") as f:
            f.write(spoilt)
        try:
            r = subprocess.run([a.replace("{}", copy) for a in command], capture_output=True, timeout=600, env=env)
            lines = [l for l in r.stderr.decode(errors="replace").strip().splitlines() if not l.startswith("AddressSanitizer:")]
            why = f"exit {r.returncode}: {lines[:3]}"
            refused += r.returncode == 1
            wrong = reports(log)
            crashed = bool(glob.glob(log + ".*"))
            right = (r.returncode == 1 and len(lines) == (not crashed) or r.returncode == 0 and spoil != cut) and not wrong
            why += "".join(f"; {w}" for w in wrong)
        except subprocess.TimeoutExpired:
            right, why = False, "it does not end"
        for old in glob.glob(log + ".*"):
            os.unlink(old)
        if not right:
            shutil.copy(copy, name + ".bad")
            print(f"{spoil.__name__} {i}: {why}")
    print(f"refused: {refused}", file=sys.stderr)


main()
