#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
train.py LOG [--causes NAME,...] [--rounds N] [--dir DIR]   a training loop on the GPU; some of its steps suffer a known stall
train.py LOG --plain                                        the loop alone, until SIGTERM

Each stalled step has one stall, and two plain steps before it. LOG gets a JSON object a line: "start" says what this machine
has, "skip" which cause cannot be had here and why, "step" before and after the marker of its begin was written, the same of its end,
and of a stalled one when the stall began and ended, how long it was ("ns"), and for how long the loop itself ran on purpose meanwhile
("own"), in ns of CLOCK_MONOTONIC. The markers go where KSTALL_MARKER says, or to /dev/null.

Nothing outside of this process, its children and DIR stays changed: the cgroup of the quota is removed again.
"""

import argparse
import ctypes
import datetime
import json
import mmap
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

os.environ["CUDA_CACHE_DISABLE"] = "1"      # or a module would be compiled only once
os.environ["NCCL_HOSTID"] = f"rank-{os.environ.get('TRAIN_RANK', 0)}"      # or NCCL refuses two ranks on one GPU
os.environ.setdefault("NCCL_SOCKET_IFNAME", "lo")
os.environ["NCCL_IB_DISABLE"] = "1"

import torch

MIB = 1 << 20
now = time.monotonic_ns


class Skip(Exception):
    """This cause cannot be had here."""


class Driver:
    """Calls of libcuda, in the context that PyTorch uses."""

    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")

    def __call__(self, name, *args):
        status = getattr(self.lib, name)(*args)
        if status:
            raise Skip(f"{name}: CUDA error {status}")


class Training:
    """The GPU has more to do than the CPU that feeds it, or a step's length would tell how busy the machine is."""

    def __init__(self):
        layer = torch.nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True)
        self.model = torch.nn.TransformerEncoder(layer, 6).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.batch = torch.randn(16, 256, 1024, device="cuda")

    def step(self):
        self.optimizer.zero_grad()
        loss = self.model(self.batch).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def timed(fn, *args):
    begin = now()
    fn(*args)
    return now() - begin


class Cause:
    """
    prepare: once; before, after: outside of the step; stall: in it, returns its size if that is not its length.
    own: for how long the stall had the loop itself run, without a call
    """

    own = 0

    def __init__(self, args, cuda):
        self.dir, self.cuda = args.dir, cuda

    def prepare(self):
        pass

    def before(self):
        pass

    def stall(self):
        raise NotImplementedError

    def after(self):
        pass

    def close(self):
        pass


class Smi(Cause):
    """cudaMalloc and cudaFree while nvidia-smi asks the driver for everything; the size is what the calls took."""

    def prepare(self):
        try:
            subprocess.run(["nvidia-smi", "-q"], stdout=subprocess.DEVNULL, check=True)
        except (OSError, subprocess.CalledProcessError) as e:
            raise Skip(f"nvidia-smi: {e}") from e

    def before(self):
        self.flag = tempfile.NamedTemporaryFile(dir=self.dir)
        self.smi = subprocess.Popen(["sh", "-c", 'while [ -e "$1" ]; do nvidia-smi -q >/dev/null; done', "sh", self.flag.name])
        time.sleep(0.5)

    def stall(self):
        memory, ns, end = ctypes.c_uint64(), 0, now() + 1000 * 1000000
        while now() < end:
            begin = now()
            self.cuda("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(64 * MIB))
            self.cuda("cuMemFree_v2", memory)
            ns += now() - begin
        return ns

    def after(self):
        self.flag.close()
        self.smi.wait()


class Pin(Cause):
    SIZE = 2048 * MIB

    def prepare(self):
        try:
            self.before()
        except OSError as e:
            raise Skip(f"2 GiB: {e}") from e
        self.stall()
        self.after()

    def before(self):
        self.memory = mmap.mmap(-1, self.SIZE)
        self.first = ctypes.c_char.from_buffer(self.memory)

    def stall(self):
        self.cuda("cuMemHostRegister_v2", ctypes.c_void_p(ctypes.addressof(self.first)), ctypes.c_size_t(self.SIZE), 0)

    def after(self):
        self.cuda("cuMemHostUnregister", ctypes.c_void_p(ctypes.addressof(self.first)))
        del self.first
        self.memory.close()


class Copy(Cause):
    """From pageable memory, which holds the caller."""

    def prepare(self):
        self.host = torch.ones(1024 * MIB, dtype=torch.uint8)
        self.there = torch.empty(1024 * MIB, dtype=torch.uint8, device="cuda")
        self.stall()

    def stall(self):
        self.there.copy_(self.host)
        torch.cuda.synchronize()


class Jit(Cause):
    """A module as PTX, which the driver compiles; never the same twice."""

    def text(self):
        self.seed += 1
        major, minor = torch.cuda.get_device_capability()
        target = min(10 * major + minor, 80)
        body = "\n".join(f"fma.rn.f32 %f{i % 64}, %f{(i * 7 + 1) % 64}, %f{(i * 13 + 5) % 64}, "
                         f"0f3F{(self.seed << 16) + i & 0xFFFFFF:06X};" for i in range(self.lines))
        head = "\n".join(f"ld.global.f32 %f{i}, [%rd1+{4 * i}];" for i in range(64))
        tail = "\n".join(f"st.global.f32 [%rd1+{4 * i}], %f{i};" for i in range(64))
        return (f".version {'7.0' if target == 80 else '6.3'}\n.target sm_{target}\n.address_size 64\n"
                f".visible .entry k(.param .u64 p)\n{{\n.reg .f32 %f<64>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n"
                f"{head}\n{body}\n{tail}\nret;\n}}\n").encode()

    def prepare(self):
        self.seed, self.lines = 0, 1000
        while self.lines < 100000:
            self.before()
            ns = timed(self.stall)
            self.after()
            if ns > 200 * 1000000:
                return
            self.lines *= 2

    def before(self):
        self.ptx, self.module = self.text(), ctypes.c_void_p()

    def stall(self):
        self.cuda("cuModuleLoadDataEx", ctypes.byref(self.module), self.ptx, 0, None, None)

    def after(self):
        self.cuda("cuModuleUnload", self.module)


def spin(ms):
    """Without a system call."""
    end = now() + ms * 1000000
    while now() < end:
        pass


def not_running(fn, *args):
    """For how long the thread did not run meanwhile, and for how long it did."""
    cpu, begin = time.thread_time_ns(), now()
    fn(*args)
    end = now()
    cpu = time.thread_time_ns() - cpu
    return end - begin - cpu, cpu


class Quota(Cause):
    made, enabled, mounted = None, None, None

    def mount(self):
        with open("/proc/self/mounts", encoding="utf-8") as f:
            for line in f:
                _, where, kind, *_ = line.split()
                if kind == "cgroup2":
                    return where
        where = tempfile.mkdtemp(dir=self.dir)
        if subprocess.run(["mount", "-t", "cgroup2", "none", where], stderr=subprocess.DEVNULL, check=False).returncode:
            os.rmdir(where)
            raise Skip("no cgroup v2")
        self.mounted = where
        return where

    def prepare(self):
        try:
            self.root = self.mount()
            with open("/proc/self/cgroup", encoding="utf-8") as f:
                self.home = self.root + [line[3:-1] for line in f if line.startswith("0::/")][0]
            with open(f"{self.root}/cgroup.controllers", encoding="utf-8") as f:
                if "cpu" not in f.read().split():
                    raise Skip("cgroup v2 has no cpu controller")
            with open(f"{self.root}/cgroup.subtree_control", encoding="utf-8") as f:
                if "cpu" not in f.read().split():
                    self.write(f"{self.root}/cgroup.subtree_control", "+cpu")
                    self.enabled = True
            made = f"{self.root}/kstall-device-{os.getpid()}"
            os.mkdir(made)
            self.made = made
            self.write(f"{made}/cgroup.procs", str(os.getpid()))
            self.write(f"{made}/cpu.max", "50000 100000")       # the first time costs more
            self.write(f"{made}/cpu.max", "max 100000")
        except (OSError, IndexError) as e:
            raise Skip(f"no cgroup with a quota: {e}") from e

    @staticmethod
    def write(path, text):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def spin(self):
        self.write(f"{self.made}/cpu.max", "30000 100000")
        spin(450)
        self.write(f"{self.made}/cpu.max", "max 100000")    # which it may have to wait for, too

    def stall(self):
        ns, self.own = not_running(self.spin)
        return ns

    def close(self):
        if self.made:
            # children, too
            with open(f"{self.made}/cgroup.procs", encoding="utf-8") as f:
                for pid in f.read().split():
                    self.write(f"{self.home}/cgroup.procs", pid)
            os.rmdir(self.made)
        if self.enabled:
            self.write(f"{self.root}/cgroup.subtree_control", "-cpu")
        if self.mounted:
            subprocess.run(["umount", self.mounted], check=False)


class Neighbour(Cause):
    """Two processes that spin on the CPU that this thread is bound to, so that it has a third of it."""

    processes = ()

    def prepare(self):
        self.cpus = os.sched_getaffinity(0)
        if len(self.cpus) < 2:
            raise Skip("one CPU only")

    def send(self, what):
        for p in self.processes:
            p.send_signal(what)

    def before(self):
        self.processes = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2)]
        self.send(signal.SIGSTOP)
        for cpu_of in (0, *(p.pid for p in self.processes)):
            os.sched_setaffinity(cpu_of, {max(self.cpus)})

    def stall(self):
        self.send(signal.SIGCONT)
        ns, self.own = not_running(spin, 400)
        self.send(signal.SIGSTOP)
        return ns

    def after(self):
        os.sched_setaffinity(0, self.cpus)
        self.close()

    def close(self):
        for p in self.processes:
            p.kill()
            p.wait()
        self.processes = ()


class Fsync(Cause):
    """Of a checkpoint that was written before."""

    def prepare(self):
        self.path, self.size = f"{self.dir}/checkpoint", 64
        self.before()
        ns = timed(self.stall)
        self.after()
        if ns < 5000000:
            raise Skip(f"fsync of {self.size} MiB in {self.dir} takes {ns / 1e6:.2f} ms: that is no disk")
        self.size = max(4, min(1024, self.size * 300000000 // ns))

    def before(self):
        data = os.urandom(MIB)
        self.fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for _ in range(self.size):
            os.write(self.fd, data)

    def stall(self):
        os.fsync(self.fd)

    def after(self):
        os.close(self.fd)
        os.unlink(self.path)


class KernelSpin(Cause):
    """A kernel of 300 ms, waited for as CUDA does it unless it is told otherwise."""

    def prepare(self):
        if not hasattr(torch.cuda, "_sleep"):
            raise Skip("this PyTorch has no torch.cuda._sleep()")
        self.cycles = 10000000
        for _ in range(3):
            self.cycles = int(self.cycles * 300e6 / timed(KernelSpin.stall, self))

    def stall(self):
        torch.cuda._sleep(self.cycles)
        torch.cuda.synchronize()


class KernelBlock(KernelSpin):
    """... and with an event that is made to be slept for."""

    def stall(self):
        event = torch.cuda.Event(blocking=True)
        torch.cuda._sleep(self.cycles)
        event.record()
        event.synchronize()


LOADER = """
import os, time
while os.read(0, 1):
    time.sleep(0.3)
    os.write(1, b".")
"""


class Loader(Cause):
    """The next batch comes late from another process."""

    def prepare(self):
        self.process = subprocess.Popen([sys.executable, "-c", LOADER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.stall()

    def stall(self):
        self.process.stdin.write(b".")
        self.process.stdout.read(1)

    def close(self):
        if hasattr(self, "process"):
            self.process.stdin.close()
            self.process.wait()


class Nccl(Cause):
    """A collective to which the other rank comes 300 ms late."""

    def prepare(self):
        if not torch.distributed.is_available() or not torch.distributed.is_nccl_available():
            raise Skip("this PyTorch has no NCCL")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.peer = subprocess.Popen([sys.executable, __file__, "--peer", str(port)], stdin=subprocess.PIPE, text=True,
                                     env={**os.environ, "TRAIN_RANK": "1"})
        try:
            self.vector = join(0, port)
            self.ask(0)
            self.ask(0)
        except (RuntimeError, OSError) as e:
            raise Skip(f"no two ranks on one GPU: {str(e).splitlines()[0]}") from e

    def ask(self, late):
        self.peer.stdin.write(f"{late}\n")
        self.peer.stdin.flush()
        torch.distributed.all_reduce(self.vector)
        torch.cuda.synchronize()

    def stall(self):
        self.ask(0.3)

    def close(self):
        if hasattr(self, "peer"):
            self.peer.stdin.close()
            try:
                self.peer.wait(20)
            except subprocess.TimeoutExpired:
                self.peer.kill()


def join(rank, port):
    torch.distributed.init_process_group("nccl", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2,
                                         timeout=datetime.timedelta(seconds=40))
    vector = torch.ones(MIB, device="cuda")
    torch.distributed.all_reduce(vector)
    torch.cuda.synchronize()
    return vector


def peer(port):
    vector = join(1, port)
    for line in sys.stdin:
        time.sleep(float(line))
        torch.distributed.all_reduce(vector)
        torch.cuda.synchronize()
    os._exit(0)


CAUSES = {"smi": Smi, "pin": Pin, "copy": Copy, "jit": Jit, "neighbour": Neighbour, "fsync": Fsync, "spin": KernelSpin,
          "block": KernelBlock, "loader": Loader, "nccl": Nccl, "quota": Quota}


class Run:
    def __init__(self, args):
        self.log = open(args.log, "w", encoding="utf-8")
        self.marker = open(os.environ.get("KSTALL_MARKER", "/dev/null"), "wb", buffering=0)
        self.training = Training()
        self.steps = 0
        for _ in range(20):
            self.training.step()

    def say(self, **what):
        self.log.write(json.dumps(what) + "\n")

    def step(self, name=None, cause=None):
        self.steps += 1
        stall = {}
        begin = now()
        self.marker.write(b"kstall step %d begin cause=%s\n" % (self.steps, (name or "none").encode()))
        begun = now()
        self.training.step()
        if cause:
            from_, found, to = now(), cause.stall(), now()
            stall = {"cause": name, "begin": from_, "end": to, "ns": to - from_ if found is None else found,
                     "own": cause.own}
        ending = now()
        self.marker.write(b"kstall step %d end\n" % self.steps)
        self.say(what="step", step=self.steps, step_begin=begin, step_begun=begun, step_ending=ending, step_end=now(), **stall)


def stalls(args, run):
    cuda, causes = Driver(), {}
    for name in args.causes.split(","):
        cause = CAUSES[name](args, cuda)
        try:
            cause.prepare()
            causes[name] = cause
        except Skip as e:
            run.say(what="skip", cause=name, why=str(e))
            cause.close()
    for _ in range(5):
        run.training.step()
    run.say(what="loop", pid=os.getpid(), ns=now())
    run.log.flush()
    try:
        for _ in range(args.rounds):
            for name, cause in causes.items():
                for _ in range(2):
                    run.step()
                cause.before()
                run.step(name, cause)
                cause.after()
                run.log.flush()
    finally:
        for cause in causes.values():
            cause.close()


def plain(run):
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    run.say(what="loop", pid=os.getpid(), ns=now())
    run.log.flush()
    while not stop:
        run.step()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", nargs="?")
    parser.add_argument("--causes", default=",".join(CAUSES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dir", default=".")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--peer", type=int)
    args = parser.parse_args()
    if args.peer:
        peer(args.peer)
    run = Run(args)
    run.say(what="start", device=torch.cuda.get_device_name(), torch=torch.__version__, cuda=torch.version.cuda,
            nccl=".".join(map(str, torch.cuda.nccl.version())) if torch.distributed.is_available() else "none")
    if args.plain:
        plain(run)
    else:
        stalls(args, run)
    run.log.close()
    os._exit(0)     # a rank of NCCL that goes would wait for the other one


main()
