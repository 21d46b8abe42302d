"""The functions beside the command line, which does the same in its own process."""

import json

import numpy as np
import pytest

import narrowcast

SPECS = [row["spec"] for row in narrowcast.codecs()]


def gradient(shape, seed=11):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape) * np.exp(rng.normal(size=shape))).astype(np.float32)


def test_codecs_are_those_of_the_command_line(program):
    lines = program.output("codecs", "--json").decode().splitlines()
    assert narrowcast.codecs() == [json.loads(line) for line in lines]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("count", [0, 1, 1000])
def test_every_frame_is_that_of_the_command_line(program, spec, count):
    values = gradient(count)
    words = ["encode", spec, "--seed", "7"] + (["--shape", str(count)] if count else [])
    frame = narrowcast.encode(values, spec, seed=7)
    assert frame == program.output(*words, stdin=values.tobytes())


@pytest.mark.parametrize("spec", SPECS)
def test_every_frame_decodes_as_the_command_line_does(program, spec):
    frame = narrowcast.encode(gradient(1000), spec, seed=7)
    decoded = narrowcast.decode(frame)
    assert decoded.dtype == np.float32
    assert decoded.tobytes() == program.output("decode", stdin=frame)


@pytest.mark.parametrize("spec", SPECS)
def test_quantize_is_encode_and_decode(spec):
    values = gradient((20, 50))
    there_and_back = narrowcast.decode(narrowcast.encode(values, spec, seed=3))
    assert np.array_equal(narrowcast.quantize(values, spec, seed=3), there_and_back.reshape(20, 50))


def test_the_last_dimension_is_what_column_shape_stands_for(program):
    values = gradient((30, 40))
    frame = narrowcast.encode(values, "onebit:column=shape")
    words = ["encode", "onebit:column=shape", "--shape", "30,40"]
    assert frame == program.output(*words, stdin=values.tobytes())
    assert b"column=40" in frame


def test_another_seed_rounds_otherwise():
    values = gradient(1000)
    first, again, other = (narrowcast.encode(values, "qsgd:bits=4", seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_the_largest_seed_is_taken(program):
    values = gradient(100)
    words = ["encode", "qsgd:bits=4", "--seed", str(2**64 - 1)]
    frame = narrowcast.encode(values, "qsgd:bits=4", 2**64 - 1)
    assert frame == program.output(*words, stdin=values.tobytes())


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, "u1")])
def test_a_frame_may_be_any_buffer(kind):
    values = gradient(10)
    assert np.array_equal(narrowcast.decode(kind(narrowcast.encode(values, "fp32"))), values)


def test_decoded_values_belong_to_the_caller():
    decoded = narrowcast.decode(narrowcast.encode(gradient(10), "fp32"))
    decoded += 1
    assert np.array_equal(decoded, gradient(10) + 1)


def test_errors_are_those_that_numpy_finds():
    exact = gradient(10000)
    decoded = narrowcast.quantize(exact, "dynamic8")
    x, y = exact.astype(np.float64), decoded.astype(np.float64)
    found = narrowcast.errors(exact, "dynamic8")
    expected = {
        "samples": 10000,
        "bits_per_value": 8 * len(frame_payload("dynamic8", exact)) / 10000,
        "mae": np.abs(x - y).mean(),
        "mse": ((x - y) ** 2).mean(),
        "relative_percent": 100 * (np.abs(x - y) / np.abs(x)).mean(),
        "max_absolute": np.abs(x - y).max(),
        "bias": (y - x).mean(),
        "snr_db": 10 * np.log10((x**2).sum() / ((x - y) ** 2).sum()),
        "cosine": (x * y).sum() / np.sqrt((x**2).sum() * (y**2).sum()),
    }
    assert found == pytest.approx(expected, rel=1e-9)


def frame_payload(spec, values):
    """A frame without what describes it: docs/wire.md."""
    frame = narrowcast.encode(values, spec)
    return frame[32 + int.from_bytes(frame[10:12], "little") : -8]


def test_an_exact_codec_has_no_errors():
    found = narrowcast.errors(gradient(100), "fp32")
    assert (found["mse"], found["snr_db"], found["bits_per_value"]) == (0, np.inf, 32)
