import sys

import numpy as np

import narrowcast


def test_a_frame_decodes_to_what_quantize_gives():
    values = np.linspace(-1, 1, 1000, dtype=np.float32)
    frame = narrowcast.encode(values, "dynamic8")
    assert np.array_equal(narrowcast.decode(frame), narrowcast.quantize(values, "dynamic8"))


def test_torch_is_not_imported():
    assert "torch" not in sys.modules
