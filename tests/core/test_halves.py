"""Casting to float16 by integers against numpy's own cast, bit by bit."""

import numpy as np
import pytest

from lossscale_core.halves import cast_halves


def agree(values):
    with np.errstate(all="ignore"):
        expected, got = values.astype(np.float16), cast_halves(values)
    both_nan = np.isnan(got) & np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))
    np.testing.assert_array_equal(
        np.where(both_nan, 0, got.view(np.uint16)), np.where(both_nan, 0, expected.view(np.uint16))
    )


@pytest.mark.parametrize("distance", range(-2, 3))
@pytest.mark.parametrize("half_step", [0, 0x1000])
def test_around_every_code_and_every_tie(distance, half_step):
    words = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float32).view(np.uint32)
    agree((words + np.uint32((half_step + distance) % 2**32)).view(np.float32))


@pytest.mark.parametrize(("word", "real"), [(np.uint32, np.float32), (np.uint64, np.float64)])
def test_random_bit_patterns(word, real):
    words = np.random.default_rng(1).integers(0, np.iinfo(word).max, 10**6, dtype=word, endpoint=True)
    agree(words.view(real))


@pytest.mark.parametrize("toward", [-np.inf, 0.0, np.inf])
def test_around_every_midpoint_in_float64(toward):
    codes = np.arange(2**16, dtype=np.uint16).view(np.float16)
    values = codes[np.isfinite(codes)].astype(np.float64)
    midpoints = (values[:-1] + values[1:]) / 2
    agree(np.nextafter(midpoints, toward))
    agree(midpoints)


@pytest.mark.slow
def test_every_float32_near_the_range():
    step = 1 << 22
    for start in range(0, 2**32, step * 17):
        agree(np.arange(start, min(start + step, 2**32), dtype=np.uint64).astype(np.uint32).view(np.float32))
