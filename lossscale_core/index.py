"""Gradients sorted once, so that counting the outcomes at any scale is a look-up."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lossscale_core.bits import Patterns, bit_patterns, blocks, last_code_below
from lossscale_core.errors import InputError, quoted
from lossscale_core.exact import exact_scale
from lossscale_core.formats import Cut, Format
from lossscale_core.outcomes import Outcome, Product, outcome_cuts
from lossscale_core.windows import SafeWindow, windows_between

Progress = Callable[[float], None]

_BLOCK = 1 << 17
#: Sorted at once; larger parts are parted first, so that progress can be told in between.
_SORTED_AT_ONCE = 1 << 22


class MagnitudeIndex:
    """The magnitudes of many gradients in order.

    Building it costs about one sort and a copy of the magnitudes; for 16-bit and 8-bit types, whose
    patterns are tallied, one pass and 256 KiB.

    Attributes:
        size: how many gradients there are.
        zeros: how many of them are 0.
        nonfinite: how many are inf or NaN.
        alive: how many are neither.
    """

    def __init__(self, gradients: ArrayLike, stored: Format | None = None, progress: Progress | None = None) -> None:
        """Sort the magnitudes of gradients.

        Args:
            gradients: unscaled real values of any shape, also none; see `bit_patterns`.
            stored: the format of which they are bit patterns, if they are.
            progress: called with the share that is done, from 0 to 1, some hundred times in
                all for 10**8 gradients. What it raises ends the work.

        Raises:
            InputError: the gradients are not real numbers.
        """
        patterns, self._fmt = bit_patterns(gradients, stored)
        tell = progress or (lambda share: None)
        order = _Tally if self._fmt.bits <= 16 else _Sorted
        self._order: _Tally | _Sorted = order(patterns, self._fmt, tell)
        self.size = patterns.size
        self.zeros, finite = (int(count) for count in self._order.up_to(np.array([0, self._fmt.max_code])))
        self.nonfinite = self.size - finite
        self.alive = finite - self.zeros
        tell(1.0)

    def counts(self, scale: float | Fraction, fmt: Format, product: Product = "exact") -> dict[Outcome, int]:
        """Count the outcomes at a scale, as `count_outcomes` does.

        Args:
            scale: the loss scale S, finite and above 0.
            fmt: the storage format.
            product: how g*S is formed; see `classify`.

        Returns:
            The number of gradients for every member of `Outcome`, in its order.

        Raises:
            InputError: S is not finite and above 0.
        """
        codes = _codes(self._fmt, fmt, exact_scale(scale), product)
        return dict(zip(Outcome, self._between(np.array([codes]))[0].tolist(), strict=True))

    def curve(self, fmt: Format, log2_scales: Sequence[int], product: Product = "exact") -> NDArray[np.int64]:
        """Count the outcomes at many powers of two.

        Args:
            fmt: the storage format.
            log2_scales: the k of the scales 2**k.
            product: how g*S is formed; see `classify`.

        Returns:
            An int64 array with a row for every scale and a column for every member of `Outcome`.
        """
        return self._between(_slider_codes(self._fmt, fmt, tuple(log2_scales), product))

    def octaves(self) -> tuple[int, NDArray[np.int64]]:
        """Count the finite nonzero magnitudes of every octave.

        Returns:
            The first octave e that holds one, 2**e <= |g| < 2**(e + 1), and an int64 array of the
            counts from there to the last such octave; (0, an empty array) where there is none.
        """
        if self.alive == 0:
            return 0, np.zeros(0, np.int64)
        first, last = (math.frexp(self.magnitude(rank))[1] - 1 for rank in (0, self.alive - 1))
        edges = [last_code_below(Cut(Fraction(2) ** e, included=True), self._fmt) for e in range(first, last + 2)]
        return first, np.diff(self._order.up_to(np.array(edges)))

    def magnitude(self, rank: int) -> float:
        """The finite nonzero magnitude with so many smaller or equal ones before it.

        Args:
            rank: from 0, the smallest, to `alive` - 1, the largest.

        Returns:
            The magnitude.

        Raises:
            IndexError: there is no such rank.
        """
        if not 0 <= rank < self.alive:
            raise IndexError(f"There are {self.alive} finite nonzero gradients: no rank {rank}.")
        return self._fmt.value_of(self._order.at(self.zeros + rank))

    def safe_window(self, fmt: Format, product: Product = "exact", losing: float | Fraction = 0) -> SafeWindow:
        """Find the loss scales at which nothing overflows and at most a share of the gradients is lost.

        One overflow costs the whole step, so none is allowed, whatever the share.

        Args:
            fmt: the storage format.
            product: how g*S is formed; see `classify`.
            losing: the share of the finite nonzero gradients, from 0 up to but not 1, that may be
                stored as 0 in the window for survival, and below full precision in the other.

        Returns:
            The exact windows.

        Raises:
            InputError: the share is not a number in [0, 1).
        """
        if isinstance(losing, str) or not 0 <= losing < 1:
            raise InputError(f"A share that may be lost is a number from 0 up to but not 1: {quoted(losing)} is not.")
        if self.alive == 0:
            return windows_between(None, None, self.nonfinite, fmt, product)
        lost = int(Fraction(losing) * self.alive)
        return windows_between(self.magnitude(lost), self.magnitude(self.alive - 1), self.nonfinite, fmt, product)

    def _between(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The counts between the last codes below the cuts, a row for every scale."""
        ends = self._order.up_to(codes.reshape(-1)).reshape(codes.shape)
        counts = np.empty((len(codes), len(Outcome)), np.int64)
        counts[:, Outcome.ZERO] = self.zeros
        counts[:, Outcome.UNDERFLOW] = ends[:, 0] - self.zeros
        counts[:, Outcome.SUBNORMAL] = ends[:, 1] - ends[:, 0]
        counts[:, Outcome.NORMAL] = ends[:, 2] - ends[:, 1]
        counts[:, Outcome.OVERFLOW] = self.zeros + self.alive - ends[:, 2]
        counts[:, Outcome.NONFINITE] = self.nonfinite
        return counts


def _codes(source: Format, fmt: Format, scale: Fraction, product: Product) -> list[int]:
    """The last magnitudes of the gradients' type below each cut of a format, at a scale."""
    cuts = outcome_cuts(fmt, product)
    return [last_code_below(Cut(cut.value / scale, cut.included), source) for cut in cuts]


@lru_cache(maxsize=64)
def _slider_codes(source: Format, fmt: Format, log2_scales: tuple[int, ...], product: Product) -> NDArray[np.int64]:
    # The same for all gradients of a type; finding them takes longer than looking them up.
    return np.array([_codes(source, fmt, Fraction(2) ** k, product) for k in log2_scales]).reshape(-1, 3)


class _Sorted:
    """Magnitude patterns in order."""

    def __init__(self, patterns: Patterns, fmt: Format, tell: Progress) -> None:
        word = patterns.dtype.type
        self._words = np.empty(patterns.size, word)
        done = 0
        for block in blocks(patterns, _BLOCK):
            np.bitwise_and(block, word((1 << (fmt.bits - 1)) - 1), out=self._words[done : done + block.size])
            done += block.size
        self._sort(self._words, 0, tell)

    def _sort(self, part: Patterns, done: int, tell: Progress) -> None:
        if part.size <= _SORTED_AT_ONCE:
            part.sort()
            return tell((done + part.size) / max(1, self._words.size))
        # Parting in the middle first is what sorting does inside, so it costs next to nothing more.
        middle = part.size // 2
        part.partition(middle)
        self._sort(part[:middle], done, tell)
        return self._sort(part[middle:], done + middle, tell)

    def up_to(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        # Keys of the array's own type: with any other numpy would convert the whole array first.
        return np.searchsorted(self._words, codes.astype(self._words.dtype), side="right")

    def at(self, rank: int) -> int:
        return int(self._words[rank])


class _Tally:
    """How often each magnitude pattern of a narrow type occurs."""

    def __init__(self, patterns: Patterns, fmt: Format, tell: Progress) -> None:
        codes = 1 << (fmt.bits - 1)
        tally = np.zeros(codes, np.int64)
        done = 0
        for block in blocks(patterns, _BLOCK):
            tally += np.bincount(block & patterns.dtype.type(codes - 1), minlength=codes)
            done += block.size
            tell(done / patterns.size)
        self._up_to = np.cumsum(tally)

    def up_to(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.asarray(self._up_to[codes], np.int64)

    def at(self, rank: int) -> int:
        return int(np.searchsorted(self._up_to, rank, side="right"))
