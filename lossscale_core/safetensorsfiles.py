"""Tensors in .safetensors files, mapped into memory."""

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from lossscale_core.errors import InputError, quoted
from lossscale_core.formats import BF16, E4M3, E5M2
from lossscale_core.index import Progress
from lossscale_core.mapping import Bytes, array_in, map_file
from lossscale_core.tensors import Tensor

_NUMBERS = {
    **{"F16": "<f2", "F32": "<f4", "F64": "<f8", "BOOL": "?"},
    **{f"{kind}{bits}": f"<{kind.lower()}{bits // 8}" for kind in "IU" for bits in (8, 16, 32, 64)},
}
_PATTERNS = {"BF16": BF16, "F8_E5M2": E5M2, "F8_E4M3": E4M3}


def read_safetensors(file: Path, tell: Progress) -> list[Tensor]:
    """Map the tensors of a .safetensors file into memory.

    Args:
        file: the file.
        tell: not called, as nothing is read yet.

    Returns:
        The tensors by name. BF16 and FP8 are bit patterns.

    Raises:
        InputError: the library `safetensors` is not installed or does not take the file, or a
            tensor is of a type that is not known here.
        Exception: any of those in `files`, where the file is damaged.
    """
    library = _library(file.name)
    data = map_file(file)
    try:
        # The library checks the header, and that the tensors fill the rest of the file without a gap.
        with library.safe_open(file, framework="np"):
            pass
    except library.SafetensorError as error:
        raise ValueError(str(error)) from error
    # It hands out copies only, and no BF16 at all: where the bytes are must be read from the header.
    start = 8 + int.from_bytes(data[:8].tobytes(), "little")
    header = json.loads(data[8:start].tobytes())
    return [_tensor(data[start:], name, of, file.name) for name, of in header.items() if name != "__metadata__"]


def _library(file_name: str) -> Any:
    try:
        return importlib.import_module("safetensors")
    except ImportError as error:
        raise InputError(
            "Reading {file_name} needs a library: pip install 'loss-scaling-explorer[safetensors]'.",
            file_name=quoted(file_name),
        ) from error


def _tensor(data: Bytes, name: str, described: dict[str, Any], file_name: str) -> Tensor:
    kind = described["dtype"]
    stored = _PATTERNS.get(kind)
    if stored is None and kind not in _NUMBERS:
        known = ", ".join([*_PATTERNS, *_NUMBERS])
        raise InputError(
            "{name} is of type {kind}; the types read are {known}.",
            name=quoted(f"{file_name}: {name}"),
            kind=quoted(kind),
            known=known,
        )
    dtype = np.dtype(_NUMBERS[kind] if stored is None else f"<u{stored.bits // 8}")
    values = array_in(data, described["data_offsets"][0], dtype, tuple(described["shape"]))
    return Tensor(name, values, stored)
