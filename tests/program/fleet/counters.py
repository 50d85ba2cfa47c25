#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
counters.py METRICS_TEST: kstall metrics fed with files as the kernel writes them: what it makes of them, and that
neither a storm of names nor damaged files make more than 300 series or one that falls. Prints TAP.
"""

import os
import random
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(1, f"{top}/tests/program/golden")
import events as table  # noqa: E402
import tap  # noqa: E402

program = sys.argv[1]
COUNTED = [row for row in table.rows().values() if "COUNT" in row.parts and not row.has("COUNT", "by_line")]
# (system, event, has a device, cause, duration, count)
EVENTS = [(row.system, row.name, row.has("COUNT", "dev"), row.named("COUNT", "cause"), row.duration or None, row.named("COUNT", "count"))
          for row in COUNTED]
LAYERS = {row.name: row.parts["COUNT"][0].strip('"') for row in COUNTED}
STRINGS = {"driver", "ring", "error", "callback_module", "caller_module"}


def hist(event, rows, dropped=0):
    """@rows: (dev, cause, log2, hits, sum); an event with a duration and a count has the sum for both"""
    _, _, dev, cause, ns, many = event
    out = ["# event histogram", "#", "# trigger info: hist:keys=x:vals=hitcount:sort=hitcount:size=1024 [active]", "#", ""]
    for d, c, log2, hits, total in rows:
        keys = []
        if dev:
            keys.append(f"dev: {d:<50}")
        if cause:
            keys.append(f"{cause}: {c:<50}" if cause in STRINGS else f"{cause}: {c:>10}")
        if ns:
            keys.append(f"{ns}: ~ 2^{log2:<2}")
        line = "{ " + ", ".join(keys) + f" }} hitcount: {hits:>10}"
        out.append(line + "".join(f"  {field}: {total:>10}" for field in (ns, many) if field))
    return "\n".join(out + ["", "Totals:", "    Hits: 1", f"    Entries: {len(rows)}", f"    Dropped: {dropped}", ""])


def write(directory, files):
    os.makedirs(directory, exist_ok=True)
    for name, text in files.items():
        with open(os.path.join(directory, name), "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())


def run(*arguments):
    p = subprocess.run([program, *arguments], capture_output=True, timeout=300)
    assert p.returncode == 0, (p.returncode, p.stderr)
    return p.stdout.decode()


def samples(page):
    return dict(line.rsplit(" ", 1) for line in page.splitlines() if line and not line.startswith("#"))


def lint(page):
    p = subprocess.run(["promtool", "check", "metrics"], input=page.encode(), capture_output=True)
    return (p.stdout + p.stderr).decode()


STATUS = """module {0} version=1.2 recorder=off clamped=0 now_mono_ns=5
{1}hook a kind=pair target=x state=armed hits=9 missed=2 recursed=1 last_loss_mono_ns=0 bytes=0
hook b kind=pair target=y state=armed hits=9 missed=40 recursed=0 last_loss_mono_ns=0 bytes=0
table t state=allocated capacity=9 in_use=3 high_water=9 dropped=4 evicted=5 evicted_oldest_ns=0 unmatched=0
reach {2}
"""


def status(module, state="armed", reach="everything"):
    system = {"aer_trace": "aer", "drm_sched_trace": "drm_sched", "ib_cq_trace": "ib_cq", "mm_migrate_trace": "mm_migrate"}.get(module, module)
    lines = "".join(f"event {e[1]} users=1 state={state} min_ns=0 suppressed=3\n" for e in EVENTS if e[0] == system)
    return STATUS.format(module, lines, reach)


def known(work):
    disk = next(e for e in EVENTS if e[1] == "io_uring_block_rq")
    aer = next(e for e in EVENTS if e[1] == "aer_correctable")
    write(f"{work}/known", {
        "io_uring_trace.io_uring_block_rq.hist": hist(disk, [("nvme0n1", 1, 10, 3, 3001), ("nvme0n1", 1, 11, 4, 8000), ("nvme0n1", 0, 31, 1, 2000000000)], 7),
        "io_uring_trace.status": status("io_uring_trace"), "iommu_trace.status": status("iommu_trace", reach="translated devices: 0 of 9 (identity)"),
        "aer.aer_correctable.hist": hist(aer, [("0000:01:00.0", 'a"b\\c', 0, 2, 500)]),
    })
    page = run(f"{work}/known")
    got = samples(page)
    want = {
        'kstall_events_total{layer="disk",event="io_uring_block_rq",device="nvme0n1",cause="1"}': "7",
        'kstall_stall_seconds_total{layer="disk",event="io_uring_block_rq",device="nvme0n1",cause="1"}': "0.000011001",
        'kstall_stall_seconds_total{layer="disk",event="io_uring_block_rq",device="nvme0n1",cause="0"}': "2.000000000",
        'kstall_io_uring_block_rq_seconds_bucket{le="0.000001024"}': "3",
        'kstall_io_uring_block_rq_seconds_bucket{le="0.000032768"}': "7",
        'kstall_io_uring_block_rq_seconds_bucket{le="1.073741824"}': "7",
        'kstall_io_uring_block_rq_seconds_bucket{le="+Inf"}': "8",
        "kstall_io_uring_block_rq_seconds_count": "8", "kstall_io_uring_block_rq_seconds_sum": "2.000011001",
        'kstall_events_total{layer="pcie",event="aer_correctable",device="0000:01:00.0",cause="a\\"b\\\\c"}': "500",
        'kstall_lost_events_total{module="io_uring_trace",reason="missed"}': "42",
        'kstall_lost_events_total{module="io_uring_trace",reason="evicted"}': "5",
        'kstall_lost_events_total{module="io_uring_trace",reason="table_full"}': "7",
        'kstall_module_info{module="io_uring_trace",version="1.2"}': "1",
        'kstall_reach{layer="disk",state="armed"}': "1", 'kstall_reach{layer="iommu",state="silent"}': "1",
        'kstall_reach{layer="dma_map",state="armed"}': "1",
        'kstall_reach{layer="tlb",state="not_loaded"}': "1",
    }
    wrong = {k: got.get(k) for k, v in want.items() if got.get(k) != v}
    tap.result(not wrong, "what the kernel counted is what comes out", wrong)
    tap.result(not lint(page), "promtool has nothing to say", lint(page))
    more = run("--openmetrics", f"{work}/known")
    tap.result(more.endswith("# EOF\n") and "# TYPE kstall_events counter" in more and samples(more).keys() == got.keys(), "OpenMetrics has the same", "")


def unreadable(work):
    """What the kernel has, but cannot be read in the second of three passes: a directory, here"""
    disk, aer, fatal, opcode = (next(e for e in EVENTS if e[1] == name) for name in ("io_uring_block_rq", "aer_correctable", "aer_uncorrectable", "io_uring_req_done"))
    many = [(f"0000:{n:02x}:00.0", "x", 0, 2, 500) for n in range(20)]
    whole = {"io_uring_trace.io_uring_block_rq.hist": hist(disk, [("nvme0n1", 1, 10, 3, 3001)], 7), "io_uring_trace.status": status("io_uring_trace"),
             "io_uring_trace.io_uring_req_done.hist": hist(opcode, [("", 22, 10, 3, 3001)]),
             "aer.aer_correctable.hist": hist(aer, many), "aer.aer_uncorrectable.hist": hist(fatal, many), "aer_trace.status": status("aer_trace")}

    def tried(part, *names):
        """What is said of it, the page of the pass that could not read @names, and that of the one after"""
        passes = [f"{work}/{part}{i}" for i in range(3)]
        for directory in passes:
            write(directory, whole)
        for name in names:
            os.unlink(f"{passes[1]}/{name}")
            os.mkdir(f"{passes[1]}/{name}")
        said = [subprocess.run([program, *passes[:nr]], capture_output=True, text=True, check=True) for nr in (1, 2, 3)]
        return said[2].stderr, *(counters(p.stdout) for p in said)

    said, before, now, after = tried("disk", "io_uring_trace.io_uring_block_rq.hist")
    want = "kstall: cannot be read: io_uring_block_rq (Is a directory)\nkstall: all counters are read again\n"
    tap.result(said == want, "a counter that cannot be read is said, once, and that it is read again", said)
    tap.result('kstall_reach{layer="disk",state="unreadable"}' in now and 'kstall_reach{layer="io_uring",state="armed"}' in now,
               "its layer is unreadable, others are not", [k for k in now if "reach" in k])
    gone = {k for k in before if "block_rq" in k or 'io_uring_trace",reason="table_full"' in k or 'layer="disk"' in k}
    left = {k: v for k, v in before.items() if k not in gone}
    tap.result({k: v for k, v in now.items() if 'layer="disk"' not in k} == left and after == before and gone,
               "what it counts is left out, not shown as less, and is the same afterwards", sorted(now.items() ^ left.items()))
    said, before, now, after = tried("pcie", "aer.aer_correctable.hist", "aer.aer_uncorrectable.hist", "aer_trace.status")
    tap.result(said.startswith("kstall: cannot be read: aer_") and "(Is a directory) and 2 more\n" in said and said.count("\n") == 2,
               "several are one sentence", said)
    tap.result('kstall_reach{layer="pcie",state="unreadable"}' in now, "unreadable is shown, not that a module is not loaded", [k for k in now if "reach" in k])
    tap.result('event="other"' in str(before) and 'layer="pcie",event' not in str(now) and after == before, "a sum that lacks one is left out", sorted(now))
    said, before, now, after = tried("status", "io_uring_trace.status")
    tap.result("the status of io_uring_trace (Is a directory)" in said and 'kstall_reach{layer="disk",state="armed"}' in now and after == before,
               "a status that cannot be read is reported; the counters are shown", said)


def storm(work):
    rand = random.Random(3)
    passes = []
    for i in range(4):
        files = {}
        for event in EVENTS:
            rows = [(f"dev{rand.randrange(40 * (i + 1))}", f"c{n}" if event[3] in STRINGS else n, rand.randrange(40), 3 + i, 100 * (i + 1)) for n in range(60)]
            # what was there in the pass before is still there, and not less
            files[f"{event[0]}.{event[1]}.hist"] = hist(event, (rows0.setdefault(event[1], []) if i else rows0.setdefault(event[1], rows)) + (rows if i else []))
            if i:
                rows0[event[1]] = rows0[event[1]] + rows
        for module in "aer_trace", "drm_sched_trace", "ib_cq_trace", "io_uring_trace", "iommu_trace", "mm_migrate_trace":
            files[f"{module}.status"] = status(module)
        write(f"{work}/storm{i}", files)
        passes.append(f"{work}/storm{i}")
    with open(f"{work}/jobs", "w", encoding="utf-8") as f:
        f.writelines(f"slurm_job_id={n}\n" for n in range(100))
    pages = [samples(run("--jobs", f"file:{work}/jobs", *passes[:i + 1])) for i in range(4)]
    tap.result(all(200 < len(p) <= 300 for p in pages), "a storm of names makes 300 series at most", [len(p) for p in pages])
    print("# series:", *(len(p) for p in pages))
    fallen = [k for a, b in zip(pages, pages[1:]) for k in a if k.split("{")[0].endswith(("_total", "_bucket", "_sum", "_count")) and "cpu" not in k
              and float(b.get(k, -1)) < float(a[k])]
    tap.result(not fallen, "none of them falls or goes", fallen)
    tap.result(int(pages[3]["kstall_folded_series_total"]) > 1000, "what has no series of its own is counted", pages[3].get("kstall_folded_series_total"))
    got, want = {}, {}
    for key, value in pages[3].items():
        if key.startswith("kstall_events_total"):
            layer = key.split('"')[1]
            got[layer] = got.get(layer, 0) + int(value)
    for event in EVENTS:
        layer = LAYERS[event[1]]
        want[layer] = want.get(layer, 0) + sum(row[4] if event[5] else row[3] for row in rows0[event[1]])
    tap.result(got == want, "none of its events is missing in its layer", (got, want))
    tap.result(sum(k.startswith("kstall_job_info") for k in pages[3]) == 8 and pages[3]["kstall_jobs_left_out"] == "92", "eight jobs, and how many are left out", "")
    tap.result(not lint(run(*passes)), "promtool has nothing to say of it", "")


rows0 = {}


def damaged(work):
    rand = random.Random(5)
    whole = {f"{e[0]}.{e[1]}.hist": hist(e, [("d", "1" if e[3] in STRINGS else 1, 9, 5, 50)] * 3) for e in EVENTS}
    whole["aer_trace.status"] = status("aer_trace")
    bad = ""
    for i in range(30):
        files = {}
        for name, text in whole.items():
            raw = bytearray(text.encode())
            for _ in range(8):
                raw[rand.randrange(len(raw))] = rand.randrange(1, 256)
            files[name] = bytes(raw[:rand.randrange(len(raw))]) if rand.random() < 0.3 else bytes(raw)
        write(f"{work}/damaged{i}", files)
        page = run(f"{work}/damaged{i}")
        bad += lint(page) + "".join(c for c in page if not c.isprintable() and c != "\n")
    tap.result(not bad, "damaged files do not damage the page", bad)


def counters(page):
    """What must go on where it was, but for what the process counts of itself"""
    return {k: v for k, v in samples(page).items() if not k.startswith(("kstall_metrics_", "kstall_folded_"))}


def restarts(work):
    """16 disks turn up one by one, the busiest first; the kernel prints the rarest first. Eleven events have durations, the last in the
    table first."""
    disk = next(e for e in EVENTS if e[1] == "io_uring_block_rq")
    timed = [e for e in EVENTS if e[4] and e != disk][:11][::-1]
    passes = []
    for i in range(16):
        rows = [(f"nvme{n}n1", 1, 20, 10 * (16 - n), 10 ** 9 * (16 - n) * (i + 1)) for n in range(i + 1)]
        files = {"io_uring_trace.io_uring_block_rq.hist": hist(disk, rows[::-1])}
        for event in timed[:i + 1]:
            files[f"{event[0]}.{event[1]}.hist"] = hist(event, [("d", "1", 20, 4, 40)])
        write(f"{work}/disks{i}", files)
        passes.append(f"{work}/disks{i}")
    kept = f"{work}/series"
    before = counters(run("--series", kept, *passes))
    after = counters(run("--series", kept, passes[-1]))
    tap.result("kstall_stall_seconds_total" in str(before) and after == before, "after a kill each series goes on where it was, and each histogram",
               sorted(before.items() ^ after.items()))
    write(f"{work}/more", {"io_uring_trace.io_uring_block_rq.hist": hist(disk, [("a", 1, 20, 1, 5)] + rows)})
    later = counters(run("--series", kept, f"{work}/more"))
    fallen = [k for k in later if k.startswith("kstall_events_total") and int(later[k]) < int(before[k])]
    tap.result(not fallen and not any('device="a"' in k for k in later), "a disk that comes later takes no other's series, whatever its name", fallen)
    write(f"{work}/reverse", {"io_uring_trace.io_uring_block_rq.hist": hist(disk, rows)})
    write(f"{work}/forward", {"io_uring_trace.io_uring_block_rq.hist": hist(disk, rows[::-1])})
    first = [counters(run(f"{work}/{order}")) for order in ("reverse", "forward")]
    tap.result(first[0] == first[1], "of those that come together the first by name have series, however busy they are", first)
    write(work, {"rubbish": "series\nseries\tio_uring_block_rq\nhistogram\tnone\n\n\t\t\t\nhistogram\tio_uring_block_rq\n" * 2})
    tap.result(counters(run("--series", f"{work}/rubbish", passes[-1])).keys() == counters(run(passes[-1])).keys(), "a file of series that is spoilt does no harm", "")
    # else series would be given anew, while the kernel counts on
    os.mkdir(f"{work}/directory")
    p = subprocess.run([program, "--series", f"{work}/directory", passes[-1]], capture_output=True, text=True)
    tap.result((p.returncode, p.stdout, p.stderr) == (1, "", f"kstall: {work}/directory is not read: Is a directory\n"),
               "it does not begin where it cannot read the file of series", f"{p.returncode} {p.stderr}")


def names(work):
    """What Prometheus takes: any UTF-8 that is valid"""
    disk = next(e for e in EVENTS if e[1] == "io_uring_block_rq")
    text = hist(disk, [("gpu\u00e4", 1, 20, 1, 5), ("gpu\u00f6", 1, 20, 2, 5), ("\u8bad\u7ec3" * 15, 1, 20, 4, 5), ("a\u009b", 1, 20, 8, 5)]).encode()
    text = text.replace(b"# trigger", hist(disk, [("gpuX", 1, 20, 16, 5), ("gpuY", 1, 20, 32, 5)]).replace("X", "\udce4").replace("Y", "\udcf6").encode(errors="surrogateescape") + b"\n#", 1)
    write(f"{work}/names", {"io_uring_trace.io_uring_block_rq.hist": text})
    page = run(f"{work}/names")
    got = {re.search('device="([^"]*)"', k)[1]: v for k, v in samples(page).items() if k.startswith("kstall_events_total")}
    want = {"gpu\u00e4": "1", "gpu\u00f6": "2", "\u8bad\u7ec3" * 10 + "\u8bad": "4", "a?": "8", "gpu\ufffd": "48"}
    tap.result(got == want, "names are compared as they are shown: UTF-8 stays, other bytes are one character for all, before they are compared", got)
    tap.result(not lint(page), "promtool has nothing to say of them", lint(page))
    with open(f"{work}/jobs", "w", encoding="utf-8") as f:
        f.write("workload=\u8bad\u7ec3\u4e00\nworkload=\u8bad\u7ec3\u4e8c\n")
    got = sorted(re.search('workload="([^"]*)"', k)[1] for k in samples(run("--jobs", f"file:{work}/jobs", "/nonexistent")) if k.startswith("kstall_job_info"))
    tap.result(got == ["\u8bad\u7ec3\u4e00", "\u8bad\u7ec3\u4e8c"], "so are workloads", got)


def jobs(work):
    def info(source):
        return sorted(re.sub(r'slot="\d",', "", k) for k in samples(run("--jobs", source, "/nonexistent")) if k.startswith("kstall_job_info"))
    tap.result(info("command:echo workload=w pod=p; echo bad") == ['kstall_job_info{workload="w",slurm_job_id="",pod="p",namespace=""}'], "jobs by a command", "")
    run("--jobs", f"command:sleep 60 >/dev/null 2>&1 & echo $! >{work}/left; echo workload=w", "/nonexistent")
    with open(f"{work}/left", encoding="utf-8") as f:
        left = f"/proc/{f.read().strip()}/stat"
    for _ in range(100):
        state = open(left, encoding="utf-8").read().split()[2] if os.path.exists(left) else "gone"
        if state in ("gone", "Z"):
            break
        time.sleep(0.1)
    tap.result(state in ("gone", "Z"), "nothing is left of a command that has ended", state)
    for what, source in ("fails", "command:echo workload=w; exit 3"), ("never ends", "command:sleep 60"), \
            ("closes its output and never ends", "command:echo workload=w; exec >&-; sleep 60"), ("never stops", "command:yes workload=w"), ("is missing", "file:/nonexistent"):
        got = samples(run("--jobs", source, "/nonexistent"))
        tap.result(got.get("kstall_job_source_up") == "0" and not info(source), f"a source that {what} is reported", got.get("kstall_job_source_up"))


with tempfile.TemporaryDirectory() as work:
    known(work)
    unreadable(work)
    storm(work)
    damaged(work)
    restarts(work)
    names(work)
    jobs(work)
tap.end()
