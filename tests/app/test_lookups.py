"""The look-up tables: every cell against exact fractions, and against the float types of other libraries."""

from fractions import Fraction
from functools import lru_cache
import json
import math
import shutil
import subprocess

from core.oracle import code_of, log2_floor, outcome, power, same, stored
from hypothesis import example, given, settings
from hypothesis import strategies as st
import ml_dtypes
import numpy as np
import pytest

from lossscale_app.gradients import LOG2_SCALES, OCTAVES, read_gradients, read_scale
from lossscale_app.lookups import formats_data, gradient_data, rows_json, scale_texts
from lossscale_core import (
    E4M3,
    FORMATS,
    FP16,
    FP32,
    Outcome,
    bits_text,
    classify,
    decimal_text,
    number_text,
    percent_text,
    power_text,
    safe_window,
)

from .javascript import modules
from .lookup_mirror import LookupMirror, strict_json

SIGNIFICANDS = {
    "1": 1.0,
    "1.5": 1.5,
    "1.75": 1.75,
    "1+2^-10": 1 + 2.0**-10,
    "1+2^-11": 1 + 2.0**-11,
    "of 0.1": 1.6,
    "1.1": 1.1,
    "1+2^-52": 1 + 2.0**-52,
    "2-2^-52": 2 - 2.0**-52,
}
QUICK = ("of 0.1",)
TYPED_SCALES = ("1000", "0.1", "1e-30")
MORE_SCALES = ("3", "8190", "1e30", "4096", "1.7e308", "5e-324")
DTYPES = {
    "fp16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "e5m2": ml_dtypes.float8_e5m2,
    "e4m3": ml_dtypes.float8_e4m3fn,
}


def some_slow(quick, slow):
    """Parameters of a test, of which some are left to the slow part."""
    return [*quick, *(pytest.param(value, marks=pytest.mark.slow) for value in slow)]


every_format = pytest.mark.parametrize("fmt", FORMATS.values(), ids=FORMATS)
every_significand = pytest.mark.parametrize(
    "significand",
    [pytest.param(m, id=name, marks=() if name in QUICK else pytest.mark.slow) for name, m in SIGNIFICANDS.items()],
)
significands = st.floats(1, 2, exclude_max=True) | st.sampled_from(list(SIGNIFICANDS.values()))
octaves = st.integers(OCTAVES[0], OCTAVES[-1])


@lru_cache(maxsize=1 << 17)
def text_of(value):
    """A number as the page writes it: as a power of two and in decimal, or once where that is enough."""
    as_power = power_text(value)
    if as_power is not None and as_power == number_text(value):
        return f"{as_power} {decimal_text(value, exact_digits=7)}"
    return decimal_text(value, exact_digits=8)


def end_text(value):
    """An end of a window as the page writes it: in decimal where that is exact and easy to read."""
    exact = decimal_text(value)
    return exact if not exact.startswith("≈") and "e" not in exact and len(exact) <= 10 else number_text(value)


@lru_cache(maxsize=1 << 17)
def stored_exactly(value, fmt):
    return stored(value, fmt)


@lru_cache(maxsize=1 << 17)
def place_of(value):
    """log2 of a fraction."""
    exponent = log2_floor(value)
    return exponent + math.log2(value / power(exponent))


@lru_cache(maxsize=1 << 17)
def bits_of(scaled, fmt):
    sign, code = "1" if scaled < 0 else "0", code_of(abs(scaled), fmt)
    if code > fmt.max_code:
        # Overflow is stored as inf, which is the next code, or as the NaN of all ones.
        code = fmt.max_code + 1 if fmt.has_inf else (1 << (fmt.bits - 1)) - 1
    return sign + bits_text(code, fmt)[1:]


def kept_bits(scaled, fmt):
    code = code_of(abs(scaled), fmt)
    if code > fmt.max_code:
        return 0
    return code.bit_length() if code < 1 << fmt.mantissa_bits else fmt.mantissa_bits + 1


def expected_row(value, scale, fmt):
    """What the page has to show of an exact value at an exact scale, nonzero both."""
    return {**row_before_unscaling(value * scale, fmt), **row_after_unscaling(value, scale, fmt)}


@lru_cache(maxsize=1 << 17)
def row_before_unscaling(scaled, fmt):
    kept_as = stored_exactly(scaled, fmt)
    return {
        "outcome": Outcome[outcome(1.0, abs(scaled), fmt)],
        "scaled": text_of(scaled),
        "scaledLog2": place_of(abs(scaled)),
        "stored": "-0" if kept_as == 0 and scaled < 0 else text_of(kept_as),
        "storedLog2": place_of(abs(Fraction(kept_as))) if kept_as and math.isfinite(kept_as) else None,
        "bits": bits_of(scaled, fmt),
        "kept": kept_bits(scaled, fmt),
    }


def row_after_unscaling(value, scale, fmt):
    kept_as = stored_exactly(value * scale, fmt)
    if math.isfinite(kept_as):
        recovered = stored_exactly(Fraction(kept_as) / scale, FP32)
        zero = "-0" if value < 0 else "0"
        shown = text_of(recovered) if recovered else zero
        error = percent_text((Fraction(recovered) - value) / value) if math.isfinite(recovered) else "inf"
    else:
        shown, error = text_of(kept_as), decimal_text(abs(kept_as))
    return {"recovered": shown, "error": error, "log2": place_of(abs(value))}


def assert_row(row, expected, where):
    """All texts alike; places on a log2 axis to within a millionth of a pixel."""
    for name in ("log2", "scaledLog2", "storedLog2"):
        shown, exact = row[name], expected[name]
        if shown != exact:
            assert shown is not None, (where, name)
            assert exact is not None, (where, name)
            assert shown == pytest.approx(exact, abs=1e-9), (where, name)
    differing = {
        name: (row[name], exact) for name, exact in expected.items() if "og2" not in name and row[name] != exact
    }
    assert not differing, where


def value_of(gradient, mirror):
    sign = -1 if gradient["negative"] else 1
    return sign * Fraction(mirror.track(gradient)["significand"]) * power(gradient["octave"])


@every_format
@every_significand
def test_every_octave_at_every_slider_scale(fmt, significand):
    mirror = LookupMirror([repr(significand)])
    assert mirror.octaves(mirror.gradients[0]) == OCTAVES
    for octave in OCTAVES:
        gradient = mirror.moved(mirror.gradients[0], octave)
        value = Fraction(significand) * power(octave)
        for k in LOG2_SCALES:
            assert_row(mirror.row(gradient, fmt.name, k), expected_row(value, power(k), fmt), (octave, k))


@given(significand=significands, sign=st.sampled_from(("", "-")), data=st.data())
@settings(max_examples=3, deadline=None)
def test_any_significand_of_either_sign(significand, sign, data):
    mirror = LookupMirror([sign + repr(significand)])
    for octave in data.draw(st.lists(octaves, min_size=3, max_size=3)):
        gradient = mirror.moved(mirror.gradients[0], octave)
        value = value_of(gradient, mirror)
        for fmt in FORMATS.values():
            for k in LOG2_SCALES:
                expected = expected_row(value, power(k), fmt)
                assert_row(mirror.row(gradient, fmt.name, k), expected, (octave, fmt.name, k))


@pytest.mark.parametrize(
    "scale", [*TYPED_SCALES, *(pytest.param(scale, marks=pytest.mark.slow) for scale in MORE_SCALES)]
)
@pytest.mark.parametrize(
    "token", ["-1.6", *(pytest.param(m, marks=pytest.mark.slow) for m in ("1", repr(2 - 2.0**-52)))]
)
def test_every_octave_at_a_typed_scale(scale, token):
    mirror = LookupMirror([token], scale)
    for octave in OCTAVES:
        gradient = mirror.moved(mirror.gradients[0], octave)
        value = value_of(gradient, mirror)
        for fmt in FORMATS.values():
            expected = expected_row(value, Fraction(float(scale)), fmt)
            assert_row(mirror.row(gradient, fmt.name), expected, (octave, fmt.name))


@given(scale=st.floats(2.0**-40, 2.0**40), token=st.floats(2.0**-40, 2.0**20).map(repr))
@settings(max_examples=3, deadline=None)
def test_any_gradient_at_any_typed_scale(scale, token):
    mirror = LookupMirror([token], repr(scale))
    (gradient,) = mirror.gradients
    for fmt in FORMATS.values():
        expected = expected_row(Fraction(float(token)), Fraction(scale), fmt)
        assert_row(mirror.row(gradient, fmt.name), expected, fmt.name)


@pytest.mark.parametrize("scale", TYPED_SCALES + MORE_SCALES)
def test_the_description_of_a_typed_scale(scale):
    exact = Fraction(float(scale))
    described = strict_json(rows_json([], read_scale(scale)))["scale"]
    assert described["token"] == scale
    assert described["text"] == decimal_text(exact)
    assert described["exponent"] == log2_floor(exact)
    assert described["log2"] == pytest.approx(place_of(exact), abs=1e-12)


FAR = (
    "1e-40",
    "-1.1e-40",
    "1e30",
    "-1e100",
    "2^-49",
    "2^25",
    "1.5*2^-60",
    "1.1e-305",
    "5e-324",
    "1.7976931348623157e308",
)


@pytest.mark.parametrize("token", FAR)
def test_a_gradient_far_outside_of_the_usual_octaves(token):
    mirror = LookupMirror([token])
    (gradient,) = mirror.gradients
    reach = mirror.octaves(gradient)
    assert gradient["octave"] in reach
    assert len(reach) > 12
    for octave in (reach[0], gradient["octave"], reach[-1]):
        there = mirror.moved(gradient, octave)
        value = value_of(there, mirror)
        for fmt in FORMATS.values():
            for k in (-40, -1, 0, 17, 40):
                assert_row(mirror.row(there, fmt.name, k), expected_row(value, power(k), fmt), (octave, fmt.name, k))


@every_format
@pytest.mark.parametrize("token", ["0", "-0", "inf", "-inf", "nan"])
def test_a_gradient_without_significand_is_the_same_everywhere(fmt, token):
    mirror = LookupMirror([token], "1000")
    (gradient,) = mirror.gradients
    assert mirror.octaves(gradient) is None
    value = float(token)
    kept_as = stored(value, fmt)
    expected = {
        "outcome": Outcome[outcome(value, 1, fmt)],
        **{"scaled": decimal_text(value), "stored": decimal_text(kept_as), "recovered": decimal_text(kept_as)},
        **{"error": "0" if value == 0 else "nan", "kept": 0, "log2": None, "scaledLog2": None, "storedLog2": None},
    }
    for k in (None, -40, 0, 40):
        row = mirror.row(gradient, fmt.name, k)
        bits = row.pop("bits")
        assert row == expected
        assert same(value_of_bits(bits, fmt), kept_as)


def value_of_bits(bits, fmt):
    """The value that another library reads from bits."""
    dtype = np.dtype(DTYPES[fmt.name])
    return np.array([int(bits.replace(" ", ""), 2)], f"u{dtype.itemsize}").view(dtype).astype(np.float64)[0]


@every_significand
def test_rows_are_what_numpy_stores_in_float16(significand):
    mirror = LookupMirror([repr(significand)])
    for octave in OCTAVES:
        gradient = mirror.moved(mirror.gradients[0], octave)
        for k in (-40, 0, 40):
            with np.errstate(all="ignore"):
                theirs = np.float64(math.ldexp(significand, octave + k)).astype(np.float16)
            row = mirror.row(gradient, "fp16", k)
            assert row["bits"] == bits_text(int(theirs.view(np.uint16)), FP16)
            assert row["stored"] == text_of(float(theirs))


@every_format
@pytest.mark.parametrize("significand", [m for m in SIGNIFICANDS.values() if float(np.float32(m)) == m])
def test_rows_are_what_ml_dtypes_stores_from_float32(fmt, significand):
    """Only from float32: from float64 the library rounds twice. Every product here is a normal float32."""
    mirror = LookupMirror([repr(significand)])
    dtype = DTYPES[fmt.name]
    for octave in OCTAVES:
        gradient = mirror.moved(mirror.gradients[0], octave)
        for k in (-40, 0, 40):
            with np.errstate(all="ignore"):
                theirs = np.array([math.ldexp(significand, octave + k)], np.float32).astype(dtype)
            row = mirror.row(gradient, fmt.name, k)
            assert same(value_of_bits(row["bits"], fmt), theirs.astype(np.float64)[0])
            assert row["stored"] == text_of(float(theirs[0]))


@pytest.mark.parametrize("scale", [1000.0, 3.0, 8190.0])
def test_what_is_recovered_is_the_float32_quotient_of_numpy(scale):
    mirror = LookupMirror(["1.5"], repr(scale))
    for octave in OCTAVES:
        gradient = mirror.moved(mirror.gradients[0], octave)
        with np.errstate(all="ignore"):
            theirs = np.float64(1.5 * 2.0**octave * scale).astype(np.float16).astype(np.float32) / np.float32(scale)
        assert mirror.row(gradient, "fp16")["recovered"] == text_of(float(theirs))


@given(tokens=st.lists(st.floats(2.0**-45, 2.0**24).map(repr), min_size=1, max_size=3), k=st.sampled_from(LOG2_SCALES))
@settings(max_examples=4, deadline=None)
def test_outcomes_are_those_of_classify(tokens, k):
    mirror = LookupMirror(tokens)
    for fmt in FORMATS.values():
        shown = [mirror.row(gradient, fmt.name, k)["outcome"] for gradient in mirror.gradients]
        assert shown == classify([float(token) for token in tokens], power(k), fmt).tolist()


@given(
    gradients=st.lists(st.tuples(st.sampled_from((1, -1)), significands, octaves), min_size=1, max_size=3),
    exponents=st.lists(octaves, min_size=3, max_size=3),
)
@settings(max_examples=5, deadline=None)
def test_windows_are_those_of_safe_window(gradients, exponents):
    moved = [(sign, m, octave) for (sign, m, _), octave in zip(gradients, exponents, strict=False)]
    for fmt in FORMATS.values():
        assert_windows(gradients, fmt)
        assert_windows(moved, fmt)


def assert_windows(gradients, fmt):
    mirror = LookupMirror([repr(sign * significand) for sign, significand, _ in gradients])
    moved = [mirror.moved(row, octave) for row, (_, _, octave) in zip(mirror.gradients, gradients, strict=True)]
    shown = mirror.windows(moved, fmt.name)
    exact = safe_window([math.ldexp(sign * m, octave) for sign, m, octave in gradients], fmt)
    for window, theirs in ((shown["survive"], exact.survive), (shown["full"], exact.full_precision)):
        assert window["empty"] == theirs.empty
        assert (window["first"], window["last"]) == (theirs.first_log2, theirs.last_log2)
        assert window["powerless"] == (theirs.log2_powers is None)
        assert (window["lowerClosed"], window["upperClosed"]) == (theirs.lower_closed, theirs.upper_closed)
        assert (window["lower"]["text"], window["upper"]["text"]) == (end_text(theirs.lower), end_text(theirs.upper))
        assert window["lower"]["log2"] == pytest.approx(place_of(theirs.lower), abs=1e-9)
        assert window["upper"]["log2"] == pytest.approx(place_of(theirs.upper), abs=1e-9)
    return shown


@pytest.mark.parametrize(
    ("fmt", "small", "large", "survive_empty", "full_empty"),
    [
        # The largest ratio with a window lies just below 65520 * 2^25: at the ratio itself both ends are one, and open.
        pytest.param(FP16, (1.0, -20), (65520 / 32768, 20), True, True, id="fp16, at the ratio"),
        pytest.param(FP16, (1.0, -20), (np.nextafter(65520 / 32768, 0), 20), False, True, id="fp16, a hair below"),
        pytest.param(FP16, (1.0, -20), (np.nextafter(65520 / 32768, 2), 20), True, True, id="fp16, a hair above"),
        pytest.param(FP16, (1.0, -20), (65520 / 32768, 19), False, True, id="fp16, an octave below"),
        # Full precision needs 2^-14 - 2^-25 = 2047 * 2^-25: that end is closed, the upper one is not.
        pytest.param(FP16, (2047 / 1024, -20), (65520 / 32768, 10), False, True, id="fp16, at the ratio in full"),
        pytest.param(FP16, (2047 / 1024, -20), (np.nextafter(65520 / 32768, 0), 10), False, False, id="fp16, full"),
        # E4M3's upper end 464 is closed, so that at 464 * 2^10 only the open lower end is in the way.
        pytest.param(E4M3, (1.0, -10), (464 / 256, 8), True, True, id="e4m3, at the ratio"),
        pytest.param(E4M3, (1.0, -10), (np.nextafter(464 / 256, 0), 8), False, True, id="e4m3, a hair below"),
        # Full precision needs 15 * 2^-10, and both ends are closed: at their ratio one scale is left.
        pytest.param(E4M3, (15 / 8, -7), (464 / 256, 8), False, False, id="e4m3, one scale in full"),
        pytest.param(E4M3, (15 / 8, -7), (np.nextafter(464 / 256, 2), 8), False, True, id="e4m3, no scale in full"),
    ],
)
def test_windows_at_the_ratios_where_they_close(fmt, small, large, survive_empty, full_empty):
    shown = assert_windows([(1, float(small[0]), small[1]), (-1, float(large[0]), large[1])], fmt)
    assert (shown["survive"]["empty"], shown["full"]["empty"]) == (survive_empty, full_empty)


def test_zeros_and_nonfinite_gradients_have_no_ends_and_no_windows():
    mirror = LookupMirror(["0", "-0", "inf", "nan", "8"])
    *special, eight = mirror.gradients
    assert [mirror.ends(gradient, "fp16") for gradient in special] == [None] * 4
    assert mirror.windows(special, "fp16") is None
    assert mirror.windows([], "fp16") is None
    assert mirror.windows(mirror.gradients, "fp16") == mirror.windows([eight], "fp16")


@given(small=significands, large=significands)
@example(small=1.0, large=65520 / 32768)
@example(small=15 / 8, large=464 / 256)
@settings(max_examples=6, deadline=None)
def test_the_reach_of_a_pair_is_the_last_octave_with_a_window(small, large):
    mirror = LookupMirror([repr(small), repr(large)])
    first, second = mirror.gradients
    for fmt in FORMATS.values():
        assert_reach(mirror.pairs[f"{first['key']} {second['key']}"][fmt.name], small, large, fmt)


def assert_reach(reaches, small, large, fmt):
    for full, reach in zip((False, True), reaches, strict=True):
        for octaves_above, empty in ((reach, False), (reach + 1, True)):
            moved = math.ldexp(large, octaves_above)
            # The reach is about the second as the larger one, also where it would be the smaller.
            assert no_scale_between(small, moved, fmt, full) == empty
            if octaves_above > 0:
                windows = safe_window([small, moved], fmt)
                assert (windows.full_precision if full else windows.survive).empty == empty


def no_scale_between(small, large, fmt, full):
    """Whether no scale lies between what `small` needs and what `large` allows."""
    tie = power(1 - fmt.bias - fmt.mantissa_bits - 1)
    needs = (power(1 - fmt.bias) - tie if full else tie) / Fraction(small)
    half_step = power((fmt.max_code >> fmt.mantissa_bits) - fmt.bias - fmt.mantissa_bits - 1)
    allows = (largest(fmt) + half_step) / Fraction(large)
    closed = full and not fmt.max_code & 1
    return needs > allows or (needs == allows and not closed)


def largest(fmt):
    """The largest finite value: all but the lowest codes of its octave are there."""
    exponent, mantissa = divmod(fmt.max_code, 1 << fmt.mantissa_bits)
    return (mantissa + (1 << fmt.mantissa_bits)) * power(exponent - fmt.bias - fmt.mantissa_bits)


@given(tokens=st.lists(st.floats(allow_nan=True).map(repr), max_size=3), scale=st.sampled_from(("", "1000")))
@settings(max_examples=4, deadline=None)
def test_the_tables_hold_all_that_a_list_can_ask_for(tokens, scale):
    mirror = LookupMirror(tokens, scale)
    finite = [gradient for gradient in mirror.gradients if mirror.octaves(gradient)]
    assert {gradient["key"] for gradient in mirror.gradients} <= set(mirror.tracks)
    assert {f"{a['key']} {b['key']}" for a in finite for b in finite} == set(mirror.pairs)
    if scale:
        assert {gradient["key"] + mirror.scale["key"] for gradient in finite} <= set(mirror.tracks)
    for gradient in finite:
        assert gradient["octave"] in mirror.octaves(gradient)


@pytest.mark.parametrize(("scale", "slider"), [("", LOG2_SCALES), ("1000", range(9, 10))])
def test_a_track_has_a_row_for_every_octave_and_scale_and_no_more(scale, slider):
    mirror = LookupMirror(["1.5"], scale)
    (gradient,) = mirror.gradients
    track = mirror.tracks[gradient["key"] + (mirror.scale["key"] if scale else "")]
    rows = len(OCTAVES) + len(slider) - 1
    assert (track["octave"], track["row"]) == (OCTAVES[0], OCTAVES[0] + slider[0])
    assert {len(track[name]) for name in ("values", "valueLog2")} == {len(OCTAVES)}
    assert {len(track[name]) for name in ("scaled", "scaledLog2")} == {rows}
    for fmt in track["formats"].values():
        assert {len(fmt[name]) for name in ("outcome", "stored", "storedLog2", "bits", "kept", "ratio")} == {rows}
        assert {len(fmt[f"{end}Text"]) for end in ("survival", "fullPrecision", "overflow")} == {len(OCTAVES)}


def test_gradients_of_one_significand_share_a_track():
    tracks = LookupMirror(["2^-26", "8", "-1", "1.5", "0x1.8p3"]).tracks
    assert sorted(track["significand"] for track in tracks.values()) == [1.0, 1.5]


def test_more_gradients_have_tracks_and_pairs_but_no_rows():
    mirror = LookupMirror(["3"], more=read_gradients(["5", "0"]))
    assert len(mirror.gradients) == 1
    assert sorted(track.get("significand", 0) for track in mirror.tracks.values()) == [0, 1.25, 1.5]
    assert len(mirror.pairs) == 4


@given(value=st.floats(2.0**-48, 2.0**24), octave=octaves, sign=st.sampled_from(("", "-")))
@example(value=3.0, octave=OCTAVES[0], sign="-")
@settings(max_examples=5, deadline=None)
def test_a_dragged_gradient_is_written_so_that_it_is_read_again_exactly(value, octave, sign):
    mirror = LookupMirror([sign + repr(value)])
    moved = mirror.moved(mirror.gradients[0], octave)
    (again,) = read_gradients([moved["token"]])
    assert Fraction(again.value) == value_of(moved, mirror)
    assert gradient_data(again) == moved


@pytest.mark.parametrize("token", FAR)
def test_a_far_gradient_can_be_dragged_only_to_what_is_read_again_exactly(token):
    mirror = LookupMirror([token])
    for octave in mirror.octaves(mirror.gradients[0]):
        moved = mirror.moved(mirror.gradients[0], octave)
        (again,) = read_gradients([moved["token"]])
        assert Fraction(again.value) == value_of(moved, mirror)


def test_what_the_browser_knows_of_the_formats():
    formats = strict_json(json.dumps(formats_data()))
    assert list(formats) == list(FORMATS)
    for name, fmt in FORMATS.items():
        tie = power(1 - fmt.bias - fmt.mantissa_bits - 1)
        overflow = largest(fmt) + power((fmt.max_code >> fmt.mantissa_bits) - fmt.bias - fmt.mantissa_bits - 1)
        known = formats[name]
        assert known["label"] == fmt.label
        assert known["significantBits"] == fmt.mantissa_bits + 1
        assert known["survival"] == place_of(tie)
        assert known["fullPrecision"] == pytest.approx(place_of(power(1 - fmt.bias) - tie), abs=1e-12)
        assert known["overflow"] == pytest.approx(place_of(overflow), abs=1e-12)
        assert known["upperClosed"] == (not fmt.max_code & 1)
        assert known["overflowsTo"] == ("inf" if fmt.has_inf else "nan")


def test_the_texts_of_the_slider_scales():
    texts = scale_texts()
    assert len(texts) == len(LOG2_SCALES) == 81
    for text, k in zip(texts, LOG2_SCALES, strict=True):
        value = Fraction(text.removeprefix("≈"))
        assert value == power(k) if not text.startswith("≈") else abs(value / power(k) - 1) < Fraction(1, 1000)
    assert texts[40 + 12] == "4096"
    assert texts[0] == "≈9.095e-13"
    assert texts[80] == "1099511627776"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """The page's own look-ups, run by node: a list of questions in, a list of answers out."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node on this machine to run the page's look-ups")
    folder = tmp_path_factory.mktemp("browser")
    script = """
        import { readFileSync } from "node:fs";
        import { Lookups } from "./lookup.js";
        const { data, formats, scaleTexts, questions } = JSON.parse(readFileSync(0, "utf-8"));
        const lookups = new Lookups(data, formats, scaleTexts);
        console.log(JSON.stringify(questions.map(([name, ...rest]) => lookups[name](...rest))));
    """
    for module in modules().values():
        (folder / module.name).write_text(module.text, "utf-8")
    (folder / "package.json").write_text('{"type": "module"}', "utf-8")
    (folder / "ask.js").write_text(script, "utf-8")

    def ask(mirror, questions):
        given_data = {
            "data": {"tracks": mirror.tracks, "pairs": mirror.pairs},
            **{"formats": formats_data(), "scaleTexts": scale_texts(), "questions": questions},
        }
        asked = subprocess.run(
            [node, str(folder / "ask.js")], input=json.dumps(given_data), capture_output=True, text=True
        )
        assert asked.returncode == 0, asked.stderr
        return json.loads(asked.stdout)

    return ask


def test_the_browser_picks_what_its_mirror_here_picks(browser):
    mirror = LookupMirror(["1.1", "-1", "1e30", "0", "-inf"], "1000")
    moved = [
        mirror.moved(gradient, octave)
        for gradient in mirror.gradients
        for octave in (mirror.octaves(gradient) or ())[::9]
    ] + mirror.gradients
    questions, expected = [], []
    for fmt in FORMATS:
        for gradient in moved:
            for k, scale in ((-40, None), (3, None), (40, None), (10, mirror.scale)):
                questions.append(("row", gradient, {"format": fmt, "k": k, "scale": scale}))
                expected.append(mirror.row(gradient, fmt, None if scale else k))
            questions.append(("ends", gradient, fmt))
            expected.append(mirror.ends(gradient, fmt))
        for first in moved[::3]:
            questions.append(("windows", [first, *moved[::5]], fmt))
            expected.append(mirror.windows([first, *moved[::5]], fmt))
    for gradient in mirror.gradients[:3]:
        for octave in (-2000, -49, -3, 0, 25, 2000):
            questions.append(("moved", gradient, octave))
            expected.append(mirror.moved(gradient, octave))
    for question, answer, picked in zip(questions, browser(mirror, questions), expected, strict=True):
        if question[0] == "windows" and answer:
            finite = [gradient for gradient in question[1] if not mirror.track(gradient).get("special")]
            assert answer.pop("count") == len(finite)
            for window in answer.values():
                del window["small"], window["large"]
        assert answer == picked, question


TYPED_TOKENS = (
    *("2^-26", "8", "-8", "+8", "8.", ".5", "1e3", "-1E-3", "1000", "0x1p-26", "-0x1.8p3", "0x1.8", "0xcp0", "p-26"),
    *("0", "-0", "0.000", "0e5", "0x0p0", "inf", "-inf", "Infinity", "nan", "-nan", "NaN", "∞", "2^-48", "2^25"),
    *("2^-1074", "2^-1075", "2^1023", "2^1024", "2^9999", "1e-400", "1e400", "5e-324", "1e-310", "0x1p-1080", ""),
    *("1,5", "1 5", "--1", "1e", "e5", "0x", "2^", "2^-", "2^1.5", "1_000", "٣", "1.0000000000000001", "1.5*2^3"),
)


def test_what_the_browser_reads_by_itself_is_what_python_reads(browser):
    """It may leave any token to Python, but must not take one for another gradient."""
    mirror = LookupMirror(["1", "1.5", "1e-8", "0", "inf", "nan", "1e300", "5e-324"], "1000")
    for token, found in zip(TYPED_TOKENS, browser(mirror, [("find", token) for token in TYPED_TOKENS]), strict=True):
        if found is not None:
            assert found == gradient_data(*read_gradients([token])), token


def test_the_browser_reads_powers_of_two_and_what_it_has_tables_for_by_itself(browser):
    mirror = LookupMirror(["1", "1.5", "0", "inf", "nan"])
    tokens = ["2^-26", "8", "-2^3", "12", "1.5", "-0", "inf", "nan", "0x1.8p-3", "1e-8", "5"]
    found = browser(mirror, [("find", token) for token in tokens])
    assert [each is not None for each in found] == [True] * 9 + [False] * 2
