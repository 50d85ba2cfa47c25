#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""cases.py ENGINE_TEST - events written by hand, and the parts that have to come out; KTAP lines"""

import json
import random
import statistics
import subprocess
import sys

ENGINE = sys.argv[1]
TASK = "1000 0 1 0 ftrace:print buf=kstall task 100 100 R -1 trainer"


def mark(ts, what, tid=100):
    return f"{ts} 0 {tid} 0 kstall:step text=kstall step {what}"


def out(ts, state=1, tid=100):
    return f"{ts} 0 {tid} 0 sched:sched_switch prev_pid={tid} prev_comm=t prev_state={state} next_pid=7 next_comm=hog"


def into(ts, tid=100):
    return f"{ts} 0 7 0 sched:sched_switch prev_pid=7 prev_comm=hog prev_state=0 next_pid={tid} next_comm=t"


def wake(ts, tid=100, cpu=1, by=0, flags=8):
    return f"{ts} {cpu} {by} {flags:x} sched:sched_waking pid={tid}"


def enter(ts, nr, tid=100):
    return f"{ts} 0 {tid} 0 raw_syscalls:sys_enter id={nr}"


def leave(ts, tid=100):
    return f"{ts} 0 {tid} 0 raw_syscalls:sys_exit id=-1"


def sleep(nr, *inside, begin=2000, asleep=2100, awake=9000, state=1, **kw):
    return [TASK, mark(1000, "1 begin"), enter(begin, nr), out(asleep, state), *inside, wake(awake, **kw), into(awake + 100),
            leave(awake + 200), mark(10000, "1 end"), enter(10100, 0)]


def block(ts, pid, device, cpu=1, by=0, flags=8):
    return (f"{ts} {cpu} {by} {flags:x} io_uring_trace:io_uring_block_rq pid={pid} tgid={pid} comm=t dev=vda device_ns={device} ring=0 "
            f"user_data=0 tag_ns=100 sched_ns=200 queue_mono_ns={ts - device - 300} attribution=0")


def request(ts, poster, ns, cpu=1, by=0, flags=8):
    return (f"{ts} {cpu} {by} {flags:x} ib_cq:ib_wr_latency pid=0 tgid=0 comm= dev=mlx5_0 latency_ns={ns} qp_num=17 opcode=0 user=nvme_rdma "
            f"post_pid={poster}")


READ, WRITE, FSYNC, NANOSLEEP = 0, 1, 74, 35
CASES = [
    ("a sleep that nothing explains says the system call", sleep(READ), {"unexplained: read": 6900, "cpu": 100}),
    ("a sleep the program asked for", sleep(NANOSLEEP), {"sleep: nanosleep": 6900}),
    ("a block request of its own splits the sleep that it ends",
     sleep(READ, block(8990, 100, 5000), state=2), {"disk: device": 5000, "disk: sched": 200, "disk: tag": 100}),
    ("one that ended in another interrupt does not", sleep(READ, block(8990, 100, 5000, cpu=0), state=2), {"unexplained: read": 6900}),
    ("nor one of another task", sleep(READ, block(8990, 55, 5000), state=2), {"unexplained: read": 6900}),
    ("nor does it explain a wait for a pipe", sleep(READ, block(8990, 100, 5000)), {"unexplained: read": 6900}),
    ("a work request that the thread posted, until the sleep it ends", sleep(WRITE, request(8990, 100, 6000)),
     {"rdma: request": 6000, "unexplained: write": 900}),
    ("not one that another thread posted", sleep(WRITE, request(8990, 101, 6000)), {"unexplained: write": 6900}),
    ("nor one that nobody posted", sleep(WRITE, request(8990, 0, 6000)), {"unexplained: write": 6900}),
    ("nor one that was complete before the sleep", 
     [*sleep(WRITE)[:3], request(2050, 100, 500), *sleep(WRITE)[3:]], {"unexplained: write": 6900}),
    ("what a kernel thread did before it woke it up",
     sleep(FSYNC, block(8000, 55, 5000), state=2, by=55, flags=0), {"disk: device": 5000}),
    ("innermost wins: a notifier in a migration",
     [TASK, mark(1000, "1 begin"), enter(2000, 256),
      "5000 0 100 0 mm_migrate:mm_migrate_notifier pid=100 tgid=100 comm=t dev= duration_ns=1000 callback=cb module=drv",
      "6000 0 100 0 mm_migrate:mm_migrate_batch pid=100 tgid=100 comm=t dev= duration_ns=3000 src_node=0 dst_node=1",
      leave(7000), mark(10000, "1 end"), enter(10100, 0)], {"notifier": 1000, "migration": 2000, "kernel: migrate_pages": 2000}),
    ("an interval that began before the step counts from its begin",
     [TASK, enter(500 + 600, 256), mark(3000, "1 begin", 101).replace(" 101 ", " 100 "),
      "6000 0 100 0 mm_migrate:mm_compaction_stall pid=100 tgid=100 comm=t dev= duration_ns=4500 caller=x order=9",
      leave(7000), mark(10000, "1 end"), enter(10100, 0)], {"compaction": 3000}),
    ("a worker's interval is not the thread's",
     [TASK, mark(1000, "1 begin"),
      "5000 0 9 0 io_uring_trace:writeback_throttle pid=100 tgid=100 comm=t dev=8:0 pause_ns=3000",
      mark(10000, "1 end"), enter(10100, 0)], {"user": 9000}),
    ("since 6.18: it suspends itself, until its queue is no longer throttled",
     [TASK, mark(1000, "1 begin"), "1900 0 7 0 kstall:throttle_rq rq=55 throttled=1", "2000 0 100 0 kstall:throttle_self nothing=0", out(2000, 0),
      "7000 1 3 0 kstall:unthrottle rq=55", into(7500), mark(10000, "1 end"), enter(10100, 0)], {"quota": 5000, "cpu": 500}),
    ("since 6.18: its queue had runtime again, and it was others' turn later",
     [TASK, mark(1000, "1 begin"), "1800 0 7 0 kstall:throttle_rq rq=55 throttled=1", "1900 1 3 0 kstall:unthrottle rq=55",
      "2000 0 100 0 kstall:throttle_self nothing=0", out(3000, 0), into(7500), mark(10000, "1 end"), enter(10100, 0)], {"cpu": 4500}),
    ("since 6.18: its queue had found runtime after all, another's has none",
     [TASK, mark(1000, "1 begin"), "1700 0 7 0 kstall:throttle_rq rq=66 throttled=1", "1750 1 3 0 kstall:unthrottle rq=66",
      "1800 0 7 0 kstall:throttle_rq rq=55 throttled=0", "2000 0 100 0 kstall:throttle_self nothing=0", out(3000, 0), into(7500),
      mark(10000, "1 end"), enter(10100, 0)], {"cpu": 4500}),
    ("suspended by its quota, then waiting for a CPU",
     [TASK, mark(1000, "1 begin"), "2000 0 100 0 kstall:throttle rq=77", out(2000, 0), "7000 1 0 8 kstall:unthrottle rq=77",
      into(7500), mark(10000, "1 end"), enter(10100, 0)], {"quota": 5000, "cpu": 500}),
    ("woken up on the way to sleep",
     [TASK, mark(1000, "1 begin"), enter(2000, 0), wake(2050), out(2100), "2200 1 0 8 sched:sched_wakeup pid=100", into(5000),
      leave(5100), mark(10000, "1 end"), enter(10100, 0)], {"unexplained: read": 100, "cpu": 2800}),
    ("its number is used again by another", sleep(READ) + ["20000 0 1 0 task:task_newtask pid=100 comm=new clone_flags=0"],
     {"unexplained: read": 6900}),
]


def printed(lines, *options):
    return subprocess.run([ENGINE, *options], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True).stdout


def run(lines, mode="marker"):
    res = subprocess.run([ENGINE, mode], input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
    return json.loads(res.stdout) if res.returncode == 0 else {"error": res.stderr, "steps": []}


count = failed = 0


def result(name, ok, why=""):
    global count, failed
    count += 1
    failed += not ok
    print(f"{'ok' if ok else 'not ok'} {count} - {name}")
    if not ok:
        print("# " + str(why)[:1500])


def exact(steps):
    return all(sum(p["ns"] for p in s["parts"]) == s["duration_ns"] for s in steps)


def parts(step):
    return {p["name"]: p["ns"] for p in step["parts"]}


def fence_wait(ts, seqno):
    return (f"{ts} 0 100 0 drm_sched:dma_fence_wait pid=100 tgid=100 comm=t dev= wait_ns=10 fence_ctx=5 fence_seqno={seqno} driver=amdgpu "
            "timeline=gfx")


def job_complete(ts, seqno):
    return (f"{ts} 1 0 8 drm_sched:drm_sched_job_complete pid=7 tgid=7 comm=other dev=0000:01:00.0 total_ns=20 fence_ctx=5 fence_seqno={seqno} "
            f"ring=gfx submit_ts={ts - 20} wait_ns=5 hwq_ns=0")


def random_events(n, threads):
    """A scheduler that makes no sense, in order of time."""
    random.seed(n)
    lines, ts = [], 2000
    for i in range(n):
        ts += random.randrange(0, 50)
        tid = 100 + random.randrange(threads)
        lines.append(random.choice((
            lambda: out(ts, random.choice((0, 1, 2, 0x100)), tid), lambda: into(ts, tid), lambda: wake(ts, tid), lambda: enter(ts, 0, tid),
            lambda: leave(ts, tid), lambda: mark(ts, f"{i} begin", tid), lambda: mark(ts, random.randrange(n), tid),
            lambda: block(max(ts, 6000), tid, random.randrange(4000)),
            lambda: f"{ts} 0 {tid} 0 mm_migrate:mm_pin pid={tid} tgid={tid} comm=t dev= duration_ns={random.randrange(3000)} caller=c",
            lambda: f"{ts} 0 {tid} 0 sched:sched_process_exit pid={tid}",
            lambda: f"{ts} 0 {tid} 0 sched:sched_process_exec filename=f pid={random.choice((100, tid))} old_pid={tid}",
            lambda: f"{ts} 0 {random.choice((100, tid))} 0 task:task_newtask pid={tid} comm=n clone_flags={random.choice((0, 0x10000))}",
        ))())
    return lines


print("KTAP version 1")
print(f"1..{len(CASES) + 24}")
for name, lines, want in CASES:
    answer = run(lines)
    got = {p["name"]: p["ns"] for p in answer["steps"][0]["parts"]} if answer["steps"] else {}
    good = len(answer["steps"]) == 1 and exact(answer["steps"]) and all(got.get(k) == v for k, v in want.items())
    result(name, good, f"want {want}, got {got} {answer.get('error', '')}")

lossy = sleep(READ)
lossy.insert(4, "lost 2500 3000 7")
answer = run(lossy)
result("an event was lost: no percentages", answer["steps"] and not answer["steps"][0]["exact"] and answer["steps"][0]["lost"] == 7 and
       not any("share" in p for p in answer["steps"][0]["parts"]), answer)
answer = run(lossy[:5] + ["lost 3000 3000 2"] + lossy[5:])
result("... and others later in the same step: their sum", [s["lost"] for s in answer["steps"]] == [9], answer)
answer = run(lossy + [mark(11000, "2 begin"), mark(12000, "2 end"), enter(12100, 0)])
result("... and the next step is exact again", [s["exact"] for s in answer["steps"]] == [False, True], answer)
answer = run([TASK, enter(2000, READ), enter(9 * 10 ** 18, READ)], "every=1ms")
result("a time that jumps makes no windows without end", "windows" in answer.get("error", ""), answer)
answer = run([TASK.replace("R -1", "S 0")] + ["2000 0 101 0 raw_syscalls:sys_enter id=1", "9000 0 101 0 raw_syscalls:sys_exit id=1"], "all")
result("a task that sleeps all the time", answer["steps"] and answer["steps"][0]["parts"][0]["name"] == "unexplained: read", answer)
answer = run([TASK, mark(1000, "1 begin"), out(2000, 0).replace("next_comm=hog", "next_comm=\x1b[2J"),
              into(9000).replace("prev_comm=hog", "prev_comm=\x1b[2J"), mark(10000, "1 end"), enter(10100, 0)])
result("a name that would move the cursor is shown without", "?[2J/7" in str(answer["steps"]) and "\x1b" not in str(answer), answer)
for n, threads, mode in ((20000, 7, "marker"), (20000, 400, "every=20us")):
    answer = run([x for x in random_events(n, threads) if mode == "marker" or "kstall:step" not in x], mode)
    result(f"{n} events without sense, {threads} threads: parts are the step", len(answer["steps"]) > 20 and exact(answer["steps"]),
           answer.get("error", len(answer["steps"])))
answer = run([TASK] + [f"{2000 + i} 0 100 0 task:task_newtask pid={1000 + i} comm=n clone_flags=0" for i in range(10000)] +
             [f"{20000 + i} 0 {1000 + i} 0 kstall:step text=kstall step {i} begin" for i in range(10000)] +
             [f"{40000 + i} 0 {1000 + i} 0 kstall:step text=kstall step {i} end" for i in range(10000)])
result("10,000 threads", len(answer["steps"]) == 10000 and exact(answer["steps"]), answer.get("error", len(answer["steps"])))
CALLS = 3000
answer = run(["1000 0 100 0 task:task_newtask pid=101 comm=loader clone_flags=0x10000", mark(1000, "1 begin"),
              "1000 1 7 0 sched:sched_switch prev_pid=7 prev_comm=hog prev_state=0 next_pid=101 next_comm=loader",
              enter(1000, READ, 101), enter(2000, 202), out(2000)] +
             [line for i in range(2, CALLS + 2) for line in (leave(1000 * i, 101), enter(1000 * i + 600, READ, 101))] +
             [wake(1000 * CALLS + 2000, by=101, flags=0), into(1000 * CALLS + 2000), leave(1000 * CALLS + 2000), leave(1000 * CALLS + 2000, 101),
              mark(1000 * CALLS + 3000, "1 end"), enter(1000 * CALLS + 3001, READ), enter(1000 * CALLS + 3001, READ, 101)])
result("a sleep that a thread ends after thousands of calls", answer["steps"] and parts(answer["steps"][0]) == {
    "futex ← loader/101: user": 600 * CALLS, "futex ← loader/101: kernel: read": 400 * CALLS, "user": 2000}, answer)
calls = [TASK, mark(1000, "1 begin")]
for i in range(5):
    calls += sleep(READ, block(10000 * i + 18990, 100, 5000), begin=10000 * i + 12000, asleep=10000 * i + 12100, awake=10000 * i + 19000,
                   state=2)[2:8]
answer = run(calls + [mark(70000, "1 end"), enter(70100, 0)])
result("a part's count is how often it began", answer["steps"] and {p["name"]: p["count"] for p in answer["steps"][0]["parts"]} == {
    "disk: device": 5, "disk: sched": 5, "disk: tag": 5, "unexplained: read": 10, "kernel: read": 10, "user": 6, "cpu": 5}, answer)
answer = run([TASK, enter(1100, READ), out(2000), wake(14000), into(14000), leave(14500), enter(30000, READ)], "every=4us")
result("... and where it went on from before the step, the step's begin counts", [[(p["name"], p["count"]) for p in s["parts"]] for s in answer["steps"][1:3]] ==
       [[("unexplained: read", 1)]] * 2, answer)
bare = [line for ts in range(1500, 9500, 1000) for line in (mark(ts, ts), enter(ts + 200, READ), leave(ts + 300))]
steps = run([TASK] + bare + [enter(10000, READ)])["steps"]
others = run([TASK, mark(1100, "x begin", 200)] + bare + [enter(10000, READ)])["steps"]
result("... in each of several like steps, whoever else has one", len(steps) == 7 and steps == others and
       all({p["name"]: p["count"] for p in s["parts"]} == {"user": 2, "kernel: read": 1} for s in steps), (steps, others))
calls = [line for nr in range(450) for line in (enter(2000 + 20 * nr, nr), f"{2010 + 20 * nr} 0 100 0 task:task_newtask pid=7 comm=x clone_flags=0",
                                                 leave(2015 + 20 * nr))]
answer = run([TASK, mark(1000, "1 begin")] + calls + [mark(90000, "1 end"), enter(90001, READ)])
result("... and each of many parts has its own", answer["steps"] and [(p["name"], p["count"]) for p in answer["steps"][0]["parts"] if p["count"] != 1] ==
       [("user", 451)], answer)
WAKES = 20000
answer = run([TASK, "1000 0 100 0 task:task_newtask pid=101 comm=proxy clone_flags=0x10000", mark(1000, "1 begin"),
              "1000 1 7 0 sched:sched_switch prev_pid=7 prev_comm=hog prev_state=0 next_pid=101 next_comm=proxy", enter(1000, 16, 101), enter(2000, 202)] +
             [line for i in range(1, WAKES + 1) for line in (out(1000 * i + 1000), wake(1000 * i + 1600, by=101, flags=0), into(1000 * i + 1600))] +
             [leave(1000 * WAKES + 2000), mark(1000 * WAKES + 2000, "1 end"), enter(1000 * WAKES + 2001, READ), leave(1000 * WAKES + 3000, 101)])
result("a waker that stays in one call is named for each sleep that it ends", answer["steps"] and exact(answer["steps"]) and 600 * WAKES == sum(
    p["ns"] for p in answer["steps"][0]["parts"] if "proxy/101" in p["name"] + p["culprit"]), answer)
lengths = [random.choice((1000, 1100, 1200, 9000, 90000) if i < 3000 else (50000, 60000, 700000, 8000000)) for i in range(6000)]
begins = [1000 + sum(lengths[:i]) for i in range(6000)]
text = [line for i, b in enumerate(begins) for line in (mark(b, f"{i} begin"), mark(b + lengths[i], f"{i} end"))] + [enter(10 ** 12, READ)]
usual = [int(statistics.median(lengths[max(i - 101, 0):i] or [0])) for i in range(6000)]
want = [str(i) for i in range(5, 6000) if lengths[i] // 10 > usual[i]]
got = subprocess.run([ENGINE, "marker", "unusual=10"], input="\n".join([TASK] + text) + "\n", capture_output=True, text=True, check=False).stdout.split()
begins = [10000 * i for i in range(1, 66001)]
answer = run([TASK] + [line for i, b in enumerate(begins) for line in (mark(b, f"{i} begin"), mark(b + (9000 if i < 33000 else 1000), f"{i} end"))] +
             [enter(10 ** 12, READ)])
result("of 66,000 steps the median is that of the last 65,536", (answer["total"]["steps"], answer["total"]["median_ns"]) == (66000, 1000), answer["total"])
result("a step is unusual by the median of the last 101", got == want and len(want) > 100, (got[:20], want[:20]))
JOBS = 600000
answer = run([TASK] + [line for i in range(JOBS) for line in (job_complete(2000 + 100 * i, i), fence_wait(2010 + 100 * i, i))] +
             [mark(100 * JOBS + 3000, "1 begin"), job_complete(100 * JOBS + 4000, 4711).replace("other", "newcomer"), fence_wait(100 * JOBS + 4010, 4711),
              mark(100 * JOBS + 5000, "1 end"), enter(100 * JOBS + 5001, READ)])
result("a job has its name, and a task a new one, however many there were before", answer["steps"] and
       {p["culprit"] for p in answer["steps"][0]["parts"] if p["name"].startswith("fence")} == {"job 5:4711 of newcomer/7 on 0000:01:00.0 gfx"}, answer)
answer = run([TASK, mark(1000, "1 begin")] + [fence_wait(2000 + 100 * i, i) for i in range(100000)] +
             [mark(20000000, "1 end"), enter(20000001, READ)])
result("too many fences for a name each: what they share", answer["steps"] and "amdgpu gfx, 100000 fences" in
       [p["culprit"] for p in answer["steps"][0]["parts"]], [p for s in answer["steps"] for p in s["parts"]][:5])
late = [TASK, mark(1000, "1 begin"), mark(2000, "1 end"), enter(2100, READ), leave(2200),
        "3000 0 100 0 mm_migrate:mm_compaction_stall pid=100 tgid=100 comm=t dev= duration_ns=1500 caller=x order=9"]
answer = run(late + [enter(4000, READ)])
result("what comes too late for a step that was given out is counted", answer["cost"]["late"] == 1, answer)
answer = run(late[:-1] + [late[-1].replace("1500", "500"), enter(4000, READ)])
result("... and nothing else", answer["cost"]["late"] == 0, answer)
answer = run([TASK.replace("trainer", "sh"), out(2000).replace("prev_comm=t", "prev_comm=sh"), into(3000).replace("next_comm=t", "next_comm=trainer"),
              out(4000).replace("prev_comm=t", "prev_comm=trainer")], "all")
result("a process is called as it was called at the end", [s["comm"] for s in answer["steps"]] == ["trainer"], answer)
held = ["1000000000 0 100 0 raw_syscalls:sys_enter id=16", out(1100000000, 2)] + [enter(n * 10 ** 9, READ, 7) for n in range(2, 7)]
answer = printed(held, "every=1s", "table", "live")
result("live: the thread that is still in a wait, and how many windows have ended in it",
       "\nstill waiting: t/100, in ioctl for 5.000 s; 5 of its steps have ended meanwhile\n" in answer, answer)
cost = [printed([TASK, mark(1000, "1 begin"), mark(2000, "1 end")], "marker", form, "cost=20,0.5") for form in ("table", "json")]
result("live: what kstall itself has taken of a CPU", "; kstall took 2.5 % of a CPU\n" in cost[0] and
       json.loads(cost[1])["cost"]["cpu_share"] == 0.025, cost)
sys.exit(failed > 0)
