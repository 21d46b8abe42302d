"""Every kind of tensor on the CPU goes in and comes out as what it was, or is refused.

Without the ways between torch and numpy: old versions of one and new ones of the other have none.
"""

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import narrowcast
from narrowcast import _core

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


def ramp(*shape, dtype=torch.float32):
    count = int(np.prod(shape))
    return (torch.arange(count, dtype=torch.float32) / 7 - 3).reshape(shape).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtype_and_shape_are_kept(dtype):
    values = ramp(3, 4, 5, dtype=dtype)
    quantized = narrowcast.quantize(values, "bf16")
    assert isinstance(quantized, torch.Tensor)
    assert (quantized.dtype, quantized.shape) == (values.dtype, values.shape)
    assert torch.equal(quantized, values.to(torch.float32).to(torch.bfloat16).to(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spec", ["dynamic8", "onebit:column=shape", "qsgd:bits=4"])
def test_the_frame_is_that_of_the_same_values_in_numpy(spec, dtype):
    values = ramp(20, 50, dtype=dtype)
    same = np.array(values.tolist(), np.float32)
    assert narrowcast.encode(values, spec, 3) == narrowcast.encode(same, spec, 3)
    assert narrowcast.errors(values, spec, 3) == narrowcast.errors(same, spec, 3)


def negative_view(values):
    """What conj().imag gives: the memory has the opposite signs."""
    return torch.complex(torch.zeros_like(values), -values).conj().imag


def contiguous_negative_view(values):
    """The same, and contiguous() has nothing to do."""
    return torch._neg_view(-values)


def test_views_meant_to_be_negative_are():
    assert negative_view(ramp(6, 8)).is_neg()
    view = contiguous_negative_view(ramp(6, 8))
    assert view.is_neg() and view.contiguous().is_neg()


VIEWS = {
    "every second": lambda t: t[:, ::2],
    "transposed": lambda t: t.T,
    "expanded": lambda t: t[:1].expand(6, 8),
    "of channels last": lambda t: t.reshape(1, 2, 3, 8).contiguous(memory_format=torch.channels_last),
    "negative": negative_view,
    "negative and contiguous": contiguous_negative_view,
    "with an offset": lambda t: t.reshape(-1)[1:],
    "that requires a gradient": lambda t: t.clone().requires_grad_(),
    "with a history": lambda t: (t.clone().requires_grad_() * 1),
    "a parameter": torch.nn.Parameter,
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_views_are_read_in_the_order_of_their_indices(view, dtype):
    values = view(ramp(6, 8, dtype=dtype))
    before = values.detach().clone()
    decoded = narrowcast.decode(narrowcast.encode(values, "fp32"))
    assert decoded.tolist() == before.reshape(-1).to(torch.float32).tolist()
    quantized = narrowcast.quantize(values, "fp32")
    assert torch.equal(quantized, before.to(torch.float32).to(dtype))
    assert not quantized.requires_grad
    assert torch.equal(values.detach(), before)


def test_tensors_of_inference_mode_are_taken():
    with torch.inference_mode():
        values = ramp(10)
        assert torch.equal(narrowcast.quantize(values, "fp32"), values)
    assert torch.equal(narrowcast.quantize(values, "fp32"), ramp(10))


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (0, 3), (1, 1, 1)])
def test_tensors_without_extent_keep_their_shape(shape):
    values = torch.full(shape, 1.5, dtype=torch.float64)
    for spec in ("dynamic8", "qsgd:bits=4", "fp32"):
        quantized = narrowcast.quantize(values, spec)
        assert (quantized.shape, quantized.dtype) == (values.shape, values.dtype)
    assert narrowcast.decode(narrowcast.encode(values, "fp32")).shape == (values.numel(),)
    assert narrowcast.errors(values, "dynamic8")["samples"] == values.numel()


def test_the_result_is_no_view_of_the_input():
    values = ramp(10)
    narrowcast.quantize(values, "fp32").zero_()
    assert torch.equal(values, ramp(10))


REFUSED = {
    "integers": (torch.arange(3), r"array has dtype int64; give float32, float64,"),
    "truths": (torch.tensor([True]), r"array has dtype bool;"),
    "complex numbers": (torch.tensor([1j]), r"array has dtype complex64;"),
    "sparse": (torch.eye(3).to_sparse(), r"array has layout sparse_coo; give a dense tensor"),
    "compressed": (torch.eye(3).to_sparse_csr(), r"array has layout sparse_csr;"),
    "on no device": (torch.empty(3, device="meta"), r"array is on device meta; give array\.cpu\(\)"),
    "nested": (torch.nested.nested_tensor([torch.ones(2)]), r"array has layout nested;"),
}
if hasattr(torch, "float8_e4m3fn"):  # torch 2.1
    REFUSED["8 bits"] = (torch.zeros(1).to(torch.float8_e4m3fn), r"array has dtype float8_e4m3fn;")


@pytest.mark.parametrize("tensor, message", REFUSED.values(), ids=REFUSED)
def test_what_is_no_dense_tensor_of_floats_is_refused(tensor, message):
    for function in (narrowcast.encode, narrowcast.quantize, narrowcast.errors):
        with pytest.raises(TypeError, match=message):
            function(tensor, "fp32")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_tensors_that_are_known_to_be_zero_are_taken(dtype):
    zeros = torch._efficientzerotensor((3,), dtype=dtype)
    assert zeros._is_zerotensor()
    quantized = narrowcast.quantize(zeros, "bf16")
    assert (quantized.tolist(), quantized.dtype) == ([0, 0, 0], dtype)
    assert narrowcast.decode(narrowcast.encode(zeros, "fp32")).tolist() == [0, 0, 0]


@pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")
def test_tensors_without_memory_are_refused():
    refused = pytest.raises(TypeError, match="array has no memory of its own, as under FakeTensorMode")

    def encoded(values):
        with refused:
            narrowcast.encode(values, "bf16")
        return values.sum()

    with FakeTensorMode():
        encoded(torch.ones(3))
        encoded(torch.ones(3)[1:])
        encoded(torch.ones(3, dtype=torch.float64))
    torch.func.vmap(encoded)(torch.ones(2, 3))
    torch.func.grad(encoded)(torch.ones(3))


def test_the_extension_writes_to_no_memory_that_is_not_there():
    nothing = torch._efficientzerotensor((3,))
    for arguments in ((nothing, torch.empty(3)), (torch.empty(3), nothing)):
        with pytest.raises(TypeError, match="an array has no memory for its values"):
            _core.quantize(*arguments, "bf16", 0, None)


def test_numpy_arrays_stay_numpy_arrays_beside_torch():
    quantized = narrowcast.quantize(np.ones((2, 3)), "dynamic8")
    assert isinstance(quantized, np.ndarray)
