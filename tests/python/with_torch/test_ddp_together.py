"""Two compressed models in one backward pass."""

import pytest
from ddp import job


@pytest.mark.parametrize("transport", ("gloo", "shm"))
def test_models_do_not_disturb_each_other(transport):
    ended = job.run("together.py", 2, transport)
    assert [rank.code for rank in ended] == [0, 0], "\n".join(rank.err for rank in ended)
    for rank in ended:
        assert rank.said == {"as_in_turn": True, "once_same": True, "both_same": True}
