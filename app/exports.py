"""The numbers of a list of gradients as files for programs: exact, and read alike everywhere."""

import csv
from decimal import Context, Decimal, Inexact, localcontext
from fractions import Fraction
import io
import json
import math
import re
from typing import Any

import numpy as np

from lossscale_app.gradients import Gradient, read_gradients, read_scale
from lossscale_app.links import DEFAULTS, read_link
from lossscale_app.window_report import window_data
from lossscale_core import (
    FORMATS,
    Format,
    InputError,
    Outcome,
    bits_text,
    cast,
    cast_exact,
    classify,
    encode,
    recovered,
)
from lossscale_core.errors import quoted

#: What a spreadsheet takes for a formula, unless it is a number.
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|nan)", re.IGNORECASE)

_COLUMNS = (
    *("gradient", "value", "format", "scale", "scaled", "stored"),
    *("bits", "recovered", "relative_error", "outcome"),
)


def window_files(link: str) -> dict[str, str]:
    """Write what the window view shows as CSV and as JSON.

    A number is the shortest decimal that reads back as its float64; a product that no float64
    holds has all its digits. The relative error and the ends of the windows, which no decimal may
    hold, are the nearest float64.

    Args:
        link: the state, as a link.

    Returns:
        The texts by `csv` and `json`.

    Raises:
        InputError: the link has parts that cannot be used.
    """
    opened = read_link(link)
    if opened.ignored:
        raise InputError(
            "The link has parts that cannot be used: {ignored}.", ignored=quoted(", ".join(opened.ignored))
        )
    state = {**DEFAULTS, **opened.params}
    typed = state["typed_scale"]
    scale = read_scale(typed).value if typed else Fraction(2) ** state["log2_scale"]
    fmt = FORMATS[state["format"]]
    rows = [_row(gradient, scale, fmt) for gradient in read_gradients(state["gradients"])]
    return {"csv": _csv(rows, scale, fmt), "json": _json(link, rows, scale, fmt)}


def csv_cell(text: str) -> str:
    """Take the sting out of a text that a spreadsheet would compute.

    Args:
        text: what a cell shall hold.

    Returns:
        The text, after an apostrophe where it begins like a formula and is no number.
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def number_digits(value: float | Fraction) -> str:
    """Write a number in decimal, so that nothing of it is lost.

    Args:
        value: a float, also inf or NaN, or a fraction whose denominator is a power of two.

    Returns:
        The shortest text that reads back as the same float64, else all digits.
    """
    if isinstance(value, float):
        text = repr(value)
        return text if text == "-0.0" else text.removesuffix(".0")
    try:
        near = float(value)
    except OverflowError:
        near = 0.0
    if Fraction(near) == value:
        return number_digits(near)
    with localcontext(Context(prec=5000, Emin=-9999, Emax=9999, traps=[Inexact])):
        return str(Decimal(value.numerator) / Decimal(value.denominator)).lower()


def _row(gradient: Gradient, scale: Fraction, fmt: Format) -> dict[str, Any]:
    value = gradient.value
    finite = math.isfinite(value)
    scaled = Fraction(value) * scale if finite and value else value
    stored = cast_exact(scaled, fmt) if isinstance(scaled, Fraction) else float(cast(value, fmt))
    back = math.copysign(recovered(stored, scale), stored)
    return {
        "gradient": gradient.token,
        "value": value,
        "scaled": scaled,
        "stored": stored,
        "bits": bits_text(int(encode(stored, fmt)), fmt),
        "recovered": back,
        "relative_error": _error(back, value),
        "outcome": Outcome(classify([value], scale, fmt)[0]).name.lower(),
    }


def _error(back: float, true: float) -> float:
    if true == 0:
        return 0.0
    if not math.isfinite(true):
        return math.nan
    return abs(back) if not math.isfinite(back) else float((Fraction(back) - Fraction(true)) / Fraction(true))


def _csv(rows: list[dict[str, Any]], scale: Fraction, fmt: Format) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        whole = {**row, "format": fmt.name, "scale": scale}
        writer.writerow(_cell(whole[name]) for name in _COLUMNS)
    return file.getvalue()


def _cell(content: str | float | Fraction) -> str:
    return csv_cell(content) if isinstance(content, str) else number_digits(content)


def _json(link: str, rows: list[dict[str, Any]], scale: Fraction, fmt: Format) -> str:
    windows = window_data(np.array([row["value"] for row in rows], np.float64), fmt)
    data = {
        "link": link,
        "format": fmt.name,
        "scale": scale,
        "survive": windows["survive"],
        "full_precision": windows["full_precision"],
        "gradients": rows,
    }
    return _json_text(data) + "\n"


def _json_text(content: Any, indent: str = "") -> str:
    """JSON in which a fraction has all its digits; inf and NaN, for which JSON has no numbers, are strings."""
    deeper = indent + "  "
    match content:
        case dict():
            inner = [f"{deeper}{json.dumps(name)}: {_json_text(value, deeper)}" for name, value in content.items()]
            return "{\n" + ",\n".join(inner) + f"\n{indent}}}"
        case [{}, *_]:
            return "[\n" + ",\n".join(deeper + _json_text(each, deeper) for each in content) + f"\n{indent}]"
        case float() | Fraction():
            digits = number_digits(content)
            return digits if digits[-1].isdigit() else json.dumps(digits)
    return json.dumps(content)
