"""What can be asked of the magnitudes of many gradients once they are in order."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
import math

import numpy as np
from numpy.typing import NDArray

from lossscale_core.errors import InputError, quoted
from lossscale_core.exact import exact_scale
from lossscale_core.formats import Format
from lossscale_core.outcomes import Outcome, Product
from lossscale_core.windows import SafeWindow, windows_between


class Magnitudes(ABC):
    """Magnitudes of gradients in order: counts, windows and ranks are look-ups.

    Attributes:
        size: how many gradients there are.
        zeros: how many of them are 0.
        nonfinite: how many are inf or NaN.
        alive: how many are neither.
    """

    def __init__(self, size: int, zeros: int, nonfinite: int) -> None:
        self.size, self.zeros, self.nonfinite = size, zeros, nonfinite
        self.alive = size - zeros - nonfinite

    @abstractmethod
    def below_cuts(self, fmt: Format, scales: tuple[Fraction, ...], product: Product) -> NDArray[np.int64]:
        """Count the finite magnitudes, zeros too, below each cut of a format.

        Args:
            fmt: the storage format.
            scales: exact loss scales.
            product: how g*S is formed; see `classify`.

        Returns:
            A row for every scale, a column for each of `outcome_cuts`.
        """

    @abstractmethod
    def below_octaves(self, octaves: range) -> NDArray[np.int64]:
        """Count the finite magnitudes, zeros too, below 2**e for every e of a range."""

    @abstractmethod
    def magnitude(self, rank: int) -> float:
        """The finite nonzero magnitude with so many smaller or equal ones before it.

        Args:
            rank: from 0, the smallest, to `alive` - 1, the largest.

        Returns:
            The magnitude.

        Raises:
            IndexError: there is no such rank.
        """

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
        row = self._outcomes(fmt, (exact_scale(scale),), product)[0]
        return dict(zip(Outcome, row.tolist(), strict=True))

    def curve(self, fmt: Format, log2_scales: Sequence[int], product: Product = "exact") -> NDArray[np.int64]:
        """Count the outcomes at many powers of two.

        Args:
            fmt: the storage format.
            log2_scales: the k of the scales 2**k.
            product: how g*S is formed; see `classify`.

        Returns:
            An int64 array with a row for every scale and a column for every member of `Outcome`.
        """
        return self._outcomes(fmt, _powers(tuple(log2_scales)), product)

    def octaves(self) -> tuple[int, NDArray[np.int64]]:
        """Count the finite nonzero magnitudes of every octave.

        Returns:
            The first octave e that holds one, 2**e <= |g| < 2**(e + 1), and an int64 array of the
            counts from there to the last such octave; (0, an empty array) where there is none.
        """
        if self.alive == 0:
            return 0, np.zeros(0, np.int64)
        first, last = (math.frexp(self.magnitude(rank))[1] - 1 for rank in (0, self.alive - 1))
        return first, np.diff(self.below_octaves(range(first, last + 2)))

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
            raise InputError(
                "A share that may be lost is a number from 0 up to but not 1: {losing} is not.", losing=quoted(losing)
            )
        if self.alive == 0:
            return windows_between(None, None, self.nonfinite, fmt, product)
        lost = int(Fraction(losing) * self.alive)
        return windows_between(self.magnitude(lost), self.magnitude(self.alive - 1), self.nonfinite, fmt, product)

    def _outcomes(self, fmt: Format, scales: tuple[Fraction, ...], product: Product) -> NDArray[np.int64]:
        ends = self.below_cuts(fmt, scales, product)
        counts = np.empty((len(scales), len(Outcome)), np.int64)
        counts[:, Outcome.ZERO] = self.zeros
        counts[:, Outcome.UNDERFLOW] = ends[:, 0] - self.zeros
        counts[:, Outcome.SUBNORMAL] = ends[:, 1] - ends[:, 0]
        counts[:, Outcome.NORMAL] = ends[:, 2] - ends[:, 1]
        counts[:, Outcome.OVERFLOW] = self.zeros + self.alive - ends[:, 2]
        counts[:, Outcome.NONFINITE] = self.nonfinite
        return counts

    def _check_rank(self, rank: int) -> None:
        if not 0 <= rank < self.alive:
            raise IndexError(f"There are {self.alive} finite nonzero gradients: no rank {rank}.")


@lru_cache(maxsize=16)
def _powers(log2_scales: tuple[int, ...]) -> tuple[Fraction, ...]:
    return tuple(Fraction(2) ** k for k in log2_scales)
