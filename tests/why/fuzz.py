#!/usr/bin/env python3
"""fuzz.py N FILE COMMAND...: runs the command on N spoilt copies of the file, "{}" in it stands for the copy

It has to end with 0, or with 1 and one line that says what is wrong; a file that was cut short is
never right. Prints a line for each that did otherwise, and leaves the copy as FILE.bad.
The same N and FILE spoil it the same way.
"""
import random
import shutil
import subprocess
import sys

HEAD = 4096  # where most of the structure is
INTERESTING = (b"\0", b"\xff", b"\x7f", b"\x80", b"\xff" * 4, b"\0" * 8, b"\xff" * 8, b"\x7f" + b"\xff" * 7)


def cut(data, rnd, i):
    """First where the header is, then anywhere."""
    return data[:rnd.randrange(min(len(data), HEAD)) if i % 2 else rnd.randrange(len(data))]


def overwrite(data, rnd, i):
    data = bytearray(data)
    for _ in range(rnd.choice((1, 2, 8, 64))):
        at = rnd.randrange(min(len(data), HEAD) if rnd.random() < 0.3 else len(data))
        new = rnd.choice(INTERESTING) if rnd.random() < 0.5 else bytes([rnd.randrange(256)])
        data[at:at + len(new)] = new
    return bytes(data)


def move(data, rnd, i):
    a, n = rnd.randrange(len(data)), rnd.choice((1, 8, 4096))
    b = rnd.randrange(len(data))
    piece = data[a:a + n]
    return data[:b] + piece + data[b + (n if rnd.random() < 0.5 else 0):]


def main():
    n, name, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    rnd = random.Random(n)
    good = open(name, "rb").read()
    refused = 0
    for i in range(n):
        spoil = (cut, overwrite, overwrite, move)[i % 4]
        spoilt = spoil(good, rnd, i // 4)
        copy = name + ".spoilt"
        with open(copy, "wb") as f:
            f.write(spoilt)
        try:
            r = subprocess.run([a.replace("{}", copy) for a in command], capture_output=True, timeout=600)
            lines = r.stderr.decode(errors="replace").strip().splitlines()
            why = f"exit {r.returncode}: {lines[:3]}"
            refused += r.returncode == 1
            right = r.returncode == 1 and len(lines) == 1 or r.returncode == 0 and spoil != cut
        except subprocess.TimeoutExpired:
            right, why = False, "it does not end"
        if not right:
            shutil.copy(copy, name + ".bad")
            print(f"{spoil.__name__} {i}: {why}")
    print(f"refused: {refused}", file=sys.stderr)


main()
