"""One optimizer step as it is told about: the numbers at each stage, and what came of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
import math

#: The numbers of one stage for each weight, and those for each micro-batch and weight.
Row = tuple[float, ...]
Table = tuple[Row, ...]


class StageName(StrEnum):
    """What was done last to the numbers of a stage."""

    #: The gradients of the micro-batches, each with its share in the loss of the step.
    GRADIENT = "gradient"
    #: Multiplied by the scale; rounded to the storage format if that was done after the store.
    SCALED = "scaled"
    #: Rounded to the storage format.
    STORED = "stored"
    #: Summed over the micro-batches, rounded after each addition.
    ACCUMULATED = "accumulated"
    #: Divided by the scale, and rounded.
    UNSCALED = "unscaled"
    #: Looked through for inf and NaN.
    CHECKED = "checked"
    #: Cut to a norm or a magnitude.
    CLIPPED = "clipped"
    #: The weights after the step.
    UPDATED = "updated"


@dataclass(frozen=True)
class Stage:
    """The numbers at one stage of a step.

    Attributes:
        name: what was done last.
        values: micro-batches x weights up to the sum over micro-batches, from there on one row;
            in the unit of the gradients, of the weights in `StageName.UPDATED`.
        scales: the scale of each micro-batch in `StageName.SCALED`, the one divided by in
            `StageName.UNSCALED`; otherwise empty.
        norm: the Euclidean norm before the clip in `StageName.CLIPPED`, where the norm is clipped.
        factor: the float32 number that the clip multiplied by there, 1 if it left the gradient alone.
        found_inf: whether `StageName.CHECKED` found an inf or NaN.
    """

    name: StageName
    values: Table
    scales: Row = ()
    norm: float | None = None
    factor: float | None = None
    found_inf: bool | None = None


@dataclass(frozen=True)
class StepReport:
    """What one step did, beside what it should have done.

    Attributes:
        stages: the stages in the order in which they were gone through.
        skipped: whether the check found an inf or NaN, so that the weights stay as they are.
        update: by how much each weight fell, in the type that the weights are kept in.
        true_update: the learning rate times the gradient of the loss of the step, averaged and clipped
            rightly, in float64 throughout.
    """

    stages: tuple[Stage, ...]
    skipped: bool
    update: Row
    true_update: Row

    @property
    def ratio(self) -> float:
        """The Euclidean norm of the update over that of the true one.

        1 where the step is as long as it should be, whatever its direction; 0 where none was made, inf where
        none was to be made, and NaN where both hold or the update is not finite.
        """
        return _ratio(euclidean_norm(self.update), euclidean_norm(self.true_update))

    @property
    def ratios(self) -> Row:
        """The same for each weight on its own."""
        return tuple(_ratio(abs(made), abs(true)) for made, true in zip(self.update, self.true_update, strict=True))


def euclidean_norm(values: Iterable[float]) -> float:
    """The square root of the sum of the squares, which may themselves lie beyond float64.

    Args:
        values: any floats.

    Returns:
        The norm; NaN if any value is, else inf if any is infinite.
    """
    numbers = tuple(values)
    # math.hypot makes inf of an inf and a NaN.
    return math.nan if any(map(math.isnan, numbers)) else math.hypot(*numbers)


def _ratio(made: float, true: float) -> float:
    if not math.isfinite(made):
        return math.nan
    if true == 0:
        return math.inf if made else math.nan
    return made / true if made else 0.0
