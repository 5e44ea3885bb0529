"""What a step is compared by: ratios of the update to the true one."""

from dataclasses import replace
import math
import warnings

import numpy as np
import pytest

from lossscale_core import (
    BF16,
    StepExample,
    StepOrder,
    take_step,
)

from .oracle import same
from .steps import (
    CHOICES,
    RIGHT,
    one,
    stage,
)


@pytest.fixture(autouse=True)
def _numpy_must_not_warn():
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_ratios():
    example = StepExample(((1.0, 1.0, 0.0, 2**-26), (1.0, -1.0, 0.0, 0.0)), reduction="sum")
    report = take_step(example, StepOrder(scale_update="micro_batch"), 1.0)
    assert (report.update, report.true_update) == ((3, 1, 0, 0), (2, 0, 0, 2**-26))
    assert same(report.ratios, [1.5, math.inf, math.nan, 0])
    assert report.ratio == pytest.approx(math.sqrt(10) / 2, rel=1e-15)


def test_a_ratio_of_nothing():
    cancelling = StepExample(((1.0,), (-1.0,)), reduction="sum")
    assert take_step(cancelling, StepOrder(scale_update="micro_batch")).ratio == math.inf
    assert math.isnan(take_step(cancelling).ratio)


def test_an_update_that_is_not_finite_has_no_ratio():
    report = take_step(one(2.0**100, learning_rate=2.0**100), fmt=BF16)
    assert (report.skipped, report.update, report.true_update) == (False, (math.inf,), (2.0**200,))
    assert same([report.ratio, *report.ratios], [math.nan, math.nan])


def test_a_quotient_that_overflows_behind_the_check_is_not_found():
    example = StepExample(((2.0**127,), (2.0**127,)), reduction="sum", clip_at=2.0**50)
    early, right = (take_step(example, StepOrder(clip=clip), 2.0**-100, BF16) for clip in CHOICES["clip"][::-1])
    assert stage(early, "unscaled").values == stage(right, "unscaled").values == ((math.inf,),)
    assert (early.skipped, early.update, right.skipped, right.update) == (False, (math.inf,), True, (0,))
    assert math.isnan(early.ratio)


def test_ratios_compare_magnitudes():
    report = take_step(StepExample(((-0.75, 0.5),)), StepOrder(unscale="never"), 2.0)
    assert (report.update, report.ratios) == ((-1.5, 1.0), (2, 2))
    turned = take_step(StepExample(((1.0,), (-1.5,)), reduction="sum"), StepOrder(scale_update="micro_batch"))
    assert (turned.update, turned.true_update, turned.ratios) == ((0.5,), (-0.5,), (1,))


def test_the_true_update_is_clipped_by_the_true_gradient():
    by_norm = StepExample(((6.0, -8.0),), clip_at=5.0, learning_rate=0.5)
    for order in (RIGHT, StepOrder(clip="before_unscale", unscale="never", scale="late")):
        assert take_step(by_norm, order, 16.0).true_update == (1.5, -2.0)
        assert take_step(replace(by_norm, clip="value"), order, 16.0).true_update == (2.5, -2.5)
