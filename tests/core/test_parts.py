"""Long arrays in parts: the results are those of the whole, in order, whatever the number of processors."""

from itertools import pairwise
import os

import numpy as np
import pytest

from lossscale_core import BF16, E4M3, FP16, cast, extent
from lossscale_core.parts import in_parts


@pytest.mark.parametrize("processors", [None, 1, 2, 3, 64])
@pytest.mark.parametrize("size", [0, 1, (1 << 21) - 1, 1 << 21, (1 << 22) + 7])
def test_parts_cover_the_range_in_order(monkeypatch, processors, size):
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    parts = in_parts(size, lambda start, end: (start, end))
    assert parts[0][0] == 0
    assert parts[-1][1] == size
    assert all(end == start for (_, end), (start, _) in pairwise(parts))
    assert len(parts) <= max(1, min(processors or 1, 4))


def test_what_goes_wrong_in_a_part_is_raised(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)

    def fail(start, end):
        if start:
            raise MemoryError

    with pytest.raises(MemoryError):
        in_parts(1 << 22, fail)


@pytest.mark.parametrize("fmt", [FP16, BF16, E4M3], ids=lambda fmt: fmt.name)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_long_cast_is_that_of_its_pieces_and_warns_of_nothing(monkeypatch, fmt, dtype):
    draw = np.random.default_rng(0)
    values = (np.exp2(draw.uniform(-50, 40, 3_000_001)) * draw.choice([-1, 1], 3_000_001)).astype(dtype)
    values[::100_003] = np.nan
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    with np.errstate(all="raise"):
        whole = cast(values, fmt)
    pieces = np.concatenate([cast(piece, fmt) for piece in np.array_split(values, 7)])
    word = f"u{whole.dtype.itemsize}"
    assert np.array_equal(np.isnan(whole), np.isnan(pieces))
    assert np.array_equal(whole.view(word)[~np.isnan(whole)], pieces.view(word)[~np.isnan(whole)])


def test_the_extent_of_a_long_array_is_found_wherever_its_ends_are(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    values = np.ones(5_000_000, np.float32)
    for place in (0, 1_666_666, 2_500_000, 4_999_999):
        values[place], values[place - 1] = 2.0**-20, 2.0**20
        assert (extent(values).smallest, extent(values).largest) == (2.0**-20, 2.0**20)
        values[place], values[place - 1] = 1, 1
