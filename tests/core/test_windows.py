"""Safe windows: both ends, powers of two, empty and unbounded ones, against exact brute force."""

from fractions import Fraction
import math

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from lossscale_core import FP16, Outcome, SafeWindow, Window, classify, safe_window

from .format_table import every_format, every_row, two_formats
from .oracle import outcome, power, works

HAIR = Fraction(1, 2**200)
POWERS = range(-200, 201)

moderate = st.floats(min_value=2.0**-45, max_value=2.0**45)
moderate_float32 = st.floats(min_value=2.0**-45, max_value=2.0**45, width=32)
round_numbers = st.builds(lambda m, e: m * 2.0**e, st.sampled_from((1.0, 1.5, 2047 / 1024)), st.integers(-45, 44))
signed = st.builds(lambda g, sign: sign * g, moderate | moderate_float32 | round_numbers, st.sampled_from((1.0, -1.0)))
specials = st.sampled_from((0.0, -0.0, math.inf, -math.inf, math.nan))
gradient_lists = st.lists(signed, min_size=1, max_size=3)


def both(gradients, fmt):
    """Each window with what tells whether a scale belongs into it, by the oracle and by `classify`."""
    windows = safe_window(gradients, fmt)
    good = {Outcome.SUBNORMAL, Outcome.NORMAL, Outcome.ZERO, Outcome.NONFINITE}
    for window, full in ((windows.survive, False), (windows.full_precision, True)):
        allowed = good - {Outcome.SUBNORMAL} if full else good
        yield window, full, allowed


def agree_at(scale, gradients, fmt):
    for window, full, allowed in both(gradients, fmt):
        expected = works(gradients, scale, fmt, full)
        assert (scale in window) == expected
        assert (set(classify(gradients, scale, fmt)) <= allowed) == expected


@every_format
@given(gradients=gradient_lists)
@settings(max_examples=12)
def test_at_beside_and_between_both_ends(fmt, gradients):
    for window, _, _ in both(gradients, fmt):
        for end in (window.lower, window.upper):
            for scale in (end * (1 - HAIR), end, end * (1 + HAIR)):
                agree_at(scale, gradients, fmt)
        agree_at((window.lower + window.upper) / 2, gradients, fmt)


@every_format
@given(gradients=gradient_lists)
@settings(max_examples=8)
def test_powers_of_two_are_those_that_work(fmt, gradients):
    outcomes = {k: {outcome(g, power(k), fmt) for g in gradients} for k in POWERS}
    for window, full, _ in both(gradients, fmt):
        lost = {"UNDERFLOW", "SUBNORMAL"} if full else {"UNDERFLOW"}
        first = min(k for k in POWERS if not outcomes[k] & lost)
        last = max(k for k in POWERS if "OVERFLOW" not in outcomes[k])
        assert (window.first_log2, window.last_log2) == (first, last)
        assert window.log2_powers == ((first, last) if first <= last else None)


@every_format
@given(gradients=gradient_lists)
def test_each_end_is_where_some_gradient_gives_up(fmt, gradients):
    """Whether or not the window is empty, the lower end is about small gradients, the upper about large ones."""

    def gives_up(name, scale):
        return any(outcome(g, scale, fmt) == name for g in gradients)

    window = safe_window(gradients, fmt).survive
    assert gives_up("UNDERFLOW", window.lower * (1 - HAIR))
    assert gives_up("UNDERFLOW", window.lower) == (not window.lower_closed)
    assert not gives_up("UNDERFLOW", window.lower * (1 + HAIR))
    assert gives_up("OVERFLOW", window.upper * (1 + HAIR))
    assert gives_up("OVERFLOW", window.upper) == (not window.upper_closed)
    assert not gives_up("OVERFLOW", window.upper * (1 - HAIR))


@two_formats
@given(gradients=gradient_lists, others=st.lists(specials, max_size=4))
def test_zeros_and_nonfinite_gradients_leave_the_window_alone(fmt, gradients, others):
    alone, together = safe_window(gradients, fmt), safe_window([*others, *gradients], fmt)
    assert (together.survive, together.full_precision) == (alone.survive, alone.full_precision)
    assert together.nonfinite == sum(not math.isfinite(other) for other in others)


@two_formats
@given(gradients=st.lists(moderate_float32, min_size=1, max_size=4), flips=st.randoms(use_true_random=False))
def test_sign_order_shape_and_float_type_do_not_matter(fmt, gradients, flips):
    expected = safe_window(gradients, fmt)
    turned = [flips.choice((-1, 1)) * g for g in flips.sample(gradients, len(gradients))]
    assert safe_window(np.array(turned, np.float32).reshape(-1, 1), fmt) == expected


def test_the_seed_example():
    windows = safe_window([2**-26, 8.0], FP16)
    assert windows == SafeWindow(
        survive=Window(Fraction(2), False, Fraction(8190), False),
        full_precision=Window(Fraction(4096) - 2, True, Fraction(8190), False),
        nonfinite=0,
    )
    assert windows.survive.log2_powers == (2, 12)
    assert windows.full_precision.log2_powers == (12, 12)
    assert not windows.survive.empty
    assert not windows.full_precision.empty


@every_row
def test_the_windows_of_one(facts):
    windows = safe_window([1.0], facts.fmt)
    tie = Fraction(facts.underflow_tie)
    upper, closed = Fraction(facts.overflow_tie), not facts.overflow_closed
    assert windows.survive == Window(tie, False, upper, closed)
    assert windows.full_precision == Window(Fraction(facts.min_normal) - tie, True, upper, closed)


@every_format
@pytest.mark.parametrize("gradients", [[], [0.0], [0.0, -0.0], np.zeros((2, 0)), [math.nan], [math.inf, 0.0]])
def test_nothing_to_save_makes_every_scale_safe(fmt, gradients):
    windows = safe_window(gradients, fmt)
    assert windows.nonfinite == np.count_nonzero(~np.isfinite(gradients))
    for window in (windows.survive, windows.full_precision):
        assert window == Window(Fraction(0), False, math.inf, False)
        assert not window.empty
        assert window.log2_powers == (None, None)
        assert all(scale in window for scale in (5e-324, 1, 1e308, Fraction(10) ** 400, power(-5000)))
        assert not any(scale in window for scale in (0, -1, math.inf, math.nan))


def test_a_window_of_one_scale():
    window = Window(Fraction(4), True, Fraction(4), True)
    assert not window.empty
    assert window.log2_powers == (2, 2)
    assert 4 in window


@pytest.mark.parametrize(("lower_closed", "upper_closed"), [(False, False), (True, False), (False, True)])
def test_equal_ends_of_which_one_is_open_leave_nothing(lower_closed, upper_closed):
    window = Window(Fraction(4), lower_closed, Fraction(4), upper_closed)
    assert window.empty
    assert window.log2_powers is None
    assert 4 not in window


def test_contradicting_ends_stay_readable():
    window = safe_window([1e-9, 1e4], FP16).survive
    assert window.empty
    assert float(window.lower) == pytest.approx(29.80232238769531)
    assert float(window.upper) == pytest.approx(6.552)
    assert window.log2_powers is None
    assert not any(power(k) in window for k in POWERS)


@pytest.mark.parametrize("closed", [True, False])
def test_powers_of_two_at_the_ends(closed):
    window = Window(Fraction(1, 8), closed, Fraction(32), closed)
    assert window.log2_powers == ((-3, 5) if closed else (-2, 4))
    assert (window.first_log2, window.last_log2) == window.log2_powers


def test_float_and_fraction_scales_are_compared_exactly():
    window = safe_window([2**-26, 8.0], FP16).survive
    assert 2 not in window
    assert 2.0 not in window
    assert 2 * (1 + 2**-52) in window
    assert 2 * (1 + HAIR) in window
    assert 8190 * (1 - HAIR) in window
    assert 8190.0 not in window


def test_large_inputs_are_read_in_any_layout():
    gradients = np.random.default_rng(1).normal(size=(300, 400)).astype(np.float32)
    expected = safe_window([float(np.abs(gradients).min()), float(np.abs(gradients).max())], FP16)
    for layout in (gradients, gradients.T, gradients[::-1], np.asfortranarray(gradients)):
        assert safe_window(layout, FP16) == expected


def test_no_flag_is_raised():
    patterns = np.random.default_rng(1).integers(0, 2**32, 10_000, np.uint32).view(np.float32)
    with np.errstate(all="raise"):
        assert safe_window(patterns, FP16).nonfinite == np.count_nonzero(~np.isfinite(patterns))
