"""all_reduce, all_gather, send and recv of single tensors."""

import functools

import pytest
from ddp import job


@functools.lru_cache(maxsize=None)
def ranks(count):
    ended = job.run("tensors.py", count)
    assert [rank.code for rank in ended] == [0] * count, "\n".join(rank.err for rank in ended)
    return [rank.said for rank in ended]


@pytest.mark.parametrize("count", (2, 3))
@pytest.mark.parametrize(
    "what",
    (
        "fp32",
        "narrow",
        "narrow_same",
        "average",
        "chance_same",
        "chance_differs",
        "strided",
        "leaf",
        "gathered",
        "received",
        "in_group",
    ),
)
def test_tensors_travel(what, count):
    for said in ranks(count):
        assert said[what]


def test_what_cannot_travel_is_refused():
    for said in ranks(2):
        assert said["half"] == "torch.bfloat16"
        assert said["integers"][0] == "TypeError"
        assert said["spec"][0] == "UsageError"
        assert said["arrays"] == ["TypeError", "tensor is of numpy.ndarray; give a torch tensor"]
        for shared in ("expanded", "received_expanded"):
            assert said[shared][0] == "UsageError" and "share memory" in said[shared][1]
        assert said["outside"] == ["UsageError", "this rank is not in that group"]
        for refused in ("no_rank", "itself", "algorithm"):
            assert said[refused][0] == "UsageError", said[refused]
