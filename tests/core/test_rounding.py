"""Casting: which value every number rounds to."""

from fractions import Fraction
import math

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from lossscale_core import BF16, E4M3, E5M2, FP16, FP32, cast, cast_exact

from .format_table import F16, every_format, every_row
from .oracle import overflow_value, power, same, stored, stored_array, values_of
from .strategies import float32s, float64s, near_codes, positive_fractions

RANDOM_PATTERNS = 2**18


def sample_of_codes(fmt):
    """All finite codes but the sign; of FP32 some, with all at both ends and around the subnormals' end."""
    if fmt.max_code < 2**16:
        return np.arange(fmt.max_code + 1)
    edges = [start + np.arange(-500, 500) for start in (500, 1 << fmt.mantissa_bits, fmt.max_code - 499)]
    return np.concatenate([*edges, np.random.default_rng(1).integers(0, fmt.max_code, 20_000)])


def float32_patterns(count, seed):
    return np.random.default_rng(seed).integers(0, 2**32, count, np.uint32).view(np.float32)


def agrees_with_the_other_library(values, facts):
    """ml_dtypes is an oracle for float32 only, and lets FP6 and FP4 saturate."""
    fmt = facts.fmt
    with np.errstate(all="ignore"):
        theirs = values.astype(facts.dtype).astype(np.float64)
    if not fmt.has_inf and fmt.nan_codes == 0:
        theirs[~(np.abs(values) < facts.overflow_tie)] = np.nan
    return same(cast(values, fmt), theirs)


@every_format
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_finite_code_is_kept_as_it_is(fmt, dtype):
    values = values_of(sample_of_codes(fmt), fmt)
    assert same(cast(values.astype(dtype), fmt), values)
    negatives = -values if fmt.negative_zero else 0 - values
    assert same(cast(-values.astype(dtype), fmt), negatives)


@every_format
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_midpoints_go_to_the_even_code_and_their_neighbours_to_the_nearer(fmt, dtype):
    codes = sample_of_codes(fmt)
    lower, following = values_of(codes, fmt), values_of(codes + 1, fmt)
    middle = (lower + following) / 2
    if dtype == np.float32:
        with np.errstate(over="ignore"):
            representable = middle.astype(np.float32) == middle
        codes, lower, following, middle = (a[representable] for a in (codes, lower, following, middle))
    upper = np.where(codes == fmt.max_code, overflow_value(fmt), following)
    middle = middle.astype(dtype)
    assert same(cast(middle, fmt), np.where(codes % 2, upper, lower))
    assert same(cast(np.nextafter(middle, dtype(0)), fmt), lower)
    assert same(cast(np.nextafter(middle, dtype(np.inf)), fmt), upper)
    negative_lower = np.where(lower == 0, -0.0 if fmt.negative_zero else 0.0, -lower)
    assert same(cast(-middle, fmt), np.where(codes % 2, -upper, negative_lower))


@every_format
@given(values=st.lists(float64s, max_size=8))
def test_any_float64_rounds_as_its_exact_value(fmt, values):
    assert same(cast(np.array(values, np.float64), fmt), stored_array(values, fmt))


@every_format
@given(values=st.lists(float32s, max_size=8))
def test_any_float32_rounds_as_its_exact_value(fmt, values):
    array = np.array(values, np.float32)
    assert same(cast(array, fmt), stored_array(array, fmt))


@every_format
@given(data=st.data())
def test_float64_neighbours_of_codes_and_midpoints(fmt, data):
    value = data.draw(near_codes(fmt))
    assert same(cast(value, fmt), stored(value, fmt))


@every_row
def test_random_float32_patterns_against_the_other_library(facts):
    assert agrees_with_the_other_library(float32_patterns(RANDOM_PATTERNS, seed=2), facts)


def test_random_float64_patterns_against_numpy_float16_and_float32():
    patterns = np.random.default_rng(3).integers(0, 2**64, RANDOM_PATTERNS, np.uint64).view(np.float64)
    ordinary = np.ldexp(
        patterns.view(np.uint64) / 2.0**63 - 1, np.random.default_rng(4).integers(-30, 18, patterns.size)
    )
    with np.errstate(all="ignore"):
        for values in (patterns, ordinary):
            assert same(cast(values, FP16), values.astype(np.float16))
            assert same(cast(values, FP32), values.astype(np.float32))


@pytest.mark.slow
@every_row
def test_a_hundredth_of_all_float32_patterns_against_the_other_library(facts):
    step = 101
    for start in range(0, 2**32, 2**28):
        patterns = np.arange(start + start % step, start + 2**28, step, np.uint32)
        assert agrees_with_the_other_library(patterns.view(np.float32), facts)


@pytest.mark.slow
@pytest.mark.parametrize("octave", range(-26, -13))
def test_a_seventh_of_all_float32_around_the_subnormals_of_fp16_bit_by_bit(octave):
    first, last = (int(np.float32(2.0**n).view(np.uint32)) for n in (octave, octave + 1))
    values = np.arange(first, last, 7, np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        assert np.array_equal(cast(values, FP16).view(np.uint16), values.astype(np.float16).view(np.uint16))


@every_format
def test_zeros_infinities_and_nan(fmt):
    specials = np.array([0.0, -0.0, np.inf, -np.inf, np.nan])
    overflow = overflow_value(fmt)
    expected = [0.0, -0.0 if fmt.negative_zero else 0.0, overflow, -overflow, np.nan]
    assert same(cast(specials, fmt), expected)
    assert same(cast(specials.astype(np.float32), fmt), expected)


@every_format
def test_a_negative_underflow_keeps_its_sign_where_the_format_can(fmt):
    assert same(cast(-1e-300, fmt), -0.0 if fmt.negative_zero else 0.0)


def test_fp16_gives_float16_and_the_others_float32():
    dtypes = {fmt.name: cast([1.0], fmt).dtype.name for fmt in (FP16, BF16, E5M2, E4M3, FP32)}
    assert dtypes == {"fp16": "float16", "bf16": "float32", "e5m2": "float32", "e4m3": "float32", "fp32": "float32"}


def test_fp16_under_another_name_rounds_alike():
    values = float32_patterns(10_000, seed=5)
    assert same(cast(values, F16), cast(values, FP16))


@every_format
@given(magnitude=positive_fractions, sign=st.sampled_from([-1, 1]))
def test_cast_exact_rounds_a_fraction_once(fmt, magnitude, sign):
    assert same(cast_exact(sign * magnitude, fmt), stored(sign * magnitude, fmt))


@every_format
def test_cast_exact_tells_a_tie_from_a_hair_more_or_less(fmt):
    hair = power(-2000)
    for code in (0, 1, (1 << fmt.mantissa_bits) - 1, fmt.max_code - 1, fmt.max_code):
        lower, following = (Fraction(float(v)) for v in values_of(np.array([code, code + 1]), fmt))
        middle = (lower + following) / 2
        for value in (middle * (1 - hair), middle, middle * (1 + hair)):
            assert same(cast_exact(value, fmt), stored(value, fmt))


@every_format
@pytest.mark.parametrize("exponent", [1001, 1100, 5000, -1001, -1100, -5000])
def test_cast_exact_far_beyond_float64(fmt, exponent):
    for value in (power(exponent), -power(exponent) * Fraction(4, 3)):
        assert same(cast_exact(value, fmt), stored(value, fmt))


@every_format
def test_cast_exact_of_zero_is_positive_zero(fmt):
    assert math.copysign(1, cast_exact(Fraction(0), fmt)) == 1
    assert cast_exact(Fraction(0), fmt) == 0
