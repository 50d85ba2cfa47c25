# SPDX-License-Identifier: GPL-2.0
"""
What ../../../device/train.py takes of PyTorch, on ../libcuda.so.1: a loop that is fed by the CPU and waits for the GPU, without either
one's arithmetic.
"""

import ctypes
import socket
import time
import types

STEP_NS = 45 * 1000000      # of the GPU, for a training step
CLOCK_HZ = 10**9            # of the GPU: cycles are ns

__version__ = "none, but a stub"
version = types.SimpleNamespace(cuda="none, but a stub")
uint8 = "uint8"

_lib = ctypes.CDLL("libcuda.so.1")
_lib.cuLaunchKernel.argtypes = [ctypes.c_uint64]
_lib.cuMemcpyHtoD_v2.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
if _lib.cuInit(0):
    raise RuntimeError("no mock_nvidia")


class Tensor:
    def __init__(self, size=0):
        self.size = size

    def square(self):
        return self

    mean = cuda = square

    def backward(self):
        _lib.cuLaunchKernel(STEP_NS)

    def item(self):
        _lib.cuStreamSynchronize(None)
        return 0.0

    def copy_(self, host):
        _lib.cuMemcpyHtoD_v2(None, None, host.size)


class Model:
    def __init__(self, *_args, **_named):
        pass

    def cuda(self):
        return self

    def parameters(self):
        return []

    def __call__(self, batch):
        return batch


class Optimizer:
    def __init__(self, parameters):
        pass

    def zero_grad(self):
        pass

    step = zero_grad


class Event:
    def __init__(self, blocking):
        self.wait = _lib.cuEventSynchronize if blocking else _lib.cuCtxSynchronize

    def record(self):
        pass

    def synchronize(self):
        self.wait(None)


def ones(size, **_named):
    return Tensor(size)


empty = zeros = ones


def randn(*_size, **_named):
    return Tensor()


def _connect(rank, port):
    if rank == 0:
        with socket.create_server(("127.0.0.1", port)) as server:
            return server.accept()[0]
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            time.sleep(0.01)


def _init_process_group(_backend, init_method, rank, world_size, timeout):
    assert world_size == 2
    distributed.socket = _connect(rank, int(init_method.rsplit(":", 1)[1]))
    distributed.socket.settimeout(timeout.total_seconds())
    _lib.ncclCommInitRank(distributed.socket.fileno(), rank)


nn = types.SimpleNamespace(TransformerEncoderLayer=Model, TransformerEncoder=Model)
optim = types.SimpleNamespace(AdamW=Optimizer)
cuda = types.SimpleNamespace(
    Event=Event, _sleep=lambda cycles: _lib.cuLaunchKernel(cycles * 10**9 // CLOCK_HZ), synchronize=_lib.cuCtxSynchronize,
    get_device_name=lambda: "no GPU, but mock_nvidia", get_device_capability=lambda: (9, 0),
    nccl=types.SimpleNamespace(version=lambda: (0, 0)))
distributed = types.SimpleNamespace(
    is_available=lambda: True, is_nccl_available=lambda: True, init_process_group=_init_process_group,
    all_reduce=lambda _tensor: _lib.ncclAllReduce())
