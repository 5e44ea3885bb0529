"""What a training run does: everything that can be chosen, checked when it is chosen."""

from dataclasses import dataclass
import math
from typing import Literal, get_args

from lossscale_core.checks import check_choice, is_whole, number_in, refuse
from lossscale_core.errors import Sentence
from lossscale_core.formats import FP16, FP32, Format
from lossscale_core.refusals import Field, OrderError
from lossscale_core.scalers import ScalerPolicy

#: How a step is made of gradients.
Optimizer = Literal["adam", "sgd"]
#: How the losses of a batch's images become one.
Reduction = Literal["mean", "sum"]
#: What a control can put into a run.
Damage = Literal["inf", "nan"]

#: The least and the most of each count.
_COUNTS = {
    "seed": (0, 2**32 - 1),
    "steps": (1, 2000),
    "batch": (1, 1024),
    "micro_batches": (1, 16),
    "positions": (1, 2**26),
}
_NUMBERS = ("learning_rate", "max_norm")
_MOST_HIDDEN = 1024


@dataclass(frozen=True)
class Injection:
    """Damage done on purpose.

    Attributes:
        kind: "inf" makes the first weight's stored gradient overflow, which only runs whose gradients are
            stored in the narrow format can suffer; "nan" makes a pixel of the data NaN.
        step: the step at which it is done, from 1.
        lasting: whether it is done at every later step too.

    Raises:
        InputError: a field holds what cannot be done.
    """

    kind: Damage
    step: int
    lasting: bool = False

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, get_args(Damage))
        if not is_whole(self.step) or self.step < 1:
            refuse("step", "a whole number of at least 1", self.step)
        if not isinstance(self.lasting, bool):
            refuse("lasting", "true or false", self.lasting)

    def hits(self, step: int) -> bool:
        """Whether it is done at a step."""
        return step == self.step or (self.lasting and step > self.step)


@dataclass(frozen=True)
class TrainingPlan:
    """A training run on the digits: an MLP with tanh, softmax cross-entropy, FP32 master weights.

    The loss is the mean over `positions` places in every image of which one is labelled, as in a detector
    or in segmentation, where most places add nothing: it divides every gradient by their number. With
    one place, plain classification, the gradients of a network this small need no scaling in FP16.

    Attributes:
        autocast: whether operations, stored activations and stored gradients are in `format`; if not, all is FP32.
        format: the narrow format; also that of the windows.
        scaler: how the loss is scaled, with the check for inf and NaN that every scaler makes; None for no scaling
            and no check, as in a loop without a scaler.
        steps: how many optimizer steps are tried.
        seed: of the initial weights and the order of the images; runs of one seed see the same.
        batch: images in each micro-batch.
        micro_batches: how many of them add up to one step; the scale stays for all of them.
        positions: over how many places an image's loss is the mean.
        reduction: whether the images' losses are averaged, or added, which makes all gradients larger.
        optimizer: "adam", or "sgd" with momentum 0.9.
        learning_rate: Adam's. SGD, whose step grows with the gradient, takes it times what the loss is divided by, so
            that it means the same for every number of places.
        max_norm: to which the norm of the unscaled gradient is clipped; None for no clipping.
        injection: damage done on purpose, if any; at one of the steps.
        hidden: sizes of the hidden layers.

    Raises:
        InputError: a field holds what no run can work with.
    """

    autocast: bool = True
    format: Format = FP16
    scaler: ScalerPolicy | None = None
    steps: int = 300
    seed: int = 0
    batch: int = 128
    micro_batches: int = 1
    positions: int = 2**15
    reduction: Reduction = "mean"
    optimizer: Optimizer = "adam"
    learning_rate: float = 0.003
    max_norm: float | None = None
    injection: Injection | None = None
    hidden: tuple[int, ...] = (48, 48, 48)

    def __post_init__(self) -> None:
        for name, (least, most) in _COUNTS.items():
            value = getattr(self, name)
            if not is_whole(value) or not least <= value <= most:
                refuse(name, Sentence("a whole number from {least} to {most}", least=least, most=most), value)
            # Sums and products of numpy's integers would run over.
            object.__setattr__(self, name, int(value))
        for name in _NUMBERS:
            value = getattr(self, name)
            if value is None and name == "max_norm":
                continue
            if not 0 < number_in(value, "float32") < math.inf:
                refuse(name, "a finite number above 0 in float32", value)
        for name, choices in (("optimizer", get_args(Optimizer)), ("reduction", get_args(Reduction))):
            check_choice(name, getattr(self, name), choices)
        self._check_parts()

    def _check_parts(self) -> None:
        if not isinstance(self.autocast, bool):
            refuse("autocast", "true or false", self.autocast)
        if not isinstance(self.format, Format) or self.format.bits > FP32.bits:
            refuse("format", "a format no wider than FP32", self.format)
        if not isinstance(self.scaler, ScalerPolicy | None):
            refuse("scaler", "a policy or none", self.scaler)
        if not isinstance(self.injection, Injection | None):
            refuse("injection", "an injection or none", self.injection)
        if self.injection and self.injection.step > self.steps:
            raise OrderError(Field("step", self.injection.step), Field("steps", self.steps))
        if not isinstance(self.hidden, tuple) or not all(is_whole(n) and 1 <= n <= _MOST_HIDDEN for n in self.hidden):
            refuse("hidden", Sentence("a tuple of whole numbers from 1 to {most}", most=_MOST_HIDDEN), self.hidden)

    @property
    def images(self) -> int:
        """How many images one optimizer step sees."""
        return self.batch * self.micro_batches

    @property
    def divisor(self) -> int:
        """What the sum of all labelled places' losses is divided by."""
        return self.positions * (self.images if self.reduction == "mean" else 1)

    @property
    def compute_format(self) -> Format:
        """The format of the operations and of what they store."""
        return self.format if self.autocast else FP32
