#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
mkdat.py [OPTION...] TEXT...: makes NAME.dat, a recording in trace-cmd's format (version 6), of each NAME.txt, in
the current directory. The text is that of kstall/engine_test, an event a line:

    TIME CPU PID FLAGS SYSTEM:EVENT FIELD=VALUE ...
    lost FROM TO NR        so many events are missing between two that one CPU has at these times

Formats of kstall's own events come from tests/modules/abi/*.fields: the program is tested with the layout that users get. A field
that a line leaves out has a value that no line gives, so that a program that reads the wrong field is found out. NAME[N]=VALUE
is an element of an array.

--instances puts the events of each module into a buffer of its own, kstall-MODULE, as the flight recorder has them, and markers
into each of these. --session all-first puts what kstall record keeps of everybody into kstall_all, the rest
into kstall_job, in this order. --about FILE appends what a copy of the recorder says of itself.

Of another machine or tracer: --big (byte order), --long 4 and --page N (sizes), --clock NAME (none: it is not said), --uname TEXT.
--without SYSTEM[:EVENT] leaves formats out, and their events; --rename EVENT.FIELD=NAME gives a field another name.
--tracefs DIR writes the formats to DIR/events, too, as tracefs has them.
Bytes in the text that are not UTF-8 go into the recording as they are. Events at the same time: --ties.
"""

import argparse
import glob
import os
import re
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "../../..")
MISSED, MISSED_STORED = 1 << 31, 1 << 30   # flags of the size, kernel/trace/ring_buffer.c
TIME_BITS = 27                          # of an event's header: time since the event before it
SMALL = 28                              # words; what is longer has its length in a word of its own
UNSET = 0x5f5f5f5f5f5f5f5f              # of numbers that a line leaves out
OPTION_BUFFER, OPTION_TRACECLOCK, OPTION_UNAME = 3, 4, 5

# Layouts of the kernel's own events, in the order of their fields: include/trace/events/{sched,task,syscalls,lock,dma_fence}.h of Linux
# 6.12 and print in kernel/trace/trace_entries.h, and some fields of those in {compaction,migrate,block,writeback}.h; offsets
# follow from the types. kstall's probes are what kstall/trace/probe.c and gpulib.c write into kprobe_events and uprobe_events.
COMM = "char {}[16]"
KERNEL = {
    "sched:sched_switch": (COMM.format("prev_comm"), "pid_t prev_pid", "int prev_prio", "long prev_state",
                           COMM.format("next_comm"), "pid_t next_pid", "int next_prio"),
    "sched:sched_waking": (COMM.format("comm"), "pid_t pid", "int prio", "int target_cpu"),
    "sched:sched_wakeup_new": (COMM.format("comm"), "pid_t pid", "int prio", "int target_cpu"),
    "sched:sched_process_exec": ("__data_loc char[] filename", "pid_t pid", "pid_t old_pid"),
    "sched:sched_process_exit": (COMM.format("comm"), "pid_t pid", "int prio"),
    "task:task_newtask": ("pid_t pid", COMM.format("comm"), "unsigned long clone_flags", "short oom_score_adj"),
    "raw_syscalls:sys_enter": ("long id", "unsigned long args[6]"),
    "raw_syscalls:sys_exit": ("long id", "long ret"),
    "dma_fence:dma_fence_enable_signal": ("__data_loc char[] driver", "__data_loc char[] timeline", "unsigned int context",
                                          "unsigned int seqno"),
    "dma_fence:dma_fence_signaled": ("__data_loc char[] driver", "__data_loc char[] timeline", "unsigned int context", "unsigned int seqno"),
    "dma_fence:dma_fence_init": ("__data_loc char[] driver", "__data_loc char[] timeline", "unsigned int context", "unsigned int seqno"),
    "lock:contention_begin": ("void * lock_addr", "unsigned int flags"),
    "lock:contention_end": ("void * lock_addr", "int ret"),
    "compaction:mm_compaction_begin": ("unsigned long zone_start", "bool sync"),
    "compaction:mm_compaction_end": ("unsigned long zone_start", "bool sync", "int status"),
    "migrate:mm_migrate_pages_start": ("unsigned int mode", "int reason"),
    "migrate:mm_migrate_pages": ("unsigned long succeeded", "unsigned int mode", "int reason"),
    "block:block_rq_issue": ("u32 dev", "u64 sector", "unsigned int nr_sector", "unsigned int bytes", COMM.format("comm")),
    "block:block_rq_complete": ("u32 dev", "u64 sector", "unsigned int nr_sector", "int error"),
    "writeback:folio_wait_writeback": ("char name[32]", "unsigned long ino", "unsigned long index"),
    "writeback:balance_dirty_pages": ("char bdi[32]", "unsigned long paused", "long pause"),
    "nvidia:nvidia_dev_xid": ("__data_loc char[] dev", "u32 error_code", "__data_loc char[] msg"),
    "nvswitch:nvswitch_dev_sxid": ("__data_loc char[] dev", "u32 error_code", "__data_loc char[] msg"),
    "ftrace:print": ("unsigned long ip", "char buf[]"),
    "kstall:step": ("unsigned long __probe_ip", "__data_loc char[] text"),
    "kstall:call": ("unsigned long __probe_ip",),
    **{f"kstall:gpu_begin_{name}": ("unsigned long __probe_ip", "u64 sp", "u64 bytes", "u32 kind")
       for name in ("0_cuStreamSynchronize", "12_cuMemcpyHtoD_v2", "xcuInit")},
    **{f"kstall:gpu_end_{name}": ("unsigned long __probe_func", "unsigned long __probe_ret_ip", "u64 sp")
       for name in ("0_cuStreamSynchronize", "12_cuMemcpyHtoD_v2")},
    "kstall:gpu_only_1_cuEventSynchronize": ("unsigned long __probe_ip",),
    "kstall:throttle": ("unsigned long __probe_ip", "u64 rq"),
    "kstall:unthrottle": ("unsigned long __probe_ip", "u64 rq"),
}
SIZES = {"bool": 1, "short": 2, "u32": 4, "unsigned int": 4, "void *": 8, "int": 4, "pid_t": 4, "long": 8, "unsigned long": 8, "u64": 8, "__data_loc char[]": 4}
PRINTED = {"nvidia_dev_xid": '"Xid (PCI:%s): %u, %s", __get_str(dev), REC->error_code, __get_str(msg)',
           "nvswitch_dev_sxid": '"SXid (PCI:%s): %u, %s", __get_str(dev), REC->error_code, __get_str(msg)'}
PRINT_ID = 5                            # ftrace's own numbers are fixed


class Machine:
    """The one that recorded; main() sets it."""
    order, long, page = "<", 8, 4096

    @classmethod
    def header(cls):
        """Of a page: time stamp, size."""
        return 8 + cls.long


def pack(fmt, *values):
    return struct.pack(Machine.order + fmt, *values)


def pack_size(value):
    return pack("Q" if Machine.long == 8 else "I", value)


def bytes_of(number, size):
    return number.to_bytes(size, "little" if Machine.order == "<" else "big")


def encoded(text):
    return text.encode("utf-8", "surrogateescape")


def die(why):
    sys.exit(f"mkdat.py: {why}")


class Field:
    """A line of a format file, and how to put a value there."""

    def __init__(self, declaration, offset, size, signed):
        self.declaration, self.offset, self.size, self.signed = declaration, offset, size, signed
        self.shown = declaration        # what the format file has
        self.name = re.search(r"(\w+)(\[\w*\])?$", declaration)[1]
        self.dynamic = declaration.startswith("__data_loc")
        self.text = declaration.startswith("char ")
        self.array = "[" in declaration and not self.text and not self.dynamic

    def line(self):
        return f"\tfield:{self.shown};\toffset:{self.offset};\tsize:{self.size};\tsigned:{int(self.signed)};\n"

    def put_element(self, data, at, one, value):
        number = UNSET & (1 << 8 * one) - 1 if value is None else int(value, 0)
        if at + one > self.offset + self.size or not 0 <= number < 1 << 8 * one:
            die(f"{value} does not fit into {self.declaration}")
        data[at:at + one] = bytes_of(number, one)

    def put_array(self, data, values):
        one = self.size // int(re.search(r"\[(\d+)\]$", self.declaration)[1])
        for i in range(self.size // one):
            self.put_element(data, self.offset + i * one, one, values.get(f"{self.name}[{i}]"))

    def put(self, data, value):
        if self.dynamic or (self.text and not self.size):
            # The string lies behind the fields; ftrace's markers end in a new line.
            text = encoded(value or "?") + (b"\0" if self.dynamic else b"\n\0")
            if self.dynamic:
                data[self.offset:self.offset + 4] = pack("I", len(text) << 16 | len(data))
            data += text
        elif self.text:
            text = encoded("?" + self.name if value is None else value)
            if len(text) >= self.size:
                die(f"{value} does not fit into {self.declaration}")
            data[self.offset:self.offset + len(text)] = text
        elif not self.array:
            number = UNSET if value is None else int(value, 0)
            mask = (1 << 8 * self.size) - 1
            if value is not None and not -(mask >> 1) - 1 <= number <= mask:
                die(f"{value} does not fit into {self.declaration}")
            data[self.offset:self.offset + self.size] = bytes_of(number & mask, self.size)


class Event:
    """What a format file has."""

    COMMON = ("unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;",
              "unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;",
              "unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;",
              "int common_pid;\toffset:4;\tsize:4;\tsigned:1;")

    def __init__(self, system, name, fields, ours=False):
        self.system, self.name, self.fields, self.ours, self.id, self.left_out = system, name, fields, ours, 0, False
        self.size = max(f.offset + f.size for f in fields)

    def format(self):
        """Printed as FIELD=VALUE, in the order of the fields."""
        shown = [f for f in self.fields if f.text or not (f.array or f.dynamic)]
        fmt = " ".join(f"{f.name}=%{'s' if f.text else 'll' * (f.size == 8) + 'ud'[f.signed]}" for f in shown)
        args = "".join(f", REC->{f.name}" for f in shown)
        return (f"name: {self.name}\nID: {self.id}\nformat:\n" + "".join(f"\tfield:{c}\n" for c in self.COMMON) + "\n" +
                "".join(f.line() for f in self.fields) + "\nprint fmt: " + PRINTED.get(self.name, f'"{fmt}"{args}') + "\n").encode()

    def record(self, pid, flags, values):
        data = bytearray(self.size)
        data[:8] = pack("HBBi", self.id, flags, 0, pid)
        unknown = {key.partition("[")[0] for key in values} - {f.name for f in self.fields}
        if unknown:
            die(f"{self.system}:{self.name} has no {', '.join(sorted(unknown))}")
        for field in self.fields:
            if field.array and field.size:
                field.put_array(data, values)
            else:
                field.put(data, values.get(field.name))
        return bytes(data.ljust((len(data) + 3) // 4 * 4, b"\0"))


def kernel_event(key, declarations):
    fields, at = [], 8
    for declaration in declarations:
        kind, _, name = declaration.rpartition(" ")
        many = re.search(r"\[(\d*)\]$", name)
        one = 1 if kind == "char" else SIZES[kind]
        size = one * int(many[1] or 0) if many else one
        at = (at + one - 1) // one * one
        fields.append(Field(declaration, at, size, not kind.startswith(("u", "char"))))
        at += size
    return Event(*key.split(":"), fields)


def module_events(path):
    """Of tests/modules/abi/MODULE.fields."""
    module = os.path.basename(path)[:-len(".fields")]
    with open(f"{TOP}/{module}/{module}_events.h", encoding="utf-8") as f:
        system = re.search(r"^#define TRACE_SYSTEM (\w+)", f.read(), re.M)[1]
    found = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            if not line.startswith("\t"):
                name = line.strip()
                continue
            declaration, offset, size = re.match(r"\tfield:(.+?);\toffset:(\d+);\tsize:(\d+);", line).groups()
            found.setdefault(name, []).append(Field(declaration, int(offset), int(size), "signed:1" in line))
    return [Event(system, name, fields, ours=True) for name, fields in found.items()]


def rename(events, renames):
    """EVENT.FIELD=NAME, with the name in its declaration, too"""
    for old, name in (r.split("=") for r in renames):
        event, old = old.split(".")
        for field in [f for e in events if e.name == event for f in e.fields if f.name == old]:
            field.shown = field.declaration.replace(old, name)


def all_events(without, renames):
    events = [kernel_event(*item) for item in KERNEL.items()]
    for path in sorted(glob.glob(f"{TOP}/tests/modules/abi/*.fields")):
        events += module_events(path)
    rename(events, renames)
    for i, event in enumerate(events):
        event.id = PRINT_ID if event.name == "print" else 100 + i
    for event in events:
        event.left_out = event.system in without or f"{event.system}:{event.name}" in without
    return {f"{e.system}:{e.name}": e for e in events}


def values_of(rest):
    """As engine_test has it: text= and buf= take the rest of the line."""
    values = {}
    while rest:
        key, found, rest = rest.partition("=")
        if not found:
            die(f"no value: {key}")
        if key in ("text", "buf", "msg"):
            values[key] = rest
            break
        values[key], _, rest = rest.partition(" ")
    return values


def read_text(path, events, ties):
    """The records, as (time, CPU, event, bytes), and what is lost, as {(from, to): number}."""
    records, lost = [], {}
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        for nr, line in enumerate(f, 1):
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            words = line.split(" ")
            if words[0] == "lost":
                lost[int(words[1]), int(words[2])] = int(words[3])
                continue
            ts, cpu, pid, flags, key, *rest = line.split(" ", 5)
            if key not in events:
                die(f"{path}:{nr}: no event {key}")
            if events[key].left_out:
                continue
            if records and int(ts) <= records[-1][0] - ties:
                # the order of events at the same time on several CPUs is the program's choice
                die(f"{path}:{nr}: not later than the line before it")
            data = events[key].record(int(pid), int(flags, 16), values_of("".join(rest)))
            records.append((int(ts), int(cpu), events[key], data))
    return records, lost


def page(ts, data, missed):
    size = len(data)
    if missed:
        data += pack_size(missed)
        size |= MISSED | MISSED_STORED
    return (pack("Q", ts) + pack_size(size) + data).ljust(Machine.page, b"\0")


def entry_word(kind, delta):
    """Five bits and 27: the compiler's order of bit fields is that of the bytes."""
    return pack("I", kind | delta << 5 if Machine.order == "<" else kind << TIME_BITS | delta)


def entry(delta, data):
    """A record with its header, and a longer time in front of it."""
    before = b""
    if delta >> TIME_BITS:
        before = entry_word(30, delta & ((1 << TIME_BITS) - 1)) + pack("I", delta >> TIME_BITS)
        delta = 0
    words = len(data) // 4
    if words <= SMALL:
        return before + entry_word(words, delta) + data
    return before + entry_word(0, delta) + pack("I", len(data) + 4) + data


def pages(records, lost):
    """A CPU's pages; a new one begins after a loss, too."""
    out, data, begin, last, missed = b"", b"", None, None, 0
    for ts, data_of in records:
        gap = lost.pop((last, ts), 0)
        new = entry(ts - (last or ts), data_of)
        if data and (gap or Machine.header() + len(data) + len(new) + 8 > Machine.page):
            out += page(begin, data, missed)
            data = b""
        if not data:
            begin, missed, new = ts, gap, entry(0, data_of)
        data += new
        last = ts
    return out + page(begin, data, missed) if data else out


HEADER_EVENT = (b"# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n"
                b"\tpadding     : type == 29\n\ttime_extend : type == 30\n\ttime_stamp : type == 31\n\tdata max type_len  == 28\n")
CLOCKS = "local global counter uptime perf mono mono_raw boot tai x86-tsc"


def header_page():
    """events/header_page of the kernel"""
    head, long = Machine.header(), Machine.long
    return (f"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:{long};\tsigned:1;\n"
            f"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
            f"\tfield: char data;\toffset:{head};\tsize:{Machine.page - head};\tsigned:1;\n").encode()


def head(events):
    """Everything before the number of CPUs."""
    systems = {}
    for event in events.values():
        if not event.left_out:
            systems.setdefault(event.system, []).append(event.format())

    def formats(of):
        return pack("I", len(of)) + b"".join(pack("Q", len(f)) + f for f in of)

    out = b"\x17\x08\x44tracing6\0" + bytes([Machine.order == ">", Machine.long]) + pack("I", Machine.page)
    for name, text in ((b"header_page", header_page()), (b"header_event", HEADER_EVENT)):
        out += name + b"\0" + pack("Q", len(text)) + text
    out += formats(systems.pop("ftrace", [])) + pack("I", len(systems))
    for system, of in systems.items():
        out += system.encode() + b"\0" + formats(of)
    return out + pack("IIQ", 0, 0, 0)       # no kallsyms, printk_formats, saved_cmdlines


def write_formats(folder, events):
    """Below events/ of a tracefs"""
    files = {"header_page": header_page(), "header_event": HEADER_EVENT}
    files.update({f"{e.system}/{e.name}/format": e.format() for e in events.values() if not e.left_out})
    for name, text in files.items():
        path = f"{folder}/events/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(text)


def option(number, data):
    return pack("HI", number, len(data)) + data


def options(args, buffers):
    out = b"options  \0"
    if args.clock != "none":
        clocks = CLOCKS.split() + [args.clock] * (args.clock not in CLOCKS.split())
        out += option(OPTION_TRACECLOCK, " ".join(f"[{c}]" if c == args.clock else c for c in clocks).encode() + b"\n\0")
    if args.uname:
        out += option(OPTION_UNAME, args.uname.encode() + b"\0")
    for name, at in buffers:
        out += option(OPTION_BUFFER, pack("Q", at) + name.encode() + b"\0")
    return out + pack("H", 0)


def padded(data):
    return data.ljust((len(data) + Machine.page - 1) // Machine.page * Machine.page, b"\0")


def buffer(out, per_cpu):
    """A table of where each CPU's pages are, and these."""
    out += b"flyrecord\0"
    at = len(padded(out + b"\0" * 16 * len(per_cpu)))
    for data in per_cpu:
        out += pack("QQ", at, len(data))
        at += len(data)
    return padded(out) + b"".join(per_cpu)


def is_everybodys(event):
    """In the buffer all of kstall record: kstall/trace/session.c"""
    return event.name in ("throttle_rq", "unthrottle") or event.ours


def buffer_of(args, event):
    if args.session:
        return "kstall_all" if is_everybodys(event) else "kstall_job"
    return "kstall-" + event.system.removesuffix("_trace") if args.instances and event.system != "ftrace" else ""


def write(path, args, events, records, lost, about):
    names = sorted({buffer_of(args, r[2]) for r in records} - {""}, reverse=args.session == "job-first")
    cpus = max(r[1] for r in records) + 1

    def content(name):
        own = [r for r in records if buffer_of(args, r[2]) in (name, "")] if name or not names else []
        return [pages([(r[0], r[3]) for r in own if r[1] == cpu], lost) for cpu in range(cpus)]

    out = head(events) + pack("I", cpus)
    at = len(out)
    out = buffer(out + options(args, [(name, 0) for name in names]), content(""))
    begins = []
    for name in names:
        begins.append(len(out))
        out = buffer(out, content(name))
    table = options(args, zip(names, begins))
    out = out[:at] + table + out[at + len(table):]
    if lost:
        die(f"no CPU has two events one after the other at {sorted(lost)}")
    if about is not None:
        out += about + pack("Q8s", len(about), b"kstall1\n")
    with open(path, "wb") as f:
        f.write(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", action="store_true")
    parser.add_argument("--session", choices=("all-first", "job-first"))
    parser.add_argument("--about", type=argparse.FileType("rb"))
    parser.add_argument("--big", action="store_true")
    parser.add_argument("--long", type=int, choices=(4, 8), default=8)
    parser.add_argument("--page", type=int, default=4096)
    parser.add_argument("--clock", default="mono")
    parser.add_argument("--uname")
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--rename", action="append", default=[])
    parser.add_argument("--ties", action="store_true")
    parser.add_argument("--tracefs")
    parser.add_argument("text", nargs="+")
    args = parser.parse_args()
    Machine.order, Machine.long, Machine.page = "<>"[args.big], args.long, args.page
    SIZES["long"] = SIZES["unsigned long"] = args.long
    events = all_events(args.without, args.rename)
    about = args.about.read() if args.about else None
    if args.tracefs:
        write_formats(args.tracefs, events)
    for path in args.text:
        records, lost = read_text(path, events, args.ties)
        write(os.path.basename(path).removesuffix(".txt") + ".dat", args, events, records, lost, about)


main()
