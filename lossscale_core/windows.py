"""The loss scales that work for a set of gradients, exactly."""

from dataclasses import dataclass
from fractions import Fraction
import math

import numpy as np
from numpy.typing import ArrayLike

from lossscale_core.arrays import as_gradients
from lossscale_core.exact import floor_log2
from lossscale_core.formats import Cut, Format


@dataclass(frozen=True)
class Window:
    """An interval of loss scales S > 0.

    Attributes:
        lower: what S must exceed; 0 where nothing asks for more.
        lower_closed: whether S may equal `lower`.
        upper: what S must stay below; `math.inf` where nothing limits it.
        upper_closed: whether S may equal `upper`.

    A window whose ends contradict each other is `empty`; its ends stay readable, since
    they say what each side would have needed.
    """

    lower: Fraction
    lower_closed: bool
    upper: Fraction | float
    upper_closed: bool

    @property
    def empty(self) -> bool:
        """Whether no scale at all lies in the window."""
        if self.lower == self.upper:
            return not (self.lower_closed and self.upper_closed)
        return self.lower > self.upper

    def __contains__(self, scale: float | Fraction) -> bool:
        above = scale >= self.lower if self.lower_closed else scale > self.lower
        below = scale <= self.upper if self.upper_closed else scale < self.upper
        return above and below

    @property
    def first_log2(self) -> int | None:
        """The smallest k with 2**k at or above the lower end; None where that end is 0."""
        if self.lower == 0:
            return None
        floor = floor_log2(self.lower)
        return floor if self.lower_closed and self.lower == Fraction(2) ** floor else floor + 1

    @property
    def last_log2(self) -> int | None:
        """The largest k with 2**k at or below the upper end; None where that end is unbounded."""
        if isinstance(self.upper, float) and math.isinf(self.upper):
            return None
        upper = Fraction(self.upper)
        floor = floor_log2(upper)
        return floor - 1 if not self.upper_closed and upper == Fraction(2) ** floor else floor

    @property
    def log2_powers(self) -> tuple[int | None, int | None] | None:
        """The first and last k with 2**k in the window; None where there is none, (None, None) in (0, inf)."""
        first, last = self.first_log2, self.last_log2
        if first is not None and last is not None and first > last:
            return None
        return first, last


@dataclass(frozen=True)
class SafeWindow:
    """The windows of `safe_window`.

    Attributes:
        survive: every finite nonzero gradient is stored as a finite nonzero value.
        full_precision: every such gradient is stored as a normal value.
        nonfinite: how many gradients are inf or NaN before scaling; no scale helps them,
            and the windows leave them out.
    """

    survive: Window
    full_precision: Window
    nonfinite: int


def safe_window(gradients: ArrayLike, fmt: Format) -> SafeWindow:
    """Find all loss scales for which every finite nonzero gradient survives a format.

    Args:
        gradients: unscaled real values of any shape, also none. Long doubles and integers
            beyond 2**53 count as what `as_gradients` makes of them.
        fmt: the storage format.

    Returns:
        The exact windows for survival and for full precision. With no finite nonzero
        gradient both are (0, inf).

    Raises:
        InputError: the gradients are not real numbers.

    Example:
        >>> survive = safe_window([2**-26, 8.0], FP16).survive
        >>> survive.lower, survive.upper, survive.log2_powers
        (Fraction(2, 1), Fraction(8190, 1), (2, 12))
    """
    magnitude = np.abs(as_gradients(gradients))
    finite = np.isfinite(magnitude)
    alive = magnitude[finite & (magnitude > 0)]
    nonfinite = int(magnitude.size - np.count_nonzero(finite))
    if alive.size == 0:
        everything = Window(Fraction(0), False, math.inf, False)
        return SafeWindow(everything, everything, nonfinite)
    smallest, largest = Fraction(float(alive.min())), Fraction(float(alive.max()))
    upper, upper_closed = fmt.overflow.value / largest, not fmt.overflow.included

    def above(cut: Cut) -> Window:
        return Window(cut.value / smallest, cut.included, upper, upper_closed)

    return SafeWindow(above(fmt.survival), above(fmt.full_precision), nonfinite)
