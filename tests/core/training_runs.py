"""Training runs that several files of tests look at, and what their steps must come to, by plain formulas.

The formulas are numpy's in float64, rounded to FP16 by numpy where the trainer stores something.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple
import warnings

import numpy as np

from lossscale_core import ScalerPolicy, StepRecord, Training, TrainingPlan, digits

#: So many of the images are trained with; the others test.
TRAINED_WITH = 1500

Keep = Callable[[np.ndarray], np.ndarray]


def static(log2_scale: float) -> ScalerPolicy:
    """A scaler that stays at a power of two."""
    return ScalerPolicy(init_scale=2.0**log2_scale, dynamic=False)


@contextmanager
def strict() -> Iterator[None]:
    """Let every warning, and every inf or NaN that numpy meets unasked, be an error."""
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


class Run(NamedTuple):
    records: tuple[StepRecord, ...]
    parameters: tuple[np.ndarray, ...]
    accuracy: float

    @property
    def losses(self) -> list[float]:
        return [record.loss for record in self.records]

    @property
    def final_loss(self) -> float:
        return float(np.mean(self.losses[-30:]))


@cache
def ran(plan: TrainingPlan) -> Run:
    """A whole run, made once for all tests that look at it."""
    with strict():
        run = Training(plan)
        return Run(tuple(run), tuple(run.parameters), run.accuracy())


def identical(some: Run, other: Run) -> bool:
    """Whether two runs have the same losses and end with the same weights, bit for bit."""
    weights = zip(some.parameters, other.parameters, strict=True)
    return some.losses == other.losses and all(np.array_equal(one, two) for one, two in weights)


def half(values: np.ndarray) -> np.ndarray:
    """Rounded to FP16, by numpy."""
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(np.float16).astype(np.float64)


def whole(values: np.ndarray) -> np.ndarray:
    return np.asarray(values, np.float64)


class Gradients(NamedTuple):
    """By what came out of each layer, and by each layer's weight and bias in turn."""

    outputs: list[np.ndarray]
    parameters: list[np.ndarray]

    @property
    def layers(self) -> list[np.ndarray]:
        """What `StepRecord.lost` has a share for: the outputs of each layer, then its parameters."""
        pairs = zip(self.parameters[::2], self.parameters[1::2], strict=True)
        return [*self.outputs, *(np.append(*pair) for pair in pairs)]


class MicroBatch(NamedTuple):
    """What comes of some images: their mean loss, and the gradients as stored and as they truly are, unscaled."""

    loss: float
    stored: Gradients
    true: Gradients


class Step(NamedTuple):
    record: StepRecord
    before: list[np.ndarray]
    after: list[np.ndarray]
    micro_batches: list[MicroBatch]

    @property
    def gradients(self) -> list[np.ndarray]:
        """The true gradients of the parameters, of all images."""
        return [np.sum(parts, axis=0) for parts in zip(*(m.true.parameters for m in self.micro_batches), strict=True)]

    @property
    def true(self) -> np.ndarray:
        """All true gradients that should not be 0, of outputs and of parameters."""
        every = np.concatenate([a.ravel() for micro in self.micro_batches for a in micro.true.layers])
        return every[every != 0]


def followed(run: Training) -> Iterator[Step]:
    """Let a run make its steps, and reckon each on its own from the weights before it and the seed's images."""
    plan = run.plan
    images, labels = digits()
    chance = np.random.default_rng(plan.seed)
    for weight in run.parameters[::2]:
        chance.standard_normal(weight.shape)
    before = [each.copy() for each in run.parameters]
    for record in run:
        micro_batches = []
        for _ in range(plan.micro_batches):
            chosen = chance.integers(0, TRAINED_WITH, plan.batch)
            micro_batches.append(_micro_batch(before, images[chosen], labels[chosen], record.scale, plan))
        after = [each.copy() for each in run.parameters]
        yield Step(record, before, after, micro_batches)
        before = after


def logits(parameters: list[np.ndarray], images: np.ndarray, keep: Keep = whole) -> tuple[np.ndarray, list[np.ndarray]]:
    """What the network says, and what went into each layer."""
    values, inputs = keep(images), []
    last = len(parameters) // 2 - 1
    for place in range(last + 1):
        inputs.append(values)
        values = keep(values @ keep(parameters[2 * place]) + keep(parameters[2 * place + 1]))
        if place < last:
            values = keep(np.tanh(values))
    return values, inputs


def loss_of(said: np.ndarray, labels: np.ndarray) -> float:
    """The mean cross-entropy, from its definition."""
    return float(np.mean(np.logaddexp.reduce(said, axis=1) - said[np.arange(len(labels)), labels]))


def _micro_batch(
    parameters: list[np.ndarray], images: np.ndarray, labels: np.ndarray, scale: float, plan: TrainingPlan
) -> MicroBatch:
    keep = half if plan.autocast else whole
    said, inputs = logits(parameters, images, keep)
    weights = [keep(weight) for weight in parameters[::2]]
    images_of_the_step = plan.batch * plan.micro_batches if plan.reduction == "mean" else 1
    by_logits = np.exp(said - np.logaddexp.reduce(said, axis=1, keepdims=True))
    by_logits = (by_logits - np.eye(10)[labels]) / (plan.positions * images_of_the_step)
    stored = _gradients(by_logits * scale, weights, inputs, keep)
    return MicroBatch(loss_of(said, labels), stored, _gradients(by_logits, weights, inputs, whole))


def _gradients(by_logits: np.ndarray, weights: list[np.ndarray], inputs: list[np.ndarray], keep: Keep) -> Gradients:
    outputs, parameters = [keep(by_logits)], []
    with np.errstate(invalid="ignore"):
        for place in reversed(range(len(weights))):
            gradient, values = outputs[0], inputs[place]
            parameters[:0] = [keep(values.T @ gradient), keep(gradient.sum(axis=0))]
            if place:
                outputs.insert(0, keep(keep(gradient @ weights[place].T) * (1 - values * values)))
    return Gradients(outputs, parameters)
