"""Ranks that die, disagree or are asked for what cannot be."""

import functools
import signal

import pytest
from ddp import job

every_transport = pytest.mark.parametrize("transport", ("gloo", "shm"))


@functools.lru_cache(maxsize=None)
def ended(case, ranks, transport="gloo"):
    return job.run("faults.py", ranks, case, transport)


@every_transport
def test_a_killed_rank_is_named_by_every_other(transport):
    ranks = ended("killed", 3, transport)
    assert ranks[1].code == -signal.SIGKILL
    for rank in (ranks[0], ranks[2]):
        kind, words = rank.said["raised"]
        assert kind == "PeerError" and "rank 1" in words, rank.err


@every_transport
def test_a_rank_that_ends_is_named_by_every_other(transport):
    ranks = ended("raised", 3, transport)
    for rank in (ranks[0], ranks[2]):
        kind, words = rank.said["raised"]
        assert kind == "PeerError" and "rank 1" in words, rank.err


def test_ranks_with_different_plans_are_refused():
    for rank in ended("plans", 3):
        kind, words = rank.said["raised"]
        assert kind == "PeerError" and "differs in plan" in words, rank.err


def test_ranks_with_different_seeds_are_refused():
    for number, rank in enumerate(ended("seeds", 2)):
        other = 1 - number
        assert rank.said["raised"] == [
            "PeerError",
            f"rank {other} differs in seed: {other} there, {number} here",
        ]


def test_a_model_takes_one_hook():
    for rank in ended("second", 2):
        assert rank.said["twice"] == [
            "UsageError",
            "this model is compressed already: remove() its handle first",
        ]
        assert rank.said["foreign"][0] == "RuntimeError"
        assert rank.said["steps"] == 1
        assert rank.said["other"] == [
            "UsageError",
            "this model has a communication hook already, and takes no second one",
        ]


def test_a_state_that_is_none_is_refused_by_all_ranks_at_once():
    refused = "the first rank needs what its state_dict() gave"
    ranks = ended("states", 2)
    for rank in ranks:
        for kind, words in rank.said["before"][:3] + rank.said["refused"]:
            assert kind == "UsageError" and words.startswith(refused), rank.err
        assert [kind for kind, _ in rank.said["before"][3:]] == ["UsageError"] * 2 + ["TypeError"]
        assert rank.said["inside"][0] == "WireError", rank.err
        assert rank.said["step"] == 3, rank.err  # good has 1, and two followed
    whys = [words for _, words in ranks[0].said["before"]]
    assert whys[0] == f"{refused}: step is True"
    assert whys[1] == f"{refused}: the array 'a' is no residual"
    assert "'residual/sender/0/a' is of a tensor that is not exchanged" in whys[2]
    assert ranks[0].said["refused"][-1][1] == f"{refused}: the disk is gone"
    assert whys[3] == "-1 is no epoch; give a whole number from 0 to 2^44 - 1"


@every_transport
def test_a_forked_process_ends_nothing(transport, tmp_path):
    for rank in job.run("lives.py", 2, "forked", transport, str(tmp_path)):
        assert rank.said == {"raised": None, "steps": 2}, rank.err


@every_transport
def test_auto_decides_beside_ranks_that_have_run_out_of_batches(transport, tmp_path):
    for rank in job.run("lives.py", 2, "joined", transport, str(tmp_path)):
        assert rank.said == {"steps": 20, "step": 20}, rank.err


@every_transport
def test_a_process_takes_the_place_of_another(transport, tmp_path):
    ranks = job.run("lives.py", 3, "replaced", transport, str(tmp_path))
    for rank, jobs in zip(ranks, (2, 1, 1)):
        assert rank.said["said"] == [[1, [2, 2, 2]]] * jobs, rank.err


def test_a_call_that_came_too_late_for_one_rank_can_be_repeated(tmp_path):
    ranks = job.run("lives.py", 2, "late", "shm", str(tmp_path))
    assert ranks[0].said["alone"][0] == "PeerError", ranks[0].err
    assert [rank.said["steps"] for rank in ranks] == [1, 1]


@every_transport
def test_a_group_that_ends_takes_its_threads_and_descriptors_along(transport, tmp_path):
    for rank in job.run("lives.py", 2, "lives", transport, str(tmp_path)):
        # Of the first one torch keeps some for good.
        (_, second, *_, last) = rank.said["counts"]
        assert all(after <= before + 1 for before, after in zip(second, last)), rank.said


@every_transport
def test_a_model_that_is_dropped_takes_everything_along(transport, tmp_path):
    for rank in job.run("lives.py", 2, "dropped", transport, str(tmp_path)):
        assert not any(rank.said["alive"]) and rank.said["open"] == 0, rank.said
        (_, second, *_, last) = rank.said["counts"]
        assert all(after <= before + 1 for before, after in zip(second, last)), rank.said


def test_who_connects_a_group_keeps_nobody_from_using_others(tmp_path):
    for rank in job.run("lives.py", 2, "connecting", "shm", str(tmp_path)):
        assert rank.said == {"sums": [2, 2]}, rank.err


@every_transport
def test_a_rank_that_does_not_take_its_step_is_waited_for_as_torch_would(transport, tmp_path):
    first, second = job.run("lives.py", 2, "idle", transport, str(tmp_path))
    for _, words in first.said["raised"]:
        assert "step 2 within 2 s, the timeout of the model's process group" in words, first.err
    assert [kind for kind, _ in first.said["raised"]] == ["PeerError", "RuntimeError"]  # torch's for a future
    assert all(2 <= seconds < 60 for seconds in first.said["seconds"]), first.said
    assert [kind for kind, _ in second.said["raised"]] == ["PeerError"] * 2, second.err


@every_transport
def test_ranks_in_different_epochs_of_a_schedule_all_raise(transport, tmp_path):
    for rank in job.run("lives.py", 2, "epochs", transport, str(tmp_path)):
        assert rank.said["raised"][0] in ("WireError", "PeerError"), rank.err


def test_what_cannot_be_is_refused_with_what_can():
    (rank,) = ended("wrong", 1)
    assert rank.said["model"][0] == "TypeError" and "DistributedDataParallel" in rank.said["model"][1]
    assert rank.said["spec"][0] == "UsageError" and "dynamic8" in rank.said["spec"][1]
    assert rank.said["plan"][0] == "UsageError" and "fusion" in rank.said["plan"][1]
    assert rank.said["kind"][0] == "TypeError"
    assert rank.said["threads"] == ["UsageError", "threads is 0; give 1 to 1024"]
    assert rank.said["seed"][0] == "UsageError" and "-1 is no seed" in rank.said["seed"][1]
    assert rank.said["offered"][0] == "UsageError" and "dynamic9" in rank.said["offered"][1]
    assert rank.said["toml"][0] == "UsageError" and "no codec" in rank.said["toml"][1]
    assert rank.said["one"] is None and rank.said["alone"] is None
    assert rank.said["bound"] == [
        "UsageError",
        "max_error is -1.0; give a number above 0, such as 0.05",
    ]
    assert rank.said["transport"] == [
        "UsageError",
        "there is no transport 'pigeon': auto, shm, gloo",
    ]
    assert rank.said["shape"] == [
        "UsageError",
        "parameter 'scale' has no dimensions: codec onebit with column=shape needs the tensor's shape",
    ]
    assert rank.said["shaped"] is None
    assert rank.said["sparse"][0] == "UsageError" and "sparse" in rank.said["sparse"][1]


def test_gradients_travel_as_before_after_remove():
    for rank in ended("removed", 2):
        assert rank.said["same"], rank.err
        gone = ["UsageError", "this handle was removed, and its state went with it"]
        closed = ["UsageError", "the connection between the ranks is closed"]
        assert rank.said["after"] == [gone, gone, closed]


def test_a_copy_of_a_compressed_model_is_not_compressed_and_can_be():
    for rank in ended("copies", 2):
        assert rank.said["steps"] == [[1, 1, 1]] * 4, rank.err
        assert rank.said["last"] == 2 and rank.said["measured"] == 2


def test_rules_and_residuals_know_parameters_of_wrapped_modules():
    first, second = ended("wrapped", 2)
    weights = [f"residual/sender/{rank}/{layer}.weight" for rank in (0, 1) for layer in (0, 1, 2)]
    assert [name for name in first.said["names"] if "/sender/" in name] == weights, first.err
    assert not any("_orig_mod" in name or "wrapped" in name for name in first.said["names"])
    assert second.said["names"] == []


def test_a_codec_that_hides_nan_hides_none_from_ranks():
    for rank in ended("overflow", 2):
        assert len(rank.said["found"]) == 6
        assert all(each == [False, 1] for each in rank.said["found"].values()), rank.said


def test_ranks_with_a_job_key_train(tmp_path, monkeypatch):
    key = tmp_path / "key"
    key.write_text("0123456789abcdef" * 4)
    key.chmod(0o600)
    monkeypatch.setenv("KEY_FILE", str(key))
    for rank in job.run("faults.py", 2, "sealed", "gloo"):
        assert rank.said == {"steps": 3}, rank.err


@every_transport
def test_auto_decides_alike_on_all_ranks(transport):
    ranks = ended("auto", 2, transport)
    assert [rank.code for rank in ranks] == [0, 0], ranks[0].err + ranks[1].err
    assert ranks[0].said["plans"] == ranks[1].said["plans"]
    assert set(ranks[0].said["plans"][:10]) == {None}
    for rank in ranks:
        assert 'codec = "dynamic8"' in rank.said["yes"]["plan"]
        assert rank.said["yes"]["same"] and rank.said["yes"]["steps"] == 14
        assert rank.said["no"]["plan"] is None
        no, perhaps = rank.said["no"], rank.said["perhaps"]
        # Also those that travelled as torch has them.
        assert no["same"] and no["steps"] == no["step"] == 14
        assert no["fp32_bytes"] == 14 * no["bytes_by_codec"]["fp32"] and 0.9 < no["ratio"] <= 1
        assert perhaps["same"] and perhaps["steps"] == perhaps["step"] == 40
        assert perhaps["ratio"] > 1
    assert ranks[0].said["perhaps"]["plan"] == ranks[1].said["perhaps"]["plan"]
    assert "tried out" in ranks[0].said["perhaps"]["lines"][-1]
    yes, no = ranks[0].said["yes"]["lines"], ranks[0].said["no"]["lines"]
    assert len(yes) == 2 and "2 times as quick" in yes[0] and "dynamic8 for" in yes[1]
    assert len(no) == 1 and "does not pay" in no[0]
    assert ranks[1].said["yes"]["lines"] == []
