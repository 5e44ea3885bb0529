"""The gradients and the typed loss scale of the page, as they were written."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
import math

from lossscale_core import InputError, parse_number
from lossscale_core.errors import quoted
from lossscale_core.exact import exact_scale
from lossscale_core.tables import split

#: The slider's k: log2 of the loss scale.
LOG2_SCALES = range(-40, 41)
#: The octaves a gradient can be dragged through.
OCTAVES = range(-48, 25)
#: How far a gradient outside of them can be dragged.
FAR_REACH = 12
#: The most gradients in the list.
MAX_GRADIENTS = 12


@dataclass(frozen=True)
class Gradient:
    """One gradient of the list.

    Attributes:
        token: as the reader wrote it.
        value: the float64 it stands for.
    """

    token: str
    value: float

    @property
    def special(self) -> bool:
        """Whether it has no significand: zero, inf or NaN."""
        return self.value == 0 or not math.isfinite(self.value)

    @property
    def negative(self) -> bool:
        """Whether its sign is minus, which a zero can have too, and NaN has not."""
        return math.copysign(1, self.value) < 0 and not math.isnan(self.value)

    @property
    def significand(self) -> float:
        """Its magnitude without the octave, in [1, 2)."""
        return float(split(abs(self.value))[0])

    @property
    def octave(self) -> int:
        """floor(log2) of its magnitude; 0 where there is none."""
        return 0 if self.special else split(abs(self.value))[1]

    @property
    def octaves(self) -> range:
        """The octaves it can be dragged through."""
        if self.octave in OCTAVES:
            return OCTAVES
        # Float64 has every significand from 2**-1022 to 2**1023; below, moving down would cut bits off.
        lowest = min(self.octave, max(-1022, self.octave - FAR_REACH))
        return range(lowest, min(1023, self.octave + FAR_REACH) + 1)

    @property
    def key(self) -> str:
        """The name of its look-up track, which it shares with every gradient of its significand nearby."""
        if self.special:
            return repr(abs(self.value))
        near = self.octaves == OCTAVES
        return self.significand.hex() if near else f"{self.significand.hex()}@{self.octave}"


@dataclass(frozen=True)
class TypedScale:
    """A loss scale that was typed, and need not be a power of two.

    Attributes:
        token: as the reader wrote it.
        value: S, exactly.
    """

    token: str
    value: Fraction

    @property
    def key(self) -> str:
        """What it adds to the name of a gradient's look-up track."""
        return f"*{float(self.value).hex()}"


def read_gradients(tokens: Sequence[str]) -> list[Gradient]:
    """Read the page's list of gradients.

    Args:
        tokens: what was written, a number each.

    Raises:
        InputError: one is no number, or they are too many.
    """
    if len(tokens) > MAX_GRADIENTS:
        raise InputError(
            "The list holds up to {max_gradients} gradients, and this would make {tokens}.",
            max_gradients=MAX_GRADIENTS,
            tokens=len(tokens),
        )
    return [Gradient(token.strip(), parse_number(token)) for token in tokens]


def read_scale(token: str) -> TypedScale:
    """Read a typed loss scale.

    Args:
        token: a number above 0, as `parse_number` reads it.

    Raises:
        InputError: it is no such number.
    """
    value = parse_number(token)
    if not (math.isfinite(value) and value > 0):
        raise InputError("A loss scale must be a finite number above 0: {token} is not.", token=quoted(token))
    return TypedScale(token.strip(), exact_scale(value))
