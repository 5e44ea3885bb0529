"""Scales, logarithms and sticky floats, exactly."""

from fractions import Fraction
import math

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from lossscale_core import InputError, classify, count_outcomes, recovered
from lossscale_core.exact import exact_scale, floor_log2, log2, sticky_float
from lossscale_core.formats import FP16

from .format_table import every_format
from .oracle import power, same, stored
from .strategies import positive_fractions

GOOD_SCALES = [1, 2**70, 0.1, 1e-300, Fraction(1, 3), np.float32(1024.1), np.float64(0.1), np.float16(3), np.int64(7)]
BAD_SCALES = {
    "0": 0,
    "0.0": 0.0,
    "-0.0": -0.0,
    "-1": -1,
    "-1/3": Fraction(-1, 3),
    "nan": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "2": "2",
    "1e999999999": "1e999999999",
    "eight": "eight",
    "None": None,
    "(1+0j)": 1 + 0j,
    "[2.]": np.array([2.0]),
    "2.0": np.array(2.0),
    "[2.0]": [2.0],
}


@pytest.mark.parametrize("scale", GOOD_SCALES, ids=repr)
def test_a_scale_is_its_exact_value(scale):
    assert exact_scale(scale) == Fraction(scale if isinstance(scale, Fraction | int) else float(scale))


@pytest.mark.parametrize("function", [lambda s: classify([1.0], s, FP16), lambda s: count_outcomes([], s, FP16)])
@pytest.mark.parametrize(("text", "scale"), BAD_SCALES.items(), ids=BAD_SCALES)
def test_a_bad_scale_is_refused_and_quoted(text, scale, function):
    with pytest.raises(InputError) as caught:
        function(scale)
    assert str(caught.value) == f"A loss scale must be a finite number above 0: “{text}” is not."


@pytest.mark.parametrize("scale", [0, -2.0, math.nan, "2"])
def test_unscaling_refuses_a_bad_scale_too(scale):
    with pytest.raises(InputError, match=f"“{scale}”"):
        recovered(1.0, scale)


@given(positive_fractions)
def test_floor_log2(value):
    k = floor_log2(value)
    assert power(k) <= value < power(k + 1)


@pytest.mark.parametrize("exponent", [-3000, -1074, -1, 0, 1, 1023, 3000])
def test_floor_log2_at_a_power_of_two_and_a_hair_beside(exponent):
    hair = power(-4000)
    assert floor_log2(power(exponent)) == exponent
    assert floor_log2(power(exponent) * (1 + hair)) == exponent
    assert floor_log2(power(exponent) * (1 - hair)) == exponent - 1


@pytest.mark.parametrize("exponent", [-3000, -1074, -1, 0, 1, 1023, 3000])
def test_log2_of_a_power_of_two_is_an_integer(exponent):
    assert log2(power(exponent)) == exponent


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_log2_agrees_with_math(value):
    assert log2(Fraction(value)) == pytest.approx(math.log2(value), rel=1e-14, abs=1e-14)


@given(st.floats(min_value=1e-290, allow_infinity=False, max_value=1e290), st.sampled_from([-1, 1]))
def test_a_float_is_its_own_sticky_float(value, sign):
    assert sticky_float(Fraction(sign * value)) == sign * value


def test_what_is_cut_off_sets_the_last_bit():
    ulp = power(-52)
    assert sticky_float(1 + power(-300)) == 1 + 2.0**-52
    assert sticky_float(1 + ulp - power(-300)) == 1 + 2.0**-52
    assert sticky_float(-(1 + 2 * ulp + power(-300))) == -(1 + 3 * 2.0**-52)


@every_format
@given(magnitude=positive_fractions, sign=st.sampled_from([-1, 1]))
def test_a_sticky_float_rounds_to_every_format_as_the_fraction_does(fmt, magnitude, sign):
    value = sign * magnitude
    assert same(stored(sticky_float(value), fmt), stored(value, fmt))


@pytest.mark.parametrize("exponent", [1001, 5000, 100_000])
def test_sizes_beyond_float64_are_moved_into_it(exponent):
    assert sticky_float(power(exponent)) == 2.0**1000
    assert sticky_float(-power(exponent)) == -(2.0**1000)
    assert sticky_float(power(-exponent)) == 2.0**-1000
    assert sticky_float(-power(-exponent)) == -(2.0**-1000)


def test_zero():
    assert math.copysign(1, sticky_float(Fraction(0))) == 1
    assert sticky_float(Fraction(0)) == 0
