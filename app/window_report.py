"""The windows of a set of gradients, as JSON and as text."""

from fractions import Fraction
import math
from typing import Any

import numpy as np

from lossscale_core import Format, Window, count_outcomes, decimal_text, safe_window

_Number = int | float


def window_data(values: np.ndarray, fmt: Format) -> dict[str, Any]:
    """Describe the windows of gradients for a program.

    Args:
        values: the gradients.
        fmt: the storage format.

    Returns:
        `format`, the windows `survive` and `full_precision`, and `counts` of the outcomes at
        S = 1. An unbounded end and the ends of an empty window are None.
    """
    windows = safe_window(values, fmt)
    return {
        "format": fmt.name,
        "survive": _data(windows.survive),
        "full_precision": _data(windows.full_precision),
        "counts": {outcome.name.lower(): count for outcome, count in count_outcomes(values, 1, fmt).items()},
    }


def window_text(values: np.ndarray, fmt: Format) -> str:
    """Describe the windows of gradients for a person.

    Args:
        values: the gradients.
        fmt: the storage format.
    """
    windows = safe_window(values, fmt)
    counts = [f"{n} {outcome.name.lower()}" for outcome, n in count_outcomes(values, 1, fmt).items() if n]
    lines = [
        f"{values.size} gradient{'s' if values.size != 1 else ''} in {fmt.label}",
        f"safe window:     {_text(windows.survive)}",
        f"full precision:  {_text(windows.full_precision)}",
        f"at S = 1:        {', '.join(counts)}",
    ]
    if windows.nonfinite:
        lines.append(f"{windows.nonfinite} of them inf or NaN before scaling: no scale helps those.")
    return "\n".join(lines)


def _data(window: Window) -> dict[str, Any]:
    powers = window.log2_powers
    return {
        "empty": window.empty,
        "lower": None if window.empty else _number(window.lower),
        "lower_closed": window.lower_closed and not window.empty,
        "upper": None if window.empty or window.upper == math.inf else _number(Fraction(window.upper)),
        "upper_closed": window.upper_closed and not window.empty,
        "log2_powers": None if powers is None else list(powers),
    }


def _number(value: Fraction) -> _Number:
    """The nearest number that JSON readers take: a float64, beyond its range a whole number."""
    try:
        return float(value)
    except OverflowError:
        return round(value)


def _text(window: Window) -> str:
    lower, upper = decimal_text(window.lower), decimal_text(window.upper)
    if window.empty:
        needs = f"S {'>=' if window.lower_closed else '>'} {lower}"
        limits = f"S {'<=' if window.upper_closed else '<'} {upper}"
        return f"none: the smallest needs {needs}, the largest {limits}"
    ends = f"{lower} {'<=' if window.lower_closed else '<'} S {'<=' if window.upper_closed else '<'} {upper}"
    match window.log2_powers:
        case None:
            return f"{ends} (no power of two)"
        case (None, _) | (_, None):
            return f"{ends} (every power of two)"
        case (first, last):
            powers = f"2^{first}" if first == last else f"2^{first} to 2^{last}"
            return f"{ends} ({powers})"
