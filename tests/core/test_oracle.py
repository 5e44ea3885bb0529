"""The oracle itself: against an exhaustive search, and against what other people's code says."""

from fractions import Fraction
import math
import struct

from hypothesis import given
import numpy as np
import pytest

from lossscale_core import FP32

from .format_table import F16, FACTS, every_row
from .oracle import code_of, outcome, overflow_value, same, stored, values_of, works
from .strategies import finite_float64s


@pytest.mark.parametrize("fmt", [row.fmt for row in FACTS if row.fmt.bits <= 8], ids=lambda fmt: fmt.name)
def test_code_of_finds_the_nearest_point_that_an_exhaustive_search_finds(fmt):
    grid = values_of(np.arange(fmt.max_code + 2), fmt)
    for eighths in range(8):
        for value in grid[:-1] + np.diff(grid) * (eighths / 8):
            distance = np.abs(grid - value)
            nearest = np.flatnonzero(distance == distance.min())
            even = nearest[nearest % 2 == 0]
            assert code_of(Fraction(float(value)), fmt) == (nearest[0] if nearest.size == 1 else even[0])


@every_row
def test_values_of_codes_are_those_of_the_other_library(facts):
    codes = np.arange(min(facts.fmt.max_code, 2**16) + 1)
    bits = 8 * np.dtype(facts.dtype).itemsize
    theirs = codes.astype(f"u{bits // 8}").view(facts.dtype)
    assert same(values_of(codes, facts.fmt), theirs.astype(np.float64))


@given(finite_float64s)
def test_stored_agrees_with_the_half_precision_of_struct(value):
    try:
        (expected,) = struct.unpack("<e", struct.pack("<e", value))
    except OverflowError:
        expected = math.copysign(math.inf, value)
    assert same(stored(value, F16), expected)


@given(finite_float64s)
def test_stored_agrees_with_numpy_for_float32(value):
    with np.errstate(all="ignore"):
        assert same(stored(value, FP32), np.float32(value))


@every_row
def test_stored_gives_the_measured_ties(facts):
    tie = stored(facts.overflow_tie, facts.fmt)
    assert same(tie, overflow_value(facts.fmt) if facts.overflow_closed else facts.max_finite)
    assert stored(facts.underflow_tie, facts.fmt) == 0
    assert stored(math.nextafter(facts.underflow_tie, 1), facts.fmt) == facts.min_subnormal


def test_outcome_names_what_a_value_is_stored_as():
    gradients = [0.0, 2.0**-26, 2.0**-24, 2.0**-14, 65520.0, math.inf, math.nan]
    names = ["ZERO", "UNDERFLOW", "SUBNORMAL", "NORMAL", "OVERFLOW", "NONFINITE", "NONFINITE"]
    assert [outcome(gradient, 1, F16) for gradient in gradients] == names
    assert works([0.0, 2.0**-24, math.nan], 1, F16)
    assert not works([2.0**-24], 1, F16, full_precision=True)
