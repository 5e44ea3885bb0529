"""What the page must show, from the core's public functions; for FP16 also from numpy alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
import math
import re

import numpy as np

from lossscale_core import (
    Format,
    Outcome,
    Window,
    bits_text,
    cast,
    cast_exact,
    classify,
    encode,
    number_text,
    parse_number,
    percent_text,
    recovered,
    safe_window,
)

SIGNS = {"zero": "=", "underflow": "✕", "subnormal": "◆", "normal": "●", "overflow": "▲", "nonfinite": "■"}
WORDS = {name: name for name in SIGNS} | {"nonfinite": "not finite"}

_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_ROUNDED = Context(prec=4, rounding=ROUND_HALF_EVEN)


@dataclass(frozen=True)
class Expected:
    """What becomes of one gradient."""

    outcome: str
    scaled: float | Fraction
    stored: float
    bits: str
    recovered: float
    error: str
    kept_bits: int


def from_core(gradient: float, scale: Fraction, fmt: Format) -> Expected:
    """What the core says of a gradient."""
    outcome = Outcome(classify([gradient], scale, fmt)[0])
    special = gradient == 0 or not math.isfinite(gradient)
    scaled = gradient if special else Fraction(gradient) * scale
    stored = float(cast([gradient], fmt)[0]) if special else cast_exact(scaled, fmt)
    code = int(encode(stored, fmt))
    back = math.copysign(recovered(stored, scale), stored)
    kept = {Outcome.NORMAL: fmt.significant_bits, Outcome.SUBNORMAL: (code % (1 << (fmt.bits - 1))).bit_length()}
    return Expected(
        outcome=outcome.name.lower(),
        scaled=scaled,
        stored=stored,
        bits=bits_text(code, fmt),
        recovered=back,
        error=_error(gradient, back),
        kept_bits=kept.get(outcome, 0),
    )


def from_numpy(gradient: float, k: int) -> Expected:
    """What numpy's own FP16 says of a gradient at S = 2**k: no line of the core is used for the numbers."""
    with np.errstate(all="ignore"):
        scaled = np.ldexp(np.float64(gradient), k)
        stored = scaled.astype(np.float16)
        back = stored.astype(np.float32) / np.float32(2.0**k)
    code = int(stored.view(np.uint16)) if not np.isnan(stored) else 0x7FFF
    field, mantissa = code >> 10 & 31, code & 1023
    outcome = (
        "zero" if gradient == 0
        else "nonfinite" if not math.isfinite(gradient)
        else "overflow" if field == 31
        else "normal" if field
        else "subnormal" if mantissa
        else "underflow"
    )  # fmt: skip
    return Expected(
        outcome=outcome,
        scaled=float(scaled),
        stored=float(stored),
        bits=f"{code >> 15} {field:05b} {mantissa:010b}",
        recovered=float(back),
        error=_error(gradient, float(back)),
        kept_bits={"normal": 11, "subnormal": mantissa.bit_length()}.get(outcome, 0),
    )


def _error(gradient: float, back: float) -> str:
    if not math.isfinite(gradient) or math.isnan(back):
        return "—"
    if math.isinf(back):
        return "∞"
    text = percent_text((Fraction(back) - Fraction(gradient)) / Fraction(gradient)) if gradient else "0"
    return "0 (exact)" if text == "0" else spelled(text)


# Numbers in the page's spelling


def spelled(text: str) -> str:
    """A number as the page spells it: 1.75*2^-24 is 1.75·2⁻²⁴."""
    text = re.sub(r"\^(-?\d+)", lambda match: _raised(match[1]), text)
    return text.replace("*", "·").replace("-", "−").replace("inf", "∞").replace("nan", "NaN")


def grouped(text: str) -> str:
    """The same outside of a box: 65519.99 is 65,519.99."""
    return re.sub(r"(?<![\w.])\d{5,}(?!\w)", lambda match: f"{int(match[0]):,}", text)


def power(exponent: int) -> str:
    """2⁻²⁴ for -24."""
    return f"2{_raised(str(exponent))}"


def _raised(digits: str) -> str:
    return digits.translate({number: letter for letter, number in _SUPERSCRIPT.items()})


def plain(text: str) -> list[str]:
    """The numbers of a text of the page in the core's spelling: `2⁻²⁶ ≈ 1.490e−8` has 2^-26 and ≈1.490e-8."""
    text = re.sub("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda match: f"^{match[0].translate(_SUPERSCRIPT)}", text)
    text = re.sub(r"(?<=\d),(?=\d{3})|= ", "", text).replace("≈ ", "≈")
    text = text.replace("−", "-").replace("∞", "inf").replace("NaN", "nan")
    return text.split(" ")


def tells(text: str, value: float | Fraction) -> bool:
    """Whether a text of the page tells a value: each number in it is exact, or marked ≈ and rightly rounded;
    the first is the power of two where the core writes one, and exact where the core can be.
    """
    numbers = plain(text)
    if value == 0 or (isinstance(value, float) and not math.isfinite(value)):
        return numbers == [f"{value:.0f}"]
    first, shortest = numbers[0], number_text(value)
    return (
        len(numbers) <= 2
        and all(_is_right(number, Fraction(value)) for number in numbers)
        and (first == shortest if "^" in shortest else "≈" in shortest or "≈" not in first)
    )


def is_right(text: str, value: float | Fraction) -> bool:
    """Whether every number in a text of the page is a value, or that value rounded and marked so."""
    return all(_is_right(number, Fraction(value)) for number in plain(text))


def _is_right(number: str, value: Fraction) -> bool:
    if not number.startswith("≈"):
        return _fraction(number) == value
    rounded = _ROUNDED.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Decimal(number[1:]) == rounded and Fraction(rounded) != value


def _fraction(number: str) -> Fraction:
    sign, base, exponent = re.fullmatch(r"(-?)(?:(2)\^)?(.+)", number).groups()
    size = Fraction(2) ** int(exponent) if base else Fraction(Decimal(exponent))
    return -size if sign else size


# Sentences


def mood(outcomes: Sequence[str]) -> str:
    """The look of the outcome card: the worst thing that happens to the list."""
    order = ("overflow", "underflow", "nonfinite", "subnormal", "normal")
    return next((outcome for outcome in order if outcome in outcomes), "none")


def title(names: Sequence[str], outcomes: Sequence[str]) -> str:
    """The outcome card's title."""
    if not names:
        return "No gradients"
    clauses = [
        _clause([name for name, outcome in zip(names, outcomes, strict=True) if outcome == kind], *verbs)
        for kind, *verbs in (
            ("underflow", "is lost", "are lost"),
            ("overflow", "overflows", "overflow"),
            ("nonfinite", "is not finite", "are not finite"),
        )
        if kind in outcomes
    ]
    if clauses:
        return f"{SIGNS[mood(outcomes)]} {_listed(clauses)}"
    alive = [name for name, outcome in zip(names, outcomes, strict=True) if outcome != "zero"]
    match len(alive):
        case 0:
            return "Nothing to lose"
        case 1:
            return f"✓ {alive[0]} survives"
        case 2:
            return "✓ Both gradients survive"
        case count:
            return f"✓ All {count} gradients survive"


def _clause(names: Sequence[str], one: str, many: str) -> str:
    if len(names) > 2:
        return f"{len(names)} gradients {many}"
    return f"{_listed(names)} {one if len(names) == 1 else many}"


def _listed(parts: Sequence[str]) -> str:
    if len(parts) < 3:
        return " and ".join(parts)
    return f"{', '.join(parts[:-1])}, and {parts[-1]}"


def spoken(text: str) -> str:
    """A number as it is read aloud."""
    text = text.replace("≈", "about ").replace("inf", "infinity")
    text = re.sub(r"\^-(\d+)", r" to the minus \1", text)
    text = re.sub(r"\^(\d+)", r" to the \1", text)
    return re.sub("^-", "minus ", text)


def reason_is_right(lines: Sequence[str], gradients: Sequence[float], k: int, fmt: Format) -> bool:
    """Whether the outcome card's lines say rightly where S = 2**k lies to the safe window."""
    window = safe_window(gradients, fmt).survive
    lines = [line for line in lines if line.startswith(("S = ", "No scale"))]
    if window.upper == math.inf:
        return lines == []
    if window.empty:
        return lines == ["No scale saves them all: there is no safe window."]
    scale = Fraction(2) ** k
    if scale in window:
        return lines == [f"S = {power(k)} is inside the safe window."]
    below = scale <= window.lower
    words = (
        "small: it must exceed"
        if below
        else "large: it may be at most"
        if window.upper_closed
        else "large: it must stay below"
    )
    match = re.fullmatch(rf"S = {power(k)} is too {words} (\S+)\.", lines[0])
    return (
        len(lines) == 1 and match is not None and is_right(match[1], window.lower if below else Fraction(window.upper))
    )


def caption_is_right(caption: Sequence[str], names: Sequence[str], gradients: Sequence[float], fmt: Format) -> bool:
    """Whether the window's caption names both windows rightly."""
    windows = safe_window(gradients, fmt)
    survive = windows.survive
    if survive.upper == math.inf:
        return list(caption) == ["Every scale is safe"]
    head, tail = caption
    less = "≤" if survive.upper_closed else "<"
    if survive.empty:
        match = re.fullmatch(rf"(\S+) needs S > (\S+), (\S+) needs S {less} (\S+)", tail)
        finite = [
            (abs(value), name) for name, value in zip(names, gradients, strict=True) if value and math.isfinite(value)
        ]
        return (
            head == "No safe window"
            and (match[1], match[3]) == (min(finite)[1], max(finite)[1])
            and is_right(match[2], survive.lower)
            and is_right(match[4], Fraction(survive.upper))
        )
    match = re.fullmatch(rf"safe window (\S+) < S {less} (\S+)", head)
    return (
        is_right(match[1], survive.lower)
        and is_right(match[2], Fraction(survive.upper))
        and tail
        == f"{_powers(survive, 'no power of two inside', 'one power of two', 'powers of two')} · "
        f"{_powers(windows.full_precision, 'full precision: none', 'full precision', 'full precision')}"
    )


def full_precision(gradients: Sequence[float], fmt: Format) -> str:
    """The sentence about what full precision for all takes."""
    alone = sum(value != 0 and math.isfinite(value) for value in gradients) == 1
    window = safe_window(gradients, fmt).full_precision
    if window.empty or window.log2_powers is None:
        return f"No power of two gives {'it' if alone else 'all of them'} full precision."
    first, last = window.log2_powers
    for_all = "" if alone else " for all"
    if first == last:
        return f"Full precision{for_all} needs S = {power(first)}."
    return f"Full precision{for_all}: S from {power(first)} to {power(last)}."


def _powers(window: Window, none: str, one: str, many: str) -> str:
    if window.empty or window.log2_powers is None:
        return none
    first, last = window.log2_powers
    return f"{one}: {power(first)}" if first == last else f"{many}: {power(first)} … {power(last)}"


def values_of(tokens: Sequence[str]) -> list[float]:
    """The gradients that tokens stand for."""
    return [parse_number(token) for token in tokens]
