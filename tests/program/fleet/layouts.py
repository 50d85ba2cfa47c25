#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
layouts.py METRICS_TEST: whose job a node runs, by directory trees as Slurm, systemd, kubelet and container runtimes make them, and who is
the straggler of fleets of such nodes, by `promtool test rules`. Prints TAP.
"""

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import uuid

sys.dont_write_bytecode = True
import promtool  # noqa: E402
import tap  # noqa: E402

program = sys.argv[1]
CGROUPS = "sys/fs/cgroup"
# What a node has beside its jobs
SYSTEMD = ["init.scope", "dev-hugepages.mount", "sys-kernel-tracing.mount", "system.slice/systemd-journald.service", "system.slice/ssh.service",
           "system.slice/slurmd.service", "system.slice/prometheus-node-exporter.service", "system.slice/system-getty.slice/getty@tty1.service",
           "user.slice/user-1000.slice/user@1000.service/app.slice", "user.slice/user-1000.slice/session-4.scope"]
STEPS = ["step_extern/user/task_special", "step_extern/slurm", "step_batch/user/task_0", "step_batch/slurm", "step_0/user/task_0", "step_0/user/task_7", "step_0/slurm"]


# As the service is: root without a capability
SERVICE = ["setpriv", "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"]


def jobs(root, source, *begun_by):
    """[workload, …] in the order of their slots, whether the source was understood, what was said, and the page's samples"""
    p = subprocess.run([*begun_by, program, "--jobs", source, "/nonexistent"], capture_output=True, text=True, env={**os.environ, "KSTALL_ROOT": root}, check=True)
    info = [l for l in p.stdout.splitlines() if l.startswith("kstall_job_info")]
    return [re.search('workload="([^"]*)"', l)[1] for l in info], "kstall_job_source_up 1\n" in p.stdout, p.stderr, info


def is_job(what, root, source, want, understood=True, begun_by=()):
    """@want: workloads. One sentence says why the source is not understood."""
    found, up, said, _ = jobs(root, source, *begun_by)
    tap.result((found, up, said.count("\n")) == (want, understood, 0 if understood else 1), what, f"{found} {up}\n{said}")


def is_denied(root, source, path, want):
    """@path is not ours to read: the message names it."""
    mode = os.stat(f"{root}/{path}").st_mode
    os.chmod(f"{root}/{path}", 0)
    found, up, said, _ = jobs(root, source, *SERVICE)
    os.chmod(f"{root}/{path}", mode)
    good = (found, up, said) == (want, False, f"kstall: --jobs {source}: {root}/{path}: Permission denied\n")
    tap.result(good, f"{path} cannot be read: {want} at most, not known, which is said", f"{found} {up}\n{said}")


def make(root, paths):
    for path in paths:
        os.makedirs(os.path.join(root, path), exist_ok=True)
    return root


def put(root, path, text):
    os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
    with open(os.path.join(root, path), "w", encoding="utf-8") as f:
        f.write(text)


# --- Slurm ---

def slurm_v2(root, *names, scope="slurmstepd.scope", above="system.slice"):
    """cgroup/v2 since 22.05; 26.05 names jobs by SLUID. @above: CgroupSlice"""
    held = [f"{name}/{step}" for name in names for step in STEPS]
    return make(root, [f"{CGROUPS}/{p}" for p in SYSTEMD + [f"{above}/{scope}/{h}" for h in ["system", *held]]])


def slurm_v1(root, *names, top="slurm"):
    held = [f"uid_1000/{name}/step_{step}/task_0" for name in names for step in ("extern", "batch", "0")]
    return make(root, [f"{CGROUPS}/{c}/{p}" for c in ("systemd", "cpuset", "memory", "devices", "freezer", "cpu,cpuacct")
                       for p in SYSTEMD + [f"{top}/{h}" for h in ["system", *held] if c not in ("systemd", "cpu,cpuacct")]])


def slurm(work):
    for version in "23.11", "24.05", "24.11", "25.05", "25.11":
        is_job(f"Slurm {version}", slurm_v2(f"{work}/{version}", "job_1734", "job_903"), "slurm", ["slurm/1734", "slurm/903"])
    for above in "slurm.slice", "slurm_jobs.slice", "hpc.slice/hpc-slurm.slice", "kubepods.slice/kubepods-pod5_6.slice/cri-containerd-12.scope/system.slice":
        is_job(f"Slurm 26.05 in {above}", slurm_v2(f"{work}/{above}", "s5K1KKYAYG5D00", above=above), "slurm", ["slurm/s5K1KKYAYG5D00"])
    exporter = make(f"{work}/exporter", [f"{CGROUPS}/{p}" for p in SYSTEMD + ["system.slice/slurm_exporter.service"]])
    is_job("an exporter of Slurm's is no cgroup of jobs: not understood", exporter, "slurm", [], False)
    make(exporter, [f"{CGROUPS}/system.slice/slurm_exporter.service/scrape"])
    is_job("... nor does it keep jobs from being understood", slurm_v2(exporter, "job_1734"), "slurm", ["slurm/1734"])
    hybrid = slurm_v1(f"{work}/hybrid", "job_1734")
    make(hybrid, [f"{CGROUPS}/unified/{p}" for p in SYSTEMD])
    is_job("Slurm 23.11, cgroup v1 with v2 beside it", hybrid, "slurm", ["slurm/1734"])
    is_job("Slurm 23.11, cgroup v1", slurm_v1(f"{work}/b", "job_1734"), "slurm", ["slurm/1734"])
    is_job("Slurm 23.11, several slurmd on a node", slurm_v2(f"{work}/c", "job_1734", scope="node17_slurmstepd.scope"), "slurm", ["slurm/1734"])
    is_job("Slurm 23.11, several slurmd on a node, cgroup v1", slurm_v1(f"{work}/d", "job_1734", top="slurm_node17"), "slurm", ["slurm/1734"])
    is_job("Slurm 26.05: the job's SLUID", slurm_v2(f"{work}/e", "s5K1KKYAYG5D00"), "slurm", ["slurm/s5K1KKYAYG5D00"])
    is_job("Slurm 26.05, CgroupJobIdPaths=yes", slurm_v2(f"{work}/f", "job_2001"), "slurm", ["slurm/2001"])
    is_job("a node of Slurm's without a job", slurm_v2(f"{work}/g"), "slurm", [])
    is_job("ten jobs on a node, in each controller: eight are shown", slurm_v1(f"{work}/h", *(f"job_{n}" for n in range(10, 20))), "slurm",
           [f"slurm/{n}" for n in range(10, 18)])
    for wrong in "j17", "s5K1KKYAYG5D0", "s5K1KKYAYG5DOO", "job_17a":
        is_job(f"jobs that are called {wrong}: not understood, which is said", slurm_v2(f"{work}/wrong-{wrong}", wrong), "slurm", [], False)
    is_job("a node without cgroups of Slurm's: not understood", make(f"{work}/i", [f"{CGROUPS}/{p}" for p in SYSTEMD]), "slurm", [], False)
    is_job("one file at a time is enough, however deep the cgroups", slurm_v1(f"{work}/j", "job_1734"), "slurm", ["slurm/1734"], begun_by=["prlimit", "--nofile=4"])
    for path in "system.slice", "system.slice/slurmstepd.scope":
        is_denied(slurm_v2(f"{work}/k", "job_1734"), "slurm", f"{CGROUPS}/{path}", [])
    is_denied(slurm_v1(f"{work}/l", "job_1734"), "slurm", f"{CGROUPS}/memory/slurm/uid_1000", ["slurm/1734"])


# --- Kubernetes ---

CHECKPOINT, CLAIMS = "var/lib/kubelet/device-plugins/kubelet_internal_checkpoint", "var/lib/kubelet/dra_manager_state"


def compact(what):
    return json.dumps(what, separators=(",", ":"))


def device(path):
    """DeviceSpec of a plugin's answer, in protobuf: container_path, host_path, permissions"""
    spec = b"".join(bytes([tag, len(v)]) + v for tag, v in ((0x0a, path), (0x12, path), (0x1a, b"rw")))
    return bytes([0x1a, len(spec)]) + spec


def plugin(resource, answer=b""):
    return resource, base64.b64encode(answer).decode()


GPU = plugin("nvidia.com/gpu", bytes([0x0a, 2, 0x0a, 0]) + device(b"/dev/nvidia0"))
IB = device(b"/dev/infiniband/uverbs0") + device(b"/dev/infiniband/rdma_cm")
RDMA = plugin("rdma/hca_shared_devices_a", IB)
# as the operators, a network and monitoring leave them on each node; they hold nothing by a plugin
DAEMONS = ["gpu-operator/nvidia-driver-daemonset", "gpu-operator/nvidia-container-toolkit-daemonset", "gpu-operator/nvidia-device-plugin-daemonset",
           "gpu-operator/nvidia-dcgm-exporter", "gpu-operator/gpu-feature-discovery", "gpu-operator/nvidia-operator-validator",
           "network-operator/mofed-ubuntu22.04-ds", "network-operator/rdma-shared-dp-ds", "network-operator/kube-multus-ds", "calico-system/calico-node",
           "monitoring/node-exporter", "monitoring/promtail", "kube-system/kube-proxy"]


class Node:
    """What kubelet and a container runtime have made on a node"""

    def __init__(self, root, number=0, driver="systemd", v1=False, hybrid=False, runtime="cri-containerd"):
        self.root, self.number, self.driver, self.entries, self.claims, self.pods = root, number, driver, [], [], 0
        self.runtime = runtime
        self.cgroups = [f"{CGROUPS}/{c}" for c in ("cpuset", "memory", "systemd") + ("unified",) * hybrid] if v1 or hybrid else [CGROUPS]
        for cgroups in self.cgroups:
            make(root, [f"{cgroups}/{p}" for p in SYSTEMD] + [f"{cgroups}/system.slice/{s}.service" for s in ("kubelet", "containerd")])
        for name in DAEMONS:
            self.pod(f"{name}-{self.random()}", qos="besteffort")
        self.pod("cert-manager/cert-manager-webhook-6c9dd55dc8-" + self.random(), qos="burstable")

    def random(self):
        """The five characters that Kubernetes adds"""
        self.pods += 1
        return "".join("bcdfghjklmnpqrstvwxz2456789"[(self.pods * 7 + self.number * 3 + i * 11) % 27] for i in range(5))

    def pod(self, name, *devices, qos="", runs=True, claim=None, number=2, began=None, uid=None):
        """@number: of devices by each plugin, or by the claim; @began: in seconds, else now; @uid: of a static pod"""
        namespace, name = name.split("/")
        uid = uid or str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{self.number} {namespace} {name} {runs}"))
        logs = f"var/log/pods/{namespace}_{name}_{uid}"
        make(self.root, [f"{logs}/main"])
        os.utime(f"{self.root}/{logs}", (began, began) if began else None)
        ids = [f"GPU-{i}" for i in range(number)]
        for resource, answer in devices:
            self.entries.append({"PodUID": uid, "ContainerName": "main", "ResourceName": resource,
                                 "DeviceIDs": {"0": ids[:4], "1": ids[4:]} if number > 4 else {"0": ids}, "AllocResp": answer})
        if claim:
            self.claims.append({"ClaimUID": str(uuid.uuid5(uuid.NAMESPACE_DNS, uid)), "ClaimName": f"{name}-gpu", "Namespace": namespace, "PodUIDs": {uid: {}},
                                "DriverState": {claim: {"Devices": [{"PoolName": "node", "DeviceName": i, "RequestNames": ["one"], "CDIDeviceIDs": []} for i in ids]}}})
        for cgroups in self.cgroups if runs else []:
            make(self.root, [f"{cgroups}/{self.slice(uid, qos)}"])
        self.write()
        return f"{self.root}/{logs}", f"{self.root}/{self.cgroups[0]}/{self.slice(uid, qos)}"

    def slice(self, uid, qos):
        container = hashlib.sha256(uid.encode()).hexdigest()
        if self.driver == "cgroupfs":
            return f"kubepods/{qos + '/' if qos else ''}pod{uid}/{container}"
        # kind has kubelet.slice/kubelet-kubepods.slice
        above, top = ("kubelet.slice/", "kubelet-kubepods") if self.driver == "kind" else ("", "kubepods")
        of_qos = f"{top}-{qos}" if qos else top
        return f"{above}{top}.slice/" + (f"{of_qos}.slice/" if qos else "") + f"{of_qos}-pod{uid.replace('-', '_')}.slice/{self.runtime}-{container}.scope"

    def write(self):
        put(self.root, CHECKPOINT, compact(
            {"Data": {"PodDeviceEntries": self.entries or None, "RegisteredDevices": {"nvidia.com/gpu": ["GPU-9b341c59", "GPU-c1e9f249"]}}, "Checksum": 2530956716}))
        put(self.root, CLAIMS, compact(
            {"Data": compact({"kind": "DRACheckpoint", "apiVersion": "checkpoint.dra.kubelet.k8s.io/v1", "ClaimInfoStateList": self.claims}), "Checksum": 1}))


def kubernetes(work):
    is_job("a node with nothing but daemon sets and a webhook has no job", Node(f"{work}/a").root, "kubernetes", [])
    for driver, v1 in ("systemd", False), ("cgroupfs", False), ("kind", False), ("systemd", True), ("cgroupfs", True):
        node = Node(f"{work}/b-{driver}-{v1}", driver=driver, v1=v1)
        node.pod("ml/llama-worker-3", GPU, RDMA)
        node.pod("ml/finished-worker-3", GPU, runs=False)
        is_job(f"the pod with GPUs that runs is the job; {driver}, cgroup v{1 if v1 else 2}", node.root, "kubernetes", ["ml/llama"])
    node = Node(f"{work}/c")
    node.pod("storage/beegfs-client-x2bcd", RDMA)
    node.pod("team-a/sriov-0", plugin("example.com/pool_a", IB), qos="burstable")
    node.pod("vm/kvm-0", plugin("devices.kubevirt.io/kvm", device(b"/dev/kvm")))
    is_job("RDMA devices by whatever resource; others do not count", node.root, "kubernetes", ["storage/beegfs-client", "team-a/sriov"])
    node.pod("zeta/train-0-7lz2k", GPU)
    is_job("a pod that has a GPU comes first", node.root, "kubernetes", ["zeta/train", "storage/beegfs-client", "team-a/sriov"])
    is_job("of namespaces that were asked for", node.root, "kubernetes:team-*,storage", ["storage/beegfs-client", "team-a/sriov"])
    node.pod("gpu-operator/health-check-x4bcd", GPU)
    is_job("a daemon set that holds GPUs goes by its namespace", node.root, "kubernetes:zeta", ["zeta/train"])
    node = Node(f"{work}/d")
    node.pod("ml/claims-0", claim="gpu.nvidia.com")
    node.pod("ml/other-0", claim="fpga.example.com")
    is_job("devices by claims (DRA)", node.root, "kubernetes", ["ml/claims"])
    node = Node(f"{work}/e")
    long = "ml/" + "-".join(["long"] * 40)
    node.pod(long + "-0", plugin("nvidia.com/mig-3g.40gb"))
    is_job("a name of 200 characters, a MIG device", node.root, "kubernetes", [long])
    is_job("no kubelet: not understood, which is said", slurm_v2(f"{work}/f"), "kubernetes", [], False)
    put(node.root, CHECKPOINT, '{"v2":{}}')
    is_job("a checkpoint of another kind: not understood", node.root, "kubernetes", [], False)
    node = Node(f"{work}/g")
    os.rename(f"{node.root}/{CGROUPS}/kubepods.slice", f"{node.root}/hidden")
    is_job("cgroups that are not the node's: not understood", node.root, "kubernetes", [], False)


def pods(work, names, want, what):
    """@names: pods with a GPU each; @want: their workloads"""
    node = Node(work)
    for name in names:
        node.pod(f"ml/{name}", GPU)
    is_job(what, node.root, "kubernetes", [f"ml/{w}" for w in want])


def names(work):
    """What controllers call the pods of one job"""
    for n, (names_of, want, what) in enumerate((
            (["llama-workers-0-0-x7k2p", "llama-workers-0-1-b4cdf", "llama-workers-1-0-zz9s2"], ["llama-workers"] * 3, "JobSet"),
            (["llama-node-0-0-x7k2p", "llama-node-0-11-b4cdf"], ["llama-node"] * 2, "Kubeflow's TrainJob"),
            (["pi-launcher-x7k2p", "pi-worker-0", "pi-worker-12"], ["pi"] * 3, "MPIJob, whose launcher works, too"),
            (["llama-master-0", "llama-worker-0", "llama-worker-31"], ["llama"] * 3, "PyTorchJob"),
            (["bert-chief-0", "bert-worker-3"], ["bert"] * 2, "TFJob"),
            (["lws-0", "lws-0-1", "lws-0-7"], ["lws"] * 3, "LeaderWorkerSet"),
            (["train-1-worker-0", "train-2-worker-0"], ["train-1", "train-2"], "two jobs that differ in a number"),
            (["sweep-20261127-0-x7k2p", "sweep-20261128-0-b4cdf"], ["sweep-20261127", "sweep-20261128"], "... in a date"),
            (["sweep-001-x7k2p", "sweep-002-b4cdf"], ["sweep-001", "sweep-002"], "... in a number with zeros in front"),
            (["train-lstm5-0", "train-lstm6-0"], ["train-lstm5", "train-lstm6"], "... in what looks as if it came by chance"))):
        pods(f"{work}/{n}", names_of, want, f"the job's name: {what}")


def runtimes(work):
    for runtime in "crio", "docker":
        for v1 in False, True:
            node = Node(f"{work}/{runtime}-{v1}", v1=v1, runtime=runtime)
            node.pod("ml/llama-worker-3", GPU, RDMA)
            is_job(f"the pod with GPUs that runs is the job; {runtime}, cgroup v{1 if v1 else 2}", node.root, "kubernetes", ["ml/llama"])
    for driver in "systemd", "cgroupfs", "kind":
        for hybrid in False, True:
            node = Node(f"{work}/{driver}-{hybrid}", driver=driver, v1=True, hybrid=hybrid)
            node.pod("ml/llama-worker-3", GPU, qos="burstable")
            is_job(f"a burstable pod; {driver}, cgroup v1{' with v2 beside it' if hybrid else ''}", node.root, "kubernetes", ["ml/llama"])
    for driver in "systemd", "cgroupfs":
        node = Node(f"{work}/static-{driver}", driver=driver)
        node.pod("ml/train-node17", GPU, uid="8a2f66cd7d1e1b1d2a7b1f2f9e0d4c3b", began=2)
        node.pod("ml/own-node17", GPU, uid="my-own-uid", began=1)
        node.pod("ml/other-node17", uid="my-own-uid-2")
        is_job(f"static pods: a UID that is a hash, or of their manifest; {driver}", node.root, "kubernetes", ["ml/own-node17", "ml/train-node17"])
    node = Node(f"{work}/podman")
    make(node.root, [f"{CGROUPS}/{p}" for p in ("system.slice/podman.service", "machine.slice/libpod-12.scope", "podman.service/x", "pod0123456789abcdef.service")])
    node.pod("ml/llama-worker-3", GPU)
    is_job("others that are called pod", node.root, "kubernetes", ["ml/llama"])
    node = Node(f"{work}/unknown")
    node.pod("ml/llama-worker-3", GPU)
    make(node.root, [f"{CGROUPS}/kubepods.slice/kubepods-burstable.slice/workload-5f2c.slice"])
    is_job("what is no pod among pods: not understood, which is said", node.root, "kubernetes", ["ml/llama"], False)
    node = Node(f"{work}/moved")
    node.pod("ml/llama-worker-3", GPU)
    os.rename(f"{node.root}/var/log/pods", f"{node.root}/var/log/elsewhere")
    is_job("podLogsDir elsewhere: not known, which is said", node.root, "kubernetes", [], False)
    os.rename(f"{node.root}/var/log/elsewhere", f"{node.root}/var/log/pods")
    os.rename(f"{node.root}/var/lib/kubelet", f"{node.root}/var/lib/elsewhere")
    is_job("kubelet's root-dir elsewhere: not known, which is said", node.root, "kubernetes", [], False)
    os.symlink(f"{node.root}/var/lib/elsewhere", f"{node.root}/var/lib/kubelet")
    is_job("... but by a link", node.root, "kubernetes", ["ml/llama"])


def several(work):
    """Pods with devices on one node: the first is the node's job"""
    node = Node(f"{work}/a")
    node.pod("aaa/jupyter-0", GPU, number=1, began=1)
    node.pod("gpu-operator/health-check-x4bcd", GPU, number=2)
    node.pod("ml/llama-worker-3", GPU, number=8)
    node.pod("a/storage-0", RDMA, number=16)
    want = ["ml/llama", "gpu-operator/health-check", "aaa/jupyter", "a/storage"]
    is_job("the pod that has the most GPUs comes first", node.root, "kubernetes", want)
    for entry in node.entries:
        entry["DeviceIDs"] = sum(entry["DeviceIDs"].values(), [])
    node.write()
    is_job("as in a checkpoint without NUMA nodes", node.root, "kubernetes", want)
    node = Node(f"{work}/b")
    for name, number, began in ("a", 2, 1000), ("b", 2, 900), ("c", 2, 900), ("d", 3, 1000):
        node.pod(f"ml/{name}-x4bcd", RDMA, number=number, began=began)
    is_job("of RDMA devices, too; then the one that has run longest, then by name", node.root, "kubernetes", ["ml/d", "ml/b", "ml/c", "ml/a"])
    node = Node(f"{work}/c")
    for name in "ml/llama-0", "ml/llama-1":
        node.pod(name, GPU, number=2)
    node.pod("aaa/jupyter-0", GPU, number=3, began=1)
    is_job("pods of one workload count together", node.root, "kubernetes", ["ml/llama", "ml/llama", "aaa/jupyter"])
    node = Node(f"{work}/d")
    node.pod("aaa/jupyter-0", claim="gpu.nvidia.com", number=2)
    node.pod("ml/llama-0", claim="gpu.nvidia.com", number=3)
    is_job("devices of claims are counted", node.root, "kubernetes", ["ml/llama", "aaa/jupyter"])


def forms(work):
    """Of what kubelet writes"""
    node = Node(f"{work}/a")
    node.pod("ml/llama-0", GPU)
    state = {"ClaimUID": "067798be-454e", "ClaimName": "c", "Namespace": "ml"}
    for what, text in ("1.31", {"version": "v1", "checksum": 1}), ("1.32", {"Data": compact({"kind": "DRACheckpoint", "Entries": None}), "Checksum": 1}):
        put(node.root, CLAIMS, compact(text))
        is_job(f"no claims in Kubernetes {what}: the plugin's devices are known", node.root, "kubernetes", ["ml/llama"])
    held = {"PodUIDs": {node.entries.pop()["PodUID"]: {}}, "CDIDevices": {"gpu.example.com": ["example.com/gpu=0"]}}
    node.write()
    put(node.root, CLAIMS, compact({"version": "v1", "entries": [{"DriverName": "gpu.example.com", "ClassName": "gpu", **state, **held}], "checksum": 1}))
    is_job("a claim of Kubernetes 1.31", node.root, "kubernetes", ["ml/llama"])
    for text in {}, {"version": "v9"}, {"Data": compact({"Claims": [state]}), "Checksum": 1}, {"Data": compact({"ClaimInfoStateList": [state]}), "Checksum": 1}:
        node.write()
        put(node.root, CLAIMS, compact(text))
        is_job(f"claims of another form, {compact(text)[:30]}: not understood, which is said", node.root, "kubernetes", [], False)
    node.entries = [{"Pod": "a", "ResourceName": "nvidia.com/gpu"}]
    node.write()
    is_job("entries of another form in the checkpoint: not understood", node.root, "kubernetes", [], False)


def nameless(work):
    node = Node(f"{work}/a")
    logs, container = node.pod("ml/llama-0", GPU)
    shutil.rmtree(logs)
    is_job("a pod that runs with GPUs and has no directory of logs: not known, which is said", node.root, "kubernetes", [], False)
    os.rmdir(container)
    is_job("while a pod awaits its volumes it has no job yet", node.root, "kubernetes", [])


def unreadable(work):
    """What kubelet and containerd have made, but not for us"""
    node = Node(f"{work}/a")
    node.pod("ml/llama-0", GPU)
    for path, want in (f"{CGROUPS}/kubepods.slice", []), (CHECKPOINT, []), (CLAIMS, ["ml/llama"]), ("var/log/pods", []):
        is_denied(node.root, "kubernetes", path, want)
    for path, want in (CHECKPOINT, []), (CLAIMS, ["ml/llama"]):
        os.rename(f"{node.root}/{path}", f"{work}/aside")
        os.mkdir(f"{node.root}/{path}")
        is_job(f"a directory where {os.path.basename(path)} was: not known, which is said", node.root, "kubernetes", want, False)
        os.rmdir(f"{node.root}/{path}")
        os.rename(f"{work}/aside", f"{node.root}/{path}")
    os.unlink(f"{node.root}/{CLAIMS}")
    is_job("no claims where there is a checkpoint: the plugin's devices are known", node.root, "kubernetes", ["ml/llama"])


def by_file(work):
    """mpirun or torchrun in a session or a transient unit"""
    root = make(f"{work}/a", [f"{CGROUPS}/{p}" for p in SYSTEMD + ["system.slice/run-u17.service", "user.slice/user-1000.slice/session-9.scope"]])
    put(root, "jobs", "")
    is_job("no rank has begun", root, f"file:{root}/jobs", [])
    put(root, "jobs", "workload=llama-70b\n")
    is_job("the launcher writes a file", root, f"file:{root}/jobs", ["llama-70b"])
    os.unlink(f"{root}/jobs")
    is_job("a file that is not there: not known", root, f"file:{root}/jobs", [], False)
    os.mkdir(f"{root}/jobs")
    said = jobs(root, f"file:{root}/jobs")[1:3]
    tap.result(said == (False, f"kstall: --jobs file:{root}/jobs: Is a directory\n"), "a directory where it was: not known, and why", said)


# --- the straggler ---

SAMPLES = 41


def counters(node, rate, info):
    text = promtool.series("kstall_reach", {"instance": node, "layer": "iommu", "state": "armed"}, [f"1x{SAMPLES}"])
    for device, share in ("0000:17:00.0", 0.7), ("0000:65:00.0", 0.3):
        labels = {"instance": node, "layer": "iommu", "event": "iommu_iotlb_sync", "device": device, "cause": "strict"}
        text += promtool.series("kstall_stall_seconds_total", labels, [f"0+{rate * share * 30:.3f}x{SAMPLES}"])
    for line in info:
        labels = dict(re.findall(r'(\w+)="([^"]*)"', line))
        text += promtool.series("kstall_job_info", {"instance": node, **labels}, [f"1x{SAMPLES}"])
    return text


def judge(what, nodes, source, workload):
    """@nodes: (root, seconds a second). The first is the straggler of @workload, and nobody else is one of anything."""
    text = "".join(counters(f"node{n}", rate, jobs(root, source)[3]) for n, (root, rate) in enumerate(nodes))
    want = promtool.sample({"alertname": "KstallStraggler", "instance": "node0", "layer": "iommu", "device": "0000:17:00.0", "cause": "strict", "workload": workload})
    expr = 'count by (alertname, instance, layer, device, cause, workload) (ALERTS{alertstate="firing"})'
    promtool.check(what, [(text, [(expr, "18m", [want])])], "30s")


def stragglers(work):
    # Eight nodes train, four serve and wait for as much as the straggler, six are idle but one, which has no job.
    rates = [0.5] + [0.1] * 7 + [0.5] * 4 + [0.001] * 5 + [0.5]
    nodes = []
    for n, rate in enumerate(rates):
        node = Node(f"{work}/k{n}", n)
        if n < 8:
            node.pod(f"ml/llama-worker-{n}" if n else "ml/llama-master-0", GPU, RDMA, number=7)
            if n % 2 == 0:
                node.pod("aaa/jupyter-0", GPU, number=1, began=1)
        elif n < 12:
            node.pod(f"web/serve-7d9f8b6c5-{node.random()}", GPU)
        nodes.append((node.root, rate))
    judge("Kubernetes: the straggler is the training job's", nodes, "kubernetes", "ml/llama")
    held = ["s5K1KKYAYG5D00"] * 8 + ["s5K1KKYAYG5D7Z"] * 4
    judge("Slurm 26.05: the straggler is the training job's", [(slurm_v2(f"{work}/s{n}", *held[n:n + 1]), rate) for n, rate in enumerate(rates)],
          "slurm", "slurm/s5K1KKYAYG5D00")
    held = ["job_17"] * 8 + ["job_4"] * 4
    judge("Slurm 23.11: the straggler is the training job's", [(slurm_v2(f"{work}/o{n}", *held[n:n + 1]), rate) for n, rate in enumerate(rates)],
          "slurm", "slurm/17")


for part in slurm, kubernetes, runtimes, names, several, forms, nameless, unreadable, by_file, stragglers:
    with tempfile.TemporaryDirectory() as directory:
        part(directory)
tap.end()
