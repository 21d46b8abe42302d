"""Sums of gradients over emulated and real nodes. Needs torch."""

import os

import pytest
import torch
from torch import distributed, multiprocessing, nn

from narrowcast import UsageError, cpd

RANKS = 3


def network():
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(30, 20), nn.ReLU(), nn.Linear(20, 3))


def backward(model, node):
    generator = torch.Generator().manual_seed(node)
    model(torch.randn(8, 30, generator=generator)).square().mean().backward()


def collected(nodes, **how):
    model = network()
    group = cpd.Nodes(model)
    for node in range(nodes):
        backward(model, node)
        group.collect()
    assert len(group) == nodes
    group.sum_gradients(**how)
    assert len(group) == 0
    return [parameter.grad for parameter in model.parameters()]


def test_nodes_in_fp32_sum_to_what_accumulation_gives():
    model = network()
    for node in range(4):
        backward(model, node)
    for ours, theirs in zip(collected(4), model.parameters()):
        assert torch.allclose(ours, theirs.grad, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("how", [{}, {"order": "ring"}, {"group": 2}, {"use_kahan": True}], ids=str)
def test_scaling_keeps_small_gradients(how):
    exact = collected(4)
    plain = collected(4, grad_exp=3, grad_man=2, **how)
    scaled = collected(4, use_APS=True, grad_exp=3, grad_man=2, **how)

    def error(found):
        return sum((f - e).abs().sum() for f, e in zip(found, exact))

    assert error(scaled) < 0.5 * error(plain)


def test_parameters_without_gradients_get_none():
    """An optimiser with weight decay or momentum would change what has a gradient of zero."""
    model = network()
    group = cpd.Nodes(model)
    group.collect()
    group.sum_gradients(use_APS=True, grad_exp=5, grad_man=2)
    assert all(p.grad is None for p in model.parameters())
    # One node's is enough.
    group.collect()
    model[0](torch.ones(1, 30)).sum().backward()
    group.collect()
    group.sum_gradients(use_APS=True, grad_exp=5, grad_man=2)
    assert torch.equal(model[0].bias.grad, torch.ones(20))
    assert all(p.grad is None for p in model[2].parameters())
    with pytest.raises(UsageError, match="no node has been collected"):
        group.sum_gradients()


def test_without_ranks_it_says_what_to_use():
    with pytest.raises(UsageError, match="cpd.Nodes"):
        cpd.sum_gradients(network())


def test_every_call_throws_new_dice():
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)

    def sums(model, **how):
        parameter = next(model.parameters())
        parameter.grad = torch.full_like(parameter, 1.1)
        cpd.sum_gradients(model, spec="float:e=5,m=2,rounding=stochastic", **how)
        return parameter.grad

    try:
        one, other = network(), network()
        first, second = sums(one), sums(one)
        assert not torch.equal(first, second)
        assert torch.equal(sums(other), first) and torch.equal(sums(other), second)
        assert torch.equal(sums(one, dice=cpd.Dice()), first)
    finally:
        distributed.destroy_process_group()


WAYS = [
    dict(use_APS=False, grad_exp=5, grad_man=2, use_kahan=False),
    dict(use_APS=True, grad_exp=4, grad_man=3, use_kahan=True),
    dict(use_APS=True, grad_exp=5, grad_man=2, use_kahan=False, order="ring"),
]


def _rank(rank, folder):
    os.environ.update(OMP_NUM_THREADS="1")
    torch.set_num_threads(1)
    distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=RANKS
    )
    results = []
    for how in WAYS:
        model = network()
        backward(model, rank)
        cpd.sum_gradients(model, *list(how.values())[:4], **dict(list(how.items())[4:]))
        results.append([p.grad for p in model.parameters()])
    group = distributed.new_group([0, 1])
    model = network()
    backward(model, rank)
    if rank < 2:
        cpd.sum_gradients(model, *list(WAYS[0].values()), process_group=group)
        results.append([p.grad for p in model.parameters()])
    else:
        with pytest.raises(UsageError, match="^this rank is not in that group$"):
            cpd.sum_gradients(model, process_group=group)
    torch.save(results, f"{folder}/{rank}.pt")
    distributed.destroy_process_group()


def test_real_ranks_end_with_the_bits_of_emulated_ones(tmp_path):
    multiprocessing.spawn(_rank, args=(str(tmp_path),), nprocs=RANKS)
    found = [torch.load(tmp_path / f"{rank}.pt") for rank in range(RANKS)]
    for way, how in enumerate(WAYS):
        expected = collected(RANKS, **how)
        for rank in range(RANKS):
            assert all(torch.equal(a, b) for a, b in zip(found[rank][way], expected)), (how, rank)
    of_two = collected(2, **WAYS[0])
    for rank in range(2):
        assert all(torch.equal(a, b) for a, b in zip(found[rank][len(WAYS)], of_two))
