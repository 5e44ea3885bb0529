"""One optimizer step as it is asked about: its numbers, and the order of what is done with them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
import math
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from lossscale_core.checks import check_choice, is_whole, number_in, refuse
from lossscale_core.errors import Sentence


@dataclass(frozen=True)
class StepExample:
    """A step that is to be taken: true gradients, weights, and the settings of the optimizer.

    Attributes:
        gradients: micro-batches x weights: how the loss of a micro-batch, a mean over its tokens, changes
            with each weight; exactly, before any scaling; finite or not.
        weights: the weights before the step, finite in float32; empty for zeros.
        tokens: how many tokens each micro-batch averages over, at least 1; empty for one token each.
            Read only with the reduction "mean".
        reduction: what the loss of the step is: "mean" over all tokens, or the "sum" of the losses of the
            micro-batches as they are.
        learning_rate: what the gradient is multiplied by; finite and above 0 in float32.
        clip: whether the Euclidean "norm" of the gradient is cut, or the "value" by each weight.
        clip_at: the largest norm or magnitude, in the unit of the gradients; finite and above 0 in float32;
            None for no clipping.

    Raises:
        InputError: a field holds what no step can be taken with.

    Example:
        >>> StepExample(((1, 2), (3,)))
        Traceback (most recent call last):
        lossscale_core.refusals.FieldError: gradients must be a table with rows of one length: “((1, 2), (3,))” is not.
    """

    gradients: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...] = ()
    tokens: tuple[int, ...] = ()
    reduction: Literal["mean", "sum"] = "mean"
    learning_rate: float = 1.0
    clip: Literal["norm", "value"] = "norm"
    clip_at: float | None = None

    def __post_init__(self) -> None:
        _check_choices(self)
        self._check_gradients()
        _check_length("weights", self.weights, len(self.gradients[0]), "{count} numbers, one for each gradient")
        _check_each(
            "weights",
            self.weights,
            "a finite number in float32",
            _is_finite,
        )
        _check_length("tokens", self.tokens, len(self.gradients), "{count} counts, one for each micro-batch")
        _check_each("tokens", self.tokens, "a whole number of at least 1", lambda count: is_whole(count) and count >= 1)
        if not 0 < number_in(self.learning_rate, "float32") < math.inf:
            refuse("learning_rate", "a finite number above 0 in float32", self.learning_rate)
        if self.clip_at is not None and not 0 < number_in(self.clip_at, "float32") < math.inf:
            refuse("clip_at", "a finite number above 0 in float32, or none", self.clip_at)

    def _check_gradients(self) -> None:
        rows: Any = self.gradients
        if not _is_row(rows) or not rows or not all(_is_row(row) and row for row in rows):
            refuse("gradients", "a table with at least one row and column", rows)
        if len({len(row) for row in rows}) > 1:
            refuse("gradients", "a table with rows of one length", rows)
        for place, row in enumerate(rows):
            _check_each(f"gradients[{place}]", row, "a number", _is_number)


@dataclass(frozen=True)
class StepOrder:
    """Where each operation of a step is put; as it stands, in the right place.

    Attributes:
        scale: what is multiplied by the loss scale: the "loss", before the backward pass, or, too "late",
            the gradients that are stored already.
        average: whether micro-batches weigh as many "tokens" as they have, or all "micro_batches" the same,
            a mean of means. They differ only under the reduction "mean" with unequal tokens.
        scale_update: whether the scale moves only between one "step" and the next, or is halved after the
            first "micro_batch", so that every later one has S/2, by which the sum is then unscaled.
        accumulate: what the sum over micro-batches is kept in: "fp32", or the format gradients are "stored" in.
        unscale: what the quotient by the scale is rounded to: "fp32", or the format gradients are "stored"
            in; or "never", if it is forgotten.
        check: whether inf and NaN are looked for "before_clip" or "after_clip".
        clip: whether the gradient is clipped "after_unscale" or "before_unscale".
        weights: whether the weights are master weights in "fp32", or "stored" like the gradients.

    Raises:
        InputError: a field has none of its values.

    Example:
        >>> StepOrder(unscale="never", check="before_clip").misplaced
        ('unscale',)
    """

    scale: Literal["loss", "late"] = "loss"
    average: Literal["tokens", "micro_batches"] = "tokens"
    scale_update: Literal["step", "micro_batch"] = "step"
    accumulate: Literal["fp32", "stored"] = "fp32"
    unscale: Literal["fp32", "stored", "never"] = "fp32"
    check: Literal["before_clip", "after_clip"] = "before_clip"
    clip: Literal["after_unscale", "before_unscale"] = "after_unscale"
    weights: Literal["fp32", "stored"] = "fp32"

    def __post_init__(self) -> None:
        _check_choices(self)

    @property
    def misplaced(self) -> tuple[str, ...]:
        """The names of the fields that differ from the right order."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name) != field.default)


def _check_choices(holder: StepExample | StepOrder) -> None:
    """Refuse what is none of the words that a field's type names."""
    for name, hint in get_type_hints(type(holder)).items():
        choices, value = get_args(hint), getattr(holder, name)
        if get_origin(hint) is Literal:
            check_choice(name, value, choices)


def _check_length(name: str, values: Any, length: int, what: str) -> None:
    """Refuse a row that is neither empty nor as long as it should be."""
    if not _is_row(values) or len(values) not in (0, length):
        refuse(name, Sentence(what, count=length), values)


def _check_each(name: str, values: Iterable[Any], rule: str, keeps: Callable[[Any], bool]) -> None:
    for place, value in enumerate(values):
        if not keeps(value):
            refuse(f"{name}[{place}]", rule, value)


def _is_row(values: Any) -> bool:
    return isinstance(values, tuple | list)


def _is_number(value: Any) -> bool:
    """Whether a value is a real number, inf and NaN among them, that float64 can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def _is_finite(value: Any) -> bool:
    return math.isfinite(number_in(value, "float32"))
