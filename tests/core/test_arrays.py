"""What counts as gradients: accepted types keep their values, everything else is refused by name."""

from hypothesis import given
from hypothesis import strategies as st
import ml_dtypes
import numpy as np
import pytest

from lossscale_core import FP16, InputError, as_gradients, cast, classify, safe_window

from .oracle import same

REFUSED = {
    "complex": np.array([1 + 1j]),
    "None": None,
    "objects": np.array([1.0, None], object),
    "huge integers": [10**400],
    "text": ["1e-9"],
    "one text": "1e-9",
    "bytes": np.array([b"1"]),
    "dates": np.array(["2020-01-01"], "M8[D]"),
    "spans of time": np.array([3], "m8[s]"),
    "records": np.zeros(2, [("a", "f4")]),
    "raw bytes": np.zeros(2, "V4"),
}


@pytest.mark.parametrize(
    ("given_dtype", "kept_as"),
    [
        ("f2", "f4"),
        ("f4", "f4"),
        ("f8", "f8"),
        (">f4", "f4"),
        (">f8", "f8"),
        ("i2", "f8"),
        ("u8", "f8"),
        ("?", "f8"),
        (ml_dtypes.bfloat16, "f4"),
        (ml_dtypes.float8_e4m3fn, "f4"),
        (ml_dtypes.float4_e2m1fn, "f4"),
    ],
)
def test_the_float_type_that_is_kept(given_dtype, kept_as):
    values = np.array([0, 1, 1], given_dtype)
    kept = as_gradients(values)
    assert kept.dtype == np.dtype(kept_as)
    assert kept.dtype.isnative
    assert kept.tolist() == [0, 1, 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_native_floats_are_not_copied(dtype):
    values = np.zeros(3, dtype)
    assert np.shares_memory(as_gradients(values), values)


@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (2, 0)])
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.longdouble, bool])
def test_shapes_stay(shape, dtype):
    assert as_gradients(np.ones(shape, dtype)).shape == shape


@given(st.lists(st.integers(-(2**53), 2**53), min_size=1))
def test_integers_up_to_53_bits_are_exact(values):
    assert as_gradients(np.array(values, np.int64)).tolist() == values


@given(st.integers(2**53, 2**64 - 1))
def test_longer_integers_are_rounded_to_odd(value):
    kept = int(as_gradients(np.array([value], np.uint64))[0])
    assert abs(kept - value) < 2**11
    assert kept == value or kept % 2**12 == 2**11


def test_the_ends_of_int64():
    ends = np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max])
    assert as_gradients(ends).tolist() == [-(2.0**63), 2.0**63 - 2.0**11]


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="long double is float64 here")
def test_long_doubles_are_rounded_to_odd():
    eps = np.finfo(np.longdouble).eps
    kept = as_gradients(np.array([1 + eps, 1 - eps / 2, np.longdouble(1), -1 - eps, np.nan, -np.inf]))
    ulp = 2.0**-52
    assert same(kept, [1 + ulp, 1 - ulp / 2, 1.0, -1 - ulp, np.nan, -np.inf])


@pytest.mark.parametrize(
    "function", [lambda v: cast(v, FP16), lambda v: classify(v, 1, FP16), lambda v: safe_window(v, FP16)]
)
@pytest.mark.parametrize("values", REFUSED.values(), ids=REFUSED)
def test_what_is_no_real_number_is_refused_and_named(values, function):
    with pytest.raises(InputError) as caught:
        function(values)
    assert f"“{np.asarray(values).dtype}”" in str(caught.value)


def test_a_ragged_list_is_refused_and_quoted():
    with pytest.raises(InputError, match=r"“\[\[1\.0\], \[2\.0, 3\.0\]\]”"):
        as_gradients([[1.0], [2.0, 3.0]])
