"""Counting the outcomes of many gradients, and of bit patterns: block by block, in little memory."""

import tracemalloc

import ml_dtypes
import numpy as np
import pytest

from lossscale_core import BF16, E4M3, E5M2, FP16, InputError, Outcome, count_outcomes, outcome_codes

from .oracle import outcome

#: Of a few blocks, the last one not full.
SIZE = 3 * (1 << 17) + 5
#: Gradients for every outcome; the array repeats them, so that the oracle is asked only once.
FEW = [0.0, 2.0**-26, -(2.0**-25), 2.0**-24, -1.0, 65519.0, 65520.0, np.inf, np.nan, -0.0, 2.0**-15]


def repeated(dtype):
    return np.resize(np.array(FEW, dtype), SIZE)


def expected_codes(scale, fmt=FP16, dtype=np.float64):
    few = np.array(FEW, dtype).astype(np.float64)
    return np.resize([Outcome[outcome(float(g), scale, fmt)].value for g in few], SIZE)


def layouts(array):
    yield array
    yield array[:-5].reshape(3, -1)
    yield np.asfortranarray(array[:-5].reshape(3, -1))
    yield array[:-5].reshape(3, -1).T[::2]
    yield array[::-1]
    raw = np.zeros(array.nbytes + 1, np.uint8)
    unaligned = np.ndarray(array.shape, array.dtype, raw.data, 1)
    unaligned[...] = array
    yield unaligned


@pytest.mark.parametrize("scale", [1, 2**13, 0.3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_of_several_blocks_in_any_layout(scale, dtype):
    codes = expected_codes(scale, dtype=dtype)
    for gradients, expected in zip(layouts(repeated(dtype)), layouts(codes), strict=True):
        assert np.array_equal(outcome_codes(gradients, scale, FP16), expected)
        counts = np.bincount(np.ravel(expected), minlength=6)
        assert list(count_outcomes(gradients, scale, FP16).values()) == counts.tolist()


@pytest.mark.parametrize(
    ("stored", "oracle"),
    [(BF16, ml_dtypes.bfloat16), (E5M2, ml_dtypes.float8_e5m2), (E4M3, ml_dtypes.float8_e4m3fn)],
    ids=["bf16", "e5m2", "e4m3"],
)
@pytest.mark.parametrize("scale", [1, 2.0**-9, 1000])
def test_every_bit_pattern(stored, oracle, scale):
    codes = np.arange(1 << stored.bits).astype(f"u{stored.bits // 8}")
    with np.errstate(invalid="ignore"):
        values = codes.view(oracle).astype(np.float64)
    expected = [Outcome[outcome(value, scale, FP16)].value for value in values.tolist()]
    assert outcome_codes(codes, scale, FP16, stored=stored).tolist() == expected
    counts = count_outcomes(codes, scale, FP16, stored=stored)
    assert list(counts.values()) == np.bincount(expected, minlength=6).tolist()


@pytest.mark.parametrize("function", [count_outcomes, outcome_codes])
def test_patterns_of_another_width_are_refused(function):
    with pytest.raises(InputError, match="unsigned integers of 16 bits"):
        function(np.zeros(3, np.uint8), 1, FP16, stored=BF16)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_counting_needs_less_memory_than_the_gradients(dtype):
    gradients = np.ones(1 << 23, dtype)
    count_outcomes(gradients[:1], 1, FP16)
    tracemalloc.start()
    try:
        count_outcomes(gradients, 1, FP16)
        assert tracemalloc.get_traced_memory()[1] < 2 << 20
        tracemalloc.reset_peak()
        outcome_codes(gradients, 1, FP16)
        assert tracemalloc.get_traced_memory()[1] < gradients.size + (3 << 20)
    finally:
        tracemalloc.stop()
