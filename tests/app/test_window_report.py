"""The windows of given gradients, for a program and for a person."""

from fractions import Fraction
import json
import math
import tracemalloc

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from lossscale_app import summary
from lossscale_app.window_report import window_data, window_text
from lossscale_core import BF16, E4M3, E5M2, FORMATS, FP16, Outcome, classify, safe_window
from lossscale_core.tensors import Tensor

from .lookup_mirror import strict_json

ENDS = ("empty", "lower", "lower_closed", "upper", "upper_closed", "log2_powers")
any_float = st.floats() | st.floats(width=32) | st.sampled_from((0.0, -0.0, 5e-324, 1.7976931348623157e308))
any_format = st.sampled_from(list(FORMATS.values()))


def of(values, fmt=FP16):
    return window_data(np.array(values, np.float64), fmt)


def lines(values, fmt=FP16):
    return window_text(np.array(values, np.float64), fmt).splitlines()


def test_the_seed_example_for_a_program():
    assert of([2**-26, 8]) == {
        "format": "fp16",
        "survive": {
            "empty": False,
            **{"lower": 2, "lower_closed": False, "upper": 8190, "upper_closed": False, "log2_powers": [2, 12]},
        },
        "full_precision": {
            "empty": False,
            **{"lower": 4094, "lower_closed": True, "upper": 8190, "upper_closed": False, "log2_powers": [12, 12]},
        },
        "counts": {"zero": 0, "underflow": 1, "subnormal": 0, "normal": 1, "overflow": 0, "nonfinite": 0},
    }


def test_the_seed_example_for_a_person():
    assert window_text(np.array([2**-26, 8.0]), FP16) == (
        "2 gradients in FP16\n"
        "safe window:     2 < S < 8190 (2^2 to 2^12)\n"
        "full precision:  4094 <= S < 8190 (2^12)\n"
        "at S = 1:        1 underflow, 1 normal"
    )


def test_the_order_of_what_is_said():
    data = of([1.0])
    assert tuple(data) == ("format", "survive", "full_precision", "counts")
    assert tuple(data["survive"]) == tuple(data["full_precision"]) == ENDS
    assert tuple(data["counts"]) == ("zero", "underflow", "subnormal", "normal", "overflow", "nonfinite")


def test_an_empty_window_has_no_ends():
    nothing = {"empty": True, "log2_powers": None, "lower_closed": False, "upper_closed": False}
    data = of([2**-34, 2**10])
    assert data["survive"] == data["full_precision"] == {**nothing, "lower": None, "upper": None}


@pytest.mark.parametrize("values", [[], [0.0], [0.0, -0.0, math.nan, math.inf, -math.inf]])
def test_where_nothing_asks_for_a_scale_every_scale_is_safe(values):
    data = of(values)
    for window in (data["survive"], data["full_precision"]):
        assert window["empty"] is False
        assert window["upper"] is None
        assert window["log2_powers"] == [None, None]
        # S lies above 0 in any case.
        assert window["lower"] in (0, None)
        assert (window["lower_closed"], window["upper_closed"]) == (False, False)


def test_the_upper_end_is_closed_where_the_maximum_is_even():
    survive = of([1.0], E4M3)["survive"]
    assert (survive["upper"], survive["upper_closed"]) == (464, True)
    assert lines([1.0], E4M3)[1] == "safe window:     0.0009765625 < S <= 464 (2^-9 to 2^8)"


def test_one_scale_alone_is_a_window():
    full = of([15 / 1024, 464], E4M3)["full_precision"]
    assert full == {
        "empty": False,
        **{"lower": 1, "lower_closed": True, "upper": 1, "upper_closed": True, "log2_powers": [0, 0]},
    }
    assert lines([15 / 1024, 464], E4M3)[2] == "full precision:  1 <= S <= 1 (2^0)"


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ([2**-26, 18720], "safe window:     2 < S < 3.5 (no power of two)"),
        ([2**-26, 13104], "safe window:     2 < S < 5 (2^2)"),
        ([2**-20, 2**18], "safe window:     0.03125 < S < ≈0.2499 (2^-4 to 2^-3)"),
        ([2**-34, 2**10], "safe window:     none: the smallest needs S > 512, the largest S < 63.984375"),
        ([], "safe window:     0 < S < inf (every power of two)"),
        ([0.0], "safe window:     0 < S < inf (every power of two)"),
    ],
)
def test_how_a_window_is_written(values, line):
    assert lines(values)[1] == line


@pytest.mark.parametrize(
    ("values", "fmt", "line"),
    [([], FP16, "0 gradients in FP16"), ([1], BF16, "1 gradient in BF16"), ([1, 2], E5M2, "2 gradients in E5M2")],
)
def test_how_many_they_are(values, fmt, line):
    assert lines(values, fmt)[0] == line


def test_nonfinite_gradients_are_mentioned():
    assert lines([1.0]) == lines([1.0])[:4]
    assert lines([1.0, math.nan, -math.inf])[4:] == ["2 of them inf or NaN before scaling: no scale helps those."]
    assert lines([1.0, math.nan, -math.inf])[3] == "at S = 1:        1 normal, 2 nonfinite"


@given(values=st.lists(any_float, max_size=6), fmt=any_format)
@settings(deadline=None, max_examples=100)
def test_what_is_said_is_strict_json_and_agrees_with_the_core(values, fmt):
    data = of(values, fmt)
    assert strict_json(json.dumps(data)) == data
    exact = safe_window(values, fmt)
    assert data["format"] == fmt.name
    for said, window in ((data["survive"], exact.survive), (data["full_precision"], exact.full_precision)):
        assert said["empty"] is window.empty
        assert said["log2_powers"] == (window.log2_powers and list(window.log2_powers))
        if not window.empty:
            assert (said["lower_closed"], said["upper_closed"]) == (window.lower_closed, window.upper_closed)
            assert_near(said["lower"], window.lower)
            assert_near(said["upper"], window.upper)
    outcomes = classify(np.array(values, np.float64), 1, fmt).tolist()
    assert data["counts"] == {outcome.name.lower(): outcomes.count(outcome) for outcome in Outcome}


def assert_near(said, exact):
    """The nearest float64, or a whole number beyond those; None where there is no end."""
    if exact in (0, math.inf):
        assert said in ((0, None) if exact == 0 else (None,))
        return
    assert abs(Fraction(said) - exact) <= max(exact / 2**53, Fraction(5e-324))


@given(values=st.lists(any_float, min_size=1, max_size=6), fmt=any_format)
@settings(deadline=None)
def test_the_text_is_four_or_five_plain_lines(values, fmt):
    said = lines(values, fmt)
    assert len(said) == (5 if safe_window(values, fmt).nonfinite else 4)
    assert all(line.isprintable() and line == line.strip() for line in said)


def tensors(**arrays):
    return [Tensor(name, np.asarray(array)) for name, array in arrays.items()]


@pytest.mark.parametrize("fmt", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("product", ["exact", "float32"])
def test_tensors_of_different_types_are_one_set_of_gradients(fmt, product):
    halves = np.array([[1, 2], [3, 2**-24]], np.float16)
    arrays = {"halves": halves, "wide": [2**-140, np.nan], "whole": np.array([5, -7], np.int8), "zeros": [0.0]}
    together = np.concatenate([np.ravel(array).astype(np.float64) for array in arrays.values()])
    assert window_data(tensors(**arrays), fmt, product) == window_data(together, fmt, product)
    outcomes = classify(together, 1, fmt, product).tolist()
    said = window_data(tensors(**arrays), fmt, product)["counts"]
    assert said == {outcome.name.lower(): outcomes.count(outcome) for outcome in Outcome}


def test_bit_patterns_count_as_what_they_stand_for():
    """0x3F80 is 1 in BF16, 0x0001 its smallest value 2^-133."""
    patterns = Tensor("w", np.array([0x3F80, 0x0001, 0x7F80], np.uint16), BF16)
    assert window_data([patterns], FP16) == of([1, 2**-133, math.inf])


ENDS_OF = {
    "the lower end comes from “b”, the upper from “a”": {"a": [1.0, 8], "b": [0.5], "c": [1.0]},
    "both ends come from “b”": {"a": [1.0], "b": [0.5, -2]},
    "the lower end comes from “a”, the upper from “a.b”": {"a": [-1.0], "a.b": [2.0], "zero": [0.0, math.nan]},
    "both ends come from “first”": {"first": [1.0], "second": [1.0]},
    "the lower end comes from “a\\n”, the upper from “b”": {"a\n": [1.0], "b": [2.0]},
}


@pytest.mark.parametrize(("line", "arrays"), ENDS_OF.items(), ids=ENDS_OF)
def test_of_several_tensors_it_is_said_which_ones_the_ends_come_from(line, arrays):
    assert window_text(tensors(**arrays), FP16).splitlines()[4] == line


@pytest.mark.parametrize("arrays", [{"a": [1.0, 2.0]}, {"a": [0.0], "b": [math.nan]}, {}])
def test_where_there_is_nothing_to_tell_apart_it_is_not(arrays):
    assert "from" not in window_text(tensors(**arrays), FP16)


def test_products_rounded_to_float32_are_mentioned_and_have_other_windows():
    """2^-25 is a tie that FP16 stores as 0: so is what float32 rounds to it, half a place above."""
    gradients = np.array([2**-25 * (1 + 2**-30)])
    assert of(gradients)["counts"]["subnormal"] == 1
    assert window_data(gradients, FP16, "float32")["counts"]["underflow"] == 1
    assert window_text(gradients, FP16, "float32").startswith("1 gradient in FP16, g*S rounded to float32 first\n")


def test_how_far_it_is_is_told(monkeypatch):
    monkeypatch.setattr(summary, "_BLOCK", 4)
    shares = []
    window_data(tensors(a=np.ones(8), b=np.ones((1, 2))), FP16, "exact", shares.append)
    assert shares == [0.4, 0.8, 1.0]


@pytest.mark.parametrize("dtype", [np.float32, np.int8, ">f8"])
def test_many_gradients_need_little_memory_whatever_their_type(dtype):
    gradients = np.ones(1 << 23, dtype)
    tracemalloc.start()
    try:
        window_data(gradients, FP16)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
