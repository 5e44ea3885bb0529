"""Gradients from files: .npy, .npz, .safetensors, .csv and .txt."""

import lzma
from os import PathLike
from pathlib import Path
import tokenize
import zipfile
import zlib

from lossscale_core.arrays import Floats
from lossscale_core.errors import InputError, quoted
from lossscale_core.index import Progress
from lossscale_core.npyfiles import read_npy
from lossscale_core.npzfiles import read_npz
from lossscale_core.safetensorsfiles import read_safetensors
from lossscale_core.tensors import Tensor
from lossscale_core.textfiles import read_csv, read_txt

#: The largest binary file; it is mapped into memory, and only what is compressed is read (see `npzfiles`).
MAX_MAPPED_BYTES = 64 << 30
#: The largest text file.
MAX_TEXT_BYTES = 64 << 20

_READERS = {
    ".npy": read_npy,
    ".npz": read_npz,
    ".safetensors": read_safetensors,
    ".csv": read_csv,
    ".txt": read_txt,
}
#: How the names of files end that can be read.
FILE_SUFFIXES = tuple(_READERS)

#: What numpy and zipfile raise where a file is damaged or made up.
_DAMAGE = (
    ValueError,
    TypeError,
    ArithmeticError,
    EOFError,
    RuntimeError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)


def read_tensors(path: str | PathLike[str], progress: Progress | None = None) -> list[Tensor]:
    """Read the gradients in a file as it holds them.

    Pickled objects are never loaded. .npy and .safetensors files and what is not compressed in an
    .npz are mapped into memory: nothing is copied or converted, and files may be larger than it.

    Args:
        path: a file whose name ends in .npy, .npz, .safetensors, .csv or .txt. Text holds numbers
            as `parse_number` reads them, apart by commas, semicolons or white space; a .csv may
            start with a line of column names. For .safetensors the library of that name must be
            installed.
        progress: called with the share that is done, from 0 to 1, while text is read or an .npz
            unpacked. What it raises ends the work.

    Returns:
        Tensors of at least one value each. Their names differ: those in an .npz or .safetensors,
        the columns of a .csv that names them, else the file's own name.

    Raises:
        InputError: the file is missing, of another kind than its name says, damaged, too
            large, empty, or holds what is not real numbers.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    reader = _READERS.get(suffix)
    if reader is None:
        raise InputError(
            "{name} is no {endings} or {last} file.",
            name=quoted(file.name),
            endings=", ".join(FILE_SUFFIXES[:-1]),
            last=FILE_SUFFIXES[-1],
        )
    try:
        _check_size(file, MAX_TEXT_BYTES if suffix in (".csv", ".txt") else MAX_MAPPED_BYTES)
        tensors = [tensor for tensor in reader(file, progress or (lambda share: None)) if tensor.values.size]
    except InputError:
        raise
    except FileNotFoundError as error:
        raise InputError("There is no file {file}.", file=quoted(file, limit=200)) from error
    except OSError as error:
        raise InputError(
            "{name} cannot be read: {error}.", name=quoted(file.name), error=error.strerror or error
        ) from error
    except MemoryError as error:
        raise InputError("{name} does not fit into the memory.", name=quoted(file.name)) from error
    except _DAMAGE as error:
        raise InputError("{name} is damaged or not what its name says.", name=quoted(file.name)) from error
    if not tensors:
        raise InputError("{name} holds no values.", name=quoted(file.name))
    return tensors


def read_gradients(path: str | PathLike[str]) -> dict[str, Floats]:
    """Read the gradients in a file as arrays of floats.

    Args:
        path: a file that `read_tensors` takes.

    Returns:
        Arrays by name. Float16, float32 and float64 are mapped into memory as in `read_tensors`;
        all else is converted: integers to float64, BF16 and FP8 to float32.

    Raises:
        InputError: as `read_tensors`.
    """
    return {tensor.name: tensor.floats() for tensor in read_tensors(path)}


def _check_size(file: Path, limit: int) -> None:
    size = file.stat().st_size
    if size > limit:
        raise InputError(
            "{name} is too large: {size:,} bytes, and at most {limit:,} are read.",
            name=quoted(file.name),
            size=size,
            limit=limit,
        )
