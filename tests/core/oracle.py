"""What must come out, written from the definition of a format in exact fractions, by none of our own code.

Of a `Format` only the given integers and flags are read, never what it derives from them.
"""

from fractions import Fraction
from functools import cache
import math

import numpy as np

from lossscale_core import Format


@cache
def power(exponent: int) -> Fraction:
    """2**exponent, exactly."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def log2_floor(value: Fraction) -> int:
    """The k with 2**k <= value < 2**(k + 1)."""
    k = value.numerator.bit_length() - value.denominator.bit_length()
    return k if value.denominator << max(k, 0) <= value.numerator << max(-k, 0) else k - 1


def values_of(codes: np.ndarray, fmt: Format) -> np.ndarray:
    """The float64 values of sign-free codes; beyond the largest code, what the grid would go on with."""
    mantissa = codes & ((1 << fmt.mantissa_bits) - 1)
    field = codes >> fmt.mantissa_bits
    steps = np.where(field > 0, mantissa + (1 << fmt.mantissa_bits), mantissa)
    exponent = np.maximum(field, 1) - fmt.bias - fmt.mantissa_bits
    return np.ldexp(steps.astype(np.float64), exponent.astype(np.int32))


def code_of(value: Fraction, fmt: Format) -> int:
    """The sign-free code that the nearest point of the endless grid has, ties to even."""
    exponent = max(log2_floor(value), 1 - fmt.bias) if value else 1 - fmt.bias
    last_place = exponent - fmt.mantissa_bits
    numerator, denominator = value.numerator << max(-last_place, 0), value.denominator << max(last_place, 0)
    steps, rest = divmod(numerator, denominator)
    if 2 * rest > denominator or (2 * rest == denominator and steps % 2):
        steps += 1
    return steps + ((exponent + fmt.bias - 1) << fmt.mantissa_bits)


def overflow_value(fmt: Format) -> float:
    """What a positive overflow is stored as."""
    return math.inf if fmt.has_inf else math.nan


def stored(value: float | Fraction, fmt: Format) -> float:
    """What a value is stored as, rounded once."""
    if not isinstance(value, Fraction) and math.isnan(value):
        return math.nan
    negative = value < 0 or (value == 0 and math.copysign(1, value) < 0)
    code = (
        fmt.max_code + 1
        if not isinstance(value, Fraction) and math.isinf(value)
        else code_of(abs(Fraction(value)), fmt)
    )
    magnitude = overflow_value(fmt) if code > fmt.max_code else float(values_of(np.array(code), fmt))
    if magnitude == 0 and not fmt.negative_zero:
        return 0.0
    return -magnitude if negative else magnitude


def stored_array(values: np.ndarray, fmt: Format) -> np.ndarray:
    """`stored` for every element of an array of floats, as float64."""
    flat = [stored(float(value), fmt) for value in np.asarray(values).ravel()]
    return np.array(flat, np.float64).reshape(np.shape(values))


def outcome(gradient: float, scale: float | Fraction, fmt: Format) -> str:
    """The name of what becomes of gradient * scale, told from what it is stored as."""
    if not math.isfinite(gradient):
        return "NONFINITE"
    if gradient == 0:
        return "ZERO"
    code = code_of(abs(Fraction(gradient)) * Fraction(scale), fmt)
    if code == 0:
        return "UNDERFLOW"
    if code > fmt.max_code:
        return "OVERFLOW"
    return "SUBNORMAL" if code < 1 << fmt.mantissa_bits else "NORMAL"


def works(gradients: list[float], scale: float | Fraction, fmt: Format, full_precision: bool = False) -> bool:
    """Whether every finite nonzero gradient survives a scale, or keeps full precision there."""
    wanted = {"NORMAL"} if full_precision else {"NORMAL", "SUBNORMAL"}
    outcomes = {outcome(gradient, scale, fmt) for gradient in gradients}
    return outcomes <= wanted | {"ZERO", "NONFINITE"}


def same(actual: np.ndarray, expected: np.ndarray) -> bool:
    """Whether two arrays hold the same numbers with the same signs; any NaN is like any other."""
    # Widening a signalling NaN sets the flag for invalid operations.
    with np.errstate(invalid="ignore"):
        actual, expected = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
    nan = np.isnan(expected)
    return bool(
        actual.shape == expected.shape
        and np.array_equal(np.isnan(actual), nan)
        and np.array_equal(actual[~nan], expected[~nan])
        and np.array_equal(np.signbit(actual[~nan]), np.signbit(expected[~nan]))
    )
