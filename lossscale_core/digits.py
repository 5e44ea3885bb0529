"""Real data to train on: images of handwritten digits.

The test set of "Optical Recognition of Handwritten Digits", E. Alpaydin and C. Kaynak, UCI Machine Learning
Repository, 1998 (doi 10.24432/C50P49), licence CC BY 4.0, unchanged: 1797 images of 8 x 8 pixels.
"""

from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Largest value of a pixel as it is kept.
_INK = 16


class Digits(NamedTuple):
    """Images and what they show.

    Attributes:
        images: float32 of shape (1797, 64), from 0 to 1 in steps of 1/16, which every format holds exactly
            but FP8 E5M2.
        labels: int64 of shape (1797,), the digits from 0 to 9.
    """

    images: NDArray[np.float32]
    labels: NDArray[np.int64]


@cache
def digits() -> Digits:
    """Read the images, once.

    Returns:
        The images and labels, which cannot be written to.
    """
    with files("lossscale_core").joinpath("digits.npz").open("rb") as packed, np.load(packed) as arrays:
        images = (arrays["images"].reshape(-1, 64) / _INK).astype(np.float32)
        labels = arrays["labels"].astype(np.int64)
    for array in (images, labels):
        array.flags.writeable = False
    return Digits(images, labels)
