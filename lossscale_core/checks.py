"""Checking what people set: a field is refused by its name, with the rule it breaks and what was given."""

import math
from typing import Any, Literal, NoReturn

import numpy as np

from lossscale_core.errors import Sentence
from lossscale_core.formats import Format
from lossscale_core.refusals import Field, FieldError


def refuse(name: str, rule: str, value: Any) -> NoReturn:
    """Refuse a value.

    Args:
        name: of the field.
        rule: what the value must be; a `Sentence`, or a text without parts.
        value: what was given.

    Raises:
        FieldError: always.
    """
    raise FieldError(Field(name, value), rule if isinstance(rule, Sentence) else Sentence(rule))


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Refuse what is none of some values, each of its own type.

    Args:
        name: of the field.
        value: what was given.
        choices: the values that it may have, at least two.

    Raises:
        InputError: it has none of them.
    """
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        *others, last = map(str, choices)
        refuse(name, Sentence("{others} or {last}", others=", ".join(others), last=last), value)


def check_format(fmt: Any) -> None:
    """Refuse what is no format, such as the name of one.

    Args:
        fmt: what was given.

    Raises:
        InputError: it is none.
    """
    if not isinstance(fmt, Format):
        refuse("fmt", "a Format such as FP16 or FORMATS[name]", fmt)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, which True is not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def number_in(value: Any, dtype: Literal["float32", "float64"]) -> float:
    """What a number is in a type; NaN, which lies in no range, for what is no number.

    Args:
        value: anything.
        dtype: the type it is rounded to.

    Returns:
        The value, inf where it is too large.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return math.nan
    try:
        return rounded_to(float(value), dtype)
    except OverflowError:
        return math.inf


def rounded_to(value: float, dtype: Literal["float32", "float64"]) -> float:
    """Round a number to a type; inf where it is too large."""
    if dtype == "float64":
        return float(value)
    with np.errstate(all="ignore"):
        return float(np.float32(value))
