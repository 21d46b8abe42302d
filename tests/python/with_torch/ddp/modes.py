"""The ways in which people use DistributedDataParallel. Each is trained three times: without a hook,
with a hook and fp32 on the wire, and with a hook and dynamic8."""

import random
import threading
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

from narrowcast.torch import _engine

STEPS = 10
WIDTH = 48


class Mode:
    """One way: how to make the model, how to wrap it, and what a step does."""

    options = {}
    dtype = torch.float32

    @staticmethod
    def members_of(ranks):
        """Those that train it."""
        return list(range(ranks))

    def model(self):
        layers = [m for _ in range(8) for m in (nn.Linear(WIDTH, WIDTH), nn.ReLU())]
        return nn.Sequential(*layers, nn.Linear(WIDTH, 4))

    def batch(self, generator):
        return torch.randn(16, WIDTH, generator=generator).to(self.dtype)

    def loss(self, ddp, batch, step):
        return ddp(batch).square().mean()

    def step(self, ddp, optimizer, generator, step):
        optimizer.zero_grad()
        self.loss(ddp, self.batch(generator), step).backward()
        optimizer.step()


class Plain(Mode):
    pass


class Accumulation(Mode):
    def step(self, ddp, optimizer, generator, step):
        optimizer.zero_grad()
        with ddp.no_sync():
            for _ in range(2):
                self.loss(ddp, self.batch(generator), step).backward()
        self.loss(ddp, self.batch(generator), step).backward()
        optimizer.step()


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(WIDTH, WIDTH)
        self.branches = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(6))

    def forward(self, x, used):
        x = torch.relu(self.trunk(x))
        for i in used:
            x = torch.relu(self.branches[i](x))
        return x


class UnusedParameters(Mode):
    """Other branches in each step and on each rank; the last one never."""

    options = {"find_unused_parameters": True}

    def model(self):
        return Branches()

    def loss(self, ddp, batch, step):
        used = [i for i in range(5) if (i + step + dist.get_rank()) % 2 == 0]
        return ddp(batch, used).square().mean()


class Autocast(Mode):
    def loss(self, ddp, batch, step):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return ddp(batch).square().mean()


class Scaled(Autocast):
    """With a GradScaler, and a gradient that overflows on one rank in one step."""

    def __init__(self):
        self.scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)

    def step(self, ddp, optimizer, generator, step):
        optimizer.zero_grad()
        loss = self.loss(ddp, self.batch(generator), step)
        if step == 4 and dist.get_rank() == dist.get_world_size() - 1:
            loss = loss * float("inf")
        self.scaler.scale(loss).backward()
        self.scaler.step(optimizer)
        self.scaler.update()
        assert (self.scaler.get_scale() < 1024) == (step >= 4), "not every rank saw the overflow"


class Backwards(nn.Module):
    """Uses its layers in the opposite order of their definition: buckets are built anew."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(8))

    def forward(self, x):
        for layer in reversed(self.layers):
            x = torch.tanh(layer(x))
        return x


class RebuiltBuckets(Mode):
    def model(self):
        return Backwards()


SHAPES = [(WIDTH, 3), (3, 900), (900, 5), (5, 700), (700, 6), (6, 2000), (2000, 1), (1, 2500), (2500, 2)]


class Uneven(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(1.0))
        self.layers = nn.ModuleList(
            nn.Linear(inputs, outputs) for inputs, outputs in SHAPES
        )

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x * self.scale


class UnevenBuckets(Mode):
    def model(self):
        return Uneven()


class StaticGraph(Mode):
    options = {"static_graph": True}


class BucketView(Mode):
    options = {"gradient_as_bucket_view": True}


class Bfloat16(Mode):
    dtype = torch.bfloat16


class Float64(Mode):
    dtype = torch.float64


class ChannelsLast(Mode):
    def model(self):
        layers = [nn.Conv2d(3, 16, 3), *(nn.Conv2d(16, 16, 3, padding=1) for _ in range(5))]
        return nn.Sequential(*layers).to(memory_format=torch.channels_last)

    def batch(self, generator):
        batch = torch.randn(4, 3, 8, 8, generator=generator)
        return batch.to(memory_format=torch.channels_last)


class SomeFrozen(Mode):
    def model(self):
        model = super().model()
        for parameter in model[2].parameters():
            parameter.requires_grad_(False)
        return model


class Blocks(nn.Module):
    """Blocks that are computed again on the way back, and parameters without extent."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(WIDTH, WIDTH)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH)) for _ in range(4)
        )
        self.nothing = nn.Parameter(torch.empty(3, 0))

    def forward(self, x):
        x = self.first(x) + self.nothing.sum()
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=True)
        return x


class Checkpointed(Mode):
    def model(self):
        return Blocks()


class Subgroup(Mode):
    """A group that the first rank is not in, beside the group of all; the others go on meanwhile."""

    @staticmethod
    def members_of(ranks):
        return list(range(1, ranks))


class UnevenInputs(Mode):
    """The ranks have different numbers of batches: torch's join()."""

    def train(self, ddp, optimizer, generator, after):
        with ddp.join():
            for step in range(STEPS - 3 * ddp.process_group.rank()):
                self.step(ddp, optimizer, generator, step)


class LateStep(_engine.Step):
    """Its sums are there some time before it says that it is done."""

    def __init__(self, held):
        super().__init__(held)
        self.done = LateEvent()


class LateEvent(threading.Event):
    def set(self):
        time.sleep(0.02)
        super().set()


class UnevenInputsAndLateEnds(UnevenInputs):
    """A rank without a batch has no backward pass that waits for the end of a step."""

    def train(self, ddp, optimizer, generator, after):
        usual = _engine.Step
        if ddp.process_group.rank() > 0:
            _engine.Step = LateStep
        try:
            super().train(ddp, optimizer, generator, after)
        finally:
            _engine.Step = usual


MODES = {
    mode.__name__: mode
    for mode in (
        Plain,
        Accumulation,
        UnusedParameters,
        Autocast,
        Scaled,
        RebuiltBuckets,
        UnevenBuckets,
        StaticGraph,
        BucketView,
        Bfloat16,
        Float64,
        ChannelsLast,
        SomeFrozen,
        Checkpointed,
        Subgroup,
        UnevenInputs,
        UnevenInputsAndLateEnds,
    )
}


class Delay:
    """One rank is late at random gradients, the same in every run."""

    def __init__(self, model, rank, ranks):
        self._dice = random.Random(7)
        self._handles = []
        for parameter in model.parameters():
            if parameter.requires_grad and rank == ranks - 1:
                self._handles.append(parameter.register_hook(self._maybe))

    def _maybe(self, gradient):
        if self._dice.random() < 0.1:
            until = time.perf_counter() + 0.003
            while time.perf_counter() < until:
                pass
        return gradient


def train(mode, group, compress):
    """Trains one way. Returns the parameters after each step, and how many buckets there were."""
    torch.manual_seed(3)
    model = mode.model().to(mode.dtype)
    ddp = DistributedDataParallel(model, bucket_cap_mb=0.004, process_group=group, **mode.options)
    handle = compress(ddp) if compress else None
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    Delay(model, rank, ranks)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
    generator = torch.Generator().manual_seed(100 + rank)
    states = []

    def after():
        states.append(torch.cat([p.detach().double().reshape(-1) for p in model.parameters()]))

    after()
    if hasattr(mode, "train"):
        mode.train(ddp, optimizer, generator, after)
        after()
    else:
        for step in range(STEPS):
            mode.step(ddp, optimizer, generator, step)
            after()
    if handle is not None:
        handle.remove()
    return torch.stack(states), handle
