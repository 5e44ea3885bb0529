"""Numbers in text files: .txt, and .csv with or without a line of column names."""

from collections.abc import Iterator
import math
from pathlib import Path
import re

import numpy as np

from lossscale_core.errors import InputError, quoted
from lossscale_core.index import Progress
from lossscale_core.notation import parse_number
from lossscale_core.tensors import Tensor

_CELL = re.compile(r"[,;\s]+")
#: What Python and `parse_number` read alike, but for 0 and what float64 cannot hold.
_PLAIN = re.compile(r"[+-]?\d{1,40}(?:\.\d{0,40})?(?:e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)
_ROWS_BETWEEN = 1 << 10

_Row = tuple[int, list[str]]


def read_txt(file: Path, tell: Progress) -> list[Tensor]:
    """Read numbers apart by commas, semicolons or white space.

    Args:
        file: the file.
        tell: called with the share of the lines that is read.

    Returns:
        One float64 tensor, with the file's own name.

    Raises:
        InputError: the file is no text, or holds what is no number.
    """
    return _list(_rows(file), file, tell)


def read_csv(file: Path, tell: Progress) -> list[Tensor]:
    """Read a table of numbers that may start with a line of column names.

    Args:
        file: the file.
        tell: called with the share of the lines that is read.

    Returns:
        A float64 tensor for every named column; without names one, with the file's own name.

    Raises:
        InputError: the file is no text, holds what is no number, or names a column twice; or a
            line has not as many values as there are names.
    """
    rows = _rows(file)
    if not rows or any(_is_number(cell) for cell in rows[0][1]):
        return _list(rows, file, tell)
    names = [name.strip("\"'") for name in rows[0][1]]
    if len(set(names)) != len(names):
        raise InputError(
            "{name} names a column twice: {names}.", name=quoted(file.name), names=quoted(", ".join(names))
        )
    for number, cells in rows[1:]:
        if len(cells) != len(names):
            raise InputError(
                "Line {number} of {name} has {cells} values for {names} columns.",
                number=number,
                name=quoted(file.name),
                cells=len(cells),
                names=len(names),
            )
    table = np.fromiter(_numbers(rows[1:], file, tell), np.float64).reshape(-1, len(names))
    return [Tensor(name, column) for name, column in zip(names, table.T, strict=True)]


def _list(rows: list[_Row], file: Path, tell: Progress) -> list[Tensor]:
    return [Tensor(file.stem, np.fromiter(_numbers(rows, file, tell), np.float64))]


def _rows(file: Path) -> list[_Row]:
    """The lines that hold anything: their numbers from 1, and their cells."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("{name} is not a text file inside.", name=quoted(file.name)) from error
    split = ((number, [c for c in _CELL.split(line) if c]) for number, line in enumerate(text.splitlines(), 1))
    return [(number, cells) for number, cells in split if cells]


def _numbers(rows: list[_Row], file: Path, tell: Progress) -> Iterator[float]:
    for done, (number, cells) in enumerate(rows):
        if done % _ROWS_BETWEEN == 0:
            tell(done / len(rows))
        try:
            yield from map(_number, cells)
        except InputError as error:
            raise InputError(
                "Line {number} of {name}: {error}", number=number, name=quoted(file.name), error=error
            ) from error


def _number(cell: str) -> float:
    # A tenth of the time of `parse_number`, and the most common case.
    if _PLAIN.fullmatch(cell) and (value := float(cell)) and math.isfinite(value):
        return value
    return parse_number(cell)


def _is_number(cell: str) -> bool:
    try:
        parse_number(cell)
    except InputError:
        return False
    return True
