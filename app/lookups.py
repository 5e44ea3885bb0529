"""The look-up data of the page: every number and text the browser can show, from the core.

A gradient is a significand at an octave. Its *track* holds, for each format, a row for every
octave its scaled value can be at, so that the browser never computes: it picks rows.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache, lru_cache
import json
import math
from typing import Any

from lossscale_app.gradients import LOG2_SCALES, Gradient, TypedScale
from lossscale_app.links import link_token
from lossscale_core import (
    FORMATS,
    FP32,
    Format,
    Outcome,
    Window,
    bits_text,
    cast,
    decimal_text,
    encode,
    number_text,
    outcome_table,
    percent_text,
    power_text,
)
from lossscale_core.exact import log2
from lossscale_core.formats import Cut
from lossscale_core.tables import cast_octaves, split


def rows_json(gradients: Sequence[Gradient], scale: TypedScale | None) -> str:
    """Describe the page's list and its typed scale as the browser holds them.

    Args:
        gradients: the list on the page.
        scale: the typed loss scale, if there is one.

    Returns:
        JSON of `gradients`, each with the track it runs on and its octave there, and `scale`.
    """
    return _json({"gradients": [gradient_data(g) for g in gradients], "scale": scale and _scale_data(scale)})


def tracks_json(gradients: Sequence[Gradient], more: Iterable[Gradient], scale: TypedScale | None) -> str:
    """Gather the tables the browser needs for a list of gradients.

    Args:
        gradients: the list on the page.
        more: gradients that a preset may put there.
        scale: the typed loss scale, if there is one.

    Returns:
        JSON of `tracks` by key, and of `pairs`: for two keys and each format, how many octaves
        the second gradient may lie above the first for a common window.
    """
    known = {gradient.key: gradient for gradient in (*gradients, *more)}
    tracks = {key: _track_of(gradient, None) for key, gradient in known.items()}
    if scale is not None:
        tracks |= {g.key + scale.key: _track_of(g, scale.value) for g in gradients if not g.special}
    finite = [gradient for gradient in known.values() if not gradient.special]
    pairs = {f"{a.key} {b.key}": _pair(a.significand, b.significand) for a in finite for b in finite}
    return _json({"tracks": tracks, "pairs": pairs})


@cache
def formats_data() -> dict[str, dict[str, Any]]:
    """Tell what the browser must know of each format: its name, precision, and where its bands meet."""
    return {
        name: {
            "label": fmt.label,
            "significantBits": fmt.significant_bits,
            "survival": log2(fmt.survival.value),
            "fullPrecision": log2(fmt.full_precision.value),
            "overflow": log2(fmt.overflow.value),
            "upperClosed": not fmt.overflow.included,
            "overflowsTo": "inf" if fmt.has_inf else "nan",
        }
        for name, fmt in FORMATS.items()
    }


def scale_texts() -> list[str]:
    """Write out the slider's scales: `4096`, `0.5`, `≈9.095e-13`."""
    return [decimal_text(Fraction(2) ** k, exact_digits=13) for k in LOG2_SCALES]


def gradient_data(gradient: Gradient) -> dict[str, Any]:
    """Describe one gradient as the browser holds it."""
    return {
        "token": gradient.token,
        "key": gradient.key,
        "octave": gradient.octave,
        "negative": gradient.negative,
    }


def _scale_data(scale: TypedScale) -> dict[str, Any]:
    return {
        "token": scale.token,
        "key": scale.key,
        "exponent": split(scale.value)[1],
        "log2": log2(scale.value),
        "text": decimal_text(scale.value),
        "link": link_token(scale.token),
    }


def _track_of(gradient: Gradient, scale: Fraction | None) -> dict[str, Any]:
    if gradient.special:
        return _special_track(abs(gradient.value))
    return _track(gradient.significand, gradient.octaves, scale)


@lru_cache(maxsize=1024)
def _track(significand: float, octaves: range, scale: Fraction | None) -> dict[str, Any]:
    """All rows of a significand: under the whole slider, or at one typed scale."""
    exact = Fraction(significand)
    if scale is None:
        factor, exponents = Fraction(1), LOG2_SCALES
    else:
        factor, exponent = split(scale)
        exponents = range(exponent, exponent + 1)
    rows = range(octaves[0] + exponents[0], octaves[-1] + exponents[-1] + 1)
    values = [exact * Fraction(2) ** e for e in octaves]
    scaled = [exact * factor * Fraction(2) ** n for n in rows]
    return {
        "significand": significand,
        "hex": significand.hex().split("p")[0].rstrip("0").rstrip("."),
        "octave": octaves[0],
        "values": _texts(values),
        "valueLog2": [log2(value) for value in values],
        "row": rows[0],
        "scaled": _texts(scaled),
        "scaledLog2": [log2(value) for value in scaled],
        "formats": {
            name: {
                **_stored_rows(exact * factor, rows, octaves, factor, fmt),
                **_window_ends(exact, values, fmt),
            }
            for name, fmt in FORMATS.items()
        },
    }


def _stored_rows(product: Fraction, rows: range, octaves: range, factor: Fraction, fmt: Format) -> dict[str, Any]:
    """What is stored in each row, and what is recovered from it at each octave of the gradient.

    The same ratio of stored to scaled value gives the same recovered value, so the recovered
    values are kept once a ratio: `ratio` tells which one a row has.
    """
    significand, carry = split(product)
    table = outcome_table(significand, fmt, range(rows[0] + carry, rows[-1] + carry + 1))
    ratios: list[Fraction | None] = [
        None if ratio is None else ratio * Fraction(2) ** carry / factor
        for ratio in map(table.stored_ratio, range(len(rows)))
    ]
    distinct = list(dict.fromkeys(ratios))
    true = product / factor
    return {
        "outcome": [int(outcome) for outcome in table.outcome],
        "stored": _texts(table.stored.tolist()),
        "storedLog2": [math.log2(v) if 0 < v < math.inf else None for v in table.stored.tolist()],
        "bits": [bits_text(int(code), fmt) for code in table.code],
        "kept": table.kept_bits.tolist(),
        "ratio": [distinct.index(ratio) for ratio in ratios],
        **_recovered(distinct, true, octaves, "inf" if fmt.has_inf else "nan"),
    }


def _recovered(ratios: list[Fraction | None], true: Fraction, octaves: range, lost: str) -> dict[str, Any]:
    """The recovered values and their relative errors: for each ratio, over the gradient's octaves."""
    recovered: list[list[str]] = []
    errors: list[list[str]] = []
    for ratio in ratios:
        if ratio is None:
            recovered.append([lost] * len(octaves))
            errors.append([lost] * len(octaves))
            continue
        values = cast_octaves(ratio, FP32, octaves).tolist()
        recovered.append(_texts(values))
        errors.append([_error_text(v, true * Fraction(2) ** e) for v, e in zip(values, octaves, strict=True)])
    return {"recovered": [_folded(texts) for texts in recovered], "error": [_folded(texts) for texts in errors]}


def _folded(texts: list[str]) -> list[str] | str:
    """One text for a list that says the same everywhere."""
    return texts[0] if len(set(texts)) == 1 else texts


def _error_text(value: float, true: Fraction) -> str:
    return percent_text((Fraction(value) - true) / true) if math.isfinite(value) else decimal_text(value)


def _window_ends(significand: Fraction, values: list[Fraction], fmt: Format) -> dict[str, Any]:
    """Where a gradient's outcomes change on the axis of scales: exact texts at each octave, places at octave 0."""
    ends: dict[str, Any] = {}
    for name, cut in (("survival", fmt.survival), ("fullPrecision", fmt.full_precision), ("overflow", fmt.overflow)):
        ends[f"{name}Text"] = [end_text(cut.value / value) for value in values]
        ends[f"{name}Log2"] = log2(cut.value / significand)
        ends[f"{name}K"] = _first_power_beyond(Cut(cut.value / significand, cut.included))
    return ends


def end_text(value: Fraction) -> str:
    """An end of a window: in decimal where that is exact and easy to read, else as a power of two, else rounded."""
    exact = decimal_text(value)
    return exact if not exact.startswith("≈") and "e" not in exact and len(exact) <= 10 else number_text(value)


def _first_power_beyond(cut: Cut) -> int:
    """The smallest k with 2**k on the upper side of a cut."""
    first = Window(cut.value, cut.included, math.inf, False).first_log2
    assert first is not None  # noqa: S101 - a cut lies above 0
    return first


def _pair(small: float, large: float) -> dict[str, list[int]]:
    """For each format, how many octaves `large` may lie above `small` to survive, and to keep full precision."""
    return {
        name: [_reach(small, large, fmt, cut) for cut in (fmt.survival, fmt.full_precision)]
        for name, fmt in FORMATS.items()
    }


@lru_cache(maxsize=4096)
def _reach(small: float, large: float, fmt: Format, lower: Cut) -> int:
    """The largest d for which small and large * 2**d have a scale between the lower cut and overflow."""
    room = fmt.overflow.value / Fraction(large) / (lower.value / Fraction(small))
    reach = Window(Fraction(0), False, room, lower.included and not fmt.overflow.included).last_log2
    assert reach is not None  # noqa: S101 - the room is finite
    return reach


@cache
def _special_track(value: float) -> dict[str, Any]:
    """The track of a zero, an infinity or a NaN, for which every scale gives the same row."""
    text = decimal_text(value)
    outcome = Outcome.ZERO if value == 0 else Outcome.NONFINITE
    formats = {}
    for name, fmt in FORMATS.items():
        stored = cast(value, fmt)
        formats[name] = {
            "outcome": int(outcome),
            "stored": decimal_text(float(stored)),
            "bits": bits_text(int(encode(stored, fmt)), fmt),
            "recovered": decimal_text(float(stored)),
            "error": "0" if outcome == Outcome.ZERO else "nan",
        }
    return {"special": True, "text": text, "formats": formats}


def _texts(values: Iterable[float | Fraction]) -> list[str]:
    return [long_text(value) for value in values]


@lru_cache(maxsize=1 << 16)
def long_text(value: float | Fraction) -> str:
    """A number as a power of two and in decimal where both tell something: `2^-26 ≈1.490e-8`, else once: `8`."""
    power = power_text(value)
    if power is not None and number_text(value) == power:
        return f"{power} {decimal_text(value, exact_digits=7)}"
    return decimal_text(value, exact_digits=8)


def _json(data: dict[str, Any]) -> str:
    return json.dumps(data, separators=(",", ":"), allow_nan=False)
