"""Bit patterns of stored values, against views of the bits in other libraries."""

import numpy as np
import pytest

from lossscale_core import E4M3, FP16, cast, encode

from .format_table import EVERY, every_format, every_row, narrow_rows


def all_values(facts):
    """Every code of a narrow format, and its value as float64."""
    codes = np.arange(2**facts.fmt.bits)
    with np.errstate(invalid="ignore"):
        values = codes.astype(f"u{np.dtype(facts.dtype).itemsize}").view(facts.dtype).astype(np.float64)
    return codes, values


@narrow_rows
def test_every_code_of_a_number_comes_back(facts):
    codes, values = all_values(facts)
    numbers = ~np.isnan(values)
    encoded = encode(cast(values[numbers], facts.fmt), facts.fmt)
    assert encoded.dtype == np.int64
    assert np.array_equal(encoded, codes[numbers])


@pytest.mark.parametrize("facts", [row for row in EVERY if row.nan_codes], ids=lambda row: row.fmt.name)
def test_nan_gets_a_code_that_is_nan(facts):
    encoded = encode(cast([np.nan, -np.nan], facts.fmt), facts.fmt)
    container = f"u{np.dtype(facts.dtype).itemsize}"
    assert np.isnan(encoded.astype(container).view(facts.dtype).astype(np.float64)).all()


@every_row
def test_random_values_have_the_bits_of_the_other_library(facts):
    values = np.random.default_rng(1).normal(size=20_000).astype(np.float32)
    values[:10_000] *= np.float32(facts.min_normal)
    container = f"u{np.dtype(facts.dtype).itemsize}"
    assert np.array_equal(encode(cast(values, facts.fmt), facts.fmt), values.astype(facts.dtype).view(container))


def test_overflow_in_a_format_without_inf_is_the_nan_with_its_sign():
    assert encode(cast([1e9, -1e9], E4M3), E4M3).tolist() == [0x7F, 0xFF]


@every_format
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_the_result_has_the_shape_of_the_input(fmt, shape):
    assert encode(cast(np.ones(shape), fmt), fmt).shape == shape


def test_no_flag_is_raised():
    with np.errstate(all="raise"):
        assert encode(cast([np.nan, np.inf, -0.0, 2.0**-24], FP16), FP16).tolist() == [0x7FFF, 0x7C00, 0x8000, 1]
