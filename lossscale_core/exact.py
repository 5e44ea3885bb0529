"""Exact numbers: scales and logarithms as fractions."""

from fractions import Fraction
import math

import numpy as np

from lossscale_core.errors import InputError, quoted


def exact_scale(scale: float | Fraction) -> Fraction:
    """The loss scale as an exact fraction.

    Args:
        scale: S, a real number.

    Returns:
        Its exact value.

    Raises:
        InputError: S is not a real number, not finite, or not above 0.
    """
    try:
        exact = Fraction(scale.item() if isinstance(scale, np.generic) else scale)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"A loss scale must be a finite number above 0: {quoted(scale)} is not.") from error
    if isinstance(scale, str) or exact <= 0:
        raise InputError(f"A loss scale must be a finite number above 0: {quoted(scale)} is not.")
    return exact


def floor_log2(value: Fraction) -> int:
    """floor(log2(value)) of a positive fraction, exactly.

    Args:
        value: a fraction above 0.

    Returns:
        The largest k with 2**k <= value.
    """
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1


def sticky_float(value: Fraction) -> float:
    """A float64 that every narrower format rounds to the same value as the fraction itself.

    Args:
        value: any fraction.

    Returns:
        The first 53 significant bits of the value, the last one set if anything nonzero was
        cut off ("round to odd"). Magnitudes beyond 2**-1000 and 2**1000, where every
        storage format rounds to zero or overflows whatever the digits, are moved there.
    """
    if value == 0:
        return 0.0
    exponent = floor_log2(abs(value))
    if abs(exponent) > 1000:
        return math.copysign(2.0 ** math.copysign(1000, exponent), value)
    scaled = abs(value) / Fraction(2) ** (exponent - 52)
    digits, rest = divmod(scaled.numerator, scaled.denominator)
    return math.copysign(math.ldexp(digits | bool(rest), exponent - 52), value)
