"""The loss scales that work for a set of gradients, exactly."""

from dataclasses import dataclass
from fractions import Fraction
import math

from numpy.typing import ArrayLike

from lossscale_core.checks import check_format
from lossscale_core.exact import floor_log2
from lossscale_core.extents import extent
from lossscale_core.formats import Cut, Format
from lossscale_core.outcomes import Product, outcome_cuts


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


def safe_window(
    gradients: ArrayLike, fmt: Format, product: Product = "exact", stored: Format | None = None
) -> SafeWindow:
    """Find all loss scales for which every finite nonzero gradient survives a format.

    One pass, in blocks: float16, float32, float64 and bfloat16 arrays of any size take no more than
    a MiB of extra memory for each of up to four threads.

    Args:
        gradients: unscaled real values of any shape, also none. Long doubles and integers
            beyond 2**53 count as what `as_gradients` makes of them.
        fmt: the storage format.
        product: how g*S is formed before it is stored; see `classify`. With "float32" the window
            holds for the float32 values of S in it.
        stored: the format of which the gradients are bit patterns, such as BF16 for a uint16 array.

    Returns:
        The exact windows for survival and for full precision. With no finite nonzero
        gradient both are (0, inf).

    Raises:
        InputError: the gradients are not real numbers, or the format is none.

    Example:
        >>> survive = safe_window([2**-26, 8.0], FP16).survive
        >>> survive.lower, survive.upper, survive.log2_powers
        (Fraction(2, 1), Fraction(8190, 1), (2, 12))
    """
    span = extent(gradients, stored)
    return windows_between(span.smallest, span.largest, span.nonfinite, fmt, product)


def windows_between(
    smallest: float | None, largest: float | None, nonfinite: int, fmt: Format, product: Product = "exact"
) -> SafeWindow:
    """The windows of gradients of which only the smallest and the largest matter.

    Args:
        smallest: the smallest finite nonzero magnitude that must not be lost; None if there is none.
        largest: the largest finite magnitude; None if there is none.
        nonfinite: how many gradients are inf or NaN.
        fmt: the storage format.
        product: how g*S is formed before it is stored; see `classify`.

    Returns:
        The exact windows.

    Raises:
        InputError: the format is none, or the product is formed in a way that is not known.
    """
    check_format(fmt)
    if smallest is None or largest is None:
        everything = Window(Fraction(0), False, math.inf, False)
        return SafeWindow(everything, everything, nonfinite)
    survival, full_precision, overflow = outcome_cuts(fmt, product)
    upper, upper_closed = overflow.value / Fraction(largest), not overflow.included

    def above(cut: Cut) -> Window:
        return Window(cut.value / Fraction(smallest), cut.included, upper, upper_closed)

    return SafeWindow(above(survival), above(full_precision), nonfinite)
