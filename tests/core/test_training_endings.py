"""Damage done on purpose, and how training ends by it or goes on: always without a warning."""

import math

import numpy as np
import pytest

from lossscale_core import BF16, E4M3, E5M2, FP16, Action, Ending, ScalerPolicy, Training, TrainingPlan
from lossscale_core.training_plans import Injection

from .training_runs import followed, identical, ran, static, strict

FORMATS = [FP16, BF16, E5M2, E4M3]
LABELS = [fmt.label for fmt in FORMATS]


def skipped(run):
    return [record.step for record in run.records if record.action is Action.SKIP]


@pytest.mark.parametrize("fmt", FORMATS, ids=LABELS)
def test_an_overflow_skips_just_its_step(fmt):
    plan = TrainingPlan(steps=12, format=fmt, scaler=static(20), injection=Injection("inf", 5))
    run = ran(plan)
    assert skipped(run) == [5]
    assert len(run.records) == 12
    assert not math.isfinite(run.records[4].norm)
    assert [record.step for record in run.records if record.overflowed] == [5]
    assert all(math.isfinite(record.loss) for record in run.records)
    for step in followed(Training(plan)):
        same = [np.array_equal(one, two) for one, two in zip(step.before, step.after, strict=True)]
        assert all(same) is (step.record.step == 5)


def test_a_lasting_overflow_skips_every_step_from_there():
    run = ran(TrainingPlan(steps=12, scaler=static(10), injection=Injection("inf", 5, lasting=True)))
    assert skipped(run) == list(range(5, 13))


def test_one_of_several_micro_batches_is_enough():
    run = ran(TrainingPlan(steps=6, batch=16, micro_batches=3, scaler=static(10), injection=Injection("inf", 4)))
    assert skipped(run) == [4]


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize("max_norm", [None, 1.0])
@pytest.mark.parametrize("fmt", FORMATS, ids=LABELS)
def test_an_overflow_without_a_scaler_ends_training(fmt, max_norm, optimizer):
    plan = {"steps": 12, "format": fmt, "optimizer": optimizer, "max_norm": max_norm}
    run = ran(TrainingPlan(**plan, injection=Injection("inf", 5)))
    assert [record.step for record in run.records] == [1, 2, 3, 4, 5]
    assert [record.ending for record in run.records] == [None] * 4 + [Ending.WEIGHTS]
    assert run.records[-1].action is Action.STEP
    assert "inf or NaN gradient" in run.records[-1].ending
    assert 0 <= run.accuracy <= 1


@pytest.mark.parametrize("scaler", [None, static(16)], ids=["unscaled", "scaled"])
def test_fp32_has_no_narrow_gradient_that_could_overflow(scaler):
    plan = {"steps": 12, "autocast": False, "scaler": scaler}
    assert identical(ran(TrainingPlan(**plan, injection=Injection("inf", 5))), ran(TrainingPlan(**plan)))


@pytest.mark.parametrize("autocast", [True, False])
def test_one_nan_among_the_pixels_is_skipped_once(autocast):
    plan = {"steps": 12, "autocast": autocast, "scaler": ScalerPolicy()}
    run = ran(TrainingPlan(**plan, injection=Injection("nan", 5)))
    assert skipped(run) == [5]
    assert [record.scale for record in run.records] == [65536.0] * 5 + [32768.0] * 7
    assert [math.isnan(record.loss) for record in run.records] == [step == 5 for step in range(1, 13)]
    assert all(record.ending is None for record in run.records)
    assert all(np.isfinite(parameter).all() for parameter in run.parameters)


@pytest.mark.parametrize("autocast", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_with_lasting_nan_no_step_is_ever_taken_and_the_scale_sinks_by_halves(autocast, dtype):
    policy = ScalerPolicy(dtype=dtype)
    plan = TrainingPlan(
        steps=200, batch=4, autocast=autocast, scaler=policy, injection=Injection("nan", 3, lasting=True)
    )
    run = ran(plan)
    assert skipped(run) == list(range(3, 201))
    assert all(record.ending is None for record in run.records)
    scales = [record.scale for record in run.records]
    smallest = -149 if dtype == "float32" else -1074
    # Half of the smallest number there is rounds to 0, and there the scale stays.
    expected = [2.0 ** (16 - halved) if 16 - halved >= smallest else 0.0 for halved in range(198)]
    assert scales == [65536.0, 65536.0, *expected]
    assert (scales[-1] == 0) is (dtype == "float32")
    before = ran(TrainingPlan(steps=2, batch=4, autocast=autocast, scaler=policy))
    assert all(map(np.array_equal, run.parameters, before.parameters))


@pytest.mark.parametrize("plan", [{}, {"autocast": False}, {"optimizer": "sgd"}, {"max_norm": 1.0}], ids=str)
def test_a_nan_without_a_scaler_ends_training(plan):
    run = ran(TrainingPlan(steps=12, **plan, injection=Injection("nan", 5)))
    assert (len(run.records), run.records[-1].ending) == (5, Ending.WEIGHTS)


@pytest.mark.parametrize(
    ("policy", "last", "scales"),
    [
        ({"min_scale": 2.0**14, "at_min": "raise_if_at_min"}, 6, [2.0**16, 2.0**15, 2.0**14]),
        ({"stop_scale": 2.0**13, "at_min": "raise_if_would_reach"}, 6, [2.0**16, 2.0**15, 2.0**14]),
        ({"min_scale": 2.0**16, "at_min": "raise_if_at_min"}, 4, [2.0**16]),
    ],
)
def test_a_scaler_that_gives_up_ends_training(policy, last, scales):
    plan = TrainingPlan(steps=12, scaler=ScalerPolicy(**policy), injection=Injection("nan", 4, lasting=True))
    run = ran(plan)
    assert (len(run.records), run.records[-1].action) == (last, Action.RAISE)
    assert [record.scale for record in run.records[3:]] == scales
    assert run.records[-1].ending is Ending.SCALER
    assert all(np.isfinite(parameter).all() for parameter in run.parameters)
    *_, step = followed(Training(plan))
    assert all(map(np.array_equal, step.before, step.after))


@pytest.mark.parametrize("autocast", [True, False])
@pytest.mark.parametrize(
    ("optimizer", "rate", "positions", "endings"),
    [
        # What SGD multiplies with is beyond FP32 here.
        ("sgd", 1e37, 2**15, {Ending.DIVERGED}),
        ("adam", 3e38, 1, {Ending.DIVERGED}),
        # The weights are finite for once; then the loss overflows, and with it perhaps the gradient.
        ("sgd", 1e37, 1, {Ending.LOSS, Ending.WEIGHTS}),
    ],
)
def test_a_run_whose_steps_are_too_large_ends(optimizer, rate, positions, endings, autocast):
    plan = {"optimizer": optimizer, "learning_rate": rate, "positions": positions, "steps": 50}
    run = ran(TrainingPlan(**plan, autocast=autocast))
    assert len(run.records) < 10
    assert [record.step for record in run.records] == list(range(1, len(run.records) + 1))
    assert [record.ending is None for record in run.records] == [True] * (len(run.records) - 1) + [False]
    assert run.records[-1].ending in endings
    assert 0 <= run.accuracy <= 1


def test_a_loss_that_is_not_finite_is_told_even_where_a_scaler_skips():
    plan = {"optimizer": "sgd", "learning_rate": 1e37, "positions": 1, "steps": 50, "scaler": ScalerPolicy()}
    *_, before, last = ran(TrainingPlan(**plan)).records
    assert last.ending is Ending.LOSS
    assert math.isfinite(before.loss)
    assert not math.isfinite(last.loss)
    assert last.action is Action.SKIP


@pytest.mark.parametrize(
    ("plan", "last"),
    [
        ({"injection": Injection("inf", 5)}, 5),
        ({"learning_rate": 1e38, "positions": 1, "autocast": False}, 1),
        ({"scaler": ScalerPolicy(min_scale=2.0**16, at_min="raise_if_at_min"), "injection": Injection("nan", 4)}, 4),
        ({}, 12),
    ],
    ids=["weights", "diverged", "scaler", "the last step"],
)
def test_a_run_that_is_over_makes_no_further_step(plan, last):
    run = Training(TrainingPlan(steps=12, **plan))
    with strict():
        records = list(run)
    assert [record.step for record in records] == list(range(1, last + 1))
    assert (records[-1].ending is None) == (last == 12)
    kept, state = [parameter.copy() for parameter in run.parameters], run.scaler_state
    for _ in range(2):
        assert list(run) == []
        assert next(iter(run), None) is None
    assert all(np.array_equal(one, other, equal_nan=True) for one, other in zip(run.parameters, kept, strict=True))
    assert run.scaler_state == state


def test_endings_are_sentences():
    assert len(set(Ending)) == 4
    for ending in Ending:
        assert ending[0].isupper()
        assert ending.endswith(".")
        assert ending.count(".") == 1


@pytest.mark.parametrize(
    "scaler",
    [
        ScalerPolicy(growth_factor=1e30, growth_interval=1, grow_to_inf="allow"),
        ScalerPolicy(growth_factor=1e200, growth_interval=1, grow_to_inf="allow", dtype="float64"),
        ScalerPolicy(init_scale=1e-45),
        ScalerPolicy(init_scale=1e-300, dtype="float64"),
        ScalerPolicy(init_scale=3e38),
    ],
    ids=["to inf", "to inf in float64", "tiny", "below FP32", "huge"],
)
@pytest.mark.parametrize("autocast", [True, False])
def test_scales_at_the_ends_of_their_type_do_not_disturb(scaler, autocast):
    run = ran(TrainingPlan(steps=30, batch=4, autocast=autocast, scaler=scaler))
    assert len(run.records) == 30
    assert all(record.ending is None for record in run.records)
    assert all(np.isfinite(parameter).all() for parameter in run.parameters)
