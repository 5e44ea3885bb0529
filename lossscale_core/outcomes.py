"""What becomes of a gradient when it is scaled and stored."""

from enum import IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lossscale_core.arrays import Floats, as_gradients
from lossscale_core.exact import exact_scale
from lossscale_core.formats import Cut, Format


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


_MEMBERS = np.array(list(Outcome), dtype=object)


def classify(gradients: ArrayLike, scale: float | Fraction, fmt: Format) -> NDArray[Any]:
    """Tell what becomes of each gradient when it is multiplied by a scale and stored.

    The product is the exact one, not rounded before the cast, so the borders are those of
    `safe_window`.

    Args:
        gradients: unscaled real values of any shape.
        scale: the loss scale S, finite and above 0.
        fmt: the storage format.

    Returns:
        An object array of the same shape, of members of `Outcome`.

    Raises:
        InputError: the gradients are not real numbers, or S is not finite and above 0.

    Example:
        >>> [str(o.name) for o in classify([2**-26, 8.0], 2**13, FP16)]
        ['NORMAL', 'OVERFLOW']
    """
    return np.asarray(_MEMBERS[outcome_codes(gradients, scale, fmt)], dtype=object)


def count_outcomes(gradients: ArrayLike, scale: float | Fraction, fmt: Format) -> dict[Outcome, int]:
    """Count the outcomes of `classify`.

    Args:
        gradients: unscaled real values of any shape, also none.
        scale: the loss scale S, finite and above 0.
        fmt: the storage format.

    Returns:
        The number of gradients for every member of `Outcome`, in its order.

    Raises:
        InputError: as `classify`.
    """
    counts = np.bincount(outcome_codes(gradients, scale, fmt).reshape(-1), minlength=len(Outcome))
    return {outcome: int(counts[outcome]) for outcome in Outcome}


def outcome_codes(gradients: ArrayLike, scale: float | Fraction, fmt: Format) -> NDArray[np.int8]:
    """The outcomes of `classify` as small integers, the values of `Outcome`: an eighth of the memory.

    Args, Raises: as `classify`.

    Returns:
        An int8 array of the gradients' shape.
    """
    factor = exact_scale(scale)
    magnitude = np.abs(as_gradients(gradients))
    codes = np.full(magnitude.shape, Outcome.UNDERFLOW, np.int8)
    for outcome, cut in (
        (Outcome.SUBNORMAL, fmt.survival),
        (Outcome.NORMAL, fmt.full_precision),
        (Outcome.OVERFLOW, fmt.overflow),
    ):
        codes[_beyond(magnitude, Cut(cut.value / factor, cut.included))] = outcome
    codes[magnitude == 0] = Outcome.ZERO
    codes[~np.isfinite(magnitude)] = Outcome.NONFINITE
    return codes


def _beyond(magnitude: Floats, cut: Cut) -> NDArray[np.bool_]:
    """Whether each magnitude lies on the upper side of a cut, exactly."""
    value, exact = _float_below(cut.value, magnitude.dtype)
    # Between the float below the cut and the next there is no magnitude to misjudge.
    return np.asarray(magnitude >= value if exact and cut.included else magnitude > value, dtype=bool)


def _float_below(value: Fraction, dtype: np.dtype[Any]) -> tuple[Any, bool]:
    """The largest float of a type that is not above a positive value, and whether it is that value."""
    largest = Fraction(float(np.finfo(dtype).max))
    if value > largest:
        return np.finfo(dtype).max, False
    with np.errstate(all="ignore"):
        near = np.array(float(value), dtype)[()]
        if Fraction(float(near)) > value:
            near = np.nextafter(near, np.array(0, dtype))
    return near, Fraction(float(near)) == value
