"""Formats: every threshold that is derived from a few integers, against the measured table."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from lossscale_core import FORMATS, FP16

from .format_table import FACTS, OWN, every_format
from .oracle import values_of

table_row = pytest.mark.parametrize("row", FACTS, ids=lambda row: row.fmt.name)


def test_the_table_has_all_thirteen_formats():
    assert len({row.fmt.name for row in FACTS}) == 13


@table_row
def test_largest_and_smallest_values(row):
    assert row.fmt.max_finite == row.max_finite
    assert row.fmt.min_normal == row.min_normal
    assert row.fmt.min_subnormal == row.min_subnormal


@table_row
def test_overflow_cut(row):
    assert row.fmt.overflow.value == Fraction(row.overflow_tie)
    assert row.fmt.overflow.included == row.overflow_closed


@table_row
def test_survival_cut_is_half_the_smallest_value_and_goes_to_zero(row):
    assert row.fmt.survival.value == Fraction(row.underflow_tie) == Fraction(row.min_subnormal) / 2
    assert not row.fmt.survival.included


@table_row
def test_full_precision_cut_is_half_a_step_below_the_smallest_normal_and_goes_up(row):
    assert row.fmt.full_precision.value == Fraction(row.min_normal) - Fraction(row.min_subnormal) / 2
    assert row.fmt.full_precision.included


@table_row
def test_nan_codes(row):
    if row.nan_codes is not None:
        assert row.fmt.nan_codes == row.nan_codes
        codes = np.arange(2**row.fmt.bits).astype(f"u{np.dtype(row.dtype).itemsize}").view(row.dtype)
        assert np.count_nonzero(np.isnan(codes.astype(np.float32))) == row.nan_codes


@table_row
def test_infinities_and_negative_zero_are_those_of_the_other_library(row):
    container = f"u{np.dtype(row.dtype).itemsize}"
    if row.fmt.has_inf:
        assert np.array(row.fmt.inf_code, container).view(row.dtype).astype(np.float64) == np.inf
    else:
        assert row.fmt.inf_code is None
    sign_alone = np.array(1 << (row.fmt.bits - 1), container).view(row.dtype).astype(np.float64)
    assert (sign_alone == 0) == row.fmt.negative_zero


@table_row
def test_widths(row):
    assert row.fmt.bits == 1 + row.fmt.exponent_bits + row.fmt.mantissa_bits
    assert row.fmt.significant_bits == 1 + row.fmt.mantissa_bits
    assert row.fmt.bits <= 8 * np.dtype(row.dtype).itemsize


@table_row
def test_exponents(row):
    assert 2.0**row.fmt.min_exponent == row.min_normal
    assert 2.0**row.fmt.min_subnormal_exponent == row.min_subnormal
    assert 2.0**row.fmt.max_exponent <= row.max_finite < 2 * 2.0**row.fmt.max_exponent


@every_format
def test_value_of_code(fmt):
    codes = np.unique(np.append(np.arange(min(fmt.max_code, 2**15) + 1), fmt.max_code))
    assert [fmt.value_of(int(code)) for code in codes] == values_of(codes, fmt).tolist()


@pytest.mark.parametrize("name", OWN)
def test_own_formats_are_those_of_the_table(name):
    row = next(row for row in FACTS if row.fmt.name == name)
    assert dataclasses.replace(OWN[name], name=name, label=row.fmt.label) == row.fmt


def test_formats_by_link_name():
    assert list(FORMATS) == ["fp16", "bf16", "e5m2", "e4m3"]
    assert all(name == fmt.name for name, fmt in FORMATS.items())


def test_a_format_is_a_frozen_value():
    assert len({FP16, dataclasses.replace(FP16)}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        FP16.bias = 16
