"""Casting: shapes, layouts, blocks, aliasing, types of input, and the floating-point error state."""

from fractions import Fraction
import warnings

from hypothesis import given
from hypothesis import strategies as st
import ml_dtypes
import numpy as np
import pytest

from lossscale_core import BF16, FP16, FP32, cast

from .format_table import every_format, every_row
from .oracle import same, stored, stored_array

BLOCK = 2**15
LONGDOUBLE_IS_WIDER = np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant

#: Everything that sets a floating-point flag somewhere: ties, inexact subnormals, overflow, NaN.
SMALL = [0.0, -0.0, 1e-8, -(2.0**-25), 1.1e-40, 5e-324, 1e-310, 3e-39]
LARGE = [65519.999, -65520.0, 1e38, 3.5e38, -1e300]
NASTY = np.array([*SMALL, 0.1, *LARGE, np.inf, -np.inf, np.nan, -np.nan])
with np.errstate(over="ignore"):
    NASTY_FLOAT32 = NASTY.astype(np.float32)

INTEGERS = [0, 1, -1, 2049, -2051, 65519, 65520, 16842753, 2**53 + 1, -(2**53) - 1, 2**60 + 2**36 + 1, 2**60 + 2**36]


def gradients_like(shape):
    return np.random.default_rng(1).normal(size=shape) * 1e-6


def as_float64(values):
    # Signalling NaN among them sets the flag for invalid operations.
    with np.errstate(invalid="ignore"):
        return values.astype(np.float64)


@every_format
@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1,), (2, 3), (2, 0, 4), (3, 1, 2, 2)])
def test_the_result_has_the_shape_of_the_input(fmt, shape):
    values = gradients_like(shape)
    result = cast(values, fmt)
    assert isinstance(result, np.ndarray)
    assert result.shape == shape
    assert same(result, stored_array(values, fmt))


@every_format
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_layouts(fmt, dtype):
    base = gradients_like((6, 8)).astype(dtype)
    read_only = base.copy()
    read_only.flags.writeable = False
    layouts = {
        "every second": base[:, ::2],
        "backwards": base[::-1, ::-1],
        "transposed": base.T,
        "Fortran order": np.asfortranarray(base),
        "read only": read_only,
        "broadcast": np.broadcast_to(base[0], (3, 8)),
        "swapped bytes": base.astype(base.dtype.newbyteorder()),
    }
    for name, values in layouts.items():
        assert same(cast(values, fmt), stored_array(values, fmt)), name


@every_format
@pytest.mark.parametrize("values", [0.1, [0.1, -3e-8], ((0.1, 0.2), (0.3, 0.4)), np.float64(0.1), np.float32(0.1)])
def test_scalars_and_lists(fmt, values):
    assert same(cast(values, fmt), stored_array(np.array(values), fmt))


@every_format
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64])
def test_the_result_is_new_and_the_input_unchanged(fmt, dtype):
    values = np.array([0, 1, -3, 100, 2049], dtype)
    before = values.tobytes()
    result = cast(values, fmt)
    assert not np.shares_memory(result, values)
    assert result.flags.writeable
    result[...] = 7
    assert values.tobytes() == before


@every_format
@pytest.mark.parametrize("size", [1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 1])
def test_blocks_leave_no_seam(fmt, size):
    values = np.resize(NASTY_FLOAT32, size)
    one_by_one = np.concatenate([cast(values[start : start + 1000], fmt) for start in range(0, size, 1000)])
    assert same(cast(values, fmt), one_by_one)


@every_format
@pytest.mark.parametrize("values", [NASTY_FLOAT32, NASTY], ids=["float32", "float64"])
def test_no_warning_whatever_numpy_is_told_about_errors(fmt, values):
    for how in ("warn", "raise"):
        with warnings.catch_warnings(), np.errstate(all=how):
            warnings.simplefilter("error")
            assert same(cast(values, fmt), stored_array(values, fmt))


@every_format
def test_the_error_state_stays_as_it_was(fmt):
    with np.errstate(divide="raise", over="print", under="warn", invalid="ignore"):
        before = np.geterr()
        cast(NASTY, fmt)
        assert np.geterr() == before


@every_format
def test_integers_beyond_float64(fmt):
    for value in [*INTEGERS, np.iinfo(np.int64).min, np.iinfo(np.int64).max]:
        assert same(cast(np.array([value]), fmt), [stored(Fraction(int(value)), fmt)])
    for value in (np.iinfo(np.uint64).max, 2**63, 2**63 + 2**39, 2**63 + 2**39 + 1):
        assert same(cast(np.array([value], np.uint64), fmt), [stored(Fraction(int(value)), fmt)])


@every_format
@given(values=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8))
def test_any_int64_rounds_as_its_exact_value(fmt, values):
    assert same(cast(np.array(values, np.int64), fmt), [stored(Fraction(value), fmt) for value in values])


@every_format
@given(values=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=8))
def test_any_uint64_rounds_as_its_exact_value(fmt, values):
    assert same(cast(np.array(values, np.uint64), fmt), [stored(Fraction(value), fmt) for value in values])


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4"])
@every_format
def test_ends_of_narrow_integers(fmt, dtype):
    info = np.iinfo(dtype)
    ends = np.array([info.min, -1 if info.min else 1, 0, 1, info.max], dtype)
    assert same(cast(ends, fmt), [stored(Fraction(int(value)), fmt) for value in ends])


def test_integer_scalars():
    assert same(cast(-3, FP16), -3.0)
    assert same(cast(np.int64(2**53 + 1), FP32), 2.0**53)


@every_format
def test_booleans_are_zero_and_one(fmt):
    assert same(cast([True, False], fmt), [1.0, 0.0])


@every_format
def test_every_float16_as_input(fmt):
    values = np.arange(2**16).astype(np.uint16).view(np.float16)
    with np.errstate(all="raise"):
        result = cast(values, fmt)
    wide = as_float64(values)
    assert same(result, cast(wide, fmt))
    assert same(result[::977], stored_array(wide[::977], fmt))


@every_format
def test_every_bfloat16_of_ml_dtypes_as_input(fmt):
    values = np.arange(2**16).astype(np.uint16).view(ml_dtypes.bfloat16)
    wide = as_float64(values)
    assert same(cast(values, fmt), cast(wide, fmt))
    assert same(cast(values[::977], fmt), stored_array(wide[::977], fmt))


@every_row
def test_a_format_of_ml_dtypes_comes_back_unchanged(facts):
    values = np.arange(min(2**facts.fmt.bits, 2**16)).astype(f"u{np.dtype(facts.dtype).itemsize}").view(facts.dtype)
    expected = as_float64(values)
    if not facts.fmt.has_inf:
        expected[np.isinf(expected)] = np.nan
    assert same(cast(values, facts.fmt), expected)


@pytest.mark.skipif(not LONGDOUBLE_IS_WIDER, reason="long double is float64 here")
@every_format
@given(near=st.floats(min_value=-1e300, max_value=1e300), rest=st.integers(-3, 3))
def test_a_long_double_rounds_once(fmt, near, rest):
    value = np.longdouble(near) * (1 + rest * np.finfo(np.longdouble).eps)
    exact = Fraction(*value.as_integer_ratio())
    assert same(cast(np.array([value]), fmt), [stored(exact if exact else near, fmt)])


@pytest.mark.skipif(not LONGDOUBLE_IS_WIDER, reason="long double is float64 here")
@every_format
def test_long_doubles_at_ties_of_the_format(fmt):
    hair = np.finfo(np.longdouble).eps
    for tie in (fmt.min_subnormal / 2, fmt.min_normal - fmt.min_subnormal / 2, float(fmt.overflow.value)):
        for factor in (1 - hair, np.longdouble(1), 1 + hair):
            value = np.longdouble(tie) * factor
            exact = Fraction(*value.as_integer_ratio())
            assert same(cast(np.array([value, -value]), fmt), [stored(exact, fmt), stored(-exact, fmt)])


@pytest.mark.skipif(not LONGDOUBLE_IS_WIDER, reason="long double is float64 here")
@every_format
def test_long_doubles_beyond_float64(fmt):
    huge, tiny = np.ldexp(np.longdouble(1), 16000), np.ldexp(np.longdouble(1), -16000)
    values = np.array([huge, -huge, tiny, -tiny, np.inf, np.nan, 0.0, -0.0], np.longdouble)
    expected = stored_array([1e300, -1e300, 1e-300, -1e-300, np.inf, np.nan, 0.0, -0.0], fmt)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        assert same(cast(values, fmt), expected)
        assert same(cast(values.reshape(2, 4).T, fmt), expected.reshape(2, 4).T)


def test_a_memory_map_is_read_without_being_changed(tmp_path):
    path = tmp_path / "g.npy"
    np.save(path, gradients_like(100).astype(np.float32))
    mapped = np.load(path, mmap_mode="r")
    assert type(cast(mapped, BF16)) is np.ndarray
    assert same(cast(mapped, BF16), stored_array(mapped, BF16))
