"""Each way of using DistributedDataParallel, in real processes, beside the same without a hook. One
rank is late at random gradients."""

import functools

import pytest
import torch
from ddp import job
from ddp.modes import MODES, STEPS

RANKS = (2, 3)
TRANSPORTS = ("gloo", "shm")
JOBS = [(ranks, transport) for ranks in RANKS for transport in TRANSPORTS]


@functools.lru_cache(maxsize=None)
def trained(ranks, transport):
    """What the ranks found in each mode; None for those that were not in it."""
    ended = job.run("train_modes.py", ranks, transport)
    assert [rank.code for rank in ended] == [0] * ranks, "\n".join(rank.err for rank in ended)
    return ended


def found(name, ranks, transport):
    return [rank.said[name] for rank in trained(ranks, transport) if name in rank.said]


every_mode = pytest.mark.parametrize("name", MODES)
every_job = pytest.mark.parametrize(("ranks", "transport"), JOBS)


@every_job
@every_mode
def test_replicas_have_the_same_bits_after_every_step(name, ranks, transport):
    for rank in found(name, ranks, transport):
        assert rank["plain_agrees"] and rank["fp32_agrees"] and rank["narrow_agrees"]


@every_job
@every_mode
def test_fp32_on_the_wire_trains_like_no_hook(name, ranks, transport):
    """Two ranks: to the bit, as halves are exact. Three: up to roundings, since torch divides before it
    adds."""
    dtype = MODES[name].dtype
    exact = len(MODES[name].members_of(ranks)) <= 2 and dtype is not torch.float64
    precision = torch.float32 if dtype is torch.float64 else dtype
    for rank in found(name, ranks, transport):
        assert rank["fp32_is_plain"] or not exact
        assert rank["fp32_off"] < 8 * torch.finfo(precision).eps


@every_job
@every_mode
def test_dynamic8_ends_near_fp32(name, ranks, transport):
    for rank in found(name, ranks, transport):
        assert rank["narrow_off"] < 1 / 32  # of the way that training went


@every_job
@every_mode
def test_every_step_went_through_several_buckets(name, ranks, transport):
    for rank in found(name, ranks, transport):
        assert rank["buckets"] >= 6
        assert rank["steps"] == STEPS
        if len(MODES[name].members_of(ranks)) > 1:
            assert rank["ratio"] > 2  # tensors are small, and blocks divide unevenly among ranks


@every_job
@every_mode
def test_says_where_the_time_of_a_step_went(name, ranks, transport):
    for rank in found(name, ranks, transport):
        encode, wire, decode, wait, overlap = rank["parts"]
        assert encode > 0 and decode > 0 and wire >= 0 and wait >= 0
        assert 0 <= overlap <= 1


@every_job
def test_aps_brings_gradients_into_the_range_of_the_format(ranks, transport):
    for rank in found("scaling", ranks, transport):
        assert rank["agrees"]
        assert rank["off"]["unscaled"] == 1  # nothing has moved
        assert rank["off"]["aps"] < 1 / 4
