"""What became of a step: the verdict of the order view, as an id that messages turn into a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
import math

from lossscale_core import FP32, Format, StepExample, StepOrder, StepReport, number_text, take_step

#: All verdicts there are.
VERDICTS = (
    "right",
    "skipped",
    "nonfinite",
    "lost",
    "swallowed",
    "hiddenSmall",
    "hiddenLarge",
    "partly",
    "partlyWrong",
    "average",
    "near",
    "small",
    "large",
    "turned",
)

#: Denominators from here on are written as powers of two.
_LONG = 10_000


@dataclass(frozen=True)
class Reference:
    """What a step should do.

    Attributes:
        update: by how much each weight falls if all is right, and all in FP32.
        averaged: the same for a mean of means.
    """

    update: tuple[float, ...]
    averaged: tuple[float, ...]

    @classmethod
    def of(cls, example: StepExample) -> "Reference":
        """Take the step of an example in FP32, where nothing of it needs a scale."""
        wrong = StepOrder(average="micro_batches")
        return cls(take_step(example, fmt=FP32).update, take_step(example, wrong, fmt=FP32).update)


@dataclass(frozen=True)
class Verdict:
    """What became of a step at one scale.

    Attributes:
        id: one of `VERDICTS`.
        ratio: the length of the update over that of the reference; 0, inf or NaN as in `StepReport.ratio`.
        lost: how many weights stay as they are and should not.
    """

    id: str
    ratio: float
    lost: int

    @property
    def ratio_text(self) -> str:
        """The ratio: `1`, `1/512`, `12.5` or `2^-20`."""
        inverse = 1 / self.ratio if 0 < self.ratio < 1 else 0.5
        return f"1/{inverse:.0f}" if inverse.is_integer() and inverse < _LONG else number_text(self.ratio)

    @property
    def factor_text(self) -> str:
        """How many times too small or too large the update is."""
        return number_text(1 / self.ratio if 0 < self.ratio < 1 else self.ratio)

    @property
    def log2(self) -> float | None:
        """Where the ratio is on a logarithmic axis; None where it is not."""
        return math.log2(self.ratio) if 0 < self.ratio < math.inf else None


def verdict(report: StepReport, reference: Reference, order: StepOrder, fmt: Format) -> Verdict:
    """Judge a step.

    Args:
        report: what it did.
        reference: what it should have done.
        order: the order it was taken in.
        fmt: the storage format.

    Returns:
        The verdict.
    """
    compared = replace(report, true_update=reference.update)
    lost = sum(ratio == 0 for ratio in compared.ratios)
    return Verdict(_id(compared, lost, reference, order, fmt), compared.ratio, lost)


def _id(compared: StepReport, lost: int, reference: Reference, order: StepOrder, fmt: Format) -> str:
    if compared.skipped:
        return "skipped"
    if not all(map(math.isfinite, compared.update)):
        return "nonfinite"
    if compared.update == reference.update:
        return "right"
    if lost == len(compared.update):
        reached = any(value for value in compared.stages[-2].values[0])
        return "swallowed" if reached and order.weights == "stored" else "lost"
    if any(not math.isfinite(value) for stage in compared.stages for row in stage.values for value in row):
        return "hiddenSmall" if compared.ratio < 1 else "hiddenLarge"
    if lost:
        moved = [ratio for ratio in compared.ratios if ratio]
        return "partly" if _is_rounded(moved, order, fmt) else "partlyWrong"
    averaged = order.average == "micro_batches" and compared.update == reference.averaged
    return "average" if averaged else _by_size(compared, order, fmt)


def _by_size(compared: StepReport, order: StepOrder, fmt: Format) -> str:
    """The verdict on an update that is neither right nor lost, by its length and its direction."""
    if _is_rounded(compared.ratios, order, fmt):
        return "near"
    smallest, largest = min(compared.ratios), max(compared.ratios)
    if largest > smallest * (1 + _rounding(order, fmt)):
        return "turned"
    return "small" if compared.ratio < 1 else "large"


def _is_rounded(ratios: Sequence[float], order: StepOrder, fmt: Format) -> bool:
    """Whether no update differs from the true one by more than its rounding."""
    rounding = _rounding(order, fmt)
    return 1 - rounding <= min(ratios) and max(ratios) <= 1 + rounding


def _rounding(order: StepOrder, fmt: Format) -> float:
    """Half a unit in the last place, and some more for subnormals."""
    return 4 * 2.0 ** -(fmt if order.weights == "stored" else FP32).significant_bits
