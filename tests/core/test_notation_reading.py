"""Reading numbers: every spelling, nothing evaluated, everything else refused."""

import contextlib
from fractions import Fraction
import math
import time

from hypothesis import given
from hypothesis import strategies as st
import pytest

from lossscale_core import InputError, parse_number, parse_numbers

from .oracle import same
from .strategies import float64s

SPELLINGS = {
    "1e-8": 1e-8,
    "1E-8": 1e-8,
    "-3": -3.0,
    "+3": 3.0,
    "−3": -3.0,
    ".5": 0.5,
    "5.": 5.0,
    "  8\n": 8.0,
    "0": 0.0,
    "-0": -0.0,
    "0e5": 0.0,
    "0.000": 0.0,
    "2^-26": 2.0**-26,
    "2**-26": 2.0**-26,
    "2^(-26)": 2.0**-26,
    "2^+3": 8.0,
    "2⁻²⁶": 2.0**-26,
    "2⁺³": 8.0,
    "2^−26": 2.0**-26,
    "-2^3": -8.0,
    "1.5*2^-24": 1.5 * 2.0**-24,
    "1.5·2^-24": 1.5 * 2.0**-24,
    "1.5×2⁻²⁴": 1.5 * 2.0**-24,
    "0*2^5": 0.0,
    "-0*2^5000": -0.0,
    "1e-400*2^1000": float(Fraction(2) ** 1000 / Fraction(10) ** 400),
    "1e400*2^-1000": float(Fraction(10) ** 400 / Fraction(2) ** 1000),
    "0.1*2^-1000": 0.1 * 2.0**-1000,
    "0x1.8p-24": 1.5 * 2.0**-24,
    "0X1.8P-24": 1.5 * 2.0**-24,
    "-0x1p-26": -(2.0**-26),
    "0xff": 255.0,
    "0x0p5": 0.0,
    "0x0.0": 0.0,
    "inf": math.inf,
    "-INF": -math.inf,
    "infinity": math.inf,
    "∞": math.inf,
    "-∞": -math.inf,
    "nan": math.nan,
    "NaN": math.nan,
}
MALFORMED = ["", " ", "x", "1e", "e5", "1e+", "--3", "+-3", "1.2.3", ".", "1,5", "1_000", "1 2", "3^2", "2^", "2^^3"]
MALFORMED += [
    "2^2^3",
    "2^1.5",
    "2^(3",
    "2^3)",
    "2^()",
    "2^((3))",
    "*2^3",
    "2*3",
    "1.5*",
    "1.5**2^3",
    "1.5*2",
    "p",
    "p1.5",
    "p-26",
]
MALFORMED += [
    "2²⁶⁻",
    "⁵",
    "1e⁵",
    "0x",
    "0x.8p1",
    "0x1.8q3",
    "0xg",
    "0b11",
    "1/3",
    "1e5e5",
    "infin",
    "nano",
    "٣",
    "２",
    "1e٣",
]
MALFORMED += ["None", "True", "1j", "1+1", "(1)", "abs(1)", "__import__('os')", "10**10**10", "9" * 101, "1e123456"]
OUT_OF_RANGE = {"1e999": "large", "-1e999": "large", "2^1024": "large", "0x1p1024": "large", "1e-400": "small"}
OUT_OF_RANGE |= {
    "2^-1076": "small",
    "0x1p-1080": "small",
    "2^99999": "large",
    "2^-99999": "small",
    "-2^-99999": "small",
}
OUT_OF_RANGE |= {"1e-400*2^10": "small", "1e400*2^10": "large", "1e99999*2^2000": "large", "1e-99999*2^-2000": "small"}


@pytest.mark.parametrize(("text", "value"), SPELLINGS.items(), ids=SPELLINGS)
def test_spellings(text, value):
    assert same(parse_number(text), value)


@given(float64s)
def test_what_python_writes_reads_back(value):
    assert same(parse_number(repr(value)), value)
    assert same(parse_number(value.hex()), value)


@given(float64s.filter(math.isfinite))
def test_seventeen_digits_read_back(value):
    assert same(parse_number(f"{value:.16e}"), value)


@pytest.mark.parametrize("spelling", ["2^{}", "2**{}", "2^({})", "0x1p{}"])
def test_every_power_of_two(spelling):
    assert [parse_number(spelling.format(k)) for k in range(-1074, 1024)] == [2.0**k for k in range(-1074, 1024)]


@given(st.floats(min_value=2.0**-60, max_value=2.0**60), st.integers(-900, 900))
def test_a_factor_and_a_power_are_rounded_together(factor, exponent):
    assert parse_number(f"{factor!r}*2^{exponent}") == float(Fraction(repr(factor)) * Fraction(2) ** exponent)


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_numbers_are_refused_and_quoted(text):
    with pytest.raises(InputError) as caught:
        parse_number(text)
    assert str(caught.value).startswith(f"“{text[:60]}")
    assert "is not a number that can be read here" in str(caught.value)


@pytest.mark.parametrize(("text", "size"), OUT_OF_RANGE.items(), ids=OUT_OF_RANGE)
def test_what_float64_cannot_hold_is_refused_and_quoted(text, size):
    with pytest.raises(InputError) as caught:
        parse_number(text)
    assert str(caught.value) == f"“{text}” is too {size} for float64."


@given(st.text(alphabet="0123456789.eEpx^*()-+⁻⁰¹²³·× nainf", max_size=12))
def test_any_text_is_a_number_or_an_input_error(text):
    with contextlib.suppress(InputError):
        assert isinstance(parse_number(text), float)


@pytest.mark.parametrize(
    "text",
    ["9" * 10**7, "1" + " " * 10**7 + "1", "2^" + "9" * 10**6, "⁹" * 10**6, "1e-99999*2^-2000", "9e99999*2^2000"],
    ids=["digits", "spaces", "exponent", "superscripts", "tiny", "huge"],
)
def test_huge_numbers_are_refused_at_once(text):
    start = time.process_time()
    with pytest.raises(InputError) as caught:
        parse_number(text)
    assert time.process_time() - start < 0.5
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("text", ["2^-26, 8", "2^-26;8", "2^-26 8", "\n2^-26\r\n\t8,,;", "2^-26\u00a08"])
def test_lists_are_separated_by_almost_anything(text):
    assert parse_numbers(text) == [("2^-26", 2.0**-26), ("8", 8.0)]


@given(st.lists(float64s, min_size=1))
def test_lists_read_back(values):
    assert same([value for _, value in parse_numbers(", ".join(map(repr, values)))], values)


@pytest.mark.parametrize("text", ["", "  ", ",;,\n"])
def test_a_list_without_a_number_is_refused(text):
    with pytest.raises(InputError, match="has no number in it"):
        parse_numbers(text)


def test_a_list_quotes_the_one_that_cannot_be_read():
    with pytest.raises(InputError, match=r"^“eight” is not a number"):
        parse_numbers("1, 2, eight, 4")
