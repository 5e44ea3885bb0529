"""Files mapped into memory: the system reads the parts that are used, when they are."""

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


def map_file(file: Path) -> Bytes:
    """Map a file into memory.

    Args:
        file: any file.

    Returns:
        Its bytes, which cannot be written.

    Raises:
        OSError: the file cannot be opened.
    """
    with file.open("rb") as stream:
        # No system maps nothing.
        if not stream.read(1):
            return np.zeros(0, np.uint8)
        return np.asarray(np.memmap(stream, np.uint8, mode="r"))


def array_in(
    data: Bytes, start: int, dtype: np.dtype[Any], shape: tuple[int, ...], fortran_order: bool = False
) -> NDArray[Any]:
    """View some of the bytes as an array.

    Args:
        data: the bytes.
        start: where the array begins.
        dtype: the type of its elements.
        shape: its shape.
        fortran_order: whether its first index varies fastest.

    Returns:
        The array, without a copy.

    Raises:
        ValueError: it does not lie within the bytes.
    """
    end = start + math.prod(shape) * dtype.itemsize
    if not 0 <= start <= end <= data.size:
        raise ValueError(f"An array from byte {start} to {end} does not lie within {data.size} bytes.")
    return np.ndarray(shape, dtype, data[start:end].data, order="F" if fortran_order else "C")
