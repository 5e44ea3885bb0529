"""What became of a step: the verdict of the order view, as an id that messages turn into a sentence."""

from dataclasses import dataclass, replace
import math

from lossscale_core import FP32, Format, StepExample, StepOrder, StepReport, number_text, take_step

#: All verdicts there are.
VERDICTS = (
    "right",
    "skipped",
    "nonfinite",
    "hidden",
    "lost",
    "swallowed",
    "partly",
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
    if any(not math.isfinite(value) for stage in compared.stages for row in stage.values for value in row):
        return "hidden"
    if lost == len(compared.update):
        reached = any(value for value in compared.stages[-2].values[0])
        return "swallowed" if reached and order.weights == "stored" else "lost"
    if lost:
        return "partly"
    averaged = order.average == "micro_batches" and compared.update == reference.averaged
    return "average" if averaged else _by_size(compared, order, fmt)


def _by_size(compared: StepReport, order: StepOrder, fmt: Format) -> str:
    """The verdict on an update that is neither right nor lost, by its length and its direction."""
    # Half a unit in the last place, and some more for subnormals.
    rounding = 4 * 2.0 ** -(fmt if order.weights == "stored" else FP32).significant_bits
    smallest, largest = min(compared.ratios), max(compared.ratios)
    if 1 - rounding <= smallest and largest <= 1 + rounding:
        return "near"
    if largest > smallest * (1 + rounding):
        return "turned"
    return "small" if compared.ratio < 1 else "large"
