"""Gradients from files: .npy, .npz, .csv and .txt."""

from os import PathLike
from pathlib import Path
import re
import tokenize
import zipfile
import zlib

import numpy as np

from lossscale_core.arrays import Floats, as_gradients
from lossscale_core.errors import InputError, quoted
from lossscale_core.notation import parse_number

#: The most bytes that are read from a binary file, after unpacking.
MAX_BINARY_BYTES = 4 << 30
#: The most bytes that are read from a text file.
MAX_TEXT_BYTES = 64 << 20

_CELL = re.compile(r"[,;\s]+")
#: What numpy and zipfile raise where a file is damaged, encrypted or made up.
_DAMAGE = (
    ValueError,
    TypeError,
    ArithmeticError,
    EOFError,
    MemoryError,
    RuntimeError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


def read_gradients(path: str | PathLike[str]) -> dict[str, Floats]:
    """Read the gradients in a file.

    Pickled objects are never loaded. A .npy file is mapped into memory, not copied.

    Args:
        path: a file whose name ends in .npy, .npz, .csv or .txt. Text holds numbers as
            `parse_number` reads them, apart by commas, semicolons or white space; a .csv
            may start with a line of column names.

    Returns:
        Float32 or float64 arrays by name: the names in an .npz, the columns of a .csv that
        names them, else the file's own name. Each array holds at least one value.

    Raises:
        InputError: the file is missing, of another kind than its name says, damaged, too
            large, empty, or holds what is not real numbers.
    """
    file = Path(path)
    readers = {".npy": _read_npy, ".npz": _read_npz, ".csv": _read_csv, ".txt": _read_txt}
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise InputError(f"{quoted(file.name)} is no .npy, .npz, .csv or .txt file.")
    try:
        _check_size(file, MAX_TEXT_BYTES if reader in (_read_csv, _read_txt) else MAX_BINARY_BYTES)
        arrays = reader(file)
    except FileNotFoundError as error:
        raise InputError(f"There is no file {quoted(file, limit=200)}.") from error
    except OSError as error:
        raise InputError(f"{quoted(file.name)} cannot be read: {error.strerror or error}.") from error
    if not any(array.size for array in arrays.values()):
        raise InputError(f"{quoted(file.name)} holds no values.")
    return {name: array for name, array in arrays.items() if array.size}


def _check_size(file: Path, limit: int) -> None:
    size = file.stat().st_size
    if size > limit:
        raise InputError(f"{quoted(file.name)} is too large: {size:,} bytes, and at most {limit:,} are read.")


def _read_npy(file: Path) -> dict[str, Floats]:
    with file.open("rb") as stream:
        if stream.read(6) != b"\x93NUMPY":
            raise InputError(f"{quoted(file.name)} is not an .npy file inside.")
    try:
        with np.errstate(all="ignore"):
            array = np.load(file, mmap_mode="r", allow_pickle=False)
    except _DAMAGE as error:
        raise _unreadable(file, error) from error
    return {file.stem: _real(array, file.name)}


def _read_npz(file: Path) -> dict[str, Floats]:
    if not zipfile.is_zipfile(file):
        raise InputError(f"{quoted(file.name)} is not an .npz file inside.")
    try:
        with zipfile.ZipFile(file) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > MAX_BINARY_BYTES:
            raise InputError(
                f"{quoted(file.name)} is too large: it unpacks to {unpacked:,} bytes,"
                f" and at most {MAX_BINARY_BYTES:,} are read."
            )
        with np.load(file, allow_pickle=False) as arrays:
            return {name: _real(arrays[name], f"{file.name}: {name}") for name in arrays.files}
    except _DAMAGE as error:
        if isinstance(error, InputError):
            raise
        raise _unreadable(file, error) from error


def _read_txt(file: Path) -> dict[str, Floats]:
    rows = _rows(file)
    return {
        file.stem: np.array([value for number, cells in rows for value in _values(cells, number, file)], np.float64)
    }


def _read_csv(file: Path) -> dict[str, Floats]:
    rows = _rows(file)
    if not rows or any(_is_number(cell) for cell in rows[0][1]):
        return _read_txt(file)
    names = [name.strip("\"'") for name in rows[0][1]]
    if len(set(names)) != len(names):
        raise InputError(f"{quoted(file.name)} names a column twice: {quoted(', '.join(names))}.")
    for number, cells in rows[1:]:
        if len(cells) != len(names):
            raise InputError(f"Line {number} of {quoted(file.name)} has {len(cells)} values for {len(names)} columns.")
    table = np.array([_values(cells, number, file) for number, cells in rows[1:]], np.float64)
    return dict(zip(names, table.reshape(-1, len(names)).T, strict=True))


def _rows(file: Path) -> list[tuple[int, list[str]]]:
    """The lines that hold anything: their numbers from 1, and their cells."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{quoted(file.name)} is not a text file inside.") from error
    split = ((number, [c for c in _CELL.split(line) if c]) for number, line in enumerate(text.splitlines(), 1))
    return [(number, cells) for number, cells in split if cells]


def _values(cells: list[str], number: int, file: Path) -> list[float]:
    try:
        return [parse_number(cell) for cell in cells]
    except InputError as error:
        raise InputError(f"Line {number} of {quoted(file.name)}: {error}") from error


def _is_number(cell: str) -> bool:
    try:
        parse_number(cell)
    except InputError:
        return False
    return True


def _real(array: np.ndarray, name: str) -> Floats:
    try:
        return as_gradients(array)
    except InputError as error:
        raise InputError(f"{quoted(name)} cannot be used: {error}") from error


def _unreadable(file: Path, error: Exception) -> InputError:
    if re.search("pickle|python objects|object arrays", str(error), re.IGNORECASE):
        return InputError(
            f"{quoted(file.name)} holds Python objects, which are not loaded; save plain arrays of numbers."
        )
    return InputError(f"{quoted(file.name)} is damaged or not what its name says.")
