"""The exception, and how it repeats what a person wrote."""

import pytest

from lossscale_core import InputError
from lossscale_core.errors import quoted


def test_an_input_error_is_a_value_error():
    assert issubclass(InputError, ValueError)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2^", "“2^”"), ("", "“”"), (None, "“None”"), ("a\nb\tc\0", r"“a\nb\tc\x00”"), ("\u202egnp", r"“\u202egnp”")],
)
def test_quoted_is_one_line_of_what_can_be_printed(text, expected):
    assert quoted(text) == expected


def test_a_long_text_is_shortened():
    assert quoted("x" * 60) == "“" + "x" * 60 + "”"
    assert quoted("x" * 61) == "“" + "x" * 60 + "…”"
    assert quoted("abcdef", limit=3) == "“abc…”"
