"""Mixed-precision training, step by step, with what the loss scale does to every gradient."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lossscale_core.arrays import Floats
from lossscale_core.checks import refuse
from lossscale_core.digits import digits
from lossscale_core.formats import FP32
from lossscale_core.index import MagnitudeIndex
from lossscale_core.network import Backward, Layer, backward, cross_entropy, forward, initial_layers
from lossscale_core.optimizers import Adam, Momentum
from lossscale_core.scalers import Action
from lossscale_core.training_plans import TrainingPlan
from lossscale_core.windows import Window

#: The last images are kept back, to test the trained network with.
_HELD_OUT = 297

#: The share of a step's gradients that may be lost in its window. Without any loss there is hardly ever one: a few
#: gradients of a real network are as small as one likes.
WINDOW_LOSING = Fraction(1, 100)


class Ending(StrEnum):
    """Why training cannot go on, as a sentence."""

    WEIGHTS = "The weights are no longer finite: an inf or NaN gradient was applied."
    DIVERGED = "The weights are no longer finite: the gradient was, but the step was too large."
    LOSS = "The loss itself is not finite, before any scaling: no loss scale helps."
    SCALER = "The scaler ends training: the scale may go no lower."


@dataclass(frozen=True)
class StepRecord:
    """What happened in one step.

    Attributes:
        step: its number, from 1.
        loss: the mean cross-entropy of its labelled places, unscaled; NaN or inf where it is.
        scale: the loss scale S it was made with.
        action: what was done with its gradients.
        lost: the share of gradients that should not be 0 and are stored as 0, for the outputs of each
            layer and then for the parameters of each; a gradient whose cause was lost already counts as lost.
        lost_of_all: the same share of all of them together.
        overflowed: the share of all gradients that are stored as inf or NaN.
        window: the scales at which none of the step's true gradients overflows and at most `WINDOW_LOSING` of
            those that are not 0 are lost; None in FP32, and where one is inf or NaN, which no scale helps.
        norm: the Euclidean norm of the unscaled gradient of the parameters, before clipping.
        clipped: whether clipping made it shorter.
        ending: why training ended with this step; None where it goes on.
    """

    step: int
    loss: float
    scale: float
    action: Action
    lost: tuple[float, ...]
    lost_of_all: float
    overflowed: float
    window: Window | None
    norm: float
    clipped: bool
    ending: Ending | None = None


class _Pass(NamedTuple):
    """The gradients of one micro-batch: as stored, and as they are in FP32 without a scale."""

    loss: float
    stored: Backward
    true: Backward


class Training:
    """One run of a plan, made step by step.

    However often it is iterated over, it stays one run: the steps go on where they were left, and there are none
    once it is over.

    Example:
        >>> run = Training(TrainingPlan(steps=3))
        >>> next(iter(run)).step, [record.step for record in run], list(run)
        (1, [2, 3], [])
    """

    def __init__(self, plan: TrainingPlan) -> None:
        """Prepare a run.

        Args:
            plan: what to do.

        Raises:
            InputError: it is no plan.
        """
        if not isinstance(plan, TrainingPlan):
            refuse("plan", "a TrainingPlan", plan)
        self.plan = plan
        #: Weights and biases in turn, FP32.
        self.parameters: list[Floats] = []
        #: What the scaler remembers; None without one.
        self.scaler_state = plan.scaler.start() if plan.scaler else None
        rng = np.random.default_rng(plan.seed)
        images, labels = digits()
        sizes = (images.shape[1], *plan.hidden, 10)
        for layer in initial_layers(sizes, rng):
            self.parameters += layer
        self._images, self._labels = images[:-_HELD_OUT], labels[:-_HELD_OUT]
        self._order = rng
        self._steps_made, self._over = 0, False
        self._optimizer = (
            Adam(self.parameters, plan.learning_rate)
            if plan.optimizer == "adam"
            else Momentum(self.parameters, float(plan.learning_rate) * plan.divisor / plan.images)
        )

    def __iter__(self) -> Iterator[StepRecord]:
        """Make the steps that are still to be made.

        Yields:
            A record of each, up to the plan's last or to where training ends earlier.
        """
        while not self._over:
            # Inf and NaN are what is looked at here.
            with np.errstate(all="ignore"):
                record = self._step(self._steps_made + 1)
            self._steps_made = record.step
            self._over = record.step == self.plan.steps or record.ending is not None
            yield record

    def accuracy(self) -> float:
        """The share of the held-out images that the network tells right, in FP32.

        Returns:
            From 0 to 1.
        """
        images, labels = digits()
        with np.errstate(all="ignore"):
            logits = forward(self._layers(), images[-_HELD_OUT:], FP32).logits
        return float((logits.argmax(axis=1) == labels[-_HELD_OUT:]).mean())

    def _layers(self) -> list[Layer]:
        return [Layer(*pair) for pair in zip(self.parameters[::2], self.parameters[1::2], strict=True)]

    def _step(self, step: int) -> StepRecord:
        plan = self.plan
        scale = self.scaler_state.scale if self.scaler_state else 1.0
        passes = [self._pass(step, scale) for _ in range(plan.micro_batches)]
        gradients = _unscaled(_accumulated(passes), scale)
        norm = math.sqrt(sum(float(np.vdot(each, each)) for each in (g.astype(np.float64) for g in gradients)))
        shrink = min(1.0, plan.max_norm / norm) if plan.max_norm and norm else 1.0
        action, ending = self._decide(not math.isfinite(norm))
        if action is Action.STEP:
            if shrink < 1:
                gradients = [gradient * np.float32(shrink) for gradient in gradients]
            self._optimizer.step(self.parameters, gradients)
        loss = sum(each.loss for each in passes) / len(passes)
        shares, of_all = _lost(passes)
        return StepRecord(
            step=step,
            loss=loss,
            scale=scale,
            action=action,
            lost=shares,
            lost_of_all=of_all,
            overflowed=_overflowed(passes),
            window=_window(passes, plan) if plan.autocast else None,
            norm=norm,
            clipped=action is Action.STEP and shrink < 1,
            ending=ending or self._ending(step, loss, norm),
        )

    def _pass(self, step: int, scale: float) -> _Pass:
        plan, fmt = self.plan, self.plan.compute_format
        images, labels = self._batch(step)
        passed = forward(self._layers(), images, fmt)
        loss, logit_gradient = cross_entropy(passed.logits, labels)
        share = np.float32(1 / plan.divisor)
        gradients = backward(passed, logit_gradient * (np.float32(scale) * share), fmt)
        true = gradients
        if plan.autocast:
            true = backward(passed, logit_gradient * share, FP32)
            if self._damages(step, "inf"):
                gradients.parameters[0].weight[0, 0] = np.inf if fmt.has_inf else np.nan
        return _Pass(loss, gradients, true)

    def _batch(self, step: int) -> tuple[Floats, NDArray[np.int64]]:
        chosen = self._order.integers(0, len(self._images), self.plan.batch)
        images, labels = self._images[chosen], self._labels[chosen]
        if self._damages(step, "nan"):
            images[0, 0] = np.nan
        return images, labels

    def _damages(self, step: int, kind: str) -> bool:
        injection = self.plan.injection
        return injection is not None and injection.kind == kind and injection.hits(step)

    def _decide(self, found_inf: bool) -> tuple[Action, Ending | None]:
        """Let the scaler decide, where there is one; without one nothing is checked."""
        if self.plan.scaler is None or self.scaler_state is None:
            return Action.STEP, None
        self.scaler_state, action = self.plan.scaler.step(self.scaler_state, found_inf)
        return action, Ending.SCALER if action is Action.RAISE else None

    def _ending(self, step: int, loss: float, norm: float) -> Ending | None:
        """Why training cannot go on after a step."""
        if not all(np.isfinite(parameter).all() for parameter in self.parameters):
            return Ending.DIVERGED if math.isfinite(norm) else Ending.WEIGHTS
        if not math.isfinite(loss) and not self._damages(step, "nan"):
            return Ending.LOSS
        return None


def _accumulated(passes: Sequence[_Pass]) -> list[Floats]:
    """The stored gradients of all micro-batches, added in FP32."""
    total, *others = ([array for layer in each.stored.parameters for array in layer] for each in passes)
    for arrays in others:
        total = [one + other for one, other in zip(total, arrays, strict=True)]
    return total


def _unscaled(gradients: Sequence[Floats], scale: float) -> list[Floats]:
    return [gradient / np.float32(scale) for gradient in gradients]


def _tensors(gradients: Backward) -> list[Floats]:
    """The gradients that `StepRecord.lost` lists."""
    return [*gradients.outputs, *(np.append(layer.weight, layer.bias) for layer in gradients.parameters)]


def _lost(passes: Sequence[_Pass]) -> tuple[tuple[float, ...], float]:
    counts = np.zeros((2, 2 * len(passes[0].stored.outputs)), np.int64)
    for each in passes:
        for place, (kept, true) in enumerate(zip(_tensors(each.stored), _tensors(each.true), strict=True)):
            alive = true != 0
            counts[:, place] += np.count_nonzero(alive & (kept == 0)), np.count_nonzero(alive)
    lost, alive_of_all = counts.sum(axis=1).tolist()
    return tuple((counts[0] / np.maximum(counts[1], 1)).tolist()), lost / max(alive_of_all, 1)


def _overflowed(passes: Sequence[_Pass]) -> float:
    arrays = [array for each in passes for array in _tensors(each.stored)]
    finite = sum(np.count_nonzero(np.isfinite(array)) for array in arrays)
    return 1 - int(finite) / sum(array.size for array in arrays)


def _window(passes: Sequence[_Pass], plan: TrainingPlan) -> Window | None:
    true = np.concatenate([array.ravel() for each in passes for array in _tensors(each.true)])
    index = MagnitudeIndex(true)
    return None if index.nonfinite else index.safe_window(plan.format, losing=WINDOW_LOSING).survive
