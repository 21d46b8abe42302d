"""Residuals that are saved and loaded, by the same ranks, by fewer and by more.  state.py"""

import io
import sys

import torch
import torch.distributed as dist
from advice import advised
from job import say
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import narrowcast.torch as nct
from narrowcast.torch._plans import plan_of

PLAN = {
    "min_elements": 0,
    "rule": [
        {"tensors": "0.*", "codec": "fp32"},
        {
            "tensors": "*",
            "codec": "qsgd:bits=4",
            "feedback": True,
            "schedule": [{"step": 6, "codec": "onebit:column=64"}],
        },
    ],
}


class Run:
    """Training that can be stopped and taken up again."""

    def __init__(self, group, plan=PLAN):
        torch.manual_seed(3)
        net = nn.Sequential(*[m for _ in range(6) for m in (nn.Linear(64, 64), nn.ReLU())])
        self.group = group
        self.ddp = DistributedDataParallel(net, bucket_cap_mb=0.01, process_group=group)
        self.handle = nct.compress(
            self.ddp, plan, seed=5, transport=sys.argv[1], say=lambda line: None
        )
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

    def steps(self, begin, end):
        for step in range(begin, end):
            torch.manual_seed(1000 * step + dist.get_rank(self.group))
            self.optimizer.zero_grad()
            self.ddp(torch.randn(8, 64)).square().mean().backward()
            self.optimizer.step()
        return self

    def parameters(self):
        return torch.cat([p.detach().reshape(-1) for p in self.ddp.parameters()])

    def save(self):
        """As a file has it."""
        file = io.BytesIO()
        saved = {"model": self.ddp.state_dict(), "residuals": self.handle.state_dict()}
        torch.save(saved, file)
        return file.getvalue()

    def load(self, saved):
        state = torch.load(io.BytesIO(saved), weights_only=True)
        self.ddp.load_state_dict(state["model"])
        self.handle.load_state_dict(state["residuals"])
        return self

    def agrees(self):
        mine = self.parameters().view(torch.int32).clone()
        largest, smallest = mine.clone(), mine.clone()
        dist.all_reduce(largest, dist.ReduceOp.MAX, group=self.group)
        dist.all_reduce(smallest, dist.ReduceOp.MIN, group=self.group)
        return bool(torch.equal(largest, smallest))


def taken_up_by_auto(group, saved):
    """Whether what is loaded while plan="auto" measures is still there when it has decided, and used."""
    kept = torch.load(io.BytesIO(saved), weights_only=True)["residuals"]["residuals"]

    def has_it(run):
        has = run.handle.state_dict()["residuals"]
        return has.keys() == kept.keys() and all(torch.equal(has[name], kept[name]) for name in kept)

    with advised(plan_of(PLAN)):
        run = Run(group, "auto").load(saved)
        measuring = has_it(run) and has_it(run.steps(5, 9))
        decided = has_it(run.steps(9, 15)) and run.handle.plan is not None
        used = not has_it(run.steps(15, 16))
    run.handle.remove()
    return [measuring, decided, used]


def main():
    dist.init_process_group("gloo")
    everybody = dist.new_group(list(range(dist.get_world_size())))
    fewer = dist.new_group(list(range(dist.get_world_size() - 1)))

    first = Run(everybody).steps(0, 5)
    saved = first.save()
    names = sorted(first.handle.state_dict()["residuals"])
    first.steps(5, 10)
    second = Run(everybody).load(saved).steps(5, 10)
    without = Run(everybody)
    without.ddp.load_state_dict(torch.load(io.BytesIO(saved), weights_only=True)["model"])
    without.steps(5, 10)
    said = {
        "names": names,
        "step": second.handle.state_dict()["step"],
        "same": bool(torch.equal(first.parameters(), second.parameters())),
        "residuals_matter": not torch.equal(first.parameters(), without.parameters()),
        "agrees": second.agrees(),
        "auto": taken_up_by_auto(everybody, saved),
    }
    if dist.get_rank() < dist.get_world_size() - 1:
        third = Run(fewer)
        # Others than the first rank need not have anything.
        third.load(saved) if dist.get_rank() == 0 else third.handle.load_state_dict(None)
        third.ddp.load_state_dict(torch.load(io.BytesIO(saved), weights_only=True)["model"])
        third.steps(5, 10)
        said["fewer_agree"] = third.agrees()
        state_of_fewer = third.save()
        said["fewer_names"] = sorted(third.handle.state_dict()["residuals"])
        third.handle.remove()
    # What fewer ranks have saved, the first one has.
    fourth = Run(everybody)
    if dist.get_rank() == 0:
        fourth.load(state_of_fewer)
    else:
        fourth.handle.load_state_dict(None)
    with torch.no_grad():
        for parameter in fourth.ddp.parameters():  # objects would need a numpy that this torch knows
            dist.broadcast(parameter, 0)
    fourth.steps(10, 12)
    said["more_agree"] = fourth.agrees()
    said["more_names"] = sorted(fourth.handle.state_dict()["residuals"])
    fourth.handle.remove()
    for run in (first, second, without):
        run.handle.remove()
    say(**said)
    dist.destroy_process_group()


main()
