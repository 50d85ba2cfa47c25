# SPDX-License-Identifier: GPL-2.0
"""
Which code is broken, how often, and which tests should notice. Host tests take seconds and run first; "counters" among them is
../program/fleet/counters.py and layouts.py, "fleet" ../program/fleet/run without a Prometheus, "top" golden/top on this machine. The others are prefixes for
../vm/run, each a guest of its own, the likeliest first.
"""

import glob
import os
import re
from typing import NamedTuple

from operators import (counter, exchange, identity, label, lost, name, option, predicate, release, row, rule, share, total, turned,
                       unarmed, unit)

MODULE = (exchange, lost, identity, unarmed, name, unit, turned)
PROGRAM = (turned, unit, option, row, name, total, share)


class Area(NamedTuple):
    files: tuple		# patterns
    mutants: int		# beside those of PINNED
    operators: tuple
    host: tuple = ()
    guest: tuple = ()


def program(files, mutants, host, guest=()):
    return Area(tuple(f"kstall/{f}.c" for f in files.split()), mutants, PROGRAM, host, guest)


def module(directory, guest):
    return Area((f"{directory}/*.c", f"{directory}/*_events.h"), 2, MODULE, ("docs/events_md",), guest)


AREAS = {
    "aer": module("aer_trace", ("aer/",)),
    "drm_sched": module("drm_sched_trace", ("drm_sched/", "drm_qxl/")),
    "ib_cq": module("ib_cq_trace", ("ib_cq/",)),
    "io_uring": module("io_uring_trace", ("io_uring/",)),
    "iommu": module("iommu_trace", ("iommu/", "iommu_virtio/", "dma_swiotlb/")),
    "mm_migrate": module("mm_migrate_trace", ("mm_migrate/", "mm_movable/")),
    "tables": Area(("include/kstall/inflight.h", "include/kstall/own.h", "include/kstall/identity.h", "include/kstall/impl/inflight.c",
                    "include/kstall/impl/own.c", "include/kstall/impl/fold.c"), 2,
                   (counter, turned, identity), guest=("core/unit", "iommu/sync", "core/", "ib_cq/", "io_uring/")),
    "hooks": Area(("include/kstall/event.h", "include/kstall/hook.h", "include/kstall/direct.h", "include/kstall/kstall.h",
                   "include/kstall/impl/event.c", "include/kstall/impl/hook.c", "include/kstall/impl/direct.c"), 2,
                  (release, counter, turned), guest=("core/unit", "core/", "churn/")),
    "why": program("cmd/why engine/* cmd/report cmd/table cmd/json cmd/options", 2,
                   ("golden/why", "golden/options", "kstall/engine", "golden/diff", "golden/timeline"), ("why/",)),
    "record": program("cmd/record trace/session trace/datfile trace/probe trace/job", 1, ("golden/options",), ("why/",)),
    "diff": program("cmd/diff", 1, ("golden/diff", "golden/options"), ("why/edges",)),
    "timeline": program("cmd/timeline trace/pftrace", 1, ("golden/timeline", "golden/options"), ("why/parts", "why/edges")),
    "recorder": program("cmd/recorder recorder/*", 1, ("golden/recorder", "golden/rings", "golden/options"), ("recorder/",)),
    "metrics": program("cmd/metrics metrics/metric metrics/tally metrics/hist metrics/expose metrics/status metrics/workload metrics/series metrics/slurm metrics/pods metrics/serve", 2,
                       ("golden/metrics", "metrics/serve", "counters"), ("metrics/",)),
    "top": program("cmd/top metrics/promapi", 1, ("top",)),
    "tools": Area(("tools/*.bt",), 2, (unit, name, predicate)),
    "rules": Area(("examples/prometheus/*.yml",), 1, (rule, label), ("fleet",)),
}


def files_of(tree, area):
    return sorted({os.path.relpath(f, tree) for pattern in AREAS[area].files for f in glob.glob(f"{tree}/{pattern}")})


def tests_of(tree, area, file):
    """(on the host, in guests): of a tool's those that speak of it"""
    if area != "tools":
        return AREAS[area].host, AREAS[area].guest
    tool, found = os.path.basename(file)[:-3], []
    for path in sorted(glob.glob(f"{tree}/tests/*/*/test_*.sh")):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        test = re.sub(r".*/(\w+)/test_(\w+)\.sh$", r"\1/\2", path)
        if not re.search(r"^# host:", text, re.M) and re.search(rf"\b{tool}\b", text):
            found.append(test)
    # first those that are about tools
    return ("docs/tool_units",), tuple(sorted(found, key=lambda t: not re.match(r"tools/|.*bt$", t)))


class Pinned(NamedTuple):
    area: str
    what: str
    edits: tuple		# (file, old text, new text); the old text is there once


# Twelve that nobody noticed, or nearly nobody, when tests compared little more than counts.
PINNED = (
    Pinned("why", "percentages of kstall why ten times too large",
           (("kstall/cmd/table.c", "100.0 * p->ns / whole", "1000.0 * p->ns / whole"),)),
    Pinned("diff", "the sign of every difference turned round",
           (("kstall/cmd/diff.c", "ns < 0 ? '-' : '+'", "ns < 0 ? '+' : '-'"),)),
    Pinned("why", "a DMA mapping is shown as pin, a TTM eviction as disk",
           (("kstall/events.def", 'KS_DMA_MAP, "map",', 'KS_PIN, "map",'),
            ("kstall/events.def", 'KS_TTM, "evict",', 'KS_DISK, "evict",'))),
    Pinned("why", "no culprit has a text",
           (("kstall/engine/part.c", "while (*fmt && at + 1 < KS_TEXT) {", "while (0 && at + 1 < KS_TEXT) {"),)),
    Pinned("why", "--comm NAME takes every process",
           (("kstall/engine/thread.c", "return e->scope.comm && !strcmp(e->scope.comm, t->comm);", "return e->scope.comm;"),)),
    Pinned("mm_migrate", "thp_failed and thp_split exchanged",
           (("mm_migrate_trace/migrate.c", "frame->thp_failed = thp_failed;", "frame->thp_failed = thp_split;"),
            ("mm_migrate_trace/migrate.c", "frame->thp_split = thp_split;", "frame->thp_split = thp_failed;"))),
    Pinned("tools", "iommu_sync: nanoseconds shown as us",
           (("tools/iommu_sync.bt", "hist(args->duration_ns / 1000)", "hist(args->duration_ns)"),)),
    Pinned("tables", "dev_node is always -1",
           (("include/kstall/identity.h", "__entry->dev_node = (_id)->dev_node;", "__entry->dev_node = NUMA_NO_NODE;"),)),
    Pinned("hooks", "no grace period after tracepoints are unregistered",
           (("include/kstall/impl/hook.c", "\t\ttracepoint_synchronize_unregister();", "\t\t(void)0;"),)),
    Pinned("tables", "nothing is ever evicted",
           (("include/kstall/impl/inflight.c", "if (!t->buckets || !t->max_age_ns || now < t->max_age_ns ||",
             "if (1 || !t->buckets || !t->max_age_ns || now < t->max_age_ns ||"),)),
    Pinned("io_uring", "punted is never set",
           (("io_uring_trace/ring.c", "rec->punted = true;", "rec->punted = false;"),)),
    Pinned("tools", "ib_mr: nanoseconds shown as us",
           (("tools/ib_mr.bt", "@reg_us[args->comm, args->tgid, @kind[args->kind]] = hist(args->duration_ns / 1000);",
             "@reg_us[args->comm, args->tgid, @kind[args->kind]] = hist(args->duration_ns);"),)),
)
