"""Gradients worth trying: the starting point, and one list for each thing to find out."""

from dataclasses import dataclass

from lossscale_app.gradients import Gradient, read_gradients


@dataclass(frozen=True)
class Preset:
    """A list of gradients and a format to put them in.

    Attributes:
        id: its name in links and messages.
        tokens: the gradients, as written.
        format: the format's link name.
        log2_scale: where the slider starts.
    """

    id: str
    tokens: tuple[str, ...]
    format: str = "fp16"
    log2_scale: int = 0

    @property
    def gradients(self) -> list[Gradient]:
        """The gradients, read."""
        return read_gradients(self.tokens)


_SEED = ("2^-26", "8")

PRESETS = (
    Preset("window", _SEED),
    Preset("tie", ("2^-25", "1.0009765625*2^-25", "3*2^-25")),
    Preset("inf", ("8",), log2_scale=13),
    Preset("coarse", ("1.75*2^-24",)),
    Preset("below1", ("2^-20", "2^18")),
    Preset("none", ("2^-34", "2^10")),
    Preset("outlier", ("2^-30", "2^-28", "2^-26", "2^-24", "2^-22", "2^-20", "2^10"), log2_scale=6),
    Preset("bf16", _SEED, "bf16"),
    Preset("fp8", _SEED, "e5m2"),
)

#: What the page opens with and resets to.
BEGINNING = PRESETS[0]
