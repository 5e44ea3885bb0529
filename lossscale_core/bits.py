"""Values as bit patterns: of magnitudes of one format, the larger one has the larger pattern."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lossscale_core.arrays import as_gradients
from lossscale_core.errors import InputError
from lossscale_core.exact import floor_log2
from lossscale_core.formats import BF16, FP16, FP32, FP64, Cut, Format

Patterns = NDArray[np.unsignedinteger[Any]]

_FLOATS = {2: FP16, 4: FP32, 8: FP64}


def bit_patterns(values: ArrayLike, stored: Format | None = None) -> tuple[Patterns, Format]:
    """The bit patterns of gradients, without a copy where numpy has their type or they are bfloat16.

    Args:
        values: gradients of any shape and of a type that `as_gradients` takes; or, with
            `stored`, unsigned integers that are bit patterns already.
        stored: the format of which the values are bit patterns, such as BF16 for a uint16 array.

    Returns:
        An array of unsigned integers of the same shape, and the format of which they are the
        patterns, the sign in the top bit.

    Raises:
        InputError: the values are not real numbers, or no patterns of the format.
    """
    if stored is not None:
        return _given(np.asarray(values), stored), stored
    array = values if isinstance(values, np.ndarray) else np.asarray(as_gradients(values))
    if array.dtype.name == "bfloat16":
        return array.view(np.uint16), BF16
    if array.dtype.kind != "f" or array.dtype.itemsize not in _FLOATS or not array.dtype.isnative:
        array = as_gradients(array)
    size = array.dtype.itemsize
    return array.view(f"u{size}"), _FLOATS[size]


def _given(array: NDArray[Any], stored: Format) -> Patterns:
    if array.dtype.kind != "u" or array.dtype.itemsize * 8 != stored.bits or not array.dtype.isnative:
        raise InputError(
            "Bit patterns of {label} must be unsigned integers of {bits} bits, not {dtype}.",
            label=stored.label,
            bits=stored.bits,
            dtype=array.dtype,
        )
    return array


def blocks(patterns: Patterns, size: int) -> Iterator[Patterns]:
    """Cut an array of any shape and layout into one-dimensional pieces, in any order.

    Args:
        patterns: the array.
        size: the most elements in a piece.

    Yields:
        The pieces: views where the array is contiguous in some order, else copies of that size.
    """
    flat = patterns.reshape(-1, order="A") if patterns.flags.forc or patterns.ndim == 1 else None
    for start in range(0, patterns.size, size):
        yield patterns.flat[start : start + size] if flat is None else flat[start : start + size]


def last_code_below(cut: Cut, fmt: Format) -> int:
    """The largest magnitude of a format on the lower side of a cut.

    Args:
        cut: a cut above 0.
        fmt: the format.

    Returns:
        Its bit pattern: that of 0 where every nonzero magnitude lies above the cut, that of
        the largest finite value where none does.
    """
    exponent = max(floor_log2(cut.value), fmt.min_exponent)
    # Beyond the largest value the exponent field would run over.
    if exponent > fmt.max_exponent:
        return fmt.max_code
    step = exponent - fmt.mantissa_bits
    numerator, denominator = cut.value.numerator, cut.value.denominator
    steps, rest = divmod(numerator << max(0, -step), denominator << max(0, step))
    # The hidden bit of a normal adds 1 to the exponent field, of which a subnormal has 0.
    code = steps + ((exponent - fmt.min_exponent) << fmt.mantissa_bits)
    return min(code - (cut.included and rest == 0), fmt.max_code)


def after_rounding(cut: Cut, fmt: Format) -> Cut:
    """Move a cut to where it lies for magnitudes that are rounded to a format before they meet it.

    Args:
        cut: a cut above 0, for rounded magnitudes.
        fmt: the format they are rounded to, to nearest, ties to even.

    Returns:
        The cut for the same magnitudes before that rounding.
    """
    code = last_code_below(cut, fmt)
    # The next value up, even beyond the largest one, where rounding gives inf.
    middle = (Fraction(fmt.value_of(code)) + Fraction(fmt.value_of(code + 1))) / 2
    return Cut(middle, included=bool(code & 1))
