"""Patterns of steps: every way of writing one, and what is no part of one."""

import re

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from lossscale_core import SCALER_PRESETS, InputError, ScalerPolicy
from lossscale_core.patterns import read_pattern

from .training_runs import strict

BETWEEN = " ,\t\n\r\v\f\u00a0\u2003\u3000"


@pytest.mark.parametrize(
    ("pattern", "letters"),
    [
        ("NFFN", "NFFN"),
        ("nffn", "NFFN"),
        ("nFfN", "NFFN"),
        ("N F F N", "NFFN"),
        (" n, f,F,\tN\n", "NFFN"),
        ("N\u00a0f", "NF"),
        (",,", ""),
        ("", ""),
        (np.str_("nf"), "NF"),
    ],
)
def test_a_pattern_as_people_write_it(pattern, letters):
    assert read_pattern(pattern) == letters
    assert ScalerPolicy().run(pattern) == ScalerPolicy().run(letters)


@given(st.lists(st.tuples(st.sampled_from("FfNn"), st.text(BETWEEN, max_size=3)), max_size=30))
def test_case_and_what_is_between_letters_say_nothing(parts):
    written = "".join(letter + between for letter, between in parts)
    assert read_pattern(written) == "".join("N" if letter in "Nn" else "F" for letter, _ in parts)


# Letters that are written like F and N, or become them in the other case or in another form of Unicode.
ALIKE = {
    "a ligature": "\ufb00",
    "sharp s": "ß",
    "wide": "Ｎ",
    "Greek": "Ν",
    "with a tilde": "ñ",
    "an apostrophe before n": "ŉ",
    "double-struck": "ℕ",
    "a combining tilde": "\u0303",
    "a letter with two capitals": "ǆ",
}
NONE = {
    "another letter": "x",
    "a digit": "1",
    "a stroke": "-",
    "a semicolon": ";",
    "a brace": "{",
    "no character": "\udcff",
    "a NUL": "\0",
    "no space": "\u200b",
}


@pytest.mark.parametrize("before", ["", "nf", "N, f F,\t", "ffN" * 50 + " "])
@pytest.mark.parametrize("other", [*ALIKE.values(), *NONE.values()], ids=[*ALIKE, *NONE])
def test_anything_else_is_quoted_as_written_with_its_place_in_what_was_written(before, other):
    with pytest.raises(InputError) as refused:
        read_pattern(f"{before}{other}F{other}")
    quote = other if other.isprintable() else repr(other)[1:-1]
    assert str(refused.value) == (
        "A pattern has only the letters F (finite) and N (an inf or NaN): "
        f"letter {len(before) + 1}, “{quote}”, is neither."
    )


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused(text):
    plain = re.sub(r"[\s,]", "", text)
    if set(plain) <= set("FfNn"):
        assert read_pattern(text) == plain.upper()
    else:
        place = next(place for place, letter in enumerate(text, 1) if letter not in "FfNn," and not letter.isspace())
        with pytest.raises(InputError, match=f": letter {place}, "):
            read_pattern(text)


def test_a_letter_beyond_the_end_of_training_is_refused():
    with pytest.raises(InputError, match="letter 21"):
        SCALER_PRESETS["deepspeed_zero"].run("N" * 20 + "x")


@pytest.mark.parametrize(
    "pattern", [None, b"NF", bytearray(b"NF"), ["N"], ("N", "F"), 5, True, 1.5, {"N"}, np.array(["N", "F"]), str]
)
def test_what_is_no_text_is_refused(pattern):
    for read in (read_pattern, ScalerPolicy().run):
        with strict(), pytest.raises(InputError) as refused:
            read(pattern)
        assert str(refused.value) == f"pattern must be a text of letters F and N: “{pattern}” is not."
