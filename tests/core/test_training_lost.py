"""What a step's loss scale loses, and the window of scales that lose little, against plain formulas in float64."""

from fractions import Fraction
import math

import ml_dtypes
import numpy as np
import pytest

from lossscale_core import BF16, E4M3, E5M2, FP16, Action, Training, TrainingPlan
from lossscale_core.training_plans import Injection

from .training_runs import followed, half, ran, static

PLANS = {
    "unscaled": {},
    "2**3": {"scaler": static(3)},
    "2**-2": {"scaler": static(-2)},
    "micro-batches": {"scaler": static(2), "batch": 32, "micro_batches": 4},
    "sum": {"reduction": "sum", "positions": 2**18},
    "SGD": {"optimizer": "sgd", "learning_rate": 0.1, "scaler": static(5)},
    "one hidden layer": {"hidden": (20,), "scaler": static(4)},
}


def shares_of(step):
    """The lost share for each layer's outputs, then for each layer's parameters, and of all together."""
    counts = []
    for layers in zip(
        *(zip(micro.stored.layers, micro.true.layers, strict=True) for micro in step.micro_batches), strict=True
    ):
        lost = sum(np.count_nonzero((stored == 0) & (true != 0)) for stored, true in layers)
        counts.append((lost, sum(np.count_nonzero(true) for _, true in layers)))
    lost, alive = np.transpose(counts)
    return lost / alive, lost.sum() / alive.sum()


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_the_lost_share_of_every_layer(plan):
    largest = 0.0
    for step in followed(Training(TrainingPlan(seed=2, steps=20, **plan))):
        shares, of_all = shares_of(step)
        assert step.record.lost == pytest.approx(shares, abs=0.003)
        assert step.record.lost_of_all == pytest.approx(of_all, abs=0.001)
        largest = max(largest, *shares)
    assert largest > 0.05


def test_without_scaling_most_gradients_of_the_first_layers_are_lost():
    first = ran(TrainingPlan(steps=1)).records[0]
    assert len(first.lost) == 8
    assert min(first.lost[:3]) > 0.2
    assert ran(TrainingPlan(steps=1, scaler=static(20))).records[0].lost_of_all < 1e-3


def test_what_a_lost_cause_would_have_caused_is_lost_with_it():
    step = next(followed(Training(TrainingPlan(scaler=static(-2)))))
    alone = [np.mean(half(true * step.record.scale)[true != 0] == 0) for true in step.micro_batches[0].true.layers]
    # By their own size half of the inner weights' gradients would be kept; what they come from is not.
    assert max(alone[4:7]) < 0.7
    assert step.record.lost[4:7] == (1, 1, 1)


def test_where_all_is_lost_no_weight_moves():
    step = next(followed(Training(TrainingPlan(scaler=static(-20)))))
    assert step.record.lost == (1,) * 8
    assert (step.record.lost_of_all, step.record.overflowed, step.record.norm) == (1, 0, 0)
    assert all(map(np.array_equal, step.before, step.after))


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_the_ends_of_the_window(plan):
    for step in followed(Training(TrainingPlan(seed=3, steps=6, **plan))):
        magnitudes, window = np.sort(np.abs(step.true)), step.record.window
        assert float(window.upper) * magnitudes[-1] == pytest.approx(65520, rel=1e-3)
        # One in a hundred may be lost: the next one just is not.
        assert float(window.lower) * magnitudes[magnitudes.size // 100] == pytest.approx(2.0**-25, rel=0.03)
        assert (window.lower_closed, window.upper_closed) == (False, False)


def test_the_upper_end_is_exact():
    step = next(followed(Training(TrainingPlan(seed=1, batch=1, hidden=()))))
    largest = Fraction(65520) / step.record.window.upper
    # One layer and one image: no gradient is larger than that by the right answer's logit, for no pixel is above 1.
    assert float(largest) == pytest.approx(np.abs(step.micro_batches[0].true.outputs[0]).max(), rel=1e-6)
    assert Fraction(float(np.float32(float(largest)))) == largest


@pytest.mark.parametrize("fmt", [BF16, E5M2, E4M3], ids=lambda fmt: fmt.label)
def test_the_window_is_that_of_the_plan_s_format(fmt):
    kind = {BF16: ml_dtypes.bfloat16, E5M2: ml_dtypes.float8_e5m2, E4M3: ml_dtypes.float8_e4m3fn}[fmt]
    info = ml_dtypes.finfo(kind)
    window = ran(TrainingPlan(steps=1, format=fmt)).records[0].window
    fp16 = ran(TrainingPlan(steps=1, format=FP16)).records[0].window
    # Weights of another format make for other gradients, so the ratio of the ends is only near theirs.
    assert float(window.upper / fp16.upper) == pytest.approx(float(info.max) / 65504, rel=0.2)
    assert float(window.lower / fp16.lower) == pytest.approx(float(info.smallest_subnormal) * 2.0**24, rel=0.3)


def tried(run, records, scale):
    """Let a run make one more step at a scale."""
    run.scaler_state = run.scaler_state._replace(scale=scale)
    return next(records)


@pytest.mark.parametrize("trained", [0, 40, pytest.param(250, marks=pytest.mark.slow)])
def test_a_scale_in_the_window_loses_little_and_one_outside_does_not(trained):
    run = Training(TrainingPlan(seed=4, steps=trained + 200, scaler=static(16)))
    records, seen = iter(run), set()
    window = [next(records) for _ in range(trained + 1)][-1].window
    low, high = math.log2(window.lower), math.log2(window.upper)
    beside = [offset / 4 for offset in range(-8, 9)]
    for log2_scale in [*(low + offset for offset in beside), (low + high) / 2, *(high + offset for offset in beside)]:
        record = tried(run, records, 2.0**log2_scale)
        # Every batch has a window of its own, and rounding again and again blurs its ends.
        to_low, to_high = math.log2(record.scale / record.window.lower), math.log2(record.scale / record.window.upper)
        if to_low < -0.1:
            assert record.lost_of_all > 0.01
            seen.add("below")
        if to_low > 0.1:
            assert record.lost_of_all < 0.01
        if to_low > 0.1 and to_high < -0.02:
            assert record.overflowed == 0
            assert record.action is Action.STEP
            seen.add("in")
        if to_high > 0.02:
            assert record.overflowed > 0
            assert record.action is Action.SKIP
            seen.add("above")
    assert seen == {"below", "in", "above"}


def test_the_share_that_overflows():
    step = next(followed(Training(TrainingPlan(positions=1, reduction="sum", scaler=static(16)))))
    every = np.concatenate([array.ravel() for array in step.micro_batches[0].stored.layers])
    share = np.mean(~np.isfinite(every))
    assert step.record.overflowed == pytest.approx(share, abs=1e-3)
    assert 0.001 < share < 0.9


def test_where_all_is_nan_there_is_no_window():
    plan = TrainingPlan(steps=1, batch=1, hidden=(), injection=Injection("nan", 1), scaler=static(0))
    record = ran(plan).records[0]
    assert record.window is None
    assert record.overflowed == 1
