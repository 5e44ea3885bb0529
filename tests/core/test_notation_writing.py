"""Writing numbers: what is not marked as rounded is exact, what is marked is as near as its digits tell."""

import decimal
from fractions import Fraction
import math

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from lossscale_core import (
    BF16,
    E4M3,
    FP16,
    bits_text,
    decimal_text,
    number_text,
    parse_number,
    percent_text,
    power_text,
    share_text,
)
from lossscale_core.formats import FP32

from .oracle import power, same
from .strategies import finite_float64s, positive_fractions

signed_fractions = st.builds(lambda value, sign: sign * value, positive_fractions, st.sampled_from((1, -1)))
short_decimals = st.builds(
    lambda n, e: Fraction(n) * Fraction(10) ** e, st.integers(-(10**6), 10**6), st.integers(-12, 9)
)
numbers = finite_float64s | signed_fractions | short_decimals

DECIMALS = [
    (0, "0"),
    (0.0, "0"),
    (-0.0, "-0"),
    (1, "1"),
    (8190.0, "8190"),
    (-8.0, "-8"),
    (0.125, "0.125"),
    (2.0**-26, "≈1.490e-8"),
    (2.0**-10, "0.0009765625"),
    (65504, "65504"),
    (1e10, "1e10"),
    (1.5e300, "≈1.500e300"),
    (Fraction(1, 3), "≈0.3333"),
    (Fraction(-2, 3), "≈-0.6667"),
    (Fraction(10) ** 12, "1e12"),
    (0.1, "≈0.1000"),
    (Fraction(1, 10), "0.1"),
    (12345.678901234, "≈12350"),
    (1234567.8901234, "≈1.235e6"),
    (math.inf, "inf"),
    (-math.inf, "-inf"),
    (math.nan, "nan"),
]
NUMBERS = [
    (0, "0"),
    (-0.0, "-0"),
    (8, "8"),
    (0.125, "0.125"),
    (65504, "65504"),
    (1e10, "1e10"),
    (2.0**-26, "2^-26"),
    (-(2.0**-26), "-2^-26"),
    (2.0**20, "2^20"),
    (2.0**-10, "2^-10"),
    (1.001e-8, "≈1.001e-8"),
    (Fraction(1, 3), "≈0.3333"),
    (math.inf, "inf"),
    (math.nan, "nan"),
]
PERCENTS = [
    (0, "0"),
    (Fraction(0), "0"),
    (-0.0, "0"),
    (Fraction(1, 7), "+14.29%"),
    (-1, "-100%"),
    (1.0, "+100%"),
    (Fraction(1, 3), "+33.33%"),
    (Fraction(-1, 5), "-20%"),
    (Fraction(1, 8), "+12.5%"),
    (Fraction(-999999, 10**6), "-100%"),
    (Fraction(1, 10**9), "+1e-7%"),
    (Fraction(123456), "+1.235e7%"),
    (math.inf, "inf"),
    (-math.inf, "-inf"),
    (math.nan, "nan"),
]


def check_marks(text, value, digits):
    """Without the mark a text is the value; with it, within half a unit of the last digit it claims."""
    exact = Fraction(value)
    written = Fraction(text.removeprefix("≈"))
    if not text.startswith("≈"):
        assert written == exact
        return
    assert written != exact
    last_place = Fraction(10) ** (decimal.Decimal(text[1:]).adjusted() - digits + 1)
    assert abs(written - exact) <= last_place / 2


@pytest.mark.parametrize(("value", "text"), DECIMALS, ids=str)
def test_decimals(value, text):
    assert decimal_text(value) == text


@given(numbers.filter(bool))
def test_a_decimal_is_exact_or_marked(value):
    check_marks(decimal_text(value), value, digits=4)


@given(numbers.filter(bool), st.integers(1, 12), st.integers(0, 60))
def test_any_number_of_digits(value, digits, more):
    check_marks(decimal_text(value, digits, exact_digits=digits + more), value, digits)


@given(finite_float64s)
def test_a_decimal_without_the_mark_parses_back(value):
    text = decimal_text(value)
    if not text.startswith("≈"):
        assert same(parse_number(text), value)


@given(short_decimals)
def test_a_short_decimal_is_never_rounded(value):
    assert not decimal_text(value).startswith("≈")


@pytest.mark.parametrize(("value", "text"), NUMBERS, ids=str)
def test_numbers(value, text):
    assert number_text(value) == text


@given(finite_float64s)
def test_a_number_without_the_mark_parses_back(value):
    text = number_text(value)
    if text.startswith("≈"):
        check_marks(text, value, digits=4)
    else:
        assert same(parse_number(text), value)


@given(st.integers(-1074, 1023), st.sampled_from((1, -1)))
def test_a_power_of_two_is_written_and_read_back(exponent, sign):
    text = power_text(sign * 2.0**exponent)
    assert text == f"{'-' if sign < 0 else ''}2^{exponent}"
    assert parse_number(text) == sign * 2.0**exponent


def test_a_power_of_two_beyond_float64():
    assert power_text(power(-5000)) == "2^-5000"


@given(numbers)
def test_what_is_no_power_of_two_has_no_power_text(value):
    is_power = (
        value != 0 and abs(Fraction(value)).numerator.bit_count() == abs(Fraction(value)).denominator.bit_count() == 1
    )
    assert (power_text(value) is not None) == is_power


@pytest.mark.parametrize("value", [0, 0.0, -0.0, math.inf, -math.inf, math.nan, 3, Fraction(1, 3)])
def test_special_values_have_no_power_text(value):
    assert power_text(value) is None


@pytest.mark.parametrize(("ratio", "text"), PERCENTS, ids=str)
def test_percents(ratio, text):
    assert percent_text(ratio) == text


@given(signed_fractions)
def test_a_percentage_is_signed_and_has_four_digits(ratio):
    text = percent_text(ratio)
    assert text[0] == ("+" if ratio > 0 else "-")
    assert text[-1] == "%"
    written = Fraction(text[:-1])
    last_place = Fraction(10) ** (decimal.Decimal(text[:-1]).adjusted() - 3)
    assert abs(written - 100 * ratio) <= last_place / 2


@given(numbers)
def test_the_decimal_context_of_the_caller_changes_nothing(value):
    expected = decimal_text(value), number_text(value), percent_text(value)
    with decimal.localcontext(prec=2, rounding=decimal.ROUND_UP, Emax=3, Emin=-3):
        assert (decimal_text(value), number_text(value), percent_text(value)) == expected


@pytest.mark.parametrize(
    ("code", "fmt", "text"),
    [
        (2, FP16, "0 00000 0000000010"),
        (0x8400, FP16, "1 00001 0000000000"),
        (0x7F80, BF16, "0 11111111 0000000"),
        (0xFF, E4M3, "1 1111 111"),
        (0, FP32, "0 00000000 00000000000000000000000"),
    ],
)
def test_bits(code, fmt, text):
    assert bits_text(code, fmt) == text


@pytest.mark.parametrize("write", [decimal_text, number_text, power_text, percent_text])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_numbers_of_numpy_are_written_like_pythons(write, dtype):
    assert write(dtype(0.375)) == write(0.375)


@pytest.mark.parametrize(
    ("count", "total", "text"),
    [
        (0, 7, "0%"),
        (7, 7, "100%"),
        (1, 3, "33.3%"),
        (1, 8, "12.5%"),
        (1, 2, "50%"),
        (9998, 10_000, "99.98%"),
        (999_997, 1_000_000, "99.9997%"),
        (1, 10**8, "<0.0001%"),
        (10**8 - 1, 10**8, ">99.9999%"),
        (1, 10**6, "0.0001%"),
        (123_456, 10**8, "0.123%"),
        (98_999, 100_000, "99%"),
        (99_449, 100_000, "99.45%"),
    ],
)
def test_shares(count, total, text):
    assert share_text(count, total) == text


@given(total=st.integers(1, 10**12), data=st.data())
def test_a_share_is_near_and_never_nothing_or_all_by_rounding(total, data):
    count = data.draw(st.integers(0, total) | st.sampled_from((0, 1, total - 1, total)))
    text = share_text(count, total)
    assert (text == "0%") == (count == 0)
    assert (text == "100%") == (count == total)
    percent = Fraction(100 * count, total)
    if text[0] in "<>":
        assert min(percent, 100 - percent) < Fraction(1, 10_000)
        return
    shown = Fraction(text[:-1])
    smaller = percent if percent <= 99 else 100 - percent
    assert abs(shown - percent) <= smaller / (200 if percent <= 99 else 20)
