"""The windows of a set of gradients, as JSON and as text."""

from collections.abc import Callable
from fractions import Fraction
import math
from typing import Any

from lossscale_app.summary import End, Gradients, summarize
from lossscale_core import Format, Product, Window, decimal_text
from lossscale_core.errors import quoted

#: As much of a tensor's name as is shown.
_NAME = 120

_Number = int | float


def window_data(
    gradients: Gradients, fmt: Format, product: Product = "exact", tell: Callable[[float], None] | None = None
) -> dict[str, Any]:
    """Describe the windows of gradients for a program.

    Args:
        gradients: an array, or tensors; of any size.
        fmt: the storage format.
        product: how g*S is formed; see `classify`.
        tell: called with the share that is done, from 0 to 1.

    Returns:
        `format`, the windows `survive` and `full_precision`, and `counts` of the outcomes at
        S = 1. An unbounded end and the ends of an empty window are None.
    """
    summary = summarize(gradients, fmt, product, tell)
    return {
        "format": fmt.name,
        "survive": _data(summary.windows.survive),
        "full_precision": _data(summary.windows.full_precision),
        "counts": {outcome.name.lower(): count for outcome, count in summary.counts.items()},
    }


def window_text(
    gradients: Gradients, fmt: Format, product: Product = "exact", tell: Callable[[float], None] | None = None
) -> str:
    """Describe the windows of gradients for a person.

    Args:
        gradients: an array, or tensors; of any size. Of several tensors it is said which ones
            the ends of the windows come from.
        fmt: the storage format.
        product: how g*S is formed; see `classify`.
        tell: called with the share that is done, from 0 to 1.
    """
    summary = summarize(gradients, fmt, product, tell)
    windows = summary.windows
    counts = [f"{n} {outcome.name.lower()}" for outcome, n in summary.counts.items() if n]
    rounded = ", g*S rounded to float32 first" if product == "float32" else ""
    lines = [
        f"{summary.size} gradient{'s' if summary.size != 1 else ''} in {fmt.label}{rounded}",
        f"safe window:     {_text(windows.survive)}",
        f"full precision:  {_text(windows.full_precision)}",
        f"at S = 1:        {', '.join(counts)}",
    ]
    if summary.tensors > 1 and summary.smallest is not None and summary.largest is not None:
        lines.append(_ends(summary.smallest, summary.largest))
    if windows.nonfinite:
        lines.append(f"{windows.nonfinite} of them inf or NaN before scaling: no scale helps those.")
    return "\n".join(lines)


def _ends(smallest: End, largest: End) -> str:
    lower, upper = quoted(smallest.tensor, _NAME), quoted(largest.tensor, _NAME)
    if smallest.tensor == largest.tensor:
        return f"both ends come from {lower}"
    return f"the lower end comes from {lower}, the upper from {upper}"


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
