"""Processes that end while they still hold everything: none crashes, hangs or complains."""

import os

import pytest
from ddp import job

TIMES = 10 if os.environ.get("NARROWCAST_LONG") else 2


@pytest.mark.parametrize("transport", ("gloo", "shm"))
def test_processes_end_with_all_that_they_hold(transport, tmp_path):
    for rank in job.run("exits.py", 2, str(tmp_path), transport, str(TIMES)):
        assert rank.code == 0, rank.err
        assert len(rank.said) == 6
        assert all(codes == [0] * TIMES for codes in rank.said.values()), (rank.said, rank.err)
        assert "terminate" not in rank.err and "Traceback" not in rank.err, rank.err
