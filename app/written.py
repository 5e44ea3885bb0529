"""Settings as people write them: read by the types of their fields, and quoted as written where those refuse them."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from lossscale_core import InputError, parse_number
from lossscale_core.refusals import Field, FieldError

#: Whole numbers below are shown without a point.
_EXACT = 2**53


@dataclass(frozen=True)
class Written:
    """What somebody wrote for a field.

    Attributes:
        text: as they wrote it.
        value: what it sets the field to; the text itself where it is nothing that the field takes, which then
            refuses it by its own rule.
    """

    text: str
    value: Any


def read_written(text: str, kind: Any) -> Written:
    """Read what somebody wrote for a field.

    Args:
        text: a word, a number in any way that `parse_number` knows, or "none".
        kind: the type of the field.

    Returns:
        The text without spaces around it, and its value.
    """
    plain = text.strip()
    return Written(plain, _value(plain, kind))


def values(written: Mapping[str, Written]) -> dict[str, Any]:
    """The values alone of what was written, by the names of the fields."""
    return {name: each.value for name, each in written.items()}


@contextmanager
def restating(known: Callable[[Field], Field], wrote: Collection[str] = ()) -> Iterator[None]:
    """Tell somebody in their own words what the block refuses.

    Args:
        known: what a field is to them; see `FieldError.restated`.
        wrote: the fields that they wrote themselves.

    Raises:
        InputError: the block refuses a field.
    """
    try:
        yield
    except FieldError as error:
        raise error.restated(known, wrote) from None


def quoting(
    written: Mapping[str, Written], known_as: Callable[[str], str] = str, chosen: Collection[str] = ()
) -> AbstractContextManager[None]:
    """Tell who wrote settings what the block refuses, and quote what they wrote.

    Args:
        written: what they wrote, by the names of the fields.
        known_as: what a field is called where they wrote it.
        chosen: fields that they chose in another way than by writing them.

    Returns:
        The context of the block. It raises an `InputError` of its own where the block refuses a field, or two that
        contradict each other, of which one that was written is named.
    """

    def known(field: Field) -> Field:
        text = written[field.name].text if field.name in written else shown(field.value)
        return Field(known_as(field.name), text)

    return restating(known, {*written, *chosen})


def shown(value: Any) -> str:
    """The value of a field as a form shows it.

    Args:
        value: a number, a word, a truth value, or None.
    """
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < _EXACT else repr(value).replace("+", "")
    return str(value)


def _value(text: str, kind: Any) -> Any:
    members = get_args(kind)
    if get_origin(kind) is Literal:
        return next((member for member in members if str(member) == text), text)
    if kind is bool:
        return {"true": True, "false": False}.get(text, text)
    if NoneType in members and text.lower() == "none":
        return None
    try:
        number = parse_number(text)
    except InputError:
        return text
    return int(number) if kind is int and number.is_integer() else number
