"""One optimizer step in every order, beside numpy and ml_dtypes, and what holds for any example."""

from dataclasses import replace
from fractions import Fraction
import math
import warnings

from hypothesis import assume, given
from hypothesis import strategies as st
import numpy as np
import pytest

from lossscale_core import (
    E4M3,
    FP32,
    StepExample,
    StepOrder,
    take_step,
)

from .oracle import same, stored
from .steps import DTYPES, examples, formats, names, numbers, one, orders, powers, stage, step_by_numpy
from .strategies import finite_float64s, near_codes


@pytest.fixture(autouse=True)
def _numpy_must_not_warn():
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@formats
@given(example=examples(), order=orders, scale=powers)
def test_every_order_beside_numpy(fmt, example, order, scale):
    # ml_dtypes rounds float64 by way of float32.
    example = replace(example, weights=tuple(float(np.float32(weight)) for weight in example.weights))
    with np.errstate(all="ignore"):
        stages, skipped, update, true_update = step_by_numpy(example, order, scale, DTYPES[fmt])
    report = take_step(example, order, scale, fmt)
    assert names(report) == [name for name, _ in stages]
    for ours, (name, values) in zip(report.stages, stages, strict=True):
        assert same(ours.values, values), name
    assert report.skipped == skipped
    assert same(report.update, update)
    np.testing.assert_allclose(report.true_update, true_update, rtol=1e-14)


@formats
@given(data=st.data(), tokens=st.lists(st.integers(1, 1000), min_size=1, max_size=3), scale=st.floats(1e-30, 1e30))
def test_shares_and_scales_of_any_size_are_exact(fmt, data, tokens, scale):
    """Beside exact fractions: also where the share, or the product, is no float64."""
    values = st.one_of(finite_float64s, near_codes(fmt).map(lambda value: value / scale * sum(tokens) / tokens[0]))
    column = [data.draw(values.filter(math.isfinite)) for _ in tokens]
    report = take_step(StepExample(tuple((value,) for value in column), tokens=tuple(tokens)), scale=scale, fmt=fmt)
    exact = [Fraction(value) * count / sum(tokens) for value, count in zip(column, tokens, strict=True)]
    negative = [math.copysign(1, value) < 0 for value in column]
    factor = Fraction(scale)
    assert stage(report, "gradient").values == tuple((float(value),) for value in exact)
    assert stage(report, "scaled").values == tuple((nearest(value * factor),) for value in exact)
    expected = [
        -0.0 if value == 0 and minus else stored(value * factor, fmt)
        for value, minus in zip(exact, negative, strict=True)
    ]
    assert same(np.ravel(stage(report, "stored").values), expected)
    (total,) = stage(report, "accumulated").values[0]
    if total and math.isfinite(total):
        assert stage(report, "unscaled").values == ((stored(Fraction(total) / factor, FP32),),)
    assert report.true_update == (float(sum(exact)),)


def nearest(value):
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


@pytest.mark.parametrize(
    ("gradient", "scale", "value"),
    [
        (2**-25 * (1 + 2**-30), 1.0, 2**-24),
        (65519.999, 1.0, 65504),
        (1 + 2**-11 + 2**-30, 1.0, 1 + 2**-10),
        (9.934107758624577e-09, 3.0, 2**-24),
        (2259.310302734375, 29.0, 65504),
        (float(np.float32(0.01)), 6552000.0, 65504),
    ],
)
def test_the_store_rounds_once(gradient, scale, value):
    assert stage(take_step(one(gradient), scale=scale), "stored").values == ((value,),)


def test_unscaling_divides_instead_of_multiplying_by_the_inverse():
    different = 0
    for code in range(1024, 2048):
        gradient = float(np.array(code, np.uint16).view(np.float16))
        unscaled = take_step(one(gradient), StepOrder(scale="late"), 1000.0)
        (value,), (quotient,) = stage(unscaled, "scaled").values[0], stage(unscaled, "unscaled").values[0]
        assert quotient == float(np.float32(value) / np.float32(1000))
        different += quotient != float(np.float32(value) * np.float32(1 / 1000))
    assert different > 100


# The right order within the window.


@formats
@given(data=st.data(), example=examples(numbers.filter(bool)))
def test_within_the_full_precision_window_every_power_of_two_takes_the_same_step(fmt, data, example):
    tokens = example.tokens or (1,) * len(example.gradients)
    whole = 1 if example.reduction == "sum" else sum(tokens)
    shares = [Fraction(1 if example.reduction == "sum" else count, whole) for count in tokens]
    sizes = [abs(Fraction(g)) * share for row, share in zip(example.gradients, shares, strict=True) for g in row]
    smallest, largest = Fraction(1, 2 ** (fmt.bias - 1)), Fraction(448 if fmt is E4M3 else 57344)
    window = [k for k in range(-60, 60) if min(sizes) * 2**k >= smallest and max(sizes) * Fraction(2) ** k <= largest]
    assume(len(window) > 1)
    first = take_step(example, scale=2.0 ** window[0], fmt=fmt)
    other = take_step(example, scale=2.0 ** data.draw(st.sampled_from(window[1:])), fmt=fmt)
    assert not first.skipped
    assert same(other.update, first.update)
    assert same(stage(other, "unscaled").values, stage(first, "unscaled").values)


@given(example=examples(numbers.filter(bool)), order=orders, scale=powers)
def test_a_step_that_is_skipped_moves_nothing(example, order, scale):
    report = take_step(example, order, scale, E4M3)
    found = stage(report, "checked")
    assert report.skipped == found.found_inf == (not np.isfinite(found.values).all())
    if report.skipped:
        zeros = replace(example, gradients=((0.0,) * len(report.update),) * len(example.gradients))
        still = take_step(zeros, StepOrder(weights=order.weights), fmt=E4M3)
        assert same(stage(report, "updated").values, stage(still, "updated").values)
        assert set(report.update) == {0.0}
