"""A float format as the list of its magnitudes, and rounding as a search in that list."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class FloatFormat:
    e: int
    m: int
    kind: str  # ieee, fn or finite

    @property
    def bias(self):
        return 2 ** (self.e - 1) - 1

    @property
    def width(self):
        return 1 + self.e + self.m

    def spec(self, rounding, overflow):
        return (
            f"float:e={self.e},m={self.m},rounding={rounding},overflow={overflow},kind={self.kind}"
        )

    def magnitudes(self):
        """Every finite magnitude by its code, exact in float64, then the one that would follow."""
        values = self.value(np.arange(self.finite_codes() + 1))
        return values[:-1], values[-1]

    def value(self, code):
        field, mantissa = code >> self.m, code & (2**self.m - 1)
        significand = np.where(field == 0, mantissa, mantissa + 2**self.m).astype(np.float64)
        return np.ldexp(significand, np.maximum(field, 1) - self.bias - self.m)

    def largest(self):
        return float(self.value(np.int64(self.finite_codes() - 1)))

    def finite_codes(self):
        top_exponent = (2**self.e - 1) << self.m
        every = 2 ** (self.e + self.m)
        finite = {"ieee": top_exponent, "fn": every - 1, "finite": every}[self.kind]
        # With 8 bits the top exponent would stand for 2^128, which no float32 holds.
        return min(finite, top_exponent) if self.e == 8 else finite

    def overflows(self):
        return ("saturate",) if self.kind == "finite" else ("inf", "saturate")

    def beyond(self, overflow):
        """What stands for values past the largest."""
        if overflow == "saturate" or self.kind == "finite":
            return self.largest()
        return np.inf if self.kind == "ieee" else np.nan

    def nan(self):
        return np.inf if self.kind == "ieee" and self.m == 0 else np.nan


def rounded(form, inputs, rounding, overflow):
    """float32 inputs as the format's values: nearest with ties to the even code, or toward zero."""
    magnitudes, following = form.magnitudes()
    every = np.append(magnitudes, following)
    x = np.abs(inputs.astype(np.float64))
    below = np.searchsorted(every, x, side="right") - 1
    below = np.minimum(below, len(every) - 1)
    above = np.minimum(below + 1, len(every) - 1)
    code = below
    if rounding == "nearest":
        to_below, to_above = x - every[below], every[above] - x
        up = (to_above < to_below) | ((to_above == to_below) & (below % 2 == 1))
        code = np.where(up, above, below)
    past = code >= len(magnitudes)
    result = np.where(past, form.beyond(overflow), every[code])
    if rounding == "zero":
        result = np.where(past & np.isfinite(inputs), magnitudes[-1], result)
    result = np.where(np.isinf(inputs), form.beyond(overflow), result)
    result = np.where(np.isnan(inputs), form.nan(), np.copysign(result, inputs))
    return result.astype(np.float32)
