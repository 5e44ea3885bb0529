"""Outcome tables: all that a slider can meet for one significand and one format.

Whether m * 2**n survives depends on m and n alone, so one table over n answers every
power-of-two scale of every gradient with that significand, at any octave.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lossscale_core.errors import InputError, quoted
from lossscale_core.exact import exact_fraction, exact_scale, floor_log2, sticky_float
from lossscale_core.formats import FP32, Format
from lossscale_core.outcomes import Outcome
from lossscale_core.rounding import cast, cast_exact, encode


@dataclass(frozen=True)
class OutcomeTable:
    """What becomes of m * 2**n in a format, for a range of n.

    Attributes:
        significand: m, with 1 <= m < 2.
        fmt: the storage format.
        exponents: the n of the rows, in steps of one.
        outcome: int8, the value of `Outcome` in each row.
        stored: float64, the stored value; inf or NaN on overflow.
        code: int64, its bit pattern.
        kept_bits: int8, the significant bits the format has there; 0 where nothing is kept.
    """

    significand: Fraction
    fmt: Format
    exponents: range
    outcome: NDArray[np.int8]
    stored: NDArray[np.float64]
    code: NDArray[np.int64]
    kept_bits: NDArray[np.int8]

    def stored_ratio(self, index: int) -> Fraction | None:
        """stored / 2**n of a row, exactly; None on overflow."""
        if self.outcome[index] == Outcome.OVERFLOW:
            return None
        return Fraction(float(self.stored[index])) / Fraction(2) ** self.exponents[index]


def outcome_table(significand: float | Fraction, fmt: Format, exponents: range) -> OutcomeTable:
    """Tabulate what becomes of a significand at every octave.

    Args:
        significand: m, with 1 <= m < 2; a fraction where it is a product of two floats.
        fmt: the storage format.
        exponents: the n to tabulate, in steps of one.

    Returns:
        The table; its row i is about significand * 2**exponents[i].

    Raises:
        InputError: the significand is not in [1, 2), or the exponents skip some.

    Example:
        >>> table = outcome_table(1.0, FP16, range(-26, -22))
        >>> [Outcome(code).name for code in table.outcome]
        ['UNDERFLOW', 'UNDERFLOW', 'SUBNORMAL', 'SUBNORMAL']
    """
    if not 1 <= significand < 2:
        raise InputError("A significand lies in [1, 2): {significand} does not.", significand=quoted(significand))
    exact = exact_fraction(significand)
    if exponents.step != 1:
        raise InputError(
            "The exponents of a table go in steps of one: {exponents} do not.", exponents=quoted(exponents)
        )
    stored = cast_octaves(exact, fmt, exponents)
    outcome = _outcomes_of_stored(stored, fmt)
    code = encode(stored, fmt)
    kept = [int(c).bit_length() if o == Outcome.SUBNORMAL else 0 for c, o in zip(code, outcome, strict=True)]
    kept_bits = np.where(outcome == Outcome.NORMAL, fmt.significant_bits, kept).astype(np.int8)
    return OutcomeTable(exact, fmt, exponents, outcome, stored, code, kept_bits)


def cast_octaves(factor: Fraction, fmt: Format, exponents: range) -> NDArray[np.float64]:
    """Round factor * 2**n to a format, for many n at once.

    Args:
        factor: a fraction between 2**-10 and 2**10.
        fmt: the format to round to.
        exponents: the n.

    Returns:
        The stored values as float64, one for each n.
    """
    # Far beyond every format's range the octave no longer matters.
    octaves = np.clip(np.array(exponents, np.int64), -1000, 1000)
    return cast(np.ldexp(sticky_float(factor), octaves), fmt).astype(np.float64)


def _outcomes_of_stored(stored: NDArray[np.float64], fmt: Format) -> NDArray[np.int8]:
    conditions: list[Any] = [~np.isfinite(stored), stored >= fmt.min_normal, stored > 0]
    choices: list[Any] = [Outcome.OVERFLOW, Outcome.NORMAL, Outcome.SUBNORMAL]
    return np.asarray(np.select(conditions, choices, default=Outcome.UNDERFLOW), np.int8)


def recovered(stored: float, scale: float | Fraction, fmt: Format = FP32) -> float:
    """Unscale one stored value: divide by S and round once.

    Args:
        stored: the stored value, of any format.
        scale: the loss scale S, finite and above 0.
        fmt: the format to unscale in; FP32 unless the mistake of unscaling lower is meant.

    Returns:
        The recovered gradient; inf and NaN stay what they are.

    Raises:
        InputError: S is not finite and above 0.
    """
    factor = exact_scale(scale)
    if not np.isfinite(stored):
        return float(stored)
    return cast_exact(Fraction(float(stored)) / factor, fmt)


def split(value: float | Fraction) -> tuple[Fraction, int]:
    """Split a magnitude into significand and exponent.

    Args:
        value: a finite number above 0.

    Returns:
        (m, e) with 1 <= m < 2 and value == m * 2**e, exactly.
    """
    exact = exact_fraction(value)
    exponent = floor_log2(exact)
    return exact / Fraction(2) ** exponent, exponent
