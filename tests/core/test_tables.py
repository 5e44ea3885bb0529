"""Outcome tables, recovered values and splitting: against rounding every row exactly."""

from fractions import Fraction
import math

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from lossscale_core import E4M3, FP16, FP32, InputError, Outcome, cast, classify, outcome_table, recovered
from lossscale_core.tables import cast_octaves, split

from .format_table import every_format, every_row
from .oracle import code_of, outcome, power, same, stored
from .strategies import positive_fractions

SIGNIFICANDS = {
    "1": 1,
    "1.5": 1.5,
    "1.75": 1.75,
    "1+2^-10": 1 + 2.0**-10,
    "1+2^-11": 1 + 2.0**-11,
    "1+2^-52": 1 + 2.0**-52,
    "2-2^-52": 2 - 2.0**-52,
    "1.1": 1.1,
    "1.1*1.3": Fraction(1.1) * Fraction(1.3),
    "1+2^-11+2^-200": 1 + power(-11) + power(-200),
    "2-2^-200": 2 - power(-200),
}


def rows_of_interest(fmt):
    """All octaves of a format, and some on either side."""
    return range(fmt.min_subnormal_exponent - 5, fmt.max_exponent + 5)


@every_format
@pytest.mark.parametrize("significand", SIGNIFICANDS.values(), ids=SIGNIFICANDS)
def test_every_row_is_what_the_exact_value_rounds_to(fmt, significand):
    table = outcome_table(significand, fmt, rows_of_interest(fmt))
    values = [Fraction(significand) * power(n) for n in table.exponents]
    assert same(table.stored, [stored(value, fmt) for value in values])
    assert [Outcome(code).name for code in table.outcome] == [outcome_of(value, fmt) for value in values]
    stays = np.flatnonzero(table.outcome != Outcome.OVERFLOW)
    assert [table.code[i] for i in stays] == [code_of(values[i], fmt) for i in stays]
    assert table.kept_bits.tolist() == [kept_bits(value, fmt) for value in values]


def outcome_of(value, fmt):
    return outcome(1.0, value, fmt)


def kept_bits(value, fmt):
    """Significant bits at the stored value: from its leading bit down to the last place of the format."""
    code = code_of(value, fmt)
    if code > fmt.max_code:
        return 0
    return code.bit_length() if code < 1 << fmt.mantissa_bits else fmt.mantissa_bits + 1


@every_format
def test_what_a_table_says_about_itself(fmt):
    table = outcome_table(1.1, fmt, range(-3, 4))
    assert table.significand == Fraction(1.1)
    assert table.fmt == fmt
    assert table.exponents == range(-3, 4)
    dtypes = (table.outcome.dtype, table.stored.dtype, table.code.dtype, table.kept_bits.dtype)
    assert dtypes == (np.int8, np.float64, np.int64, np.int8)


@every_row
def test_overflow_has_the_code_of_inf_or_nan(facts):
    table = outcome_table(1.5, facts.fmt, range(200, 203))
    if facts.fmt.has_inf:
        assert (table.code == facts.fmt.max_code + 1).all()
        assert np.isinf(table.stored).all()
    else:
        assert np.isnan(table.stored).all()
    if facts.nan_codes:
        theirs = table.code.astype(f"u{np.dtype(facts.dtype).itemsize}").view(facts.dtype).astype(np.float64)
        assert same(theirs, table.stored)


@every_format
@pytest.mark.parametrize("significand", [1, 2 - power(-200)], ids=["1", "2-2^-200"])
def test_octaves_far_outside_of_any_format(fmt, significand):
    for octave in (200, 999, 1000, 1023, 1024, 1074, 2000, 10**9):
        below, above = (outcome_table(significand, fmt, range(n, n + 2)) for n in (-octave, octave))
        assert (below.outcome == Outcome.UNDERFLOW).all()
        assert (above.outcome == Outcome.OVERFLOW).all()
        assert not below.kept_bits.any()
        assert not above.kept_bits.any()


@every_format
@pytest.mark.parametrize("significand", [1.0, 1.1])
def test_a_table_and_classify_agree(fmt, significand):
    table = outcome_table(significand, fmt, rows_of_interest(fmt))
    for n, code in zip(table.exponents, table.outcome, strict=True):
        assert classify([significand], power(n), fmt).tolist() == [code]


@every_format
def test_the_stored_ratio_is_exact(fmt):
    table = outcome_table(1.1, fmt, rows_of_interest(fmt))
    for index, n in enumerate(table.exponents):
        ratio = table.stored_ratio(index)
        if table.outcome[index] == Outcome.OVERFLOW:
            assert ratio is None
        else:
            assert ratio == Fraction(stored(Fraction(1.1) * power(n), fmt)) / power(n)


def test_an_empty_range_gives_an_empty_table():
    table = outcome_table(1.5, FP16, range(0))
    assert [len(c) for c in (table.outcome, table.stored, table.code, table.kept_bits)] == [0, 0, 0, 0]


def test_the_boundaries_of_fp16():
    one, more = (outcome_table(m, FP16, range(-26, -22)) for m in (1.0, 1 + 2.0**-52))
    assert [Outcome(c).name for c in one.outcome] == ["UNDERFLOW", "UNDERFLOW", "SUBNORMAL", "SUBNORMAL"]
    assert [Outcome(c).name for c in more.outcome] == ["UNDERFLOW", "SUBNORMAL", "SUBNORMAL", "SUBNORMAL"]
    assert one.kept_bits.tolist() == [0, 0, 1, 2]
    assert one.code.tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize("significand", [0, 0.999, 2, -1.5, math.nan, math.inf, Fraction(1, 2), Fraction(2)], ids=str)
def test_a_significand_outside_one_to_two_is_refused_and_quoted(significand):
    with pytest.raises(InputError) as caught:
        outcome_table(significand, FP16, range(3))
    assert str(caught.value) == f"A significand lies in [1, 2): “{significand}” does not."


@pytest.mark.parametrize("exponents", [range(0, 10, 2), range(3, 0, -1)])
def test_exponents_with_gaps_are_refused_and_quoted(exponents):
    with pytest.raises(InputError) as caught:
        outcome_table(1.5, FP16, exponents)
    assert f"“{exponents}”" in str(caught.value)


@every_format
@given(factor=st.fractions(min_value=Fraction(1, 1024), max_value=1024), first=st.integers(-200, 200))
def test_cast_octaves_rounds_each_product_once(fmt, factor, first):
    exponents = range(first, first + 3)
    assert same(cast_octaves(factor, fmt, exponents), [stored(factor * power(n), fmt) for n in exponents])


@every_format
@given(magnitude=positive_fractions, scale=st.floats(2.0**-40, 2.0**40) | positive_fractions)
def test_recovered_divides_and_rounds_once(fmt, magnitude, scale):
    value = stored(magnitude, FP16)
    if math.isfinite(value):
        assert same(recovered(value, scale, fmt), stored(Fraction(value) / Fraction(scale), fmt))
        assert same(recovered(-value, scale, fmt), stored(-Fraction(value) / Fraction(scale), fmt))


@pytest.mark.parametrize("scale", [1000.0, 1024.0, 3.0, 1024000.0, 0.3])
def test_recovered_is_the_float32_quotient_of_numpy(scale):
    scale = float(np.float32(scale))
    values = np.arange(1, 0x7C00, 97, dtype=np.uint16).view(np.float16)
    expected = values.astype(np.float32) / np.float32(scale)
    assert same([recovered(value, scale) for value in values], expected)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_stays_what_it_is(value):
    assert same(recovered(value, 8), value)


@pytest.mark.parametrize("scale", [5e-324, 1e-300, Fraction(1, 10**400)])
def test_a_tiny_scale_overflows(scale):
    assert recovered(65504.0, scale) == math.inf
    assert recovered(-65504.0, scale) == -math.inf
    assert math.isnan(recovered(65504.0, scale, E4M3))


@pytest.mark.parametrize("fmt", [FP16, E4M3])
def test_recovered_takes_what_cast_returns(fmt):
    result = recovered(cast([2.0], fmt)[0], 1024)
    assert type(result) is float
    assert result == 2.0**-9


def test_recovered_in_fp32_by_default():
    assert recovered(1.0, 3) == recovered(1.0, 3, FP32) == float(np.float32(1) / np.float32(3))


@given(st.floats(min_value=5e-324, allow_infinity=False) | positive_fractions)
def test_split_gives_significand_and_exponent(value):
    significand, exponent = split(value)
    assert 1 <= significand < 2
    assert significand * power(exponent) == Fraction(value)
