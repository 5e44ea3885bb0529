"""Gradients of whole models to look at: distributions that say what they are and where they come from.

Each is laid out evenly from its shares or quantiles, without random numbers, so that every
machine has the same values.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from statistics import NormalDist

import numpy as np

from lossscale_core import Tensor

#: The shares of gradients that may be lost, as the reader chooses them: in percent, and exactly.
LOSING = {"0": Fraction(0), "0.01": Fraction(1, 10_000), "0.1": Fraction(1, 1000), "1": Fraction(1, 100)}

#: Values of a distribution that is made from quantiles.
_VALUES = 20_000


@dataclass(frozen=True)
class Dataset:
    """Gradients by the name of a distribution.

    Attributes:
        id: its name in links and messages.
        make: makes its tensors.
    """

    id: str
    make: Callable[[], list[Tensor]]


def _ssd() -> list[Tensor]:
    """The gradients of the SSD detector as far as they were published.

    Of 100,000 values 67 % are zeros, 2 % lie in [2^-34, 2^-32) and 2 % in [2^-24, 2^-23), as in the
    mixed-precision paper's section 3.2 (Micikevicius et al., 2018). What lies elsewhere, 29 %, is a
    smooth guess.
    """
    published = {-34: 1000, -33: 1000, -24: 2000}
    guessed = {-32: 1100, -31: 1250, -30: 1400, -29: 1550, -28: 1700, -27: 1800, -26: 1900, -25: 1950}
    guessed |= {-23: 1950, -22: 1900, -21: 1850, -20: 1750, -19: 1650, -18: 1500, -17: 1350, -16: 1150}
    guessed |= {-15: 950, -14: 750, -13: 550, -12: 400, -11: 280, -10: 180, -9: 90, -8: 50}
    octaves = [np.ldexp(1 + np.arange(n) / n, e) for e, n in (published | guessed).items()]
    return [Tensor("activation gradients", np.concatenate([np.zeros(67_000), *octaves]).astype(np.float32))]


def _log_normal(octave: float, spread: float, values: int = _VALUES) -> np.ndarray:
    """Log-normal magnitudes with alternating signs: octaves are normal about `octave` with deviation `spread`."""
    magnitudes = np.exp2(octave + spread * _normal_quantiles(values))
    return (magnitudes * np.where(np.arange(values) % 2, -1, 1)).astype(np.float32)


@cache
def _normal_quantiles(count: int) -> np.ndarray:
    inverse = NormalDist().inv_cdf
    return np.array([inverse((place + 0.5) / count) for place in range(count)])


def _layers() -> list[Tensor]:
    """Nine layers whose gradients shrink by two octaves from one to the one before it, and a head with large ones."""
    body = [Tensor(f"layers.{n}.weight", _log_normal(-30 + 2 * n, 2, 4000)) for n in range(9)]
    return [*body, Tensor("head.weight", _log_normal(-7, 2, 4000))]


#: In the order in which they are offered.
DATASETS = (
    Dataset("ssd", _ssd),
    Dataset("bell", lambda: [Tensor("gradients", _log_normal(-18, 3))]),
    Dataset("deep", lambda: [Tensor("gradients", _log_normal(-30, 3))]),
    Dataset("wide", lambda: [Tensor("gradients", _log_normal(-20, 8))]),
    Dataset("spike", lambda: [Tensor("gradients", np.append(_log_normal(-26, 2), np.float32(1024)))]),
    Dataset("layers", _layers),
)
