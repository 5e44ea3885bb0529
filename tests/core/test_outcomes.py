"""Outcomes: what becomes of a gradient at a scale, against exact products."""

from fractions import Fraction
import math

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from lossscale_core import E4M3, FP16, Outcome, classify, count_outcomes, outcome_codes

from .format_table import EVERY, every_format, every_row, two_formats
from .oracle import outcome
from .strategies import float32s, float64s, nudged

SCALES = [1, 2**13, 2.0**-20, 1024.1, 3, 0.3, 2.0**-300, 2.0**300, 1e-300, 1e300, Fraction(2, 3), Fraction(10**40, 7)]


def names(outcomes):
    return [[o.name for o in row] for row in outcomes] if outcomes.ndim == 2 else [o.name for o in outcomes]


def expected_names(gradients, scale, fmt):
    return [outcome(float(g), scale, fmt) for g in gradients]


def border_gradients(facts, scale, dtype):
    """Gradients that a scale brings to the borders of a format, and their neighbours."""
    tie = Fraction(facts.underflow_tie)
    borders = [tie, 2 * tie, 3 * tie, Fraction(facts.min_normal) - tie, Fraction(facts.min_normal)]
    borders += [Fraction(facts.max_finite), Fraction(facts.overflow_tie)]
    values = []
    with np.errstate(all="ignore"):
        for border in borders:
            exact = border / Fraction(scale)
            near = dtype(float(exact) if exact < Fraction(10) ** 308 else math.inf)
            values += [near, np.nextafter(near, dtype(0)), np.nextafter(near, dtype(np.inf))]
    return np.array([*values, *(-value for value in values)], dtype)


@every_row
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradients_that_a_scale_brings_to_the_borders(facts, dtype):
    for scale in SCALES:
        gradients = border_gradients(facts, scale, dtype)
        assert names(classify(gradients, scale, facts.fmt)) == expected_names(gradients, scale, facts.fmt), scale


@every_row
@given(data=st.data())
def test_drawn_scales_and_gradients_at_their_borders(facts, data):
    scale = data.draw(
        st.floats(2.0**-40, 2.0**40)
        | st.floats(2.0**-500, 2.0**500)
        | st.fractions(min_value=Fraction(1, 10**6), max_value=10**6).filter(bool)
    )
    tie = data.draw(
        st.sampled_from((facts.underflow_tie, facts.min_normal - facts.min_subnormal / 2, facts.overflow_tie))
    )
    gradient = nudged(float(Fraction(tie) / Fraction(scale)), data.draw(st.integers(-2, 2)))
    assert names(classify([gradient], scale, facts.fmt)) == expected_names([gradient], scale, facts.fmt)


@every_format
@given(gradients=st.lists(float64s, max_size=8), scale=st.floats(min_value=5e-324, allow_infinity=False))
def test_any_float64_and_any_scale(fmt, gradients, scale):
    assert names(classify(gradients, scale, fmt)) == expected_names(gradients, scale, fmt)


@every_format
@given(gradients=st.lists(float32s, max_size=8), scale=st.floats(min_value=2.0**-149, width=32, allow_infinity=False))
def test_any_float32_and_any_scale(fmt, gradients, scale):
    array = np.array(gradients, np.float32)
    assert names(classify(array, scale, fmt)) == expected_names(array, scale, fmt)


@every_format
def test_a_fraction_tells_scales_apart_that_no_float_does(fmt):
    hair = Fraction(1, 2**200)
    for border in (fmt.min_subnormal / 2, fmt.min_normal - fmt.min_subnormal / 2, fmt.max_finite):
        for scale in (1 - hair, Fraction(1), 1 + hair):
            assert names(classify([border], scale, fmt)) == expected_names([border], scale, fmt)


@every_format
def test_zeros_and_nonfinite_gradients_are_no_ones_fault(fmt):
    outcomes = classify([0.0, -0.0, math.inf, -math.inf, math.nan], 2.0**15, fmt)
    assert names(outcomes) == ["ZERO", "ZERO", "NONFINITE", "NONFINITE", "NONFINITE"]


@every_format
def test_integers_and_half_precision(fmt):
    for gradients in (np.array([0, 1, -7, 70000]), np.array([0, 6e-8, 1, -65504], np.float16), np.array([True, False])):
        assert names(classify(gradients, 0.5, fmt)) == expected_names(gradients, 0.5, fmt)


@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (0, 4)])
def test_every_function_keeps_the_shape(shape):
    gradients = np.full(shape, 2.0**-24)
    outcomes, codes = classify(gradients, 1, FP16), outcome_codes(gradients, 1, FP16)
    assert isinstance(outcomes, np.ndarray)
    assert outcomes.dtype == object
    assert codes.dtype == np.int8
    assert outcomes.shape == codes.shape == shape
    assert all(member is Outcome.SUBNORMAL for member in outcomes.flat)


def test_the_codes_are_the_values_of_the_members():
    assert [outcome.value for outcome in Outcome] == list(range(6))
    gradients = [0, 2.0**-26, 2.0**-24, 1, 1e6, math.nan]
    assert outcome_codes(gradients, 1, FP16).tolist() == list(Outcome)
    assert all(isinstance(member, Outcome) for member in classify(gradients, 1, FP16))


def test_fortran_order_is_understood():
    gradients = np.asfortranarray([[0.0, 2.0**-26, 1.0], [1e6, 2.0**-24, math.inf]])
    expected = [["ZERO", "UNDERFLOW", "NORMAL"], ["OVERFLOW", "SUBNORMAL", "NONFINITE"]]
    assert names(classify(gradients, 1, FP16)) == expected


@two_formats
@given(gradients=st.lists(float64s, max_size=20))
def test_counts_are_those_of_the_outcomes(fmt, gradients):
    counts = count_outcomes(gradients, 3, fmt)
    expected = expected_names(gradients, 3, fmt)
    assert {member.name: number for member, number in counts.items()} == {
        member.name: expected.count(member.name) for member in Outcome
    }
    assert all(type(number) is int for number in counts.values())


def test_the_input_is_not_changed():
    gradients = np.array([-1.0, 0.0, math.nan])
    before = gradients.tobytes()
    classify(gradients, 8, FP16)
    assert gradients.tobytes() == before


def test_no_flag_is_raised():
    patterns = np.random.default_rng(1).integers(0, 2**32, 10_000, np.uint32).view(np.float32)
    with np.errstate(all="raise"):
        for row in EVERY:
            for scale in (2.0**-300, 1024.1, 2.0**300):
                count_outcomes(patterns, scale, row.fmt)


def test_a_tie_above_an_even_maximum_does_not_overflow():
    assert names(classify([464.0, 464.0 * (1 + 2**-52)], 1, E4M3)) == ["NORMAL", "OVERFLOW"]
