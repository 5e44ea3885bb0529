"""What a step is asked with: what is taken, and what is refused by the name of its field."""

from dataclasses import fields
import math
import warnings

import numpy as np
import pytest

from lossscale_core import (
    InputError,
    StepExample,
    StepOrder,
    take_step,
)

from .steps import CHOICES, one, stage


@pytest.fixture(autouse=True)
def _numpy_must_not_warn():
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_rows_may_be_lists_and_numbers_numpy_s():
    plain = StepExample(((1.0, 0.0), (2.0, 3.0)), weights=(1.0, 2.0), tokens=(1, 2), learning_rate=0.5)
    given_otherwise = StepExample(
        [[1, 0], [np.float32(2), np.int64(3)]],
        weights=[np.float16(1), 2],
        tokens=[np.int64(1), np.uint8(2)],
        learning_rate=np.float32(0.5),
    )
    assert take_step(given_otherwise, scale=np.float32(8)) == take_step(plain, scale=8)


def test_numbers_that_no_format_holds():
    report = take_step(StepExample(((1e300, 5e-324),)), scale=1e300)
    assert stage(report, "scaled").values == ((math.inf, 5e-324 * 1e300),)
    assert stage(report, "stored").values == ((math.inf, 0.0),)
    tiny = take_step(StepExample(((1.0,), (1.0,)), reduction="sum"), StepOrder(scale_update="micro_batch"), 5e-324)
    assert stage(tiny, "scaled").scales == (5e-324, 0.0)
    assert tiny.update == (0.0,)


HUGE = 10**400
TABLE = ((1.0, 2.0), (3.0, 4.0))
BAD = {
    "gradients": [(), ((),), ((1.0,), ()), ((1.0,), (1.0, 2.0)), (1.0,), 1.0, None, "1", ("1",), {}, np.ones((1, 1))],
    "weights": [(1.0,), (1.0, 2.0, 3.0), 1.0, None, "12"],
    "tokens": [(1,), (1, 2, 3), 2, None, "12"],
    "reduction": ["average", "", None, 1, ["mean"], True, np.array(["mean", "sum"])],
    "learning_rate": [0, -1, math.inf, math.nan, "1", None, True, 1e-50, 1e39, HUGE, 1j],
    "clip": ["Norm", None, 2, ("norm",)],
    "clip_at": [0, -1.0, math.inf, math.nan, "1", True, 1e-50, 1e39, HUGE],
}
BAD_ELEMENTS = {
    "gradients": ["1", None, True, 1j, HUGE, (1.0,)],
    "weights": ["1", None, True, HUGE, math.inf, -math.inf, math.nan, 1e39],
    "tokens": [0, -1, 1.0, 1.5, "1", None, True, math.nan],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_what_no_step_can_be_taken_with_is_refused_by_name(name, value):
    with pytest.raises(InputError) as refused:
        StepExample(**{"gradients": TABLE, name: value})
    said = str(refused.value)
    assert said.startswith(f"{name} must be ")
    assert f": “{str(value)[:60]}" in said
    assert said.endswith("” is not.")
    assert len(said) < 200


def test_every_field_of_an_example_is_checked():
    assert set(BAD) == {field.name for field in fields(StepExample)}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in BAD_ELEMENTS.items() for value in values]
)
def test_a_number_among_others_is_refused_by_its_place(name, value):
    row = (1, value)
    with pytest.raises(InputError) as refused:
        StepExample(**{"gradients": TABLE, name: ((1.0, 2.0), row) if name == "gradients" else row})
    said = str(refused.value)
    place = "gradients[1][1]" if name == "gradients" else f"{name}[1]"
    assert said.startswith(f"{place} must be a")
    assert said.endswith(f": “{str(value)[:60]}{'…' if value == HUGE else ''}” is not.")


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("value", ["fp16", "", None, True, 1, ["loss", "fp32"]])
def test_a_place_that_does_not_exist_is_refused_by_name(name, value):
    with pytest.raises(InputError) as refused:
        StepOrder(**{name: value})
    *others, last = CHOICES[name]
    assert str(refused.value) == f"{name} must be {', '.join(others)} or {last}: “{value}” is not."


@pytest.mark.parametrize("scale", [0, -1.0, math.inf, math.nan, "8", None])
def test_a_scale_must_be_above_0(scale):
    with pytest.raises(InputError, match="A loss scale must be a finite number above 0"):
        take_step(one(1.0), scale=scale)
