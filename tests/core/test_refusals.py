"""Errors about fields: what they say, and how they are told again to who knows the fields in other words."""

import copy

import pytest

from lossscale_core import InputError
from lossscale_core.errors import Sentence
from lossscale_core.refusals import Field, FieldError, OrderError

LOW, HIGH = Field("low", 8.0), Field("high", 4)
ERRORS = [
    FieldError(Field("count", 0.5), Sentence("a whole number of at least {least}", least=1)),
    OrderError(LOW, HIGH),
    OrderError(LOW, HIGH, refuses_upper=True),
]
SAID = [
    "count must be a whole number of at least 1: “0.5” is not.",
    "low must be at most high, “4”: “8.0” is not.",
    "high must be at least low, “8.0”: “4” is not.",
]


def option(field):
    """As it was written on a command line."""
    return Field(f"--{field.name}", {"count": "2^-1", "low": "2^3", "high": "4e0"}[field.name])


@pytest.mark.parametrize(("error", "said"), list(zip(ERRORS, SAID, strict=True)), ids=SAID)
def test_what_is_said(error, said):
    assert isinstance(error, InputError)
    assert str(error) == error.sentence == said


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ERRORS[0], "--count must be a whole number of at least 1: “2^-1” is not."),
        (ERRORS[1], "--low must be at most --high, “4e0”: “2^3” is not."),
        (ERRORS[2], "--high must be at least --low, “2^3”: “4e0” is not."),
    ],
    ids=SAID,
)
def test_it_is_told_again_by_other_names_and_as_it_was_written(error, said):
    assert str(error.restated(option)) == said
    assert str(error.restated(lambda field: field).restated(option)) == said


@pytest.mark.parametrize("error", ERRORS[1:], ids=SAID[1:])
@pytest.mark.parametrize(
    ("wrote", "refused"), [(["low"], "low"), (["high"], "high"), (["low", "high"], None), (["other"], None), ([], None)]
)
def test_of_two_that_contradict_each_other_the_one_that_was_written_is_refused(error, wrote, refused):
    told = str(error.restated(lambda field: field, wrote))
    assert told.startswith(f"{refused or str(error).split()[0]} must be ")
    assert told in SAID


@pytest.mark.parametrize("error", ERRORS, ids=SAID)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_says_the_same(error, copied):
    other = copied(error)
    assert (type(other), str(other), other.sentence.parts) == (type(error), str(error), error.sentence.parts)
    assert str(other.restated(option)) == str(error.restated(option))
