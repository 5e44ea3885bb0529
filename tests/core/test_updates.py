"""One optimizer step: the scenarios, every order of its operations beside numpy's, and what holds for any."""

from dataclasses import fields, replace
from fractions import Fraction
import math
from typing import get_args, get_type_hints
import warnings

from hypothesis import assume, given
from hypothesis import strategies as st
import ml_dtypes
import numpy as np
import pytest

from lossscale_core import (
    BF16,
    E4M3,
    E5M2,
    FORMATS,
    FP16,
    FP32,
    InputError,
    StageName,
    StepExample,
    StepOrder,
    take_step,
)

from .oracle import same, stored
from .strategies import finite_float64s, near_codes

DTYPES = {
    FP16: np.float16,
    BF16: ml_dtypes.bfloat16,
    E5M2: ml_dtypes.float8_e5m2,
    E4M3: ml_dtypes.float8_e4m3fn,
}
CHOICES = {name: get_args(hint) for name, hint in get_type_hints(StepOrder).items()}
RIGHT = StepOrder()

formats = pytest.mark.parametrize("fmt", FORMATS.values(), ids=list(FORMATS))
orders = st.builds(StepOrder, **{name: st.sampled_from(choices) for name, choices in CHOICES.items()})
powers = st.integers(-10, 24).map(lambda k: 2.0**k)


def stage(report, name):
    """The one stage of that name."""
    (found,) = (stage for stage in report.stages if stage.name == name)
    return found


def names(report):
    return [str(stage.name) for stage in report.stages]


def one(gradient, **settings):
    """A step of one micro-batch and one weight."""
    return StepExample(((gradient,),), **settings)


def swamped(weight, update):
    return StepExample(((update,),), weights=(weight,))


@pytest.fixture(autouse=True)
def _numpy_must_not_warn():
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# The scenarios.


@pytest.mark.parametrize("k", [0, 1, 12, 24])
def test_a_factor_after_the_store_saves_nothing(k):
    late = take_step(one(2**-26), StepOrder(scale="late"), 2.0**k)
    assert names(late)[:4] == ["gradient", "stored", "scaled", "accumulated"]
    assert stage(late, "stored").values == stage(late, "scaled").values == ((0.0,),)
    assert (late.update, late.ratio, late.ratios, late.skipped) == ((0.0,), 0, (0,), False)
    right = take_step(one(2**-26), scale=2.0**k)
    assert right.ratio == (1 if k >= 2 else 0)


def test_what_is_scaled_late_is_stored_again():
    """The store rounds 1 + 2**-11 + 2**-20 up; 3 times what it left is between two FP16 numbers again."""
    report = take_step(one(1 + 2**-11 + 2**-20), StepOrder(scale="late"), 3.0)
    assert stage(report, "stored").values == ((1 + 2**-10,),)
    assert stage(report, "scaled").values == ((float(np.float16(3 * (1 + 2**-10))),),) != ((3 * (1 + 2**-10),),)
    assert stage(report, "scaled").scales == (3,)
    assert take_step(one(8), StepOrder(scale="late"), 2.0**13).skipped


def test_unscaling_in_fp16_loses_what_scaling_saved():
    half, right = (take_step(one(2**-26), StepOrder(unscale=unscale), 4096) for unscale in ("stored", "fp32"))
    assert stage(half, "stored").values == stage(right, "stored").values == ((2**-14,),)
    assert stage(half, "unscaled").values == ((0.0,),)
    assert stage(right, "unscaled").values == ((2**-26,),)
    assert (half.ratio, right.ratio) == (0, 1)


@pytest.mark.parametrize(
    ("gradient", "scale", "in_fp16", "in_fp32"),
    [(1e-8, 1024, 0, 1.0011717677116394e-08), (3e-8, 4096, 2**-24, 3.000584e-08), (1e-6, 1024, 17 * 2**-24, None)],
)
def test_unscaling_in_fp16_loses_precision_too(gradient, scale, in_fp16, in_fp32):
    half, right = (take_step(one(gradient), StepOrder(unscale=unscale), scale) for unscale in ("stored", "fp32"))
    assert half.update == (in_fp16,)
    expected = float(np.float32(np.float16(gradient * scale)) / np.float32(scale))
    assert right.update == (expected,)
    assert in_fp32 is None or expected == pytest.approx(in_fp32, rel=1e-6)


def test_one_infinity_skips_the_step_for_every_weight():
    example = StepExample(((8.0, 2**-10),), weights=(1.0, 2.0))
    good, bad = take_step(example, scale=2.0**12), take_step(example, scale=2.0**13)
    assert (good.skipped, good.update, good.ratio) == (False, (8.0, 2**-10), 1)
    assert stage(good, "checked").found_inf is False
    assert stage(bad, "stored").values == ((math.inf, 8.0),)
    assert stage(bad, "checked").found_inf is True
    assert (bad.skipped, bad.update, bad.ratio, bad.ratios) == (True, (0, 0), 0, (0, 0))
    assert stage(bad, "updated").values == ((1, 2),)
    assert (bad.true_update, stage(good, "updated").values) == ((8, 2**-10), ((-7, 2 - 2**-10),))


@pytest.mark.parametrize(("gradient", "value"), [(65519.99, 65504), (65520, math.inf), (-65520, -math.inf)])
def test_where_fp16_overflows(gradient, value):
    report = take_step(one(gradient))
    assert stage(report, "stored").values == ((value,),)
    assert report.skipped == math.isinf(value)


@pytest.mark.parametrize("nonfinite", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("k", [-24, 0, 16])
def test_no_scale_helps_what_is_not_finite(nonfinite, k):
    report = take_step(StepExample(((nonfinite, 1.0),)), scale=2.0**k)
    assert (report.skipped, report.update, report.ratio) == (True, (0, 0), 0)
    assert same(report.true_update, [nonfinite, 1])


CLIP = StepExample(((0.25,) * 4,), clip_at=1.0)


def test_clipping_before_unscaling_is_a_step_that_is_silently_too_small():
    early, right = (take_step(CLIP, StepOrder(clip=clip), 1024.0) for clip in ("before_unscale", "after_unscale"))
    assert (early.ratio, early.ratios, early.skipped) == (1 / 512, (1 / 512,) * 4, False)
    assert (stage(early, "clipped").norm, stage(early, "clipped").factor) == (512, 1 / 512)
    assert (stage(right, "clipped").norm, stage(right, "clipped").factor) == (0.5, 1)
    assert (right.ratio, right.update) == (1, (0.25,) * 4)


def test_clipping_before_unscaling_in_another_example():
    example = StepExample(((3e-3, 4e-3),), clip_at=1.0)
    early, right = (take_step(example, StepOrder(clip=clip), 65536.0) for clip in ("before_unscale", "after_unscale"))
    assert math.hypot(*early.update) == pytest.approx(1.526e-5, rel=1e-3)
    assert math.hypot(*right.update) == pytest.approx(5e-3, rel=1e-3)


@pytest.mark.parametrize("k", [1, 5, 12])
def test_a_scale_that_moves_between_micro_batches(k):
    example = StepExample(((1.0,), (1.0,)), reduction="sum")
    moved = take_step(example, StepOrder(scale_update="micro_batch"), 2.0**k)
    assert stage(moved, "scaled").scales == (2**k, 2 ** (k - 1))
    assert stage(moved, "unscaled").scales == (2 ** (k - 1),)
    assert (moved.update, moved.true_update, moved.ratio) == ((3.0,), (2.0,), 1.5)
    fixed = take_step(example, scale=2.0**k)
    assert stage(fixed, "scaled").scales == (2**k, 2**k)
    assert (fixed.update, fixed.ratio) == ((2.0,), 1)


def test_every_later_micro_batch_has_half_the_scale():
    example = StepExample(((1.0,),) * 4, reduction="sum")
    moved = take_step(example, StepOrder(scale_update="micro_batch"), 8.0)
    assert stage(moved, "scaled").scales == (8, 4, 4, 4)
    assert moved.update == (5.0,)
    alone = take_step(one(1.0), StepOrder(scale_update="micro_batch"), 8.0)
    assert (stage(alone, "unscaled").scales, alone.update) == ((8,), (1,))


def test_a_gradient_of_1_overflows_at_the_scale_that_frameworks_start_with():
    assert take_step(one(1.0), scale=2.0**16).skipped
    assert not take_step(one(1.0), scale=2.0**15).skipped


def test_a_larger_scale_takes_no_larger_step():
    example = StepExample(((2**-12, 2**-3),), learning_rate=0.1)
    reports = [take_step(example, scale=2.0**k) for k in range(13)]
    (update,) = {report.update for report in reports}
    assert update == tuple(float(np.float32(0.1) * np.float32(gradient)) for gradient in (2**-12, 2**-3))
    assert reports[0].true_update == (0.1 * 2**-12, 0.1 * 2**-3)
    never = [take_step(example, StepOrder(unscale="never"), 2.0**k).update for k in range(13)]
    assert len(set(never)) == 13


@pytest.mark.parametrize("k", range(-4, 13))
def test_no_scale_repairs_a_mean_of_means(k):
    example = StepExample(((4.0,), (0.0,)), tokens=(1, 3))
    wrong = take_step(example, StepOrder(average="micro_batches"), 2.0**k)
    assert (wrong.update, wrong.true_update, wrong.ratio) == ((2.0,), (1.0,), 2)
    assert stage(wrong, "gradient").values == ((2.0,), (0.0,))
    right = take_step(example, scale=2.0**k)
    assert (right.update, right.ratio) == ((1.0,), 1)
    assert stage(right, "gradient").values == ((1.0,), (0.0,))


def test_where_the_average_makes_no_difference():
    rows = ((4.0,), (1.0,))
    for example, update in [
        (StepExample(rows, tokens=(3, 3)), 2.5),
        (StepExample(rows), 2.5),
        (StepExample(rows, tokens=(1, 3), reduction="sum"), 5.0),
    ]:
        assert take_step(example, StepOrder(average="micro_batches")).update == take_step(example).update == (update,)


@pytest.mark.parametrize("k", [0, 5, 24])
def test_no_scale_rescues_fp16_weights(k):
    example = swamped(1.0, 2**-12)
    kept = take_step(example, StepOrder(weights="stored"), 2.0**k)
    assert stage(kept, "unscaled").values == ((2**-12,),)
    assert (stage(kept, "updated").values, kept.update, kept.ratio) == (((1.0,),), (0.0,), 0)
    assert not kept.skipped
    masters = take_step(example, scale=2.0**k)
    assert (stage(masters, "updated").values, masters.update, masters.ratio) == (((1 - 2**-12,),), (2**-12,), 1)


@pytest.mark.parametrize(("update", "moves"), [(2**-12, 0.0), (2**-12 + 2**-20, 2**-11), (2**-11, 2**-11)])
def test_stored_weights_move_by_whole_steps_of_their_grid(update, moves):
    assert take_step(swamped(1.0, update), StepOrder(weights="stored"), 64.0, BF16).update == (0.0,)
    assert take_step(swamped(1.0, update), StepOrder(weights="stored"), 64.0).update == (moves,)


def test_weights_that_fp32_swallows_too():
    report = take_step(swamped(1.0, 2**-26), scale=4096.0)
    assert (report.update, report.ratio) == ((0.0,), 0)


def test_weights_are_first_rounded_to_their_type():
    still = StepExample(((0.0, 0.0),), weights=(0.1, 65520.0))
    assert stage(take_step(still), "updated").values == ((float(np.float32(0.1)), 65520.0),)
    kept = take_step(still, StepOrder(weights="stored"))
    assert stage(kept, "updated").values == ((float(np.float16(0.1)), math.inf),)
    assert same(kept.update, [0, math.nan])
    assert math.isnan(kept.ratio)


@pytest.mark.parametrize("weight", [1 + 2**-11 + 2**-30, 10**30])
def test_weights_are_rounded_once(weight):
    still = StepExample(((0.0,),), weights=(weight,))
    assert stage(take_step(still), "updated").values == ((float(np.float32(weight)),),)
    with np.errstate(over="ignore"):
        expected = float(np.float16(float(weight)))
    assert stage(take_step(still, StepOrder(weights="stored")), "updated").values == ((expected,),)


def test_a_weight_that_is_infinite_does_not_move_in_a_step_that_is_skipped():
    report = take_step(StepExample(((math.inf,),), weights=(65520.0,)), StepOrder(weights="stored"))
    assert (report.update, stage(report, "updated").values) == ((0.0,), ((math.inf,),))


def test_a_check_after_clipping_by_value_takes_an_overflow_for_a_gradient():
    example = one(8.0, clip="value", clip_at=100.0)
    wrong, right = (take_step(example, StepOrder(check=check), 2.0**13) for check in ("after_clip", "before_clip"))
    assert stage(wrong, "unscaled").values == stage(right, "unscaled").values == ((math.inf,),)
    assert stage(wrong, "clipped").values == ((100.0,),)
    assert (wrong.skipped, wrong.update, wrong.ratio) == (False, (100.0,), 12.5)
    assert (right.skipped, right.update, right.ratio) == (True, (0.0,), 0)
    assert "clipped" not in names(right)


def test_a_check_after_clipping_by_norm_still_finds_the_infinity():
    example = StepExample(((8.0, 1.0),), clip_at=100.0)
    report = take_step(example, StepOrder(check="after_clip"), 2.0**13)
    clipped = stage(report, "clipped")
    assert (clipped.norm, clipped.factor) == (math.inf, 0)
    assert same(clipped.values, [[math.nan, 0]])
    assert report.skipped


def test_an_infinity_beside_nan_has_no_norm():
    report = take_step(StepExample(((math.inf, math.nan, 1.0),), clip_at=1.0), StepOrder(check="after_clip"))
    assert same([stage(report, "clipped").norm, stage(report, "clipped").factor], [math.nan, math.nan])
    assert same(stage(report, "clipped").values, [[math.nan] * 3])


def test_clipping_by_value_keeps_nan_and_takes_the_nearest_float32():
    example = StepExample(((math.nan, -math.inf, 0.05, -0.2),), clip="value", clip_at=0.1)
    clipped = stage(take_step(example, StepOrder(check="after_clip"), 2.0**4), "clipped")
    limit = float(np.float32(0.1))
    assert same(clipped.values, [[math.nan, -limit, float(np.float16(0.8)) / 16, -limit]])
    assert (clipped.norm, clipped.factor) == (None, None)


def test_clipping_by_norm_multiplies_in_float32():
    clipped = stage(take_step(StepExample(((1.0, 2.0, 3.0),), clip_at=0.7)), "clipped")
    factor = float(np.float32(0.7 / math.sqrt(14)))
    assert clipped.norm == math.sqrt(14)
    assert clipped.factor == factor
    assert clipped.values == (tuple((np.array([1, 2, 3], np.float32) * np.float32(factor)).tolist()),)


@pytest.mark.parametrize("clip_at", [0.5, 2.0])
def test_zeros_are_not_clipped(clip_at):
    report = take_step(StepExample(((0.0, -0.0),), clip_at=clip_at))
    assert (stage(report, "clipped").norm, stage(report, "clipped").factor) == (0, 1)
    assert same(stage(report, "clipped").values, [[0.0, -0.0]])
    assert math.isnan(report.ratio)


def test_a_numpy_number_to_clip_at_is_not_what_the_norm_is_computed_in():
    example = StepExample(((0.3, 0.4, 0.5),), clip_at=np.float32(0.1))
    assert take_step(example) == take_step(replace(example, clip_at=float(np.float32(0.1))))


@pytest.mark.parametrize("k", [-3, 0, 10])
def test_without_unscaling_the_step_is_the_scale_too_large(k):
    report = take_step(StepExample(((0.5, -0.25),)), StepOrder(unscale="never"), 2.0**k)
    assert "unscaled" not in names(report)
    assert (report.ratio, report.ratios) == (2.0**k, (2.0**k,) * 2)


@pytest.mark.parametrize(
    ("gradients", "in_fp16", "in_fp32"),
    [
        ((2048, 1), 2048, 2049),
        ((40000, 40000), math.inf, 80000),
        ((40000, 40000, -40000), math.inf, 40000),
        ((10064,) * 8, math.inf, 80512),
        ((2048, 1, 1), 2048, 2050),
        ((1, 1, 2048), 2050, 2050),
    ],
)
def test_sums_in_fp16(gradients, in_fp16, in_fp32):
    example = StepExample(tuple((gradient,) for gradient in gradients), reduction="sum")
    narrow, wide = (take_step(example, StepOrder(accumulate=accumulate)) for accumulate in ("stored", "fp32"))
    assert stage(narrow, "accumulated").values == ((in_fp16,),)
    assert stage(wide, "accumulated").values == ((in_fp32,),)
    assert narrow.skipped == math.isinf(in_fp16)
    assert not wide.skipped


def test_sums_in_fp32_have_an_end_too():
    example = StepExample(((1.0,), (2**-24,), (2**-24,)), reduction="sum")
    assert stage(take_step(example, scale=16.0), "accumulated").values == ((16.0,),)
    big = StepExample(((2.0**127,), (2.0**127,)), reduction="sum")
    report = take_step(big, fmt=BF16)
    assert stage(report, "accumulated").values == ((math.inf,),)
    assert (report.skipped, report.true_update) == (True, (2.0**128,))


@pytest.mark.parametrize(
    ("fmt", "saved"),
    [(FP16, set(range(2, 13))), (BF16, set(range(16))), (E5M2, {10, 11, 12}), (E4M3, set())],
    ids=str,
)
def test_which_scales_take_the_right_step_in_each_format(fmt, saved):
    example = StepExample(((2**-26, 8.0),))
    assert {k for k in range(16) if take_step(example, scale=2.0**k, fmt=fmt).ratios == (1, 1)} == saved


def test_a_format_without_infinity_overflows_to_nan():
    assert same(stage(take_step(one(465.0), fmt=E4M3), "stored").values, [[math.nan]])
    assert take_step(one(465.0), fmt=E4M3).skipped
    clipped = take_step(one(465.0, clip="value", clip_at=1.0), StepOrder(check="after_clip"), fmt=E4M3)
    assert (clipped.skipped, clipped.update) == (True, (0.0,))


# The order of the stages.

START = ["gradient", "scaled", "stored", "accumulated"]
AFTER, BEFORE = {"clip": "after_unscale"}, {"clip": "before_unscale"}
LAST = {"check": "after_clip"}
NEVER = {"unscale": "never"}
SEQUENCES = [
    ({}, None, "unscaled checked"),
    (BEFORE | LAST, None, "unscaled checked"),
    (NEVER, None, "checked"),
    (AFTER, 1.0, "unscaled checked clipped"),
    (AFTER | LAST, 1.0, "unscaled clipped checked"),
    (BEFORE, 1.0, "checked clipped unscaled"),
    (BEFORE | LAST, 1.0, "clipped checked unscaled"),
    (BEFORE | NEVER, 1.0, "checked clipped"),
    (AFTER | LAST | NEVER, 1.0, "clipped checked"),
]


@pytest.mark.parametrize(("order", "clip_at", "sequence"), SEQUENCES)
def test_the_order_of_the_stages(order, clip_at, sequence):
    report = take_step(one(1.0, clip_at=clip_at), StepOrder(**order))
    assert names(report) == [*START, *sequence.split(), "updated"]


@pytest.mark.parametrize(("order", "clip_at", "sequence"), SEQUENCES)
def test_a_step_that_is_skipped_leaves_out_only_a_clip_to_come(order, clip_at, sequence):
    report = take_step(one(math.inf, clip_at=clip_at), StepOrder(**order))
    left = sequence.replace("checked clipped", "checked").split()
    assert (names(report), report.skipped) == ([*START, *left, "updated"], True)


def test_what_a_stage_has_no_use_for_it_does_not_have():
    report = take_step(replace(CLIP, clip_at=0.1), scale=2.0)
    for number in report.stages:
        assert bool(number.scales) == (number.name in ("scaled", "unscaled"))
        assert (number.norm is not None) == (number.factor is not None) == (number.name == "clipped")
        assert (number.found_inf is not None) == (number.name == "checked")


def test_the_names_of_the_stages():
    assert [str(name) for name in StageName] == [*START, "unscaled", "checked", "clipped", "updated"]


def test_what_is_misplaced():
    assert RIGHT.misplaced == ()
    assert StepOrder(weights="stored", scale="late").misplaced == ("scale", "weights")
    everything = StepOrder(**{name: choices[-1] for name, choices in CHOICES.items()})
    assert everything.misplaced == tuple(field.name for field in fields(StepOrder))


def test_the_right_order_is_the_one_by_default():
    example = StepExample(((0.1, 0.7), (3.0, 0.2)), tokens=(1, 2), clip_at=1.0)
    assert take_step(example) == take_step(example, RIGHT, 1.0, FP16)


# Ratios.


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


# Every order, beside numpy and ml_dtypes.

numbers = st.builds(
    lambda digits, exponent: digits * 2.0**exponent, st.integers(-(2**13) + 1, 2**13 - 1), st.integers(-24, 8)
)
some_numbers = st.one_of(numbers, numbers, numbers, st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan]))
#: Counts whose shares are powers of two, or few of them, so that float32 holds every product.
token_counts = st.sampled_from([(1,), (4,), (1, 3), (2, 2), (5, 3), (1, 1, 2, 4), (1, 2, 5, 8)])


@st.composite
def examples(draw, gradients=some_numbers):
    tokens, weights = draw(token_counts), draw(st.integers(1, 3))
    row = st.tuples(*[gradients] * weights)
    return StepExample(
        gradients=draw(st.tuples(*[row] * len(tokens))),
        weights=draw(st.one_of(st.just(()), st.tuples(*[st.floats(-100, 100)] * weights))),
        tokens=draw(st.sampled_from([(), tokens])),
        reduction=draw(st.sampled_from(["mean", "sum"])),
        learning_rate=draw(st.floats(1e-3, 10)),
        clip=draw(st.sampled_from(["norm", "value"])),
        clip_at=draw(st.one_of(st.none(), st.floats(1e-6, 1e4))),
    )


def clip_by_numpy(values, example):
    number = values.dtype.type
    if example.clip == "value":
        return np.minimum(np.maximum(values, number(-example.clip_at)), number(example.clip_at))
    norm = np.sqrt(np.sum(np.square(values.astype(np.float64))))
    return values * number(np.minimum(1, example.clip_at / norm))


def step_by_numpy(example, order, scale, dtype):
    """The stages as pairs, whether the step is skipped, the update and the true one."""

    def narrow(values):
        return values.astype(np.float32).astype(dtype).astype(np.float32)

    count = len(example.gradients)
    tokens = np.array(example.tokens or [1] * count, float)
    right = np.ones(count) if example.reduction == "sum" else tokens / tokens.sum()
    means = example.reduction == "mean" and order.average == "micro_batches"
    gradients = np.array(example.gradients, float)
    shared = gradients * (np.full(count, 1 / count) if means else right)[:, None]
    scales = np.full(count, scale)
    if order.scale_update == "micro_batch":
        scales[1:] = scale / 2

    stages = [("gradient", shared)]
    if order.scale == "late":
        stages += [("stored", narrow(shared))]
        stages += [("scaled", narrow(stages[-1][1] * scales[:, None]))]
    else:
        stages += [("scaled", shared * scales[:, None])]
        stages += [("stored", narrow(stages[-1][1]))]
    total = stages[-1][1][0]
    for row in stages[-1][1][1:]:
        total = total + row if order.accumulate == "fp32" else narrow(total + row)
    stages += [("accumulated", total[None])]

    skipped = False
    steps = ["unscaled", "checked", "clipped"] if order.check == "before_clip" else ["unscaled", "clipped", "checked"]
    if order.clip == "before_unscale" and example.clip_at is not None:
        steps = [*steps[1:], steps[0]]
    for step in steps:
        values = stages[-1][1]
        if step == "unscaled" and order.unscale != "never":
            quotient = values / np.float32(scales[-1])
            stages += [(step, narrow(quotient) if order.unscale == "stored" else quotient)]
        if step == "checked":
            skipped = not np.isfinite(values).all()
            stages += [(step, values)]
        if step == "clipped" and example.clip_at is not None and not skipped:
            stages += [(step, clip_by_numpy(values, example))]

    weights = np.array(example.weights or [0] * gradients.shape[1], float)
    before = weights.astype(dtype if order.weights == "stored" else np.float32).astype(np.float32)
    after = before - np.float32(example.learning_rate) * stages[-1][1][0]
    after = before if skipped else narrow(after) if order.weights == "stored" else after
    true = np.sum(gradients * right[:, None], axis=0)
    true = true if example.clip_at is None else clip_by_numpy(true, example)
    update = np.zeros(len(weights)) if skipped else before.astype(float) - after
    return [*stages, ("updated", after[None])], skipped, update, example.learning_rate * true


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


# What was given.


def test_rows_may_be_lists_and_numbers_numpy_s():
    plain = StepExample(((1.0, 0.0), (2.0, 3.0)), weights=(1.0, 2.0), tokens=(1, 2), learning_rate=0.5)
    given_otherwise = StepExample(
        [[1, 0], [np.float32(2), np.int64(3)]],
        weights=[np.float16(1), 2],
        tokens=[np.int64(1), np.uint8(2)],
        learning_rate=np.float32(0.5),
    )
    assert take_step(given_otherwise, scale=np.float32(8)) == take_step(plain, scale=8)


def test_numbers_that_no_format_holds():
    report = take_step(StepExample(((1e300, 5e-324),)), scale=1e300)
    assert stage(report, "scaled").values == ((math.inf, 5e-324 * 1e300),)
    assert stage(report, "stored").values == ((math.inf, 0.0),)
    tiny = take_step(StepExample(((1.0,), (1.0,)), reduction="sum"), StepOrder(scale_update="micro_batch"), 5e-324)
    assert stage(tiny, "scaled").scales == (5e-324, 0.0)
    assert tiny.update == (0.0,)


HUGE = 10**400
TABLE = ((1.0, 2.0), (3.0, 4.0))
BAD = {
    "gradients": [(), ((),), ((1.0,), ()), ((1.0,), (1.0, 2.0)), (1.0,), 1.0, None, "1", ("1",), {}, np.ones((1, 1))],
    "weights": [(1.0,), (1.0, 2.0, 3.0), 1.0, None, "12"],
    "tokens": [(1,), (1, 2, 3), 2, None, "12"],
    "reduction": ["average", "", None, 1, ["mean"], True, np.array(["mean", "sum"])],
    "learning_rate": [0, -1, math.inf, math.nan, "1", None, True, 1e-50, 1e39, HUGE, 1j],
    "clip": ["Norm", None, 2, ("norm",)],
    "clip_at": [0, -1.0, math.inf, math.nan, "1", True, 1e-50, 1e39, HUGE],
}
BAD_ELEMENTS = {
    "gradients": ["1", None, True, 1j, HUGE, (1.0,)],
    "weights": ["1", None, True, HUGE, math.inf, -math.inf, math.nan, 1e39],
    "tokens": [0, -1, 1.0, 1.5, "1", None, True, math.nan],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_what_no_step_can_be_taken_with_is_refused_by_name(name, value):
    with pytest.raises(InputError) as refused:
        StepExample(**{"gradients": TABLE, name: value})
    said = str(refused.value)
    assert said.startswith(f"{name} must be ")
    assert f": “{str(value)[:60]}" in said
    assert said.endswith("” is not.")
    assert len(said) < 200


def test_every_field_of_an_example_is_checked():
    assert set(BAD) == {field.name for field in fields(StepExample)}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in BAD_ELEMENTS.items() for value in values]
)
def test_a_number_among_others_is_refused_by_its_place(name, value):
    row = (1, value)
    with pytest.raises(InputError) as refused:
        StepExample(**{"gradients": TABLE, name: ((1.0, 2.0), row) if name == "gradients" else row})
    said = str(refused.value)
    place = "gradients[1][1]" if name == "gradients" else f"{name}[1]"
    assert said.startswith(f"{place} must be a")
    assert said.endswith(f": “{str(value)[:60]}{'…' if value == HUGE else ''}” is not.")


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("value", ["fp16", "", None, True, 1, ["loss", "fp32"]])
def test_a_place_that_does_not_exist_is_refused_by_name(name, value):
    with pytest.raises(InputError) as refused:
        StepOrder(**{name: value})
    *others, last = CHOICES[name]
    assert str(refused.value) == f"{name} must be {', '.join(others)} or {last}: “{value}” is not."


@pytest.mark.parametrize("scale", [0, -1.0, math.inf, math.nan, "8", None])
def test_a_scale_must_be_above_0(scale):
    with pytest.raises(InputError, match="A loss scale must be a finite number above 0"):
        take_step(one(1.0), scale=scale)
