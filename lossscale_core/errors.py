"""The one exception this package raises for what a person gave it."""


class InputError(ValueError):
    """Something given to the package cannot be used.

    The message is one sentence for the person who gave it and quotes what they gave,
    so that a page or a command line can show it as it stands.
    """


def quoted(text: object, limit: int = 60) -> str:
    """Quote what a person wrote for an error message, shortened and on one line.

    Args:
        text: what they wrote; anything with a `str`.
        limit: the most characters to repeat.

    Returns:
        The text between curly quotes, control characters shown as escapes.
    """
    plain = printable(str(text)[: limit + 1])
    return f"“{plain}”" if len(plain) <= limit else f"“{plain[:limit]}…”"


def printable(text: str) -> str:
    """Show what cannot be printed, such as control characters, as escapes.

    Args:
        text: any text.

    Returns:
        The text on one line.
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
