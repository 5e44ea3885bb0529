"""Scalers over each other: each goes as its framework's went, over any way of writing a pattern."""

import json
import math

from core.scaler_traces import ACTIONS, OPEN
import pytest

from lossscale_app.overlays import MOST_POLICIES, MOST_STEPS, overlay
from lossscale_core import SCALER_PRESETS, InputError, parse_number

from .lookup_mirror import strict_json


def text_of(preset, overrides):
    """A scaler as a link has it."""
    return ",".join([preset, *(f"{name}.{value!r}".replace("+", "") for name, value in overrides.items())])


def scale_at(trace, step):
    """What is shown of the scale with which a step is made: log2, and a text."""
    return [entry[1:] for entry in trace["scales"] if entry[0] <= step][-1]


@pytest.mark.parametrize("right", OPEN, ids=str)
def test_a_scaler_goes_as_its_framework_s_went(right):
    policy = text_of(right.preset, right.overrides)
    (trace,) = strict_json(json.dumps(overlay(right.pattern, [policy])))
    actions = [ACTIONS[sign] for sign in right.actions]
    assert trace["policy"] == policy
    assert trace["steps"] == len(actions)
    assert trace["pattern"] == right.pattern[: len(actions)]
    assert trace["raised"] == (actions[-1] == "raise")
    assert [step for step, *_ in trace["scales"]] == [
        step for step, scale in enumerate(right.scales, 1) if step == 1 or scale != right.scales[step - 2]
    ]
    for step, scale in enumerate(right.scales, 1):
        log2, text = scale_at(trace, step)
        assert log2 == (pytest.approx(math.log2(scale), abs=1e-4) if math.isfinite(scale) else None)
        assert parse_number(text.removeprefix("≈")) == pytest.approx(scale, rel=1e-3)
        assert text.startswith("2^") == (math.isfinite(scale) and math.log2(scale).is_integer())


def test_all_frameworks_and_all_ends_are_tried():
    assert {right.preset for right in OPEN} == set(SCALER_PRESETS) - {"static"}
    assert any("!" in right.actions for right in OPEN)
    assert any(math.inf in right.scales for right in OPEN)


@pytest.mark.parametrize("pattern", ["nffn", "N F F N", " n, f,F,\tN\n", "NF\nFN", "N,,F  F,N"])
def test_a_pattern_as_people_write_it(pattern):
    policies = ["pytorch,growth_interval.2", "static", "static,init_scale.8"]
    first, second, third = overlay(pattern, policies)
    assert first == {
        "policy": "pytorch,growth_interval.2",
        "scales": [[1, 16.0, "2^16"], [2, 15.0, "2^15"], [4, 16.0, "2^16"], [5, 15.0, "2^15"]],
        "steps": 4,
        "pattern": "NFFN",
        "raised": False,
    }
    assert second == {
        "policy": "static",
        "scales": [[1, 16.0, "2^16"]],
        "steps": 4,
        "pattern": "NFFN",
        "raised": False,
    }
    assert third["scales"] == [[1, 3.0, "2^3"]]


def test_a_scaler_that_ends_training_stops_alone():
    pattern = "NNNFFF"
    ends, goes_on = overlay(pattern, ["deepspeed_zero,init_scale.2,hysteresis.1", "pytorch"])
    assert (ends["raised"], ends["steps"], ends["pattern"]) == (True, 2, "NN")
    assert ends["scales"] == [[1, 1.0, "2^1"], [2, 0.0, "2^0"]]
    assert (goes_on["raised"], goes_on["steps"], goes_on["pattern"]) == (False, 6, pattern)


def test_nothing_chosen_is_nothing_shown():
    assert overlay("F", []) == []


def test_as_much_as_may_be():
    pattern = "NF" * (MOST_STEPS // 2)
    traces = overlay(pattern, ["pytorch"] * MOST_POLICIES)
    assert [trace["steps"] for trace in traces] == [2000] * 6


@pytest.mark.parametrize(
    ("pattern", "policies", "sentence"),
    [
        ("", ["pytorch"], "A pattern has at least one letter: F for a finite step, N for one with an inf or NaN."),
        (" ,\n", ["pytorch"], "A pattern has at least one letter: F for a finite step, N for one with an inf or NaN."),
        ("F" * 2001, ["pytorch"], "A pattern has at most 2000 steps here, and this one has 2001."),
        (
            "n f,  x",
            ["pytorch"],
            "A pattern has only the letters F (finite) and N (an inf or NaN): letter 7, “x”, is neither.",
        ),
        (
            "Nﬀ",
            ["pytorch"],
            "A pattern has only the letters F (finite) and N (an inf or NaN): letter 2, “ﬀ”, is neither.",
        ),
        (
            "ß",
            ["pytorch"],
            "A pattern has only the letters F (finite) and N (an inf or NaN): letter 1, “ß”, is neither.",
        ),
        ("F", ["pytorch"] * 7, "At most 6 scalers go over each other, and “7” are chosen."),
    ],
)
def test_what_cannot_be_shown_is_refused(pattern, policies, sentence):
    with pytest.raises(InputError) as refused:
        overlay(pattern, policies)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("pattern", "policies", "quoted"),
    [
        ("FFX", ["pytorch"], "“X”"),
        ("F{N}", ["pytorch"], "“{”"),
        ("FN", ["torch"], "“torch”"),
        ("FN", ["pytorch", "pytorch,growth_factor.1"], "“1”"),
        ("FN", [None], "“None”"),
        ("FN", [["pytorch"]], "“['pytorch']”"),
    ],
)
def test_what_cannot_be_read_is_quoted(pattern, policies, quoted):
    with pytest.raises(InputError) as refused:
        overlay(pattern, policies)
    assert quoted in str(refused.value)
    assert str(refused.value).endswith(".")
