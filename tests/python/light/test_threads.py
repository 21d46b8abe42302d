"""Several Python threads at once."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import narrowcast

MANY = np.random.default_rng(5).normal(size=1 << 22).astype(np.float32)
FRAME = narrowcast.encode(MANY, "qsgd:bits=4,coding=elias")
CALLS = {
    "encode": lambda: narrowcast.encode(MANY, "qsgd:bits=4,coding=elias"),
    "decode": lambda: narrowcast.decode(FRAME),
    "quantize": lambda: narrowcast.quantize(MANY, "qsgd:bits=4,coding=elias"),
    "errors": lambda: narrowcast.errors(MANY, "qsgd:bits=4,coding=elias"),
}


@pytest.fixture
def no_involuntary_switches():
    """The interpreter lock changes hands only when somebody lets go of it."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("no_involuntary_switches")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_others_run_meanwhile(call):
    done = []
    called = threading.Event()

    def work():
        called.set()
        call()
        done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    called.wait()
    was_under_way = not done
    thread.join()
    assert was_under_way


def test_all_of_them_get_the_same_bytes():
    specs = [row["spec"] for row in narrowcast.codecs()]
    values = MANY[:20000]

    def frames(_):
        return [narrowcast.encode(values, spec, seed=1) for spec in specs]

    with ThreadPoolExecutor(8) as threads:
        first, *others = threads.map(frames, range(8))
    assert all(other == first for other in others)
