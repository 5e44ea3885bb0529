"""Which power of two to take as the loss scale, and how far it stays from overflow."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from lossscale_core.formats import Format
from lossscale_core.outcomes import Outcome, Product
from lossscale_core.queries import Magnitudes

#: Octaves left below overflow, for gradients that grow later on, where that loses no more than is allowed.
HEADROOM = 3


@dataclass(frozen=True)
class Recommendation:
    """A power of two to scale by.

    Attributes:
        log2_scale: k of the scale 2**k.
        headroom: how often the scale could be doubled before the largest gradient overflows.
        kept: the share of the finite nonzero gradients that are stored as something other than 0.
        within: whether it loses no more than was allowed.
    """

    log2_scale: int
    headroom: int
    kept: Fraction
    within: bool


def recommend(
    index: Magnitudes,
    fmt: Format,
    losing: float | Fraction = 0,
    log2_scales: Sequence[int] = range(-40, 41),
    product: Product = "exact",
) -> Recommendation | None:
    """Choose a power of two at which nothing overflows and few gradients are lost.

    It stays `HEADROOM` octaves below overflow, or fewer where more than the allowed share would be
    lost there. Where no scale loses so few, it is the largest that overflows nothing.

    Args:
        index: the gradients.
        fmt: the storage format.
        losing: the share of the finite nonzero gradients that may be lost, from 0 up to but not 1.
        log2_scales: the k to choose from, in order.
        product: how g*S is formed; see `classify`.

    Returns:
        The choice; None where every choice overflows something, or no gradient is finite and nonzero.

    Raises:
        InputError: the share is not a number in [0, 1).
    """
    window = index.safe_window(fmt, product, losing).survive
    first, last = window.first_log2, window.last_log2
    if first is None or last is None or last < log2_scales[0]:
        return None
    top = min(last, log2_scales[-1])
    chosen = max(min(max(top - HEADROOM, first), top), log2_scales[0])
    lost = index.counts(Fraction(2) ** chosen, fmt, product)[Outcome.UNDERFLOW]
    return Recommendation(chosen, last - chosen, 1 - Fraction(lost, index.alive), first <= chosen)
