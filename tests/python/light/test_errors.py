"""Exceptions say what the command line says."""

import numpy as np
import pytest

import narrowcast

ONES = np.ones(100, np.float32)
SPECS = ["dynamc8", "qsgd:bits=99", "qsgd:bit=4", "float:m=3", "", ":", "onebit:column=0"]
FRAME = narrowcast.encode(ONES, "dynamic8")
BROKEN = {
    "empty": b"",
    "no frame": b"hello, world" * 10,
    "cut": FRAME[:-1],
    "too long": FRAME + b"x",
    "damaged": FRAME[:-20] + bytes([FRAME[-20] ^ 1]) + FRAME[-19:],
}


@pytest.mark.parametrize("spec", SPECS)
def test_a_wrong_spec_is_a_usage_error_in_the_words_of_the_command_line(program, spec):
    code, words = program.complaint("encode", spec, stdin=ONES.tobytes())
    assert code == 2
    for function in (narrowcast.encode, narrowcast.quantize, narrowcast.errors):
        with pytest.raises(narrowcast.UsageError) as caught:
            function(ONES, spec)
        assert str(caught.value) == words


@pytest.mark.parametrize("frame", BROKEN.values(), ids=BROKEN)
def test_a_broken_frame_is_a_wire_error_in_the_words_of_the_command_line(program, frame):
    code, words = program.complaint("decode", stdin=frame)
    assert code == 3
    with pytest.raises(narrowcast.WireError) as caught:
        narrowcast.decode(frame)
    assert str(caught.value) == words


def test_a_refused_value_is_refused_in_the_words_of_the_command_line(program):
    spec = next(r["spec"] for r in narrowcast.codecs() if r["non_finite"] == "refuses-nan")
    values = np.array([1, np.nan], np.float32)
    _, words = program.complaint("encode", spec, stdin=values.tobytes())
    with pytest.raises(narrowcast.Error) as caught:
        narrowcast.encode(values, spec)
    assert str(caught.value) == words


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_that_does_not_fit_is_a_usage_error(seed):
    with pytest.raises(narrowcast.UsageError, match=f"{seed} is no seed"):
        narrowcast.encode(ONES, "qsgd:bits=4", seed)


@pytest.mark.parametrize("seed", [1.5, "1", None])
def test_a_seed_that_is_no_whole_number_is_a_type_error(seed):
    with pytest.raises(TypeError):
        narrowcast.encode(ONES, "qsgd:bits=4", seed)


@pytest.mark.parametrize("spec", [None, 8, b"dynamic8"])
def test_a_spec_that_is_no_string_is_a_type_error(spec):
    with pytest.raises(TypeError, match="spec is of .*; give a string"):
        narrowcast.encode(ONES, spec)


@pytest.mark.parametrize(
    "name,call",
    [
        ("product", lambda: narrowcast.gemm(ONES[None], ONES[:, None], product=None)),
        ("accumulate", lambda: narrowcast.gemm(ONES[None], ONES[:, None], accumulate=8)),
        ("spec", lambda: narrowcast.sum_nodes([ONES], None)),
    ],
)
def test_a_format_that_is_no_string_is_named(name, call):
    with pytest.raises(TypeError, match=f"^{name} is of .*; give a string"):
        call()


def test_a_spec_that_is_no_text_is_a_usage_error():
    with pytest.raises(narrowcast.UsageError, match="no text"):
        narrowcast.encode(ONES, "\ud800")


DATES = np.zeros(8, "datetime64[s]")


@pytest.mark.parametrize("frame", [None, "text", 3, [1, 2], np.zeros((4, 4), "u1")[:, ::2], DATES])
def test_a_frame_that_is_no_buffer_is_a_type_error(frame):
    with pytest.raises(TypeError, match="frame is of .*; give bytes"):
        narrowcast.decode(frame)


def test_the_exceptions_are_those_of_python_too():
    assert issubclass(narrowcast.UsageError, ValueError)
    assert issubclass(narrowcast.PeerError, ConnectionError)
    assert issubclass(narrowcast.MachineError, OSError)
    for name in ("UsageError", "WireError", "PeerError", "MachineError"):
        exception = getattr(narrowcast, name)
        assert issubclass(exception, narrowcast.Error)
        assert str(exception("some words")) == "some words"
        assert exception.__module__ == "narrowcast"
