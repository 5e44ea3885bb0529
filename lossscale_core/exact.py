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
        # Text is refused unread: Fraction would work at 1e999999999 for hours.
        number = None if isinstance(scale, str) else scale.item() if isinstance(scale, np.generic) else scale
        exact = Fraction(number)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            "A loss scale must be a finite number above 0: {scale} is not.", scale=quoted(scale)
        ) from error
    if exact <= 0:
        raise InputError("A loss scale must be a finite number above 0: {scale} is not.", scale=quoted(scale))
    return exact


def exact_fraction(value: float | Fraction) -> Fraction:
    """The exact value of a finite number, of Python's or of numpy's.

    Args:
        value: a finite real number.

    Returns:
        Its value as a fraction.
    """
    return Fraction(value.item() if isinstance(value, np.generic) else value)


def floor_log2(value: Fraction) -> int:
    """floor(log2(value)) of a positive fraction, exactly.

    Args:
        value: a fraction above 0.

    Returns:
        The largest k with 2**k <= value.
    """
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    reached = value.denominator << max(0, guess) <= value.numerator << max(0, -guess)
    return guess if reached else guess - 1


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
    sign = -1.0 if value < 0 else 1.0
    if abs(exponent) > 1000:
        return sign * (2.0**1000 if exponent > 0 else 2.0**-1000)
    scaled = abs(value) / Fraction(2) ** (exponent - 52)
    digits, rest = divmod(scaled.numerator, scaled.denominator)
    return sign * math.ldexp(digits | bool(rest), exponent - 52)


def log2(value: Fraction) -> float:
    """The place of a positive fraction on a log2 axis.

    Args:
        value: a fraction above 0, of any size.

    Returns:
        log2(value) to float64 precision; an integer exactly for a power of two.
    """
    exponent = floor_log2(value)
    return exponent + math.log2(value / Fraction(2) ** exponent)
