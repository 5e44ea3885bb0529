"""Errors about fields, which know the fields: they can be told again to who knows those in other words."""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from lossscale_core.errors import InputError, Sentence, quoted

#: Marked as a sentence, for it to be found by who translates.
_REFUSED = Sentence("{name} must be {rule}: {value} is not.")


class Field(NamedTuple):
    """Something that can be set, and what it is set to."""

    name: str
    value: object


class FieldError(InputError):
    """A field holds what it must not.

    Example:
        >>> FieldError(Field("steps", 0), Sentence("above 0")).restated(lambda field: Field("--steps", "2^-9"))
        FieldError('--steps must be above 0: “2^-9” is not.')
    """

    def __init__(self, field: Field, rule: Sentence) -> None:
        """Make the message.

        Args:
            field: what is refused.
            rule: what its value must be.
        """
        super().__init__(_REFUSED, name=field.name, rule=rule, value=quoted(field.value))
        self._field, self._rule = field, rule

    def restated(self, known: Callable[[Field], Field], wrote: Collection[str] = ()) -> "FieldError":
        """The same refusal in the words of who set the fields.

        Args:
            known: what a field is to them: its name, and what they wrote for it.
            wrote: the names, as they are here, of the fields that they wrote themselves.

        Returns:
            The error to tell them.
        """
        return FieldError(known(self._field), self._rule)

    def __reduce__(self) -> tuple[Any, ...]:
        return FieldError, (self._field, self._rule)


class OrderError(FieldError):
    """Two fields contradict each other, since one has to be at most the other: one of the two is refused."""

    def __init__(self, lower: Field, upper: Field, refuses_upper: bool = False) -> None:
        """Make the message.

        Args:
            lower: the field that must be at most the other.
            upper: the other.
            refuses_upper: whether the other is the one that is refused.
        """
        if refuses_upper:
            super().__init__(upper, Sentence("at least {other}, {limit}", other=lower.name, limit=quoted(lower.value)))
        else:
            super().__init__(lower, Sentence("at most {other}, {limit}", other=upper.name, limit=quoted(upper.value)))
        self._lower, self._upper, self._refuses_upper = lower, upper, refuses_upper

    def restated(self, known: Callable[[Field], Field], wrote: Collection[str] = ()) -> "OrderError":
        """The same in the words of who set the fields; of the two the one is refused that they wrote themselves."""
        other = self._lower if self._refuses_upper else self._upper
        turned = other.name in wrote and self._field.name not in wrote
        return OrderError(known(self._lower), known(self._upper), refuses_upper=self._refuses_upper != turned)

    def __reduce__(self) -> tuple[Any, ...]:
        return OrderError, (self._lower, self._upper, self._refuses_upper)
