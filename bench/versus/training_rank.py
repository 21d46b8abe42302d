"""One rank of DistributedDataParallel, for bench/versus/training.py."""

import datetime
import json
import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import ddp
from networks import BATCH, NETWORKS
from training import ALONE, FIRST, HOOKS, ONE_BUCKET, POWER_SGD, quartiles

ROUNDS = 3
SEED = 1
TEST_BATCH = 500
WHOLE_MB = 1000  # more than any of the networks has


def power_sgd(model):
    """From step FIRST on; by default it would begin after these trainings have ended."""
    from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook

    state = powerSGD_hook.PowerSGDState(process_group=None, matrix_approximation_rank=4, start_powerSGD_iter=FIRST)
    model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)


class Way:
    """A model of its own and its training."""

    def __init__(self, name, network, data):
        torch.manual_seed(SEED)
        self.network, self.data = network, data
        self.model = network.build()
        self.optimizer = network.optimiser(self.model.parameters())
        self.handle = None
        self.trained = self.model
        if name != ALONE:
            buckets = {"bucket_cap_mb": WHOLE_MB} if name == ONE_BUCKET else {}
            self.trained = DistributedDataParallel(self.model, **buckets)
            self.handle = (power_sgd if name in (POWER_SGD, ONE_BUCKET) else ddp.WAYS[name])(self.trained)
        self.loss = torch.nn.CrossEntropyLoss()
        torch.manual_seed(SEED + 1 + dist.get_rank())  # of dropout
        self.dice = torch.Generator().manual_seed(SEED + dist.get_rank())
        self.times = []
        self.batches = iter(())
        self.epoch = 0

    def next_batch(self):
        """Of this rank's part of the images, in an order that all ranks draw alike."""
        chosen = next(self.batches, None)
        if chosen is None:
            order = torch.randperm(len(self.data.labels), generator=torch.Generator().manual_seed(SEED + self.epoch))
            self.epoch += 1
            whole = BATCH * dist.get_world_size()
            runs = order[: len(order) // whole * whole].view(-1, dist.get_world_size(), BATCH)
            self.batches = iter(runs[:, dist.get_rank()])
            chosen = next(self.batches)
        return self.data.batch(chosen, self.dice)

    def step(self):
        begin = time.perf_counter()
        images, labels = self.next_batch()
        self.optimizer.zero_grad()
        self.loss(self.trained(images), labels).backward()
        self.optimizer.step()
        self.times.append(1000 * (time.perf_counter() - begin))

    def steps_per_epoch(self):
        return len(self.data.labels) // (BATCH * dist.get_world_size())


def test_error(model, data):
    """Percent, of all test images."""
    model.eval()
    wrong = 0
    with torch.no_grad():
        for chosen in torch.arange(len(data.labels)).split(TEST_BATCH):
            images, labels = data.batch(chosen)
            wrong += int((model(images).argmax(1) != labels).sum())
    model.train()
    return 100 * wrong / len(data.labels)


def take_turns(words, network, data):
    names = HOOKS if words.way == "hooks" else (words.way,)
    ways = {name: Way(name, network, data) for name in names}
    for way in ways.values():
        for _ in range(FIRST):
            way.step()
        way.times.clear()
    for _ in range(ROUNDS):
        for way in ways.values():
            way.step()  # of another way's turn something is left in the caches
            del way.times[-1]
            for _ in range(words.steps // ROUNDS):
                way.step()
    found = {name: quartiles(way.times) for name, way in ways.items()}
    for way in ways.values():
        if way.handle is not None:
            way.handle.remove()
    return {"ways": found}


def epochs(words, network, data):
    way = Way(words.way, network, data)
    tested = network.data(os.environ["NARROWCAST_DATA"], "test")
    found = []
    for epoch in range(words.epochs):
        for _ in range(way.steps_per_epoch()):
            way.step()
        for group in way.optimizer.param_groups:
            group["lr"] *= network.decay
        if dist.get_rank() == 0:
            found.append({"step": (epoch + 1) * way.steps_per_epoch(), "error": round(test_error(way.model, tested), 2)})
    if way.handle is not None:
        way.handle.remove()
    return {"epochs": found}


def work(words):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=datetime.timedelta(minutes=5))
    network = NETWORKS[words.net]
    data = network.data(os.environ["NARROWCAST_DATA"], "train")
    found = (epochs if words.epochs else take_turns)(words, network, data)
    if dist.get_rank() == 0:
        print(json.dumps(found | {"torch": torch.__version__}), flush=True)
    dist.barrier()
    dist.destroy_process_group()
    return 0
