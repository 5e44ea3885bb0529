"""The numeric traps of loss scaling, one test for each by its number, with the measured right answers."""

from fractions import Fraction
import math
import warnings

import numpy as np
import pytest

from lossscale_core import (
    BF16,
    E4M3,
    FP16,
    FP32,
    InputError,
    Outcome,
    Window,
    cast,
    cast_exact,
    classify,
    count_outcomes,
    encode,
    outcome_codes,
    outcome_table,
    percent_text,
    recovered,
    safe_window,
)

from .format_table import F4_E2M1FN, F8_E4M3FNUZ
from .oracle import same

LONGDOUBLE_IS_WIDER = np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant


def outcome_name(gradient, scale, fmt=FP16):
    return classify([gradient], scale, fmt)[0].name


def stored_product(gradient, scale, fmt=FP16):
    """What the exact product of a gradient and a scale is stored as."""
    return cast_exact(Fraction(float(gradient)) * Fraction(scale), fmt)


def test_trap_01_underflow_tie_dies_and_a_hair_more_doubles():
    scaled = np.float32([2.0**-25, 2.980232594040899e-08, -(2.0**-25)])
    assert same(cast(scaled, FP16), [0.0, 2.0**-24, -0.0])
    assert [o.name for o in classify(scaled, 1, FP16)] == ["UNDERFLOW", "SUBNORMAL", "UNDERFLOW"]
    error = 2.0**-24 / Fraction(float(scaled[1])) - 1
    assert percent_text(error) == "+100%"


def test_trap_02_overflow_tie_overflows():
    scaled = np.float32([65504, 65519, 65519.996, 65520, -65520])
    assert same(cast(scaled, FP16), [65504, 65504, 65504, math.inf, -math.inf])
    assert [o.name for o in classify(scaled, 1, FP16)] == ["NORMAL"] * 3 + ["OVERFLOW"] * 2


def test_trap_03_half_a_step_below_the_smallest_normal_is_stored_as_a_normal():
    tie = 2.0**-14 - 2.0**-25
    scaled = np.array([2.0**-14 - 2.0**-24, tie, np.nextafter(tie, 0)])
    assert encode(cast(scaled, FP16), FP16).tolist() == [0x3FF, 0x400, 0x3FF]
    assert [o.name for o in classify(scaled, 1, FP16)] == ["SUBNORMAL", "NORMAL", "SUBNORMAL"]


def test_trap_04_float64_is_not_rounded_to_float32_on_the_way():
    scaled = np.array([2.0**-25 * (1 + 2.0**-30), 65519.999, 1 + 2.0**-11 + 2.0**-30])
    direct = [2.0**-24, 65504.0, 1.0009765625]
    assert same(cast(scaled, FP16), direct)
    assert not same(cast(scaled.astype(np.float32), FP16), direct)
    assert encode(cast(2.0**-14 - 2.0**-25 - 2.0**-50, FP16), FP16) == 0x3FF


def test_trap_04_integers_are_not_rounded_to_float32_on_the_way():
    assert cast(np.array([16842753]), BF16)[0] == 16908288


@pytest.mark.skipif(not LONGDOUBLE_IS_WIDER, reason="long double is float64 here")
def test_trap_04_long_doubles_are_not_rounded_to_float64_on_the_way():
    assert cast(np.ldexp(1 + np.ldexp(np.longdouble(1), -60), -25), FP16) == 2.0**-24


@pytest.mark.parametrize(
    ("scale", "gradient", "exact", "wrong"),
    [
        (3, 9.934107758624577e-09, 2.0**-24, 0.0),
        (1000, 2.980232380322967e-11, 2.0**-24, 0.0),
        (29, 2259.310302734375, 65504.0, math.inf),
        (6552000, float(np.float32(0.01)), 65504.0, math.inf),
    ],
)
def test_trap_05_the_product_is_not_rounded_to_float32(scale, gradient, exact, wrong):
    assert cast(np.float32(gradient) * np.float32(scale), FP16) == wrong
    assert stored_product(gradient, scale) == exact
    assert outcome_name(np.float32(gradient), scale) == ("NORMAL" if exact == 65504 else "SUBNORMAL")
    assert scale in safe_window(np.float32([gradient]), FP16).survive


def test_trap_06_the_type_of_the_scale_does_not_matter_only_its_value():
    gradients = np.float32([2.0**-36, 1e-8, 65519.999 / 1024.1, 63.97])
    expected = outcome_codes(gradients, Fraction(1024.1), FP16).tolist()
    assert outcome_codes(gradients, 1024.1, FP16).tolist() == expected
    assert outcome_codes(gradients, np.float64(1024.1), FP16).tolist() == expected
    single = np.float32(1024.1)
    assert same(outcome_codes(gradients, single, FP16), outcome_codes(gradients, Fraction(float(single)), FP16))
    assert same(outcome_codes(gradients, np.int64(1024), FP16), outcome_codes(gradients, 1024, FP16))


@pytest.mark.parametrize("scale", [65536.0, 65536, np.float32(65536), np.int64(65536)])
def test_trap_06_a_scale_beyond_fp16_does_not_overflow_with_fp16_gradients(scale):
    assert outcome_name(np.float16(2.0**-20), scale) == "NORMAL"


def test_trap_07_scale_first_then_cast():
    assert cast(1e-8, FP16) == 0
    assert stored_product(1e-8, 1024) == 1.0251998901367188e-05
    assert recovered(stored_product(1e-8, 1024), 1024) == 1.0011717677116394e-08
    assert outcome_name(1e-8, 1024) == "SUBNORMAL"


@pytest.mark.parametrize(
    ("gradient", "scale", "in_fp16", "in_fp32"),
    [(1e-8, 1024, 0.0, 1.00117e-08), (3e-8, 4096, 5.96e-08, 3.0006e-08), (1e-6, 1024, 1.01328e-06, 1.00024e-06)],
)
def test_trap_08_unscaling_in_fp16_loses_what_scaling_saved(gradient, scale, in_fp16, in_fp32):
    stored = stored_product(gradient, scale)
    assert recovered(stored, scale, FP16) == pytest.approx(in_fp16, rel=2e-4)
    assert recovered(stored, scale) == pytest.approx(in_fp32, rel=1e-5)


def test_trap_09_unscaling_divides_and_does_not_multiply_by_a_rounded_inverse():
    stored = np.arange(1, 0x7C00, dtype=np.uint16).view(np.float16)
    scale = np.float32(1000)
    quotients, products = stored.astype(np.float32) / scale, stored.astype(np.float32) * (np.float32(1) / scale)
    different = np.flatnonzero(quotients != products)
    assert (stored.size, different.size) == (31743, 18803)
    some = different[::50]
    assert same([recovered(value, 1000) for value in stored[some]], quotients[some])


def test_trap_09_a_scale_whose_inverse_is_subnormal_still_unscales():
    assert recovered(1.0, 2.0**127) == 2.0**-127
    assert recovered(3.0, 2.0**127) == 3 * 2.0**-127


@pytest.mark.parametrize(("scale", "exact"), [(2**20, 2047), (1024000, 71), (2**20 * 1.1, 288)])
def test_trap_10_only_a_power_of_two_leaves_eleven_bits_exact(scale, exact):
    gradients = [k * 2.0**-30 for k in range(1, 2048)]
    assert sum(recovered(stored_product(g, scale), scale) == g for g in gradients) == exact


@pytest.mark.parametrize("scale", [1024, 1000, 1126.4])
def test_trap_10_the_largest_relative_error_is_the_same_for_any_scale(scale):
    bound = Fraction(1, 2**11 + 1)
    errors = []
    for gradient in np.random.default_rng(1).uniform(1, 2, 600):
        product = Fraction(gradient) * Fraction(scale)
        errors.append(abs(Fraction(cast_exact(product, FP16)) / product - 1))
    assert 0.9 * bound < max(errors) <= bound


@pytest.mark.parametrize(
    ("steps", "error"),
    [(Fraction(1, 2) + Fraction(1, 2**60), "+100%"), (1.5, "+33.33%"), (2.5, "-20%"), (10.5, "-4.762%")],
)
def test_trap_11_to_survive_is_not_to_be_accurate(steps, error):
    scaled = Fraction(steps) * Fraction(1, 2**24)
    stored = Fraction(cast_exact(scaled, FP16))
    assert percent_text(stored / scaled - 1) == error
    assert abs(stored - scaled) <= Fraction(1, 2**25)


def test_trap_11_the_outcome_table_tells_the_kept_bits():
    table = outcome_table(1.5, FP16, range(-26, -13))
    assert table.kept_bits.tolist() == [0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    assert [percent_text(table.stored_ratio(row) / table.significand - 1) for row in range(3)] == [
        "-100%",
        "+33.33%",
        "+33.33%",
    ]


def test_trap_12_a_stored_zero_is_not_always_an_underflow():
    gradients = np.array([0, -0.0, 1e-9, -1e-9, math.inf, -math.inf, math.nan, 1e-45])
    assert np.count_nonzero(cast(gradients, FP16) == 0) == 5
    counts = count_outcomes(gradients, 1, FP16)
    assert counts[Outcome.UNDERFLOW] == 3
    assert counts[Outcome.ZERO] == 2
    assert safe_window(gradients, FP16).survive == safe_window([1e-9, 1e-45], FP16).survive


@pytest.mark.parametrize(("fmt", "stored"), [(FP16, -0.0), (E4M3, -0.0), (F8_E4M3FNUZ, 0.0)], ids=lambda v: str(v)[:40])
def test_trap_12_negative_zero_keeps_its_sign_where_the_format_has_one(fmt, stored):
    assert same(cast([-0.0, -1e-30], fmt), [stored, stored])


def test_trap_13_no_scale_helps_inf_and_nan():
    gradients = [math.inf, -math.inf, math.nan]
    for scale in (2.0**-300, 1, 2.0**300):
        assert [o.name for o in classify(gradients, scale, FP16)] == ["NONFINITE"] * 3
    windows = safe_window([*gradients, 2.0**-26, 8.0], FP16)
    assert windows.nonfinite == 3
    assert windows.survive == safe_window([2.0**-26, 8.0], FP16).survive


def test_trap_13_formats_without_inf_store_nan():
    assert same(cast([math.inf, -math.inf, math.nan], E4M3), [math.nan] * 3)
    assert same(cast([math.inf, math.nan], F4_E2M1FN), [math.nan] * 2)


def test_trap_14_float32_subnormals_survive_large_scales():
    tiny = np.float32(1e-40)
    assert float(safe_window([tiny], FP16).survive.lower) == pytest.approx(2.980248572789131e32, rel=1e-7)
    smallest = np.float32(2.0**-149)
    assert outcome_name(smallest, 2.0**124) == "UNDERFLOW"
    assert outcome_name(smallest, 2.1267650467859854e37) == "SUBNORMAL"
    assert safe_window(smallest, FP16).survive.lower == 2**124
    assert cast_exact(Fraction(3, 2**150), FP32) == 2 * 2.0**-149


def test_trap_14_the_tie_of_bf16_is_a_float32_subnormal():
    tie = np.float32(2.0**-134)
    assert same(cast([tie, np.nextafter(tie, np.float32(1))], BF16), [0.0, 2.0**-133])


def test_trap_15_the_window_is_the_real_one():
    gradients = np.float32([1e-8, 1e-2])
    survive = safe_window(gradients, FP16).survive
    assert float(survive.lower) == pytest.approx(2.980232257, abs=1e-9)
    assert float(survive.upper) == pytest.approx(6552000.146, abs=1e-3)
    assert not survive.lower_closed
    assert not survive.upper_closed
    assert survive.log2_powers == (2, 22)
    first, before = 2.9802324771881104, float(np.nextafter(np.float32(2.9802324771881104), np.float32(0)))
    assert first in survive
    assert before not in survive
    # In float32 this product would overflow already.
    assert 6552000 in survive
    assert cast(gradients[1] * np.float32(6552000), FP16) == math.inf


def test_trap_16_the_lower_end_is_open():
    assert outcome_name(2.0**-30, 32) == "UNDERFLOW"
    assert outcome_name(2.0**-30, 32.000003814697266) == "SUBNORMAL"
    assert outcome_name(2.0**-30, 32 * (1 + 2.0**-52)) == "SUBNORMAL"
    survive = safe_window([2.0**-30], FP16).survive
    assert (survive.lower, survive.lower_closed) == (32, False)


def test_trap_16_the_upper_end_is_open_where_the_maximum_is_odd():
    gradient = 65520 / 1024
    assert outcome_name(gradient, 1024) == "OVERFLOW"
    assert outcome_name(gradient, np.nextafter(np.float32(1024), np.float32(0))) == "NORMAL"
    survive = safe_window([gradient], FP16).survive
    assert (survive.upper, survive.upper_closed) == (1024, False)


def test_trap_16_the_upper_end_is_closed_where_the_maximum_is_even():
    assert outcome_name(1.0, 464, E4M3) == "NORMAL"
    assert outcome_name(1.0, math.nextafter(464, 465), E4M3) == "OVERFLOW"
    survive = safe_window([1.0], E4M3).survive
    assert (survive.upper, survive.upper_closed) == (464, True)


def test_trap_17_an_empty_window():
    survive = safe_window([1e-9, 1e4], FP16).survive
    assert survive.empty
    assert (round(float(survive.lower), 1), round(float(survive.upper), 2)) == (29.8, 6.55)


def test_trap_17_the_ratio_that_just_fails_and_one_step_inside_of_it():
    assert safe_window([2.0**-25, 65520.0], FP16).survive.empty
    inside = safe_window([math.nextafter(2.0**-25, 1), math.nextafter(65520.0, 0)], FP16).survive
    assert not inside.empty
    assert 1 in inside


def test_trap_17_a_window_without_a_power_of_two():
    survive = safe_window([0.9 * 2.0**-25, 50000.0], FP16).survive
    assert not survive.empty
    assert (round(float(survive.lower), 4), round(float(survive.upper), 4)) == (1.1111, 1.3104)
    assert survive.log2_powers is None


@pytest.mark.parametrize("gradients", [[], [0.0, -0.0], np.zeros((0, 5), np.float32)])
def test_trap_18_nothing_to_scale(gradients):
    windows = safe_window(gradients, FP16)
    assert windows.survive == windows.full_precision == Window(Fraction(0), False, math.inf, False)
    assert windows.nonfinite == 0
    assert classify(gradients, 1, FP16).shape == np.shape(gradients)
    assert sum(count_outcomes(gradients, 1, FP16).values()) == np.size(gradients)


def test_trap_19_the_upper_end_may_lie_beyond_float32():
    survive = safe_window([np.float32(1e-45)], FP16).survive
    assert survive.upper == 65520 * Fraction(2) ** 149
    assert float(survive.upper) == pytest.approx(4.68e49, rel=1e-3)
    assert survive.upper > np.finfo(np.float32).max
    assert survive.last_log2 == 164


def test_trap_20_a_sum_of_microbatches_has_a_narrower_window_than_each():
    one, all_eight = safe_window([3e-4], FP16).survive, safe_window([8 * 3e-4], FP16).survive
    assert float(one.upper) == pytest.approx(2.184e8)
    assert float(all_eight.upper) == pytest.approx(2.73e7)
    assert 2**25 in one
    assert 2**25 not in all_eight


def test_trap_20_a_running_sum_in_fp16_overflows_or_swallows():
    assert cast(40000.0 + 40000.0, FP16) == math.inf
    assert cast(2048.0 + 1.0, FP16) == 2048
    part = stored_product(3e-4, 2**25)
    sums = [part]
    for _ in range(7):
        sums.append(float(cast(sums[-1] + part, FP16)))
    assert part == 10064
    assert sums[5:] == [60352, math.inf, math.inf]


def test_trap_21_a_norm_in_fp16_overflows_where_the_gradient_does_not():
    assert cast([300.0], FP16) == 300
    assert cast([300.0**2], FP16) == math.inf
    assert cast([300.0**2], FP32) == 90000


def test_trap_22_subnormals_are_kept_and_flushing_them_would_raise_the_lower_end():
    assert same(cast([2.0**-24, 2.0**-15], FP16), [2.0**-24, 2.0**-15])
    assert same(cast(np.float32([2.0**-130]), BF16), [2.0**-130])
    windows = safe_window([2.0**-30], FP16)
    flushed = windows.full_precision
    assert flushed.lower == (2 - Fraction(1, 2**10)) * 2**15
    assert flushed.lower / windows.survive.lower == 2**11 - 1


@pytest.mark.parametrize("values", [[1 + 2j], [None], ["1e-9"]], ids=["complex", "object", "text"])
def test_trap_23_what_numpy_would_convert_in_silence_is_refused(values):
    for function in (lambda v: cast(v, FP16), lambda v: classify(v, 1, FP16), lambda v: safe_window(v, FP16)):
        with pytest.raises(InputError, match="must be real numbers"):
            function(np.array(values))


def test_trap_23_integers_and_booleans_are_numbers():
    lowest = np.array([np.iinfo(np.int64).min])
    assert safe_window(lowest, FP16).survive.upper == Fraction(65520, 2**63)
    assert outcome_name(lowest[0], 1) == "OVERFLOW"
    assert [o.name for o in classify([True, False], 1, FP16)] == ["NORMAL", "ZERO"]


def test_trap_24_no_cast_and_no_count_warns_or_raises():
    values = np.array([1e9, 1e-9, 2.0**-20 * 1.0001, 2.0**-24, math.nan, math.inf])
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for _ in range(2):
            assert same(cast(values, FP16), [math.inf, 0, 2.0**-20, 2.0**-24, math.nan, math.inf])
            assert count_outcomes(values, 1, FP16)[Outcome.SUBNORMAL] == 2
            assert safe_window(values, FP16).nonfinite == 2


def test_trap_25_float32_gradients_are_compared_with_exact_borders_and_nan_with_none():
    gradients = np.float32([0.1, 0.1, math.nan])
    # The scale that puts the border of overflow at the float64 0.1, just below the float32 0.1.
    scale = Fraction(65520) / Fraction(0.1)
    assert [o.name for o in classify(gradients, scale, FP16)] == ["OVERFLOW", "OVERFLOW", "NONFINITE"]
    just_above = Fraction(65520) / Fraction(float(np.float32(0.1))) * (1 - Fraction(1, 2**100))
    assert [o.name for o in classify(gradients, just_above, FP16)] == ["NORMAL", "NORMAL", "NONFINITE"]


@pytest.mark.parametrize("scale", [0, -8, math.nan, math.inf, -math.inf, np.float16(math.inf)])
def test_trap_26_a_scale_is_finite_and_positive(scale):
    with pytest.raises(InputError, match="must be a finite number above 0"):
        classify([1.0], scale, FP16)


def test_trap_26_a_scale_below_one_is_legitimate():
    assert outcome_name(1e6, 0.01) == "NORMAL"
    assert safe_window([1e6], FP16).survive.last_log2 == -4


@pytest.mark.parametrize("scale", [3.0, 1024.1, 29.0, 65536.0, 2.0**-10])
def test_trap_27_exact_products_of_float32_in_float64_agree(scale):
    rng = np.random.default_rng(1)
    scale = float(np.float32(scale))
    gradients = np.ldexp(rng.uniform(1, 2, 50_000), rng.integers(-45, 30, 50_000)).astype(np.float32)
    with np.errstate(all="ignore"):
        stored = (gradients.astype(np.float64) * scale).astype(np.float16).astype(np.float64)
    conditions = [stored == 0, stored < 2.0**-14, np.isinf(stored)]
    expected = np.select(conditions, [Outcome.UNDERFLOW, Outcome.SUBNORMAL, Outcome.OVERFLOW], Outcome.NORMAL)
    assert np.array_equal(outcome_codes(gradients, scale, FP16), expected)
