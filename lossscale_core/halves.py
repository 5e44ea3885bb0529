"""Casting to float16 by integers.

numpy's own cast raises a floating-point flag for every inexact subnormal, which makes it some
hundred times slower than a copy on real gradients. Here the adder rounds, and the bits of the
sum are the bits of the result.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lossscale_core.arrays import Floats
from lossscale_core.formats import FP16

Words = NDArray[np.unsignedinteger[Any]]

_INF = FP16.inf_code or 0
_QUIET_NAN = _INF | 1 << (FP16.mantissa_bits - 1)


def cast_halves(block: Floats) -> NDArray[np.float16]:
    """Round values to float16, to nearest, ties to even.

    Args:
        block: a contiguous, one-dimensional array of float32 or float64. NaN in it may set
            off numpy's warnings, which the caller turns off.

    Returns:
        A float16 array of the same length, bit-identical to `block.astype(float16)` but for
        the payload of NaNs.
    """
    info = np.finfo(block.dtype)
    word = np.uint32 if info.bits == 32 else np.uint64
    dropped = info.nmant - FP16.mantissa_bits
    smallest = word(np.array(FP16.min_normal, block.dtype).view(word))

    magnitude = np.abs(block)
    # From 2**16 up everything is infinite; the clip keeps the sum below in range.
    np.minimum(magnitude, block.dtype.type(2.0 ** (FP16.max_exponent + 1)), out=magnitude)
    words: Words = magnitude.view(word)
    exponent: Words = words >> word(info.nmant)
    exponent <<= word(info.nmant)
    np.maximum(exponent, smallest, out=exponent)

    # Plus a power of two whose last place is a step of the float16 grid: what the sum has more
    # in its bits is the number of steps.
    shift: Words = exponent + word(dropped << info.nmant)
    magnitude += shift.view(block.dtype)
    codes: Words = magnitude.view(word)
    codes -= shift
    exponent -= smallest
    exponent >>= word(dropped)
    codes += exponent
    halves = codes.astype(np.uint16)

    # The clip passes NaN on, which has the largest exponent and is none of the numbers above.
    nan = np.isnan(block)
    if nan.any():
        halves[nan] = _QUIET_NAN
    signs: Words = block.view(word)
    halves |= (signs >> word(info.bits - 16)).astype(np.uint16) & np.uint16(0x8000)
    return halves.view(np.float16)
