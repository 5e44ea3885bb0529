"""Settings as people write them: what is read, what stays a text, and how refusals are told."""

import math

from hypothesis import given
from hypothesis import strategies as st
import pytest

from lossscale_app.written import Written, quoting, read_written, restating, shown, values
from lossscale_core import Injection, InputError, ScalerPolicy, TrainingPlan
from lossscale_core.scalers import GrowthCompare, Lag


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("1e3", int, 1000),
        ("2^3", int, 8),
        ("0x10", int, 16),
        ("7.0", int, 7),
        (" -3 ", int, -3),
        ("2.5", int, 2.5),
        ("2^-1", int, 0.5),
        ("2", float, 2.0),
        ("1e-8", float, 1e-8),
        ("none", float | None, None),
        ("None", float | None, None),
        ("2^24", float | None, 2.0**24),
        ("true", bool, True),
        ("false", bool, False),
        (">=", GrowthCompare, ">="),
        ("1", Lag, 1),
    ],
)
def test_a_value_is_read_by_the_type_of_its_field(text, kind, value):
    read = read_written(text, kind)
    assert read == Written(text.strip(), value)
    assert type(read.value) is type(value)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("many", int),
        ("", int),
        ("1e999", int),
        ("1" * 5000, int),
        ("none", int),
        ("none", float),
        ("1e-999", float),
        ("no", bool),
        ("1", bool),
        ("True", bool),
        ("=", GrowthCompare),
        ("1.0", Lag),
        ("2", Lag),
    ],
)
def test_what_a_field_does_not_take_stays_a_text(text, kind):
    assert read_written(text, kind) == Written(text, text)


@given(st.text(max_size=12), st.sampled_from([int, float, float | None, bool, Lag, GrowthCompare]))
def test_any_text_is_kept_as_it_was_written(text, kind):
    assert read_written(text, kind).text == text.strip()


@pytest.mark.parametrize("special", ["inf", "-inf", "nan"])
def test_what_is_not_finite_is_no_count(special):
    assert not math.isfinite(read_written(special, int).value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "none"),
        (True, "true"),
        (3, "3"),
        (65536.0, "65536"),
        (0.5, "0.5"),
        (1e-4, "0.0001"),
        (2.0**60, "1.152921504606847e18"),
        ("clamp", "clamp"),
    ],
)
def test_a_value_as_a_form_shows_it(value, text):
    assert shown(value) == text


WROTE = {"max_scale": Written("2^2", 4.0)}


def test_a_refusal_quotes_what_was_written():
    with pytest.raises(InputError) as refused, quoting(WROTE, str.upper):
        ScalerPolicy(**values(WROTE))
    assert str(refused.value) == "MAX_SCALE must be at least INIT_SCALE, “65536”: “2^2” is not."


def test_what_was_chosen_in_another_way_is_named_as_if_it_were_written():
    with pytest.raises(InputError) as refused, quoting(WROTE, chosen=["init_scale"]):
        ScalerPolicy(**values(WROTE))
    assert str(refused.value) == "init_scale must be at most max_scale, “2^2”: “65536” is not."


def test_names_alone_can_be_told_otherwise():
    with pytest.raises(InputError) as refused, restating(lambda field: field._replace(name=f"my {field.name}")):
        TrainingPlan(steps=3, injection=Injection("inf", 4))
    assert str(refused.value) == "my step must be at most my steps, “3”: “4” is not."


def test_other_errors_are_told_as_they_are():
    with pytest.raises(InputError, match=r"^min_scale must be given"), quoting(WROTE):
        ScalerPolicy(at_min="raise_if_at_min")
    with pytest.raises(ZeroDivisionError), quoting(WROTE):
        1 / 0  # noqa: B018
    with quoting(WROTE):
        pass
