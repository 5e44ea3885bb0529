"""What becomes of a gradient when it is scaled and stored."""

from enum import IntEnum
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lossscale_core.bits import Patterns, after_rounding, bit_patterns, blocks, last_code_below
from lossscale_core.checks import check_format
from lossscale_core.errors import InputError, quoted
from lossscale_core.exact import exact_scale
from lossscale_core.formats import FP32, Cut, Format

#: How g*S is formed before the cast: exactly, or rounded to float32, as in training.
Product = Literal["exact", "float32"]


class Outcome(IntEnum):
    """What becomes of one scaled gradient in a storage format."""

    #: The gradient is 0: nothing is lost.
    ZERO = 0
    #: A nonzero gradient is stored as 0.
    UNDERFLOW = 1
    #: Stored with fewer significant bits than the format has.
    SUBNORMAL = 2
    #: Stored with all the significant bits of the format.
    NORMAL = 3
    #: A finite gradient is stored as inf, or as NaN in a format without inf.
    OVERFLOW = 4
    #: The gradient is inf or NaN before scaling: no scale helps.
    NONFINITE = 5


#: Elements at a time: few calls, and a block and its work array stay in the cache.
_BLOCK = 1 << 17

_MEMBERS = np.array(list(Outcome), dtype=object)


@lru_cache
def outcome_cuts(fmt: Format, product: Product = "exact") -> tuple[Cut, Cut, Cut]:
    """Where the exact |g*S| changes its outcome.

    Args:
        fmt: the storage format.
        product: how g*S is formed; see `classify`.

    Returns:
        The cuts above which it is no more lost, no more subnormal, and overflows.

    Raises:
        InputError: the product is formed in a way that is not known, or the format is none.
    """
    check_format(fmt)
    if product not in ("exact", "float32"):
        raise InputError(
            "The product g*S is formed “exact” or in “float32”: {product} is not known.", product=quoted(product)
        )
    survival, full_precision, overflow = fmt.survival, fmt.full_precision, fmt.overflow
    if product == "exact":
        return survival, full_precision, overflow
    return after_rounding(survival, FP32), after_rounding(full_precision, FP32), after_rounding(overflow, FP32)


def classify(gradients: ArrayLike, scale: float | Fraction, fmt: Format, product: Product = "exact") -> NDArray[Any]:
    """Tell what becomes of each gradient when it is multiplied by a scale and stored.

    Args:
        gradients: unscaled real values of any shape.
        scale: the loss scale S, finite and above 0.
        fmt: the storage format.
        product: "exact" for g*S not rounded before the cast; "float32" for g*S rounded to
            float32 first, as a float32 multiplication gives it where S is a float32 value.

    Returns:
        An object array of the same shape, of members of `Outcome`. The borders are those of
        `safe_window` with the same product.

    Raises:
        InputError: the gradients are not real numbers, or S is not finite and above 0.

    Example:
        >>> [str(o.name) for o in classify([2**-26, 8.0], 2**13, FP16)]
        ['NORMAL', 'OVERFLOW']
    """
    return np.asarray(_MEMBERS[outcome_codes(gradients, scale, fmt, product)], dtype=object)


def count_outcomes(
    gradients: ArrayLike,
    scale: float | Fraction,
    fmt: Format,
    product: Product = "exact",
    stored: Format | None = None,
) -> dict[Outcome, int]:
    """Count the outcomes of `classify`.

    One pass, in blocks: float16, float32, float64 and bfloat16 arrays of any size take less than
    2 MiB of extra memory.

    Args:
        gradients: unscaled real values of any shape, also none.
        scale: the loss scale S, finite and above 0.
        fmt: the storage format.
        product: how g*S is formed; see `classify`.
        stored: the format of which the gradients are bit patterns, such as BF16 for a uint16 array.

    Returns:
        The number of gradients for every member of `Outcome`, in its order.

    Raises:
        InputError: as `classify`.
    """
    patterns, ends, without_sign = _prepared(gradients, scale, fmt, product, stored)
    up_to = np.zeros(len(ends), np.int64)
    work = np.empty(min(_BLOCK, patterns.size), patterns.dtype)
    for block in blocks(patterns, _BLOCK):
        magnitude = np.bitwise_and(block, without_sign, out=work[: block.size])
        for at, last in enumerate(ends):
            up_to[at] += np.count_nonzero(magnitude <= last)
    counts = np.diff(up_to, prepend=0, append=patterns.size)
    return {outcome: int(counts[outcome]) for outcome in Outcome}


def outcome_codes(
    gradients: ArrayLike,
    scale: float | Fraction,
    fmt: Format,
    product: Product = "exact",
    stored: Format | None = None,
) -> NDArray[np.int8]:
    """The outcomes of `classify` as small integers, the values of `Outcome`: an eighth of the memory.

    Args, Raises: as `count_outcomes`. It works in blocks, too.

    Returns:
        An int8 array of the gradients' shape.
    """
    patterns, ends, without_sign = _prepared(gradients, scale, fmt, product, stored)
    flat = patterns.reshape(-1) if patterns.flags.c_contiguous else patterns.flat
    codes = np.zeros(patterns.size, np.int8)
    for start in range(0, patterns.size, _BLOCK):
        magnitude = flat[start : start + _BLOCK] & without_sign
        part = codes[start : start + _BLOCK]
        # An outcome is numbered by how many ends lie below it.
        for last in ends:
            part += magnitude > last
    return codes.reshape(patterns.shape)


@lru_cache(maxsize=1024)
def _last_codes(source: Format, fmt: Format, scale: Fraction, product: Product) -> tuple[np.unsignedinteger[Any], ...]:
    """The last magnitude of every outcome but the last, as bit patterns of the gradients' type."""
    # Between the last code below a cut and the next there is no magnitude to misjudge.
    cuts = (last_code_below(Cut(cut.value / scale, cut.included), source) for cut in outcome_cuts(fmt, product))
    # Compared with a number of another type, numpy would convert the whole block.
    word = np.dtype(f"u{source.bits // 8}").type
    return tuple(word(code) for code in (0, *cuts, source.max_code))


def _prepared(
    gradients: ArrayLike, scale: float | Fraction, fmt: Format, product: Product, stored: Format | None
) -> tuple[Patterns, tuple[np.unsignedinteger[Any], ...], np.unsignedinteger[Any]]:
    """The gradients' bit patterns, the last magnitude of every outcome but the last, and the mask without the sign."""
    patterns, source = bit_patterns(gradients, stored)
    without_sign = patterns.dtype.type((1 << (source.bits - 1)) - 1)
    return patterns, _last_codes(source, fmt, exact_scale(scale), product), without_sign
