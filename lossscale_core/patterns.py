"""Patterns of steps as people write them: which are finite, and which overflow."""

import re

from lossscale_core.checks import refuse
from lossscale_core.errors import InputError, quoted

_BETWEEN = re.compile(r"[\s,]+")
_OTHER = re.compile(r"[^FNfn\s,]")


def read_pattern(pattern: str) -> str:
    """Read a pattern of steps.

    Args:
        pattern: a letter a step, as a text: F for finite gradients, N where some are inf or NaN; in either case,
            with spaces and commas between as one likes.

    Returns:
        The letters alone, as capitals.

    Raises:
        InputError: it is no text, or has something else in it, whose place is told as it was written.

    Example:
        >>> read_pattern("nf f, N")
        'NFFN'
    """
    if not isinstance(pattern, str):
        refuse("pattern", "a text of letters F and N", pattern)
    other = _OTHER.search(pattern)
    if other:
        raise InputError(
            "A pattern has only the letters F (finite) and N (an inf or NaN): letter {step}, {letter}, is neither.",
            step=other.start() + 1,
            letter=quoted(other[0]),
        )
    return _BETWEEN.sub("", pattern).upper()
