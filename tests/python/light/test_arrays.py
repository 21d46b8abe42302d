"""Every kind of numpy array goes in and comes out as what it was, or is refused."""

import sys

import ml_dtypes
import numpy as np
import pytest

import narrowcast
from narrowcast import _core

DTYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, ">f4", ">f8"]


def ramp(shape, dtype=np.float32):
    return (np.arange(np.prod(shape), dtype=np.float32) / 7 - 3).reshape(shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtype_and_shape_are_kept(dtype):
    values = ramp((3, 4, 5), dtype)
    quantized = narrowcast.quantize(values, "bf16")
    assert (quantized.dtype, quantized.shape) == (values.dtype, values.shape)
    # Who rounds to bfloat16 is ml_dtypes.
    rounded = values.astype(np.float32).astype(ml_dtypes.bfloat16)
    assert np.array_equal(quantized, rounded.astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_frame_is_that_of_the_same_values_as_float32(dtype):
    values = ramp(100, dtype)
    assert narrowcast.encode(values, "dynamic8") == narrowcast.encode(
        values.astype(np.float32), "dynamic8"
    )


VIEWS = {
    "every second": lambda a: a[:, ::2],
    "backwards": lambda a: a[::-1, ::-1],
    "transposed": lambda a: a.T,
    "of columns first": np.asfortranarray,
    "broadcast": lambda a: np.broadcast_to(a[:1], (6, 8)),
    "not aligned": lambda a: np.frombuffer(b"x" + a.tobytes(), "u1")[1:].view("f4").reshape(a.shape),
    "read-only": lambda a: np.frombuffer(a.tobytes(), "f4").reshape(a.shape),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views_are_read_in_the_order_of_their_indices(view):
    values = view(ramp((6, 8)))
    before = values.copy()
    assert np.array_equal(narrowcast.decode(narrowcast.encode(values, "fp32")), before.ravel())
    assert np.array_equal(narrowcast.quantize(values, "fp32"), before)
    assert np.array_equal(values, before)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (0, 3), (1, 1, 1)])
def test_arrays_without_extent_keep_their_shape(shape):
    values = np.full(shape, 1.5, np.float64)
    for spec in ("dynamic8", "qsgd:bits=4", "fp32"):
        quantized = narrowcast.quantize(values, spec)
        assert (quantized.shape, quantized.dtype) == (shape, np.float64)
    assert narrowcast.decode(narrowcast.encode(values, "fp32")).shape == (values.size,)
    assert narrowcast.errors(values, "dynamic8")["samples"] == values.size


def test_the_result_is_no_view_of_the_input():
    values = ramp(10)
    quantized = narrowcast.quantize(values, "fp32")
    quantized[:] = 0
    assert np.array_equal(values, ramp(10))


def test_values_beyond_float32_become_infinite_without_a_warning():
    with np.errstate(all="raise"):
        assert narrowcast.quantize(np.array([1e300, -1e300, 1.0]), "fp32").tolist() == [
            np.inf,
            -np.inf,
            1.0,
        ]


@pytest.mark.parametrize("dtype", [np.float64, np.float16, ml_dtypes.bfloat16])
def test_values_that_a_dtype_has_not_raise_nothing(dtype):
    """Too small ones, and NaNs that signal."""
    tiny = np.array([1e-50, -1e-320, 1.0])
    signals = np.array([0x7FF0000000000001], np.uint64).view(np.float64)
    with np.errstate(all="raise"):
        assert narrowcast.quantize(tiny, "fp32").tolist() == [0, 0, 1]
        assert np.isnan(narrowcast.quantize(signals, "fp32")).all()
        assert len(narrowcast.encode(tiny, "bf16")) > 0
        # And on the way back.
        small = np.full((1, 1), 0.001, dtype)
        assert narrowcast.gemm(small, np.full((1, 1), 1e-38, np.float32)).dtype == dtype


REFUSED = {
    "a list": ([1.0], r"array is of list; give a numpy array or a torch tensor of float32,"),
    "a number": (1.0, r"array is of float;"),
    "nothing": (None, r"array is of NoneType;"),
    "a masked array": (np.ma.masked_array([1.0], [True]), r"is of numpy\.ma\.\S*MaskedArray;"),
    "integers": (np.arange(3), r"array has dtype int64; give float32, float64,"),
    "truths": (np.array([True]), r"array has dtype bool;"),
    "complex numbers": (np.array([1j]), r"array has dtype complex128;"),
    "long doubles": (np.array([1], np.longdouble), r"array has dtype float128;"),
    "objects": (np.array([1.0], object), r"array has dtype object;"),
    "records": (np.zeros(1, [("a", "f4")]), r"array has dtype \[\('a', '<f4'\)\];"),
    "8 bits": (np.zeros(1, ml_dtypes.float8_e4m3fn), r"array has dtype float8_e4m3fn;"),
}


@pytest.mark.parametrize("array, message", REFUSED.values(), ids=REFUSED)
def test_what_is_no_array_of_floats_is_refused(array, message):
    for function in (narrowcast.encode, narrowcast.quantize, narrowcast.errors):
        with pytest.raises(TypeError, match=message):
            function(array, "fp32")


def test_the_extension_copies_nothing_by_itself():
    good, out = ramp(10), ramp(10)
    for wrong in (ramp(10, np.float64), ramp(20)[::2], ramp((2, 5))):
        with pytest.raises(TypeError):
            _core.quantize(wrong, out, "fp32", 0, None)
        with pytest.raises(TypeError):
            _core.quantize(good, wrong, "fp32", 0, None)
    with pytest.raises(narrowcast.UsageError, match="as many results as values"):
        _core.quantize(good, ramp(9), "fp32", 0, None)


def test_torch_is_not_imported():
    assert "torch" not in sys.modules
