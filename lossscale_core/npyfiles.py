"""Arrays in numpy's own form: .npy files, and what .npz files are made of."""

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from lossscale_core.arrays import as_gradients
from lossscale_core.errors import InputError, quoted
from lossscale_core.index import Progress
from lossscale_core.mapping import Bytes, array_in, map_file
from lossscale_core.tensors import Tensor

#: What an array begins with.
MAGIC = b"\x93NUMPY"

#: More than numpy lets a header have.
_HEADER_BYTES = 1 << 14
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_npy(file: Path, tell: Progress) -> list[Tensor]:
    """Map the array of an .npy file into memory.

    Args:
        file: the file.
        tell: not called, as nothing is read yet.

    Returns:
        One tensor, with the file's own name.

    Raises:
        InputError: the file is of another kind or holds what is not real numbers.
        Exception: any of those in `files`, where the file is damaged.
    """
    data = map_file(file)
    if data[: len(MAGIC)].tobytes() != MAGIC:
        raise InputError("{name} is not an .npy file inside.", name=quoted(file.name))
    return [Tensor(file.stem, npy_array(data, file.name))]


def npy_array(data: Bytes, name: str) -> NDArray[Any]:
    """View the array in the bytes of an .npy file.

    Args:
        data: the bytes, from the magic on.
        name: what to call them in a message.

    Returns:
        The array, without a copy.

    Raises:
        InputError: it does not hold real numbers.
        Exception: any of those in `files`, where the bytes are damaged.
    """
    dtype, shape, fortran_order, start = _header(data, name)
    if dtype.hasobject:
        raise InputError(
            "{name} holds Python objects, which are not loaded; save plain arrays of numbers.", name=quoted(name)
        )
    try:
        as_gradients(np.empty(0, dtype))
    except InputError as error:
        raise InputError(
            "{name} cannot be used: {error}", name=quoted(name), error=getattr(error, "sentence", error)
        ) from error
    return array_in(data, start, dtype, shape, fortran_order)


def _header(data: Bytes, name: str) -> tuple[np.dtype[Any], tuple[int, ...], bool, int]:
    """Type, shape and order of an array, and where its values begin."""
    stream = io.BytesIO(data[:_HEADER_BYTES].tobytes())
    version = npy.read_magic(stream)
    # Numpy writes it for the sake of the names of fields.
    if version == (3, 0):
        raise InputError("{name} holds records, not plain numbers.", name=quoted(name))
    if version not in _HEADERS:
        raise ValueError(f"There is no version {version} of .npy files.")
    try:
        shape, fortran_order, dtype = _HEADERS[version](stream)
    # A header that is nested deeply enough is too much for Python's parser, not for the memory.
    except (MemoryError, RecursionError) as error:
        raise ValueError("The header cannot be read.") from error
    if dtype.subdtype is not None:
        raise ValueError("The type is an array itself.")
    return dtype, shape, fortran_order, stream.tell()
