"""Steps to be taken, what is read of a report, and the step taken by numpy and ml_dtypes alone."""

import math
from typing import get_args, get_type_hints

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
    StepExample,
    StepOrder,
)

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
    scales = np.full(count, scale)
    if order.scale_update == "micro_batch":
        scales[1:] = scale / 2
    stages = backward_by_numpy(
        gradients * (np.full(count, 1 / count) if means else right)[:, None], order, scales, narrow
    )
    skipped = unscale_by_numpy(stages, example, order, scales[-1], narrow)
    weights = np.array(example.weights or [0] * gradients.shape[1], float)
    before = weights.astype(dtype if order.weights == "stored" else np.float32).astype(np.float32)
    after = before - np.float32(example.learning_rate) * stages[-1][1][0]
    after = before if skipped else narrow(after) if order.weights == "stored" else after
    true = np.sum(gradients * right[:, None], axis=0)
    true = true if example.clip_at is None else clip_by_numpy(true, example)
    update = np.zeros(len(weights)) if skipped else before.astype(float) - after
    return [*stages, ("updated", after[None])], skipped, update, example.learning_rate * true


def backward_by_numpy(shared, order, scales, narrow):
    """The stages up to the sum over micro-batches."""
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
    return [*stages, ("accumulated", total[None])]


def unscale_by_numpy(stages, example, order, scale, narrow):
    """Add the stages between that sum and the step; whether it is skipped."""
    skipped = False
    steps = ["unscaled", "checked", "clipped"] if order.check == "before_clip" else ["unscaled", "clipped", "checked"]
    if order.clip == "before_unscale" and example.clip_at is not None:
        steps = [*steps[1:], steps[0]]
    for step in steps:
        values = stages[-1][1]
        if step == "unscaled" and order.unscale != "never":
            quotient = values / np.float32(scale)
            stages += [(step, narrow(quotient) if order.unscale == "stored" else quotient)]
        if step == "checked":
            skipped = not np.isfinite(values).all()
            stages += [(step, values)]
        if step == "clipped" and example.clip_at is not None and not skipped:
            stages += [(step, clip_by_numpy(values, example))]
    return skipped
