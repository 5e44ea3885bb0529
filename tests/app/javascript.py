"""Just enough of JavaScript's grammar to ask questions of the page's modules without running them."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from itertools import accumulate
import re

BROWSER = files("lossscale_app").joinpath("browser")

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<slash>/)
    |(?P<word>[\w$]+)
    |(?P<space>\s+)
    |(?P<mark>.)""",
    re.VERBOSE | re.DOTALL,
)
_TEMPLATE = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*(`|\$\{)", re.DOTALL)
_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_BEFORE_REGEX = frozenset("(,=:[!&|?{};+>") | {"return", "typeof", ""}
_DECLARATION = re.compile(
    r"^(?P<export>export )?(?:(?:async )?(?:class|function\*?) (?P<name>[\w$]+)|(?:const|let|var) )", re.MULTILINE
)
_IMPORT = re.compile(r"^import \{([^}]*)\} from \"\./([\w.-]+)\";$", re.MULTILINE)
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True)
class Piece:
    """A stretch of a module that is no code: a comment, a string, a regular expression, text of a template."""

    kind: str
    start: int
    end: int
    text: str


class Module:
    """A module's text, with what is code and what is not told apart."""

    def __init__(self, name: str, text: str):
        self.name = name
        self.text = text
        self.pieces = list(_pieces(text))
        self.code = _blanked(text, self.pieces)
        steps = ((character in _OPEN) - (character in _CLOSE) for character in self.code)
        self._depths = list(accumulate(steps, initial=0))

    def strings(self, start: int = 0, end: int | None = None) -> list[str]:
        """The quoted strings between two places, but for those that something is compared with."""
        end = len(self.text) if end is None else end
        inside = [
            piece for piece in self.pieces if piece.kind == "string" and start <= piece.start and piece.end <= end
        ]
        return [piece.text[1:-1] for piece in inside if not self.code[: piece.start].rstrip().endswith("==")]

    def templates(self, start: int, end: int) -> list[str]:
        """The templates between two places as patterns, in which what is filled in matches anything."""
        patterns = []
        for piece in self.pieces:
            if piece.kind == "template" and start <= piece.start and piece.end <= end:
                if piece.text.startswith("`"):
                    patterns.append("")
                patterns[-1] += re.escape(piece.text.strip("`").removeprefix("}").removesuffix("${"))
                patterns[-1] += ".+" if piece.text.endswith("${") else ""
        return patterns

    def closing(self, opening: int) -> int:
        """The place of the bracket that closes the one at a place."""
        ending = (place for place in range(opening, len(self.code)) if self._depths[place + 1] == self._depths[opening])
        return next(ending)

    def split(self, start: int, end: int, separator: str = ",") -> list[tuple[int, int]]:
        """The stretches between separators that stand outside of any bracket; an idle last one is left out."""
        parts, begin = [], start
        for place in range(start, end):
            if self._depths[place] == self._depths[start] and self.code[place] == separator:
                parts.append((begin, place))
                begin = place + 1
        return [(a, b) for a, b in [*parts, (begin, end)] if self.text[a:b].strip()]

    def statement_end(self, start: int) -> int:
        """The place of the semicolon that ends a statement."""
        return self.split(start, len(self.code), ";")[0][1]

    def imports(self) -> list[tuple[list[str], str]]:
        """What is imported, file by file: the names and the file."""
        return [
            ([name.strip() for name in found[1].split(",") if name.strip()], found[2])
            for found in _IMPORT.finditer(self.text)
        ]

    def declared(self, *, exported: bool = False) -> list[str]:
        """The names declared at the module's top level, in lines of their own; or only those that it exports."""
        names = []
        for found in _DECLARATION.finditer(self.code):
            if self._depths[found.start()] or (exported and not found["export"]):
                continue
            if found["name"]:
                names.append(found["name"])
            else:
                names += [self._declared_in(a, b) for a, b in self.split(found.end(), self.statement_end(found.end()))]
        return names

    def _declared_in(self, start: int, end: int) -> str:
        name = re.match(r"[\w$]+", self.code[start:end].strip())
        assert name, f"{self.name}: {self.text[start:end]!r} declares more than one name"
        return name[0]


def modules() -> dict[str, Module]:
    """The page's modules by file name."""
    found = sorted(file.name for file in BROWSER.iterdir() if file.name.endswith(".js"))
    return {name: Module(name, BROWSER.joinpath(name).read_text("utf-8")) for name in found}


def _pieces(text: str) -> Iterator[Piece]:
    """What is no code. A template is left where code is filled in, and entered again after it."""
    place, before, braces = 0, "", []
    while place < len(text):
        if text[place] == "`" or (text[place] == "}" and braces and braces[-1] == 0):
            if text[place] == "}":
                braces.pop()
            found = _TEMPLATE.match(text, place + 1)
            assert found, f"a template at {place} never ends"
            if found[1] == "${":
                braces.append(0)
            yield Piece("template", place, found.end(), text[place : found.end()])
            place, before = found.end(), "(" if found[1] == "${" else "`"
            continue
        found = _TOKEN.match(text, place)
        if found.lastgroup == "slash" and before in _BEFORE_REGEX and (regex := _REGEX.match(text, place)):
            yield Piece("regex", place, regex.end(), regex[0])
            place, before = regex.end(), "/"
            continue
        if found.lastgroup in ("comment", "string"):
            yield Piece(found.lastgroup, place, found.end(), found[0])
        if braces and found[0] in "{}":
            braces[-1] += 1 if found[0] == "{" else -1
        if found.lastgroup not in ("comment", "space"):
            before = found[0]
        place = found.end()


def _blanked(text: str, pieces: list[Piece]) -> str:
    characters = list(text)
    for piece in pieces:
        for place in range(piece.start, piece.end):
            if characters[place] != "\n":
                characters[place] = " "
    return "".join(characters)
