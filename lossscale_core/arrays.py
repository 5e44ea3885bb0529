"""What counts as an array of gradients, and its exact float64 or float32 form."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lossscale_core.errors import InputError, quoted

Floats = NDArray[np.floating[Any]]

_EXACT_INTEGER = 2**53


def as_gradients(values: ArrayLike) -> Floats:
    """Read values as an array of floats that is safe to round.

    Args:
        values: float, integer or boolean values of any shape; also the narrow float
            types of other libraries that numpy can widen to float32 safely.

    Returns:
        An array of the same shape, of float32 where the input has at most 32 bits of
        float, else of float64. Every value is the given one, but for long doubles and
        integers beyond 2**53, which keep 43 to 53 bits with the last one sticky ("round
        to odd"), so that rounding them once more, to any format here, is still exact.

    Raises:
        InputError: complex, object, string or date values, or a ragged list.
    """
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(
            "Gradients must form a rectangular array of real numbers: {values} does not.", values=quoted(values)
        ) from error
    kind = array.dtype.kind
    if kind == "f":
        if array.dtype.itemsize > 8:
            return _odd_from_longdouble(array)
        wide = np.float64 if array.dtype.itemsize == 8 else np.float32
        return array.astype(wide, copy=False)
    if kind in "iub":
        return _odd_from_integers(array)
    if kind == "V" and array.dtype.names is None and np.can_cast(array.dtype, np.float32, "safe"):
        return array.astype(np.float32)
    raise InputError("Gradients must be real numbers: an array of type {dtype} is not.", dtype=quoted(array.dtype))


def _odd_from_longdouble(array: NDArray[Any]) -> Floats:
    with np.errstate(all="ignore"):
        near = array.astype(np.float64)
        back = near.astype(array.dtype)
        above = np.abs(back) > np.abs(array)
        toward_zero = np.where(above, np.nextafter(near, 0.0), near)
        inexact = (back != array) & np.isfinite(array)
    return _with_sticky_bit(toward_zero, inexact)


def _odd_from_integers(array: NDArray[Any]) -> Floats:
    negative = array < 0
    magnitude = array.astype(np.uint64)
    magnitude = np.where(negative, np.uint64(0) - magnitude, magnitude)
    # Above 2**53 the low 11 bits are folded into one sticky bit: 42 bits or more remain.
    folded = (magnitude >> np.uint64(11)) | ((magnitude & np.uint64(0x7FF)) != 0)
    value = np.where(magnitude < _EXACT_INTEGER, magnitude.astype(np.float64), folded.astype(np.float64) * 2048.0)
    return np.where(negative, -value, value)


def _with_sticky_bit(values: NDArray[np.float64], inexact: NDArray[np.bool_]) -> Floats:
    words = np.atleast_1d(values).view(np.uint64) | np.atleast_1d(inexact).astype(np.uint64)
    return words.view(np.float64).reshape(np.shape(values))
