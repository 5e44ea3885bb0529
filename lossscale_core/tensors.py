"""A named array of gradients, as a file holds it."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lossscale_core.arrays import Floats, as_gradients
from lossscale_core.formats import Format

#: Values of any type that `as_gradients` takes, or bit patterns.
Values = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Tensor:
    """A named array of gradients, neither converted nor, where it can be helped, copied.

    `values` and `stored` are the arguments of those names of `extent`, `safe_window`,
    `count_outcomes`, `bit_patterns` and `MagnitudeIndex`.

    Attributes:
        name: what the file calls it.
        values: numbers of any type that `as_gradients` takes; or, with `stored`, unsigned integers.
        stored: the format of which the values are bit patterns; None where they are numbers.
    """

    name: str
    values: Values
    stored: Format | None = None

    def floats(self) -> Floats:
        """The values as floats, without a copy where they are float16, float32 or float64.

        Returns:
            An array of the same shape; what `as_gradients` makes of other types, and float32 for
            bit patterns.
        """
        if self.stored is not None:
            return np.asarray(_values_of_codes(self.stored)[self.values])
        dtype = self.values.dtype
        if dtype.kind == "f" and dtype.itemsize <= 8 and dtype.isnative:
            return self.values
        return as_gradients(self.values)


@lru_cache
def _values_of_codes(fmt: Format) -> NDArray[np.float32]:
    """The value of every bit pattern of a format of at most 16 bits that float32 can hold."""
    codes = np.arange(1 << (fmt.bits - 1))
    field, mantissa = codes >> fmt.mantissa_bits, codes & ((1 << fmt.mantissa_bits) - 1)
    steps = mantissa + ((field > 0) << fmt.mantissa_bits)
    exponents = np.maximum(field, 1) - fmt.bias - fmt.mantissa_bits
    magnitudes = np.ldexp(steps.astype(np.float64), exponents)
    magnitudes[fmt.max_code + 1 :] = np.nan
    if fmt.inf_code is not None:
        magnitudes[fmt.inf_code] = np.inf
    return np.concatenate([magnitudes, -magnitudes]).astype(np.float32)
