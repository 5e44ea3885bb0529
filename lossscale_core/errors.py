"""The one exception this package raises for what a person gave it."""


class Sentence(str):
    """A text that knows what it is made of, so that it can be said in another language.

    Attributes:
        template: the text with a name in braces for each part, or just a text where there is none.
        parts: what stands for the names; also sentences.

    Example:
        >>> Sentence("{name} is too large.", name="k")
        'k is too large.'
    """

    template: str
    parts: dict[str, object]

    def __new__(cls, template: str, /, **parts: object) -> "Sentence":
        """Fill in the parts."""
        sentence = super().__new__(cls, template.format(**parts) if parts else template)
        sentence.template, sentence.parts = template, parts
        return sentence


class InputError(ValueError):
    """Something given to the package cannot be used.

    The message is one sentence for the person who gave it and quotes what they gave,
    so that a page or a command line can show it as it stands.

    Attributes:
        sentence: the message, and what it is made of.
    """

    def __init__(self, template: str, /, **parts: object) -> None:
        """Make the message.

        Args:
            template: the sentence with a name in braces for each part, if it has any.
            parts: what stands for the names.
        """
        self.sentence = Sentence(template, **parts)
        super().__init__(self.sentence)


def quoted(text: object, limit: int = 60) -> Sentence:
    """Quote what a person wrote for an error message, shortened and on one line.

    Args:
        text: what they wrote; anything with a `str`.
        limit: the most characters to repeat.

    Returns:
        The text between curly quotes, control characters shown as escapes.
    """
    plain = printable(str(text)[: limit + 1])
    # Other languages quote with other signs.
    return Sentence("“{text}”", text=plain if len(plain) <= limit else f"{plain[:limit]}…")


def printable(text: str) -> str:
    """Show what cannot be printed, such as control characters, as escapes.

    Args:
        text: any text.

    Returns:
        The text on one line.
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
