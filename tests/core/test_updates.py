"""One optimizer step: the scenarios, and in which order its stages follow each other."""

from dataclasses import fields, replace
import math
import warnings

import numpy as np
import pytest

from lossscale_core import (
    BF16,
    E4M3,
    E5M2,
    FP16,
    FP64,
    InputError,
    StageName,
    StepExample,
    StepOrder,
    take_step,
)

from .oracle import same
from .steps import (
    CHOICES,
    RIGHT,
    names,
    one,
    stage,
    swamped,
)


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


# What no step can be taken with.


@pytest.mark.parametrize(
    ("name", "rule", "value"),
    [
        *(
            ("example", "a StepExample", value)
            for value in (None, 1.0, ((1.0,),), "same", StepExample, np.array([1, 2]))
        ),
        *(("order", "a StepOrder", value) for value in (None, "late", {"scale": "late"}, StepOrder, np.array([1, 2]))),
        *(
            ("fmt", "a format no wider than FP32", value)
            for value in (None, "fp16", 16, np.float16, [FP16], np.array([1, 2]), FP64)
        ),
    ],
    ids=str,
)
def test_an_argument_that_is_none_is_refused_by_name(name, rule, value):
    with pytest.raises(InputError) as refused:
        take_step(**{"example": one(0.5), name: value})
    said = str(refused.value)
    assert said.startswith(f"{name} must be {rule}: “{str(value)[:60]}")
    assert said.endswith("” is not.")


@pytest.mark.parametrize("scale", [None, "8", 0, -1, math.nan, math.inf, [8], np.array([1, 2])], ids=str)
def test_a_scale_that_is_none_is_refused(scale):
    with pytest.raises(InputError) as refused:
        take_step(one(0.5), scale=scale)
    assert str(refused.value) == f"A loss scale must be a finite number above 0: “{scale}” is not."
