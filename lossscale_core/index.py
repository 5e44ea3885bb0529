"""Gradients sorted once, so that counting the outcomes at any scale is a look-up."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import lru_cache
from threading import Lock

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lossscale_core.bits import Patterns, bit_patterns, blocks, last_code_below
from lossscale_core.formats import FP64, Cut, Format
from lossscale_core.outcomes import Product, outcome_cuts
from lossscale_core.parts import in_parts
from lossscale_core.queries import Magnitudes

Progress = Callable[[float], None]

_BLOCK = 1 << 17
#: Sorted at once; larger parts are parted first, so that progress can be told in between.
_SORTED_AT_ONCE = 1 << 24


class MagnitudeIndex(Magnitudes):
    """The magnitudes of one array in order.

    Building it costs about one sort and a copy of the magnitudes; for 16-bit and 8-bit types, whose
    patterns are tallied, one pass and 256 KiB.
    """

    def __init__(self, gradients: ArrayLike, stored: Format | None = None, progress: Progress | None = None) -> None:
        """Sort the magnitudes of gradients.

        Args:
            gradients: unscaled real values of any shape, also none; see `bit_patterns`.
            stored: the format of which they are bit patterns, if they are.
            progress: called with the share that is done, from 0 to 1, several times for 10**8
                gradients, perhaps in another thread. What it raises ends the work.

        Raises:
            InputError: the gradients are not real numbers.
        """
        patterns, self._fmt = bit_patterns(gradients, stored)
        order = _Tally if self._fmt.bits <= 16 else _Sorted
        self._order: _Tally | _Sorted = order(patterns, self._fmt, progress or (lambda share: None))
        zeros, finite = (int(count) for count in self._order.up_to(np.array([0, self._fmt.max_code])))
        super().__init__(patterns.size, zeros, patterns.size - finite)

    def below_cuts(self, fmt: Format, scales: tuple[Fraction, ...], product: Product) -> NDArray[np.int64]:
        """As `Magnitudes` says."""
        codes = _codes(self._fmt, fmt, scales, product)
        return self._order.up_to(codes.reshape(-1)).reshape(codes.shape)

    def below_octaves(self, octaves: range) -> NDArray[np.int64]:
        """As `Magnitudes` says."""
        cuts = (Cut(Fraction(2) ** octave, included=True) for octave in octaves)
        return self._order.up_to(np.array([last_code_below(cut, self._fmt) for cut in cuts]))

    def magnitude(self, rank: int) -> float:
        """As `Magnitudes` says."""
        self._check_rank(rank)
        return self._fmt.value_of(self._order.at(self.zeros + rank))

    def up_to(self, magnitude: float) -> int:
        """Count the finite magnitudes, zeros too, that are not above a given one.

        Args:
            magnitude: a finite number, at least 0.
        """
        if magnitude == 0:
            return self.zeros
        code = last_code_below(Cut(Fraction(magnitude), included=False), self._fmt)
        return int(self._order.up_to(np.array([code]))[0])


class UnitedIndex(Magnitudes):
    """The magnitudes of several arrays together, whose indexes are kept apart."""

    def __init__(self, parts: Sequence[MagnitudeIndex]) -> None:
        """Unite indexes.

        Args:
            parts: those of the arrays; at least one.
        """
        self._parts = parts
        self._idle_zeros = sum(part.zeros for part in parts if not part.alive)
        self._found: dict[int, float] = {}
        super().__init__(*(sum(getattr(part, name) for part in parts) for name in ("size", "zeros", "nonfinite")))

    def below_cuts(self, fmt: Format, scales: tuple[Fraction, ...], product: Product) -> NDArray[np.int64]:
        """As `Magnitudes` says."""
        return np.asarray(sum(part.below_cuts(fmt, scales, product) for part in self._parts), np.int64)

    def below_octaves(self, octaves: range) -> NDArray[np.int64]:
        """As `Magnitudes` says."""
        return np.asarray(sum(part.below_octaves(octaves) for part in self._parts), np.int64)

    def magnitude(self, rank: int) -> float:
        """As `Magnitudes` says."""
        self._check_rank(rank)
        if rank not in self._found:
            self._found[rank] = self._search(rank)
        return self._found[rank]

    def _search(self, rank: int) -> float:
        alive = [part for part in self._parts if part.alive]
        low = min(part.magnitude(0) for part in alive)
        high = max(part.magnitude(part.alive - 1) for part in alive)
        if rank in (0, self.alive - 1):
            return low if rank == 0 else high
        # The patterns of float64 are in the order of the magnitudes, and every part's are among them.
        first, last = (int(np.float64(end).view(np.uint64)) for end in (low, high))
        while first < last:
            middle = (first + last) // 2
            value = FP64.value_of(middle)
            if sum(part.up_to(value) for part in alive) > self.zeros - self._idle_zeros + rank:
                last = middle
            else:
                first = middle + 1
        return FP64.value_of(first)


@lru_cache(maxsize=64)
def _codes(source: Format, fmt: Format, scales: tuple[Fraction, ...], product: Product) -> NDArray[np.int64]:
    """The last magnitudes of the gradients' type below each cut of a format, a row for every scale."""
    # Kept, since they are the same for all gradients of a type, and finding them takes longer than looking them up.
    cuts = outcome_cuts(fmt, product)
    codes = [[last_code_below(Cut(cut.value / scale, cut.included), source) for cut in cuts] for scale in scales]
    return np.array(codes).reshape(-1, 3)


class _Sorted:
    """Magnitude patterns in order."""

    def __init__(self, patterns: Patterns, fmt: Format, tell: Progress) -> None:
        word = patterns.dtype.type
        self._words = words = np.empty(patterns.size, word)
        magnitude = word((1 << (fmt.bits - 1)) - 1)
        if patterns.flags.forc:
            flat = patterns.reshape(-1, order="A")
            in_parts(flat.size, lambda start, end: np.bitwise_and(flat[start:end], magnitude, out=words[start:end]))
        else:
            done = 0
            for block in blocks(patterns, _BLOCK):
                np.bitwise_and(block, magnitude, out=words[done : done + block.size])
                done += block.size
        self._tell, self._done, self._turn = tell, 0, Lock()
        if words.size <= _SORTED_AT_ONCE:
            self._sort(words)
        else:
            # Parting in the middle is what sorting does first, so it costs nothing more.
            middle = words.size // 2
            words.partition(middle)
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(self._sort, (words[:middle], words[middle:])))

    def _sort(self, part: Patterns) -> None:
        if part.size > _SORTED_AT_ONCE:
            middle = part.size // 2
            part.partition(middle)
            self._sort(part[:middle])
            return self._sort(part[middle:])
        part.sort()
        with self._turn:
            self._done += part.size
            return self._tell(self._done / max(1, self._words.size))

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
