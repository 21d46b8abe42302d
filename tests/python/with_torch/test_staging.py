"""How buckets of gradients reach the CPU and go back. No GPU is needed: a fake records what would be
asked of one."""

import contextlib
import threading

import pytest
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

import narrowcast
import narrowcast.torch as nct
from narrowcast.torch._staging import Staged, StagedFromCuda, Staging


class Recorder:
    """Stands for narrowcast.torch._staging.Cuda."""

    def __init__(self):
        self.calls = []

    def note(self, *call):
        self.calls.append(call)

    def stream(self, device):
        return Stream(self, "side")

    def current_stream(self, device):
        return Stream(self, "current")

    @contextlib.contextmanager
    def on(self, stream):
        self.note("enter", stream.name)
        yield
        self.note("leave", stream.name)

    def event(self):
        return Event(self)

    def pinned(self, values):
        self.note("pinned", values)
        return Memory(self, "pinned", values)

    def future(self, device):
        return Future(self)


class Stream:
    def __init__(self, recorder, name):
        self.recorder, self.name = recorder, name

    def wait_stream(self, other):
        self.recorder.note(self.name, "waits for", other.name)


class Event:
    def __init__(self, recorder):
        self.recorder = recorder

    def record(self, stream):
        self.recorder.note("event recorded on", stream.name)

    def synchronize(self):
        self.recorder.note("event awaited")


class Future:
    def __init__(self, recorder):
        self.recorder = recorder

    def set_result(self, value):
        self.recorder.note("future is", value.name)


class Memory:
    """A tensor as far as staging looks at it."""

    layout = torch.strided
    dtype = torch.float16
    device = torch.device("cuda", 0)

    def __init__(self, recorder, name, values):
        self.recorder, self.name, self.values = recorder, name, values

    def numel(self):
        return self.values

    def copy_(self, other, non_blocking=False):
        self.recorder.note("copy", other.name, self.name, non_blocking)


def test_a_cuda_bucket_goes_through_pinned_memory_on_a_stream_of_its_own():
    recorder = Recorder()
    staging = Staging(recorder)
    staged = staging.stage(0, Memory(recorder, "bucket", 100))
    assert isinstance(staged, StagedFromCuda) and not staged.is_here
    staged.await_values()
    staged.complete()
    assert recorder.calls == [
        ("pinned", 100),
        ("side", "waits for", "current"),
        ("enter", "side"),
        ("copy", "bucket", "pinned", True),
        ("event recorded on", "side"),
        ("leave", "side"),
        ("event awaited",),
        ("enter", "side"),
        ("copy", "pinned", "bucket", True),
        ("future is", "bucket"),
        ("leave", "side"),
    ]


class Late(Staged):
    """Values that come when they are awaited, as those of a device do."""

    is_here = False

    def __init__(self, bucket):
        super().__init__(bucket, torch.full_like(bucket, float("nan")), torch.futures.Future())

    def await_values(self):
        assert threading.current_thread().name == "narrowcast", "back-propagation would wait"
        self.values.copy_(self.bucket)


class LateStaging:
    def stage(self, index, bucket):
        return Late(bucket)


def test_the_engine_awaits_values_that_are_not_here():
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 64))
        ddp = DistributedDataParallel(net, bucket_cap_mb=0.01)
        handle = nct.compress(ddp, "fp32", say=lambda line: None)
        handle._engine._staging = LateStaging()
        for step in range(3):  # the first is held back as a whole, the others go bucket by bucket
            x = torch.randn(4, 64)
            ddp.zero_grad()
            ddp(x).square().mean().backward()
            expected = torch.autograd.grad(net(x).square().mean(), list(net.parameters()))
            assert all(torch.equal(p.grad, e) for p, e in zip(net.parameters(), expected))
        assert handle.buckets > 1 and handle.stats()["steps"] == 3
        handle.remove()
    finally:
        distributed.destroy_process_group()


def test_pinned_memory_is_kept_from_step_to_step():
    recorder = Recorder()
    staging = Staging(recorder)
    for values in (100, 100, 60):
        staging.stage(0, Memory(recorder, "bucket", values))
    assert [call for call in recorder.calls if call[0] == "pinned"] == [("pinned", 100), ("pinned", 60)]


def test_float32_of_the_cpu_is_worked_on_where_it_is():
    bucket = torch.ones(4)
    staged = Staging().stage(0, bucket)
    assert staged.is_here and staged.values is bucket
    staged.values.mul_(2)
    staged.complete()
    assert staged.future.wait() is bucket


@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16, torch.float64))
def test_other_types_are_converted_there_and_back(dtype):
    bucket = torch.ones(4, dtype=dtype)
    staged = Staging().stage(0, bucket)
    assert staged.values.dtype is torch.float32
    staged.values.mul_(2)
    staged.complete()
    assert torch.equal(bucket, torch.full((4,), 2, dtype=dtype))


def test_what_cannot_be_staged_is_refused():
    with pytest.raises(narrowcast.UsageError, match="sparse"):
        Staging().stage(0, torch.ones(4).to_sparse())
    with pytest.raises(narrowcast.UsageError, match="complex64"):
        Staging().stage(0, torch.ones(4, dtype=torch.complex64))
    with pytest.raises(narrowcast.UsageError, match="meta"):
        Staging().stage(0, torch.ones(4, device="meta"))
