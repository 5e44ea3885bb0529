"""The smallest and the largest magnitude of an array, in one pass that needs no memory of its size."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lossscale_core.bits import Patterns, bit_patterns, blocks
from lossscale_core.formats import Format
from lossscale_core.parts import in_parts

#: Bytes at a time: few calls, and a block and its work array stay in the cache.
_BLOCK = 1 << 20

#: Twice the smallest pattern above 0, less 1.
_SMALLEST = 1


@dataclass(frozen=True)
class Extent:
    """What the magnitudes of an array span.

    Attributes:
        smallest: the smallest finite nonzero magnitude; None where there is none.
        largest: the largest finite nonzero magnitude; None where there is none.
        nonfinite: how many values are inf or NaN.
    """

    smallest: float | None
    largest: float | None
    nonfinite: int


def extent(gradients: ArrayLike, stored: Format | None = None) -> Extent:
    """Find the smallest and the largest nonzero magnitude.

    Args:
        gradients: real values of any shape, also none; see `bit_patterns`.
        stored: the format of which they are bit patterns, if they are.

    Returns:
        Both, exactly, and the number of values that are inf or NaN.

    Raises:
        InputError: the gradients are not real numbers.
    """
    patterns, fmt = bit_patterns(gradients, stored)
    if patterns.flags.forc:
        flat = patterns.reshape(-1, order="A")
        ends = in_parts(flat.size, lambda start, end: _ends(flat[start:end], fmt))
    else:
        ends = [_ends(patterns, fmt)]
    smallest, largest = min(low for low, _, _ in ends), max(high for _, high, _ in ends)
    nonfinite = sum(count for _, _, count in ends)
    if largest == 0:
        return Extent(None, None, nonfinite)
    return Extent(fmt.value_of((smallest + 1) >> 1), fmt.value_of(largest >> 1), nonfinite)


def _ends(patterns: Patterns, fmt: Format) -> tuple[int, int, int]:
    """Twice the smallest nonzero pattern less 1, twice the largest, and how many are not finite."""
    word = patterns.dtype.type
    above_finite = word((fmt.max_code + 1) << 1)
    # Twice the pattern drops the sign; less 1, zero becomes the largest number of all.
    smallest, largest, nonfinite = int(np.iinfo(word).max), 0, 0
    size = _BLOCK // patterns.itemsize
    work = np.empty(min(size, patterns.size), word)
    for block in blocks(patterns, size):
        doubled = np.add(block, block, out=work[: block.size])
        if np.maximum.reduce(doubled) >= above_finite:
            doubled, excluded = _finite(doubled, above_finite)
            nonfinite += excluded
            if doubled.size == 0:
                continue
        largest = max(largest, int(np.maximum.reduce(doubled)))
        # Among narrow types the smallest value of all is soon found.
        if smallest == _SMALLEST:
            continue
        doubled -= word(1)
        smallest = min(smallest, int(np.minimum.reduce(doubled)))
    return smallest, largest, nonfinite


def _finite(doubled: Patterns, above_finite: np.unsignedinteger[Any]) -> tuple[Patterns, int]:
    finite = doubled[doubled < above_finite]
    return finite, doubled.size - finite.size
