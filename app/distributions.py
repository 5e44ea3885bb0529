"""What the distribution view shows of many gradients, for every notch of the slider: the browser looks it up."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
import json
import math
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from lossscale_app.datasets import DATASETS, LOSING
from lossscale_app.gradients import LOG2_SCALES
from lossscale_app.lookups import end_text
from lossscale_core import (
    FORMATS,
    Format,
    InputError,
    MagnitudeIndex,
    Magnitudes,
    Outcome,
    Tensor,
    UnitedIndex,
    Window,
    number_text,
    read_tensors,
    recommend,
    share_text,
)
from lossscale_core.exact import log2
from lossscale_core.outcomes import outcome_cuts

Progress = Callable[[float], None]

_SHOWN = (Outcome.UNDERFLOW, Outcome.SUBNORMAL, Outcome.NORMAL, Outcome.OVERFLOW)

_opened: list[str] = []


def open_file(path: str | PathLike[str], progress: Progress | None = None) -> None:
    """Read a file of gradients and keep what the page shows of it, for every session.

    Args:
        path: the file, as `read_tensors` reads it.
        progress: called with the share that is done, from 0 to 1.

    Raises:
        InputError: the file cannot be used.
    """
    _opened[:] = [file_json(path, progress)]


def opened_file() -> str | None:
    """What the page shows of the file that the server was started with; None without one."""
    return _opened[0] if _opened else None


@cache
def dataset_json(name: str) -> str:
    """What the page shows of a distribution that comes with it.

    Args:
        name: the id of one of `DATASETS`.

    Returns:
        JSON.

    Raises:
        InputError: there is no such distribution.
    """
    for dataset in DATASETS:
        if dataset.id == name:
            return json.dumps({"id": name, **distribution_data(dataset.make())})
    raise InputError("There is no such distribution.")


def file_json(path: str | PathLike[str], progress: Progress | None = None) -> str:
    """What the page shows of a file of gradients.

    Args, Raises: as `open_file`.

    Returns:
        JSON.
    """
    tell = progress or (lambda share: None)
    tensors = read_tensors(path, lambda share: tell(share / 10))
    data = distribution_data(tensors, lambda share: tell((1 + 9 * share) / 10))
    return json.dumps({"id": "file", "name": Path(path).name, **data})


def distribution_data(tensors: Sequence[Tensor], progress: Progress | None = None) -> dict[str, Any]:
    """Count everything that the view shows.

    Args:
        tensors: the gradients; at least one tensor.
        progress: called with the share that is done, from 0 to 1.

    Returns:
        Counts and texts of all gradients and of every tensor. What is listed by scale is so for
        every k of `LOG2_SCALES`.

    Raises:
        InputError: the gradients are not real numbers.
    """
    indexes = _indexes(tensors, progress or (lambda share: None))
    united = indexes[0] if len(indexes) == 1 else UnitedIndex(indexes)
    return {
        "size": united.size,
        "zeros": united.zeros,
        "nonfinite": united.nonfinite,
        "alive": united.alive,
        "zerosShare": share_text(united.zeros, max(1, united.size)),
        "octaves": _octaves(united),
        "formats": {name: _in_format(united, fmt) for name, fmt in FORMATS.items()},
        "tensors": [_tensor(tensor.name, index) for tensor, index in zip(tensors, indexes, strict=True)],
    }


def _indexes(tensors: Sequence[Tensor], tell: Progress) -> list[MagnitudeIndex]:
    total = max(1, sum(tensor.values.size for tensor in tensors))
    indexes, done = [], 0
    for tensor in tensors:
        size = tensor.values.size
        share = (done / total, size / total)
        indexes.append(_index(tensor, share, tell))
        done += size
    return indexes


def _index(tensor: Tensor, share: tuple[float, float], tell: Progress) -> MagnitudeIndex:
    values = tensor.values if tensor.stored else tensor.floats()
    return MagnitudeIndex(values, tensor.stored, lambda part: tell(share[0] + share[1] * part))


def _octaves(index: Magnitudes) -> dict[str, Any]:
    """A histogram by octaves, its heights on a logarithmic axis from 0 to 1, and that axis."""
    first, counts = index.octaves()
    if not counts.size:
        return {"first": 0, "counts": [], "shares": [], "heights": [], "ticks": []}
    total = index.alive
    top = math.ceil(math.log10(int(counts.max()) / total) - 1e-9)
    # A bar of the fewest values is still seen.
    bottom = math.log10(int(counts[counts > 0].min()) / total) - 0.35
    height = [max(0.0, (math.log10(n / total) - bottom) / (top - bottom)) if n else 0.0 for n in counts.tolist()]
    ticks = range(top, math.ceil(bottom) - 1, -1)
    return {
        "first": first,
        "counts": counts.tolist(),
        "shares": [share_text(n, total) for n in counts.tolist()],
        "heights": [round(h, 5) for h in height],
        "ticks": [[round((t - bottom) / (top - bottom), 5), _decade(t)] for t in ticks],
    }


def _decade(exponent: int) -> str:
    return f"{10.0 ** (exponent + 2):.{max(0, -exponent - 2)}f}%"


def _in_format(index: Magnitudes, fmt: Format) -> dict[str, Any]:
    counts = index.curve(fmt, LOG2_SCALES)[:, list(_SHOWN)]
    alive = max(1, index.alive)
    return {
        "bands": [log2(cut.value) for cut in outcome_cuts(fmt)],
        "counts": counts.tolist(),
        "shares": [[share_text(n, alive) for n in row] for row in counts.tolist()],
        "kept": [share_text(subnormal + normal, alive) for _, subnormal, normal, _ in counts.tolist()],
        "edges": np.round(np.cumsum(counts[:, :3], axis=1) / alive, 5).tolist(),
        "losing": {name: _losing(index, fmt, share) for name, share in LOSING.items()},
    }


def _losing(index: Magnitudes, fmt: Format, share: Fraction) -> dict[str, Any]:
    """The window that may lose a share, and the scale to take."""
    window = index.safe_window(fmt, losing=share).survive
    chosen = recommend(index, fmt, share, LOG2_SCALES)
    best = chosen and {
        "k": chosen.log2_scale,
        "headroom": chosen.headroom,
        "kept": share_text(int(chosen.kept * index.alive), index.alive),
        "within": chosen.within,
    }
    return {"window": _window(window), "best": best}


def _window(window: Window) -> dict[str, Any] | None:
    """The window's ends in words and on the axis, and its powers of two; None where every scale will do."""
    if window.lower == 0:
        return None
    upper = Fraction(window.upper)
    powers = window.log2_powers
    return {
        "empty": window.empty,
        "lower": {"log2": log2(window.lower), "text": end_text(window.lower)},
        "upper": {"log2": log2(upper), "text": end_text(upper)},
        "upperClosed": window.upper_closed,
        "powers": None if window.empty or powers is None else list(powers),
    }


def _tensor(name: str, index: MagnitudeIndex) -> dict[str, Any]:
    smallest, largest = (index.magnitude(0), index.magnitude(index.alive - 1)) if index.alive else (0.0, 0.0)
    return {
        "name": name,
        "size": index.size,
        "smallest": {"log2": math.log2(smallest) if smallest else None, "text": number_text(smallest)},
        "largest": {"log2": math.log2(largest) if largest else None, "text": number_text(largest)},
        "formats": {name: _steps(index, fmt) for name, fmt in FORMATS.items()},
    }


def _steps(index: MagnitudeIndex, fmt: Format) -> dict[str, Any]:
    """Where a tensor's counts change, `[k, lost, overflowing, share lost]`, each up to the next; and its window."""
    counts = index.curve(fmt, LOG2_SCALES)[:, [Outcome.UNDERFLOW, Outcome.OVERFLOW]].tolist()
    steps: list[list[Any]] = []
    for k, (lost, over) in zip(LOG2_SCALES, counts, strict=True):
        if not steps or steps[-1][1:3] != [lost, over]:
            steps.append([k, lost, over, share_text(lost, max(1, index.alive))])
    powers = index.safe_window(fmt).survive.log2_powers
    return {"steps": steps, "powers": None if powers is None or None in powers else list(powers)}
