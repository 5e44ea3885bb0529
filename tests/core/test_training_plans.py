"""What a training run may be told to do, and what is refused, by the name of the field."""

from dataclasses import fields
import math

import numpy as np
import pytest

from lossscale_core import BF16, E4M3, E5M2, FP16, FP32, FP64, InputError, ScalerPolicy, Training, TrainingPlan
from lossscale_core.training_plans import Injection

from .training_runs import strict

HUGE = 10**400
NO_COUNT = [True, False, None, "3", "", 1.0, 2.5, math.nan, math.inf, -math.inf, [1], 1j, np.float64(2)]
NO_NUMBER = [0, 0.0, -1, -1e-9, math.nan, math.inf, -math.inf, True, False, "0.1", "", [0.1], 1j, HUGE, 1e39, 1e-46]
NO_CHOICE = [None, "", 1, True, math.nan, ["mean"]]

BAD = {
    "autocast": [1, 0, None, "true", math.nan],
    "format": [None, "fp16", np.float16, 16, FP64],
    "scaler": [65536.0, "pytorch", True, ScalerPolicy],
    "steps": [0, -1, 2001, HUGE, *NO_COUNT],
    "seed": [-1, 2**32, HUGE, *NO_COUNT],
    "batch": [0, -1, 1025, HUGE, *NO_COUNT],
    "micro_batches": [0, -1, 17, HUGE, *NO_COUNT],
    "positions": [0, -1, 2**26 + 1, HUGE, *NO_COUNT],
    "reduction": ["max", "Mean", "sum ", *NO_CHOICE],
    "optimizer": ["adamw", "Adam", " sgd", *NO_CHOICE],
    "learning_rate": [None, *NO_NUMBER],
    "max_norm": NO_NUMBER,
    "injection": ["inf", ("nan", 3), True, Injection],
    "hidden": [48, [48], None, (0,), (48, -1), (1025,), (48.0,), (True,), ("48",), (math.nan,), "48"],
}

BAD_INJECTION = {
    "kind": [{"kind": kind} for kind in ("Inf", "nan ", "none", *NO_CHOICE, math.inf)],
    "step": [{"step": step} for step in (0, -1, *NO_COUNT)],
    "lasting": [{"lasting": lasting} for lasting in (1, 0, None, "true", math.nan)],
}


def check(refused, name, value):
    said = str(refused.value)
    assert said.startswith(f"{name} must be ")
    assert f": “{str(value)[:60]}" in said
    assert said.endswith("” is not.")
    assert len(said) < 200


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_what_no_run_can_work_with_is_refused_by_name(name, value):
    with pytest.raises(InputError) as refused:
        TrainingPlan(**{name: value})
    check(refused, name, value)


def test_every_field_is_checked():
    assert set(BAD) == {field.name for field in fields(TrainingPlan)}


@pytest.mark.parametrize(
    ("name", "changes"), [(name, changes) for name, every in BAD_INJECTION.items() for changes in every]
)
def test_damage_that_cannot_be_done_is_refused_by_name(name, changes):
    with pytest.raises(InputError) as refused:
        Injection(**{"kind": "inf", "step": 3, **changes})
    check(refused, name, *changes.values())


def test_every_field_of_damage_is_checked():
    assert set(BAD_INJECTION) == {field.name for field in fields(Injection)}


@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize(
    ("step", "steps"), [(301, 300), (10**9, 2000), (HUGE, 300), (2, 1), (np.uint8(9), np.uint8(8))]
)
def test_damage_after_the_last_step_is_refused(step, steps, lasting):
    with strict(), pytest.raises(InputError) as refused:
        TrainingPlan(steps=steps, injection=Injection("nan", step, lasting))
    quote = f"{str(step)[:60]}…" if step == HUGE else step
    assert str(refused.value) == f"step must be at most steps, “{steps}”: “{quote}” is not."
    assert TrainingPlan(steps=steps, injection=Injection("nan", steps, lasting)).injection.step == steps


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"steps": 2001}, "steps must be a whole number from 1 to 2000: “2001” is not."),
        ({"seed": -1}, "seed must be a whole number from 0 to 4294967295: “-1” is not."),
        ({"batch": 0}, "batch must be a whole number from 1 to 1024: “0” is not."),
        ({"micro_batches": 17}, "micro_batches must be a whole number from 1 to 16: “17” is not."),
        ({"positions": 0}, "positions must be a whole number from 1 to 67108864: “0” is not."),
        ({"learning_rate": math.nan}, "learning_rate must be a finite number above 0 in float32: “nan” is not."),
        ({"optimizer": "lion"}, "optimizer must be adam or sgd: “lion” is not."),
        ({"reduction": "none"}, "reduction must be mean or sum: “none” is not."),
    ],
)
def test_the_rule_is_told(changes, rule):
    with pytest.raises(InputError) as refused:
        TrainingPlan(**changes)
    assert str(refused.value) == rule


@pytest.mark.parametrize(
    "changes",
    [
        {"steps": 1},
        {"steps": 2000},
        {"seed": 0},
        {"seed": 2**32 - 1},
        {"batch": 1},
        {"batch": 1024},
        {"micro_batches": 1},
        {"micro_batches": 16},
        {"positions": 1},
        {"positions": 2**26},
        {"learning_rate": 2.0**-149},
        {"learning_rate": float(np.finfo(np.float32).max)},
        {"learning_rate": 1},
        {"learning_rate": 10**38},
        {"max_norm": None},
        {"max_norm": 2.0**-149},
        {"max_norm": float(np.finfo(np.float32).max)},
        {"max_norm": 10**38},
        {"hidden": ()},
        {"hidden": (1,)},
        {"hidden": (1024,)},
        {"hidden": (8,) * 6},
        *({"format": fmt} for fmt in (FP16, BF16, E5M2, E4M3, FP32)),
        {"injection": Injection("nan", 1, lasting=True)},
        {"injection": Injection("inf", 300)},
        {"injection": Injection("inf", np.int64(1)), "steps": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_extremes_are_accepted_and_run_without_a_warning(changes, optimizer, recwarn):
    plan = TrainingPlan(optimizer=optimizer, **{"batch": 2, **changes})
    with np.errstate(all="raise"):
        record = next(iter(Training(plan)))
    assert record.step == 1
    assert not recwarn.list


def test_the_smallest_and_the_largest_at_once():
    least = dict.fromkeys(("steps", "batch", "micro_batches", "positions"), 1)
    most = {"steps": 2000, "batch": 1024, "micro_batches": 16, "positions": 2**26}
    assert (TrainingPlan(**least).images, TrainingPlan(**least).divisor) == (1, 1)
    assert (TrainingPlan(**most).images, TrainingPlan(**most).divisor) == (2**14, 2**40)


def test_integers_of_numpy_do_not_run_over():
    byte = np.uint8(255)
    plan = TrainingPlan(steps=byte, batch=byte, micro_batches=np.uint8(2), positions=byte)
    assert (plan.images, plan.divisor) == (510, 510 * 255)
    assert len(list(Training(TrainingPlan(steps=byte, batch=1, hidden=(), autocast=False)))) == 255


def test_by_what_the_loss_is_divided():
    plan = {"batch": 32, "micro_batches": 4, "positions": 1000}
    assert TrainingPlan(**plan).divisor == 128_000
    assert TrainingPlan(**plan, reduction="sum").divisor == 1000


@pytest.mark.parametrize("fmt", [FP16, BF16])
def test_in_which_format_is_computed(fmt):
    assert TrainingPlan(format=fmt).compute_format == fmt
    assert TrainingPlan(format=fmt, autocast=False).compute_format == FP32


@pytest.mark.parametrize(("lasting", "hit"), [(False, [3]), (True, [3, 4, 5])])
def test_when_damage_is_done(lasting, hit):
    injection = Injection("nan", 3, lasting)
    assert [step for step in range(1, 6) if injection.hits(step)] == hit
