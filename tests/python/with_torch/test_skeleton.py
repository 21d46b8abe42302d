import torch

import narrowcast


def test_a_tensor_stays_a_tensor():
    values = torch.linspace(-1, 1, 1000, dtype=torch.bfloat16).reshape(10, 100)
    quantized = narrowcast.quantize(values, "dynamic8")
    assert (quantized.dtype, quantized.shape) == (values.dtype, values.shape)
    assert torch.equal(narrowcast.quantize(-values, "dynamic8"), -quantized)
