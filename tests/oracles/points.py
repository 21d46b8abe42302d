"""Where rounding can go wrong: every value of a format, every midpoint, and their neighbours."""

import numpy as np

F32_MAX = np.float32(np.finfo(np.float32).max)
F32_SMALLEST = np.float32(1.4e-45)
F32_SMALLEST_NORMAL = np.float32(np.finfo(np.float32).tiny)


def neighbourhood(values):
    """The float32 numbers nearest to the given values, and one step around each of them."""
    values = np.unique(np.abs(np.asarray(values, dtype=np.float64)))
    values = values[values <= F32_MAX]
    near = values.astype(np.float32)
    with np.errstate(over="ignore"):
        up, down = np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(0))
    points = np.unique(np.concatenate([near, up, down]))
    return points[np.isfinite(points)]


def both_signs(points):
    return np.concatenate([points, -points]).astype(np.float32)


def around(magnitudes):
    """Finite test points for a format with these finite magnitudes, ascending from 0."""
    magnitudes = np.asarray(magnitudes, dtype=np.float64)
    midpoints = (magnitudes[:-1] + magnitudes[1:]) / 2
    beyond = []
    if len(magnitudes) > 1:
        largest, step = magnitudes[-1], magnitudes[-1] - magnitudes[-2]
        beyond = [largest + step / 4, largest + step / 2, largest + step]
        beyond += [2 * largest, 1e4 * largest]
    always = [0, F32_SMALLEST, 1e-40, F32_SMALLEST_NORMAL, 1.0, F32_MAX]
    return both_signs(neighbourhood(np.concatenate([magnitudes, midpoints, beyond, always])))


def same(actual, expected):
    """Indices where two float32 arrays differ in value or in the sign of zero; NaN equals NaN."""
    actual, expected = np.asarray(actual, np.float32), np.asarray(expected, np.float32)
    assert actual.shape == expected.shape
    equal = (actual.view(np.uint32) == expected.view(np.uint32)) | (
        np.isnan(actual) & np.isnan(expected)
    )
    return np.flatnonzero(~equal)


def assert_same(actual, expected, inputs, what):
    bad = same(actual, expected)
    shown = [(float(inputs[i]), float(actual[i]), float(expected[i])) for i in bad[:5]]
    assert len(bad) == 0, f"{what}: {len(bad)} differ, as (input, ours, oracle): {shown}"
