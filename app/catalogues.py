"""What the page says in each language: English as it stands in the code, others from gettext catalogues.

A message's context in a catalogue is its key. What a catalogue leaves out is said in English.
"""

from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files

from lossscale_app.messages import ENGLISH, Message
from lossscale_core import InputError
from lossscale_core.errors import Sentence

#: The languages, by their codes, as they call themselves.
LANGUAGES = {"en": "English", "pl": "Polski"}

#: For each language the categories of its plurals, as browsers name them, with a number of each. English has its
#: own forms; a category that no whole number has, such as Polish "other", is said like the last one.
_PLURALS = {"pl": {"one": 1, "few": 2, "many": 5, "other": 5}}


@cache
def messages(language: str) -> dict[str, Message]:
    """The messages of a language.

    Args:
        language: its code.

    Returns:
        The texts by their keys; for what depends on a number a text for each plural category.
    """
    if language not in _PLURALS:
        return dict(ENGLISH)
    catalogue = _catalogue(language)
    return {key: _message(catalogue, key, english, _PLURALS[language]) for key, english in ENGLISH.items()}


def language_of(code: object) -> str:
    """The language of a code; of anything else the first.

    Args:
        code: what stands where the page says in which language it asks.

    Returns:
        The code of a language there is.
    """
    return code if isinstance(code, str) and code in LANGUAGES else next(iter(LANGUAGES))


def translated(error: InputError | Sentence, language: str) -> str:
    """What an error says in a language.

    Args:
        error: the error, or a part of it.
        language: the language's code.

    Returns:
        The sentence, with its parts.
    """
    sentence = error.sentence if isinstance(error, InputError) else error
    parts = {name: _part(part, language) for name, part in sentence.parts.items()}
    template = _catalogue(language).gettext(sentence.template) if sentence.template else ""
    return template.format(**parts) if parts else template


class _SpacedNumber(int):
    """A number whose thousands are set apart by spaces, from five digits on."""

    def __format__(self, spec: str) -> str:
        written = super().__format__(spec)
        return written.replace(",", "\u00a0" if abs(self) >= 10_000 else "")


#: How languages other than English group digits.
_GROUPED = {"pl": _SpacedNumber}


def _part(part: object, language: str) -> object:
    if isinstance(part, InputError | Sentence):
        return translated(part, language)
    return _GROUPED.get(language, int)(part) if type(part) is int else part


def _message(catalogue: NullTranslations, key: str, english: Message, plurals: dict[str, int]) -> Message:
    if isinstance(english, str):
        return catalogue.pgettext(key, english)
    return {
        category: catalogue.npgettext(key, english["one"], english["other"], number)
        for category, number in plurals.items()
    }


@cache
def _catalogue(language: str) -> NullTranslations:
    file = files("lossscale_app").joinpath("locales", language, "LC_MESSAGES", "lossscale.mo")
    if not file.is_file():
        return NullTranslations()
    with file.open("rb") as compiled:
        return GNUTranslations(compiled)
