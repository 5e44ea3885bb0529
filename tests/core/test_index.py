"""The index: outcomes at any scale, against casting each gradient by the oracle's exact fractions."""

from collections import Counter
from fractions import Fraction
import math

from hypothesis import given, settings
from hypothesis import strategies as st
import ml_dtypes
import numpy as np
import pytest

from lossscale_core import (
    BF16,
    FORMATS,
    FP16,
    InputError,
    MagnitudeIndex,
    Outcome,
    UnitedIndex,
    count_outcomes,
    safe_window,
)
from lossscale_core import index as index_module

from .format_table import every_format
from .oracle import outcome
from .strategies import near_codes

DTYPES = {"float16": np.float16, "float32": np.float32, "float64": np.float64, "bfloat16": ml_dtypes.bfloat16}
every_dtype = pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan]


def tally(gradients, scale, fmt):
    counted = Counter(outcome(float(g), scale, fmt) for g in gradients)
    return {member: counted[member.name] for member in Outcome}


def borders(fmt, scale, dtype):
    """Gradients that a scale brings to the cuts of a format, and their neighbours in their own type."""
    with np.errstate(all="ignore"):
        near = [
            np.array(float(cut.value / Fraction(scale)), dtype)
            for cut in (fmt.survival, fmt.full_precision, fmt.overflow)
        ]
        steps = [np.nextafter(value, np.array(end, dtype)) for value in near for end in (0, math.inf)]
    return np.array([*near, *steps, *SPECIAL], dtype).reshape(-1)


@every_format
@every_dtype
@given(data=st.data())
@settings(max_examples=15)
def test_counts_at_the_borders_at_any_scale(fmt, dtype, data):
    scale = data.draw(
        st.integers(-40, 40).map(lambda k: 2.0**k) | st.floats(2.0**-40, 2.0**40) | st.sampled_from((3, Fraction(1, 7)))
    )
    other = data.draw(st.sampled_from((scale, 2 * scale, 0.25)))
    gradients = np.concatenate([borders(fmt, s, dtype) for s in (scale, other)])
    index = MagnitudeIndex(gradients)
    assert index.counts(scale, fmt) == tally(gradients, scale, fmt)
    assert (index.size, index.zeros, index.nonfinite) == (
        gradients.size,
        sum(float(g) == 0 for g in gradients),
        sum(not math.isfinite(float(g)) for g in gradients),
    )


@every_format
@given(gradients=st.lists(near_codes(FP16) | near_codes(BF16) | st.sampled_from(SPECIAL), max_size=8))
@settings(max_examples=20)
def test_the_curve_is_the_counts_at_every_scale(fmt, gradients):
    scales = range(-40, 41)
    curve = MagnitudeIndex(gradients).curve(fmt, scales)
    assert curve.shape == (81, len(Outcome))
    for k, row in zip(scales, curve, strict=True):
        assert dict(zip(Outcome, row.tolist(), strict=True)) == tally(gradients, 2.0**k, fmt)


@every_dtype
def test_many_gradients_against_a_cast(dtype, monkeypatch):
    """Enough of them to be sorted in parts; the oracle is the narrow type's own cast."""
    monkeypatch.setattr(index_module, "_SORTED_AT_ONCE", 1 << 17)
    draw = np.random.default_rng(4)
    gradients = (np.exp2(draw.uniform(-40, 20, 1_000_003)) * draw.choice([-1, 1], 1_000_003)).astype(dtype)
    gradients[::1000] = 0
    gradients[1::1000] = math.nan
    shares = []
    index = MagnitudeIndex(gradients, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(shares) > 2
    wide = gradients.astype(np.float32) if np.dtype(dtype).itemsize < 4 else gradients
    for k in (-3, 0, 11):
        with np.errstate(all="ignore"):
            stored = np.abs((wide * wide.dtype.type(2.0**k)).astype(np.float16))
        counts = index.counts(2.0**k, FP16)
        alive = np.isfinite(wide) & (wide != 0)
        assert counts[Outcome.UNDERFLOW] == np.count_nonzero((stored == 0) & alive)
        assert counts[Outcome.OVERFLOW] == np.count_nonzero(np.isinf(stored) & alive)
        assert counts[Outcome.NORMAL] == np.count_nonzero((stored >= 2.0**-14) & np.isfinite(stored))
        assert sum(counts.values()) == gradients.size
    assert index.safe_window(FP16) == safe_window(gradients, FP16)


def test_progress_can_end_the_work():
    class EndedError(Exception):
        pass

    def end(share):
        if share > 0.3:
            raise EndedError

    with pytest.raises(EndedError):
        MagnitudeIndex(np.ones((1 << 24) + 1, np.float32), progress=end)


@every_dtype
def test_octaves(dtype):
    gradients = np.array([0, 1, 1.5, -1.99, 2, 8, -8, 2.0**-10, math.inf, math.nan], dtype)
    first, counts = MagnitudeIndex(gradients).octaves()
    assert (first, counts.tolist()) == (-10, [1, *[0] * 9, 3, 1, 0, 2])


@given(gradients=st.lists(st.floats(width=32), min_size=1, max_size=9))
def test_octaves_hold_every_finite_nonzero_magnitude(gradients):
    index = MagnitudeIndex(np.array(gradients, np.float32))
    first, counts = index.octaves()
    expected = Counter(math.frexp(g)[1] - 1 for g in gradients if g and math.isfinite(g))
    assert {first + place: count for place, count in enumerate(counts.tolist()) if count} == expected


@pytest.mark.parametrize("gradients", [[], [0.0], [math.nan, 0.0]])
def test_nothing_alive(gradients):
    index = MagnitudeIndex(gradients)
    assert index.octaves()[1].size == 0
    assert index.safe_window(FP16) == safe_window(gradients, FP16)
    assert sum(index.counts(8, FP16).values()) == len(gradients)
    with pytest.raises(IndexError):
        index.magnitude(0)


@every_dtype
def test_magnitudes_by_rank(dtype):
    gradients = np.array([3, -1, 0, 2, math.nan, -5, 0.5, 3, -math.inf], dtype)
    index = MagnitudeIndex(gradients)
    assert [index.magnitude(rank) for rank in range(index.alive)] == [0.5, 1, 2, 3, 3, 5]
    for rank in (-1, 6):
        with pytest.raises(IndexError):
            index.magnitude(rank)


@given(
    gradients=st.lists(st.floats(2.0**-60, 2.0**30, width=32), min_size=1, max_size=12),
    losing=st.sampled_from((0, 0.01, 0.1, 0.25, Fraction(1, 3), 0.5, 0.99)),
)
def test_a_window_that_may_lose_a_share(gradients, losing):
    survive = MagnitudeIndex(np.array(gradients, np.float32)).safe_window(FP16, losing=losing).survive
    for end in (survive.lower, survive.upper):
        for scale in (end * (1 - Fraction(1, 2**80)), end, end * (1 + Fraction(1, 2**80))):
            counts = tally(gradients, scale, FP16)
            allowed = counts[Outcome.UNDERFLOW] <= Fraction(losing) * len(gradients)
            assert (scale in survive) == (allowed and counts[Outcome.OVERFLOW] == 0)


@pytest.mark.parametrize("losing", [-0.1, 1, 2.5, math.nan, "0.1"])
def test_a_share_that_is_none(losing):
    with pytest.raises(InputError, match="A share that may be lost is a number from 0 up to but not 1"):
        MagnitudeIndex([1.0]).safe_window(FP16, losing=losing)


@every_format
@given(data=st.data())
@settings(max_examples=40)
def test_with_the_product_in_float32(fmt, data):
    """Against numpy's own float32 multiplication, and the oracle's cast of its result."""
    scale = np.float32(data.draw(st.floats(2.0**-30, 2.0**30, width=32)))
    gradients = borders(fmt, float(scale), np.float32)
    with np.errstate(all="ignore"):
        products = gradients * scale

    # What the product makes infinite or 0 was neither before.
    def became(gradient, product):
        if not math.isfinite(gradient) or gradient == 0:
            return outcome(float(gradient), 1, fmt)
        if product == 0:
            return "UNDERFLOW"
        return outcome(float(product), 1, fmt) if math.isfinite(product) else "OVERFLOW"

    expected = Counter(became(g, p) for g, p in zip(gradients, products, strict=True))
    for counts in (
        MagnitudeIndex(gradients).counts(float(scale), fmt, product="float32"),
        count_outcomes(gradients, float(scale), fmt, product="float32"),
    ):
        assert {member.name: count for member, count in counts.items() if count} == expected


@pytest.mark.parametrize("fmt", FORMATS.values(), ids=FORMATS)
def test_another_kind_of_product_is_refused(fmt):
    with pytest.raises(InputError, match="“float16” is not known"):
        count_outcomes([1.0], 2, fmt, product="float16")


@given(
    parts=st.lists(
        st.tuples(st.sampled_from(list(DTYPES.values())), st.lists(near_codes(FP16) | st.sampled_from(SPECIAL))),
        min_size=1,
        max_size=4,
    ),
    fmt=st.sampled_from(list(FORMATS.values())),
)
@settings(max_examples=60)
def test_arrays_of_several_types_together(parts, fmt):
    with np.errstate(all="ignore"):
        arrays = [np.array(values, dtype) for dtype, values in parts]
        united = UnitedIndex([MagnitudeIndex(array) for array in arrays])
        every = np.concatenate([array.astype(np.float64) for array in arrays])
        one = MagnitudeIndex(every)
    assert [united.size, united.zeros, united.nonfinite] == [one.size, one.zeros, one.nonfinite]
    assert united.counts(2.0**3, fmt) == tally(every, 2.0**3, fmt)
    assert np.array_equal(united.curve(fmt, range(-9, 9)), one.curve(fmt, range(-9, 9)))
    magnitudes = sorted(abs(g) for g in every.tolist() if g and math.isfinite(g))
    assert [united.magnitude(rank) for rank in range(united.alive)] == magnitudes
    assert (united.octaves()[0], united.octaves()[1].tolist()) == (one.octaves()[0], one.octaves()[1].tolist())
    assert united.safe_window(fmt, losing=0.25) == one.safe_window(fmt, losing=0.25)
