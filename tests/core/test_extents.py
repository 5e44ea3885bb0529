"""Extents: the ends of every kind of array, against Python's own minimum and maximum, in bounded memory."""

import math
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st
import ml_dtypes
import numpy as np
import pytest

from lossscale_core import BF16, FP16, InputError, extent, safe_window

DTYPES = [np.float16, np.float32, np.float64, ml_dtypes.bfloat16]


def expected(values):
    finite = [abs(float(value)) for value in values if math.isfinite(float(value))]
    alive = [value for value in finite if value]
    return (min(alive, default=None), max(alive, default=None), len(values) - len(finite))


def found(*args):
    result = extent(*args)
    return result.smallest, result.largest, result.nonfinite


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
@given(patterns=st.lists(st.integers(0, 2**64 - 1), max_size=6))
def test_any_bit_patterns(dtype, patterns):
    """Signalling NaNs, both zeros and subnormals among them."""
    size = np.dtype(dtype).itemsize
    values = np.array([pattern % 256**size for pattern in patterns], f"u{size}").view(dtype)
    with np.errstate(invalid="ignore"):
        assert found(values) == expected(values)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("place", [0, 131_071, 131_072, 399_999])
def test_one_value_of_its_kind_in_a_long_array(dtype, place):
    for odd in (2.0**-14, -(2.0**14), 0.0, -0.0, math.inf, math.nan, -math.inf):
        values = np.ones(400_000, dtype)
        values[place] = odd
        assert found(values) == (
            min(1.0, abs(odd)) if 0 < abs(odd) < math.inf else 1.0,
            max(1.0, abs(odd)) if abs(odd) < math.inf else 1.0,
            not math.isfinite(odd),
        )


@pytest.mark.parametrize("values", [[], [0.0, -0.0], [math.nan, -math.inf], np.zeros((0, 3), np.float16)])
def test_nothing_to_span(values):
    assert found(values)[:2] == (None, None)


def test_bfloat16_as_unsigned_integers():
    values = np.array([1e-30, -3e5, 0.0, math.inf], ml_dtypes.bfloat16)
    assert found(values.view(np.uint16), BF16) == expected(values)
    assert safe_window(values.view(np.uint16), FP16, stored=BF16) == safe_window(values, FP16)


def test_patterns_of_another_width_are_refused():
    with pytest.raises(InputError, match="unsigned integers of 16 bits"):
        extent(np.array([1], np.uint32), BF16)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_it_takes_little_memory(dtype):
    values = np.ones((2000, 4000), dtype).T[1:, :-1]
    tracemalloc.start()
    extent(values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20
