"""Residuals by the names of parameters, saved and loaded."""

import functools

import pytest
from ddp import job


@functools.lru_cache(maxsize=None)
def ranks(transport):
    ended = job.run("state.py", 3, transport)
    assert [rank.code for rank in ended] == [0] * 3, "\n".join(rank.err for rank in ended)
    return [rank.said for rank in ended]


every_transport = pytest.mark.parametrize("transport", ("gloo", "shm"))


@every_transport
def test_training_goes_on_bit_for_bit(transport):
    for said in ranks(transport):
        assert said["same"] and said["agrees"] and said["residuals_matter"]
        assert said["step"] == 10  # and so the schedule was followed


@every_transport
def test_auto_takes_up_residuals_when_it_has_decided(transport):
    for rank, said in enumerate(ranks(transport)):
        # Others than the first have none to show.
        assert said["auto"] == [True, True, rank == 0]


@every_transport
def test_residuals_have_the_names_of_parameters(transport):
    first, *others = ranks(transport)
    assert {f"residual/sender/{rank}/2.weight" for rank in range(3)} <= set(first["names"])
    assert not any(name.endswith("/0.weight") for name in first["names"])
    assert all(said["names"] == [] for said in others)


@every_transport
def test_fewer_ranks_take_over(transport):
    first, second, last = ranks(transport)
    assert first["fewer_agree"] and second["fewer_agree"] and "fewer_agree" not in last
    assert "residual/sender/1/2.weight" in first["fewer_names"]
    assert "residual/sender/2/2.weight" not in first["fewer_names"]


@every_transport
def test_more_ranks_take_over(transport):
    first, *others = ranks(transport)
    assert first["more_agree"] and all(said["more_agree"] for said in others)
    assert {f"residual/sender/{rank}/2.weight" for rank in range(3)} <= set(first["more_names"])
