"""Casting to a storage format: round to nearest, ties to even, once."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lossscale_core.arrays import Floats, as_gradients
from lossscale_core.checks import check_format
from lossscale_core.exact import sticky_float
from lossscale_core.formats import FP16, Format
from lossscale_core.halves import cast_halves
from lossscale_core.parts import in_parts

#: Elements rounded at a time: the work arrays of one block stay in the cache.
_BLOCK = 1 << 15
#: The same where threads take turns at the interpreter, which costs more than a cache that is too small.
_SHARED_BLOCK = 1 << 17


def cast(values: ArrayLike, fmt: Format) -> NDArray[Any]:
    """Round values to a storage format.

    Rounds to nearest, ties to even, straight from the given precision: a float64 does
    not pass through float32 on its way. Sets no floating-point error state and warns of
    nothing: overflow and underflow are results here.

    Args:
        values: real values of any shape; see `as_gradients` for the types.
        fmt: the format to round to.

    Returns:
        An array of the same shape: float16 for FP16, else float32, in which every finite
        value lies on the grid of `fmt`. Overflow and infinities become inf of the same
        sign, or NaN where the format has no inf; NaN stays NaN; zero keeps its sign where
        the format has a negative zero.

    Raises:
        InputError: the values are not real numbers, or the format is none.

    Example:
        >>> cast([2**-25, 65519.999, -1e6], FP16).tolist()
        [0.0, 65504.0, -inf]
    """
    check_format(fmt)
    source = as_gradients(values)
    flat = np.ascontiguousarray(source).reshape(-1)
    result = np.empty(flat.shape, np.float16 if fmt == FP16 else np.float32)
    grid = _Grid.of(fmt, flat.dtype)

    def fill(start: int, end: int) -> None:
        step = _BLOCK if end - start == flat.size else _SHARED_BLOCK
        with np.errstate(all="ignore"):
            for first in range(start, end, step):
                block = slice(first, min(first + step, end))
                if grid.same_exponents:
                    _round_by_integers(flat[block], grid, result[block])
                else:
                    result[block] = cast_halves(flat[block]) if fmt == FP16 else grid.rounded(flat[block])

    in_parts(flat.size, fill)
    return result.reshape(source.shape)


@dataclass(frozen=True)
class _Grid:
    """The format's grid in the words of a wider type (float32 or float64)."""

    fmt: Format
    word: type
    dropped_bits: int
    exponent_mask: int
    min_normal_word: int
    mantissa_bits: int
    same_exponents: bool

    @classmethod
    def of(cls, fmt: Format, dtype: np.dtype[Any]) -> "_Grid":
        info = np.finfo(dtype)
        word = np.uint64 if info.bits == 64 else np.uint32
        return cls(
            fmt=fmt,
            word=word,
            dropped_bits=info.nmant - fmt.mantissa_bits,
            exponent_mask=((1 << (info.bits - 1 - info.nmant)) - 1) << info.nmant,
            min_normal_word=int(np.array(fmt.min_normal, dtype).view(word)),
            mantissa_bits=info.nmant,
            same_exponents=info.bits == 32
            and info.nmant > fmt.mantissa_bits
            and fmt.min_exponent == info.minexp
            and fmt.negative_zero
            and fmt.inf_code == ((1 << info.nexp) - 1) << fmt.mantissa_bits,
        )

    def rounded(self, block: Floats) -> Floats:
        """Round a block to the grid, in the block's own type."""
        fmt = self.fmt
        if self.dropped_bits == 0:
            return block
        result = _round_by_addition(np.abs(block), self)
        np.copyto(result, np.inf if fmt.has_inf else np.nan, where=result > fmt.max_finite)
        np.copysign(result, block, out=result)
        if not fmt.negative_zero:
            result += 0
        return result


def _round_by_addition(magnitude: Floats, grid: _Grid) -> Floats:
    """Let the adder round: plus, then minus, a power of two whose last place is the grid's step there."""
    # From twice the largest power of two up all overflow alike; the clip keeps the sum finite.
    np.minimum(magnitude, 2.0 ** (grid.fmt.max_exponent + 1), out=magnitude)
    step = magnitude.view(grid.word) & grid.word(grid.exponent_mask)
    np.maximum(step, grid.word(grid.min_normal_word), out=step)
    step += grid.word(grid.dropped_bits << grid.mantissa_bits)
    shift = step.view(magnitude.dtype)
    magnitude += shift
    magnitude -= shift
    return magnitude


def _round_by_integers(block: Floats, grid: _Grid, rounded: Floats) -> None:
    """Round the bit patterns: where the exponents are the same, subnormals and overflow need no care of their own."""
    word, dropped = grid.word, grid.dropped_bits
    words: NDArray[np.unsignedinteger[Any]] = block.view(word)
    result: NDArray[np.unsignedinteger[Any]] = rounded.view(word)
    np.right_shift(words, word(dropped), out=result)
    result &= word(1)
    result += word((1 << (dropped - 1)) - 1)
    result += words
    result &= word(~((1 << dropped) - 1) & ((1 << (8 * block.itemsize)) - 1))
    # The payload of a NaN may have run over; the largest of a block is NaN where any is.
    if np.isnan(np.maximum.reduce(block)):
        np.copyto(rounded, block, where=np.isnan(block))


def cast_exact(value: Fraction, fmt: Format) -> float:
    """Round one exact number to a storage format.

    Args:
        value: any fraction.
        fmt: the format to round to.

    Returns:
        The stored value, as `cast` would give it: also inf, NaN or a zero (+0 for 0).
    """
    return float(cast(sticky_float(value), fmt))


def encode(values: ArrayLike, fmt: Format) -> NDArray[np.int64]:
    """The bit patterns of stored values.

    Args:
        values: what `cast` returned for the format.
        fmt: the format.

    Returns:
        An int64 array of the same shape: sign, exponent and mantissa fields as one number.
        NaN gets the pattern with all exponent and mantissa bits set, or that of -0 in a
        format without negative zero. Formats without any NaN have no pattern for it.

    Raises:
        InputError: the format is none.
    """
    check_format(fmt)
    stored = np.asarray(values, np.float64)
    magnitude = np.abs(stored)
    finite = np.where(np.isfinite(magnitude), magnitude, 0)
    exponent = np.maximum(np.where(finite > 0, np.frexp(finite)[1] - 1, fmt.min_exponent), fmt.min_exponent)
    steps = np.ldexp(finite, fmt.mantissa_bits - exponent).astype(np.int64)
    # The hidden bit of a normal adds 1 to the exponent field, of which a subnormal has 0.
    codes = steps + ((exponent - fmt.min_exponent).astype(np.int64) << fmt.mantissa_bits)
    codes = np.where(np.isinf(magnitude), fmt.inf_code or 0, codes)
    codes = np.where(np.isnan(magnitude), (1 << (fmt.bits - 1)) - fmt.negative_zero, codes)
    return np.where(np.signbit(stored), codes | (1 << (fmt.bits - 1)), codes)
