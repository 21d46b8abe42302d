"""all_reduce, all_gather, send and recv of single tensors."""

import functools
import re

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
        "shown",
        "in_group",
        "crossing",
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
        assert said["word"][0] == "TypeError" and "group is of str" in said["word"][1]
        assert said["arrays"] == ["TypeError", "tensor is of numpy.ndarray; give a torch tensor"]
        for shared in ("expanded", "received_expanded"):
            assert said[shared][0] == "UsageError" and "share memory" in said[shared][1]
        assert said["outside"] == ["UsageError", "this rank is not in that group"]
        for refused in ("no_rank", "far", "itself", "algorithm"):
            assert said[refused][0] == "UsageError", said[refused]
        assert said["no_rank"][1] == "dst is 2; the group has ranks 0 to 1"
        assert said["float_to"] == ["TypeError", "dst is of float; give the number of a rank"]
        assert said["float_from"] == ["TypeError", "src is of float; give the number of a rank"]
        assert said["number"] == ["TypeError", 'algorithm is of int; give a name, such as "direct"']


@pytest.mark.parametrize("count", (2, 3))
def test_ranks_whose_calls_differ_are_told_so_and_go_on(count):
    for rank, said in enumerate(ranks(count)):
        found = said["differences"]
        for what in (
            "nan_to_add",
            "nan_to_gather",
            "spec",
            "size",
            "average",
            "algorithm",
            "seed",
            "gathered_seed",
            "gathered",
            "call",
        ):
            kind, words = found[what]
            assert kind == "PeerError" and re.match(r"rank \d differs in its call: ", words)
        for kind, words in found["nan_everywhere"]:
            assert kind == "UsageError" and words.endswith(" has no NaN, and a value is one")
        assert found["all"] == count
        if rank < 2:
            there, here = ("3", "4") if rank else ("4", "3")
            assert f" of {there} values as fp32, direct, sum, seed 0 there" in found["size"][1]
            assert f" of {here} values as fp32, direct, sum, seed 0 here" in found["size"][1]


def test_what_is_sent_in_another_way_than_expected_is_not_taken_for_it():
    first, second = (said["differences"] for said in ranks(2))
    kind, words = second["sent"]
    assert kind == "PeerError"
    assert "rank 0 sends 20000 values as dynamic8" in words and "as linear8" in words
    assert second["fewer"][0] == "PeerError" and "19950 values as fp32" in second["fewer"][1]
    assert second["kept"] and second["next"]
    assert first["nan"][0] == "UsageError"
