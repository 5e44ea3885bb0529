"""The look-up steps of `browser/lookup.js`, in Python: the same picks from the same data, nothing computed."""

from collections.abc import Sequence
import json
from typing import Any

from lossscale_app.gradients import Gradient, read_gradients, read_scale
from lossscale_app.lookups import formats_data, rows_json, tracks_json

Row = dict[str, Any]


class LookupMirror:
    """The page's look-up data for a list of gradients, and what the browser picks from it."""

    def __init__(self, tokens: Sequence[str], scale: str = "", more: Sequence[Gradient] = ()):
        gradients = read_gradients(tokens)
        typed = read_scale(scale) if scale else None
        data, rows = strict_json(tracks_json(gradients, more, typed)), strict_json(rows_json(gradients, typed))
        self.tracks, self.pairs = data["tracks"], data["pairs"]
        self.gradients, self.scale = rows["gradients"], rows["scale"]
        self.formats = formats_data()

    def track(self, gradient: Row) -> Row:
        return self.tracks[gradient["key"]]

    def octaves(self, gradient: Row) -> range | None:
        track = self.track(gradient)
        return None if track.get("special") else range(track["octave"], track["octave"] + len(track["values"]))

    def moved(self, gradient: Row, octave: int) -> Row:
        octaves = self.octaves(gradient)
        place = max(octaves[0], min(octaves[-1], octave))
        digits = self.track(gradient)["hex"]
        size = f"2^{place}" if digits == "0x1" else f"{digits}p{place}"
        return {**gradient, "octave": place, "token": f"-{size}" if gradient["negative"] else size}

    def row(self, gradient: Row, fmt: str, k: int | None = None) -> Row:
        """What is shown at S = 2**k, or at the typed scale where there is no k."""
        plain, negative = self.track(gradient), gradient["negative"]
        sign = "1" if negative else "0"
        if plain.get("special"):
            rows = plain["formats"][fmt]
            texts = {name: signed(rows[name], negative) for name in ("stored", "recovered")}
            return {
                **{"outcome": rows["outcome"], "scaled": signed(plain["text"], negative), **texts, "kept": 0},
                **{"bits": sign + rows["bits"][1:], "error": rows["error"]},
                **dict.fromkeys(("log2", "scaledLog2", "storedLog2")),
            }
        track = self.tracks[gradient["key"] + self.scale["key"]] if k is None else plain
        rows = track["formats"][fmt]
        n = gradient["octave"] + (self.scale["exponent"] if k is None else k) - track["row"]
        e = gradient["octave"] - track["octave"]
        # A negative index would be undefined in the browser, and the last row here.
        assert n >= 0
        assert e >= 0
        ratio = rows["ratio"][n]
        return {
            "outcome": rows["outcome"][n],
            "scaled": signed(track["scaled"][n], negative),
            "stored": signed(rows["stored"][n], negative),
            "bits": sign + rows["bits"][n][1:],
            "kept": rows["kept"][n],
            "recovered": signed(at(rows["recovered"][ratio], e), negative),
            "error": at(rows["error"][ratio], e),
            "log2": track["valueLog2"][e],
            "scaledLog2": track["scaledLog2"][n],
            "storedLog2": rows["storedLog2"][n],
        }

    def ends(self, gradient: Row, fmt: str) -> dict[str, Row] | None:
        track = self.track(gradient)
        if track.get("special"):
            return None
        rows, e = track["formats"][fmt], gradient["octave"]
        return {
            name: {
                "log2": rows[f"{name}Log2"] - e,
                "text": rows[f"{name}Text"][e - track["octave"]],
                "k": rows[f"{name}K"] - e,
            }
            for name in ("survival", "fullPrecision", "overflow")
        }

    def windows(self, gradients: Sequence[Row], fmt: str) -> dict[str, Row] | None:
        finite = [gradient for gradient in gradients if not self.track(gradient).get("special")]
        if not finite:
            return None
        by_size = sorted(finite, key=lambda gradient: (gradient["octave"], self.track(gradient)["significand"]))
        small, large = by_size[0], by_size[-1]
        low, high = self.ends(small, fmt), self.ends(large, fmt)["overflow"]
        reach = self.pairs[f"{small['key']} {large['key']}"][fmt]

        def window(lower: Row, octaves: int, closed: bool) -> Row:
            return {
                "empty": large["octave"] - small["octave"] > octaves,
                "lower": lower,
                "upper": high,
                "lowerClosed": closed,
                "upperClosed": self.formats[fmt]["upperClosed"],
                "first": lower["k"],
                "last": high["k"] - 1,
                "powerless": lower["k"] > high["k"] - 1,
            }

        return {
            "survive": window(low["survival"], reach[0], False),
            "full": window(low["fullPrecision"], reach[1], True),
        }


def at(texts: list[str] | str, index: int) -> str:
    return texts if isinstance(texts, str) else texts[index]


def signed(text: str, negative: bool) -> str:
    return " ".join(map(_minus, text.split(" "))) if negative else text


def _minus(text: str) -> str:
    if text == "nan":
        return text
    return f"≈-{text[1:]}" if text.startswith("≈") else f"-{text}"


def strict_json(text: str) -> Any:
    """What a JSON text holds, as a reader takes it that knows no NaN and no Infinity."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)
