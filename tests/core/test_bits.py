"""Bit patterns: views without a copy, and cuts found among them by exact fractions."""

from fractions import Fraction
import math

from hypothesis import given
from hypothesis import strategies as st
import ml_dtypes
import numpy as np
import pytest

from lossscale_core import BF16, E4M3, E5M2, FP16, FP32, FP64, Cut, InputError, bit_patterns
from lossscale_core.bits import after_rounding, blocks, last_code_below

from .format_table import every_format
from .oracle import code_of, values_of
from .strategies import near_codes, positive_fractions

WIDTHS = {np.float16: FP16, np.float32: FP32, np.float64: FP64}


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 3, 4)])
def test_floats_are_viewed_not_copied(dtype, shape):
    values = np.full(shape, -1.5, dtype)
    patterns, fmt = bit_patterns(values)
    assert fmt == WIDTHS[dtype]
    assert np.shares_memory(patterns, values) or values.size == 0
    assert patterns.shape == shape
    assert set(patterns.reshape(-1).tolist()) <= {(1 << (fmt.bits - 1)) | code_of(Fraction(3, 2), fmt)}


def test_bfloat16_is_viewed_and_other_types_are_widened():
    values = np.array([1.5, -2.0], ml_dtypes.bfloat16)
    patterns, fmt = bit_patterns(values)
    assert (fmt, patterns.dtype) == (BF16, np.uint16)
    assert np.shares_memory(patterns, values)
    for other in (
        [1.5, -2.0],
        np.array([1.5, -2.0], ">f4"),
        np.array([1.5, -2.0], np.longdouble),
        np.array([1.5, -2.0], ml_dtypes.float8_e5m2),
        np.array([1.5, -2.0], ">f2"),
    ):
        patterns, fmt = bit_patterns(other)
        assert values_of(patterns & patterns.dtype.type((1 << (fmt.bits - 1)) - 1), fmt).tolist() == [1.5, 2.0]


@pytest.mark.parametrize(
    ("values", "stored"),
    [
        (np.array([1.5], np.float32), BF16),
        (np.array([1], np.int16), BF16),
        (np.array([1], np.uint32), BF16),
        (np.array([1], ">u2"), FP16),
        (np.array([1], np.uint16), E4M3),
    ],
)
def test_what_cannot_be_patterns_is_refused(values, stored):
    with pytest.raises(InputError, match=f"Bit patterns of {stored.label} must be unsigned integers"):
        bit_patterns(values, stored)


LAYOUTS = {
    "plain": lambda a: a,
    "Fortran": lambda a: np.asfortranarray(a),
    "transposed": lambda a: a.T,
    "strided": lambda a: a[::2, 1:],
    "reversed": lambda a: a[::-1, ::-1],
    "repeated": lambda a: np.broadcast_to(a[0], (5, 8)),
    "one dimension, strided": lambda a: a.reshape(-1)[::3],
    "empty": lambda a: a[:0],
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_blocks_hold_every_element_once(layout, size):
    array = layout(np.arange(56, dtype=np.uint32).reshape(7, 8))
    pieces = list(blocks(array, size))
    assert all(piece.ndim == 1 and 0 < piece.size <= size for piece in pieces)
    assert sorted(np.concatenate([[], *pieces]).tolist()) == sorted(array.reshape(-1).tolist())


@pytest.mark.parametrize("source", [FP16, BF16, E5M2, E4M3, FP32, FP64], ids=lambda fmt: fmt.name)
@given(data=st.data())
def test_the_last_code_below_a_cut(source, data):
    value = data.draw(positive_fractions | near_codes(source).map(abs).filter(bool).map(Fraction))
    included = data.draw(st.booleans())
    code = last_code_below(Cut(value, included), source)

    def below(code):
        point = Fraction(float(values_of(np.array(code), source)))
        return point < value or (point == value and not included)

    assert 0 <= code <= source.max_code
    assert below(code)
    assert code == source.max_code or not below(code + 1)


@every_format
@given(data=st.data())
def test_a_cut_after_rounding_to_float32(fmt, data):
    cut = data.draw(st.sampled_from((fmt.survival, fmt.full_precision, fmt.overflow)))
    moved = after_rounding(cut, FP32)
    step = data.draw(st.sampled_from((Fraction(0), Fraction(1, 2**90), Fraction(1, 2**25), Fraction(1, 2**23))))
    value = data.draw(st.sampled_from((cut.value, moved.value))) * (1 + data.draw(st.sampled_from((1, -1))) * step)
    rounded = code_of(value, FP32)
    point = Fraction(float(values_of(np.array(rounded), FP32))) if rounded <= FP32.max_code else math.inf
    assert (value > moved.value or (value == moved.value and moved.included)) == (
        point > cut.value or (point == cut.value and cut.included)
    )
