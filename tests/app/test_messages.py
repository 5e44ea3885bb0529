"""The page's sentences: each is there that the page asks for, each is asked for, with the values it needs."""

from dataclasses import dataclass
import json
from pathlib import Path
import re

import pytest

from lossscale_app import export
from lossscale_app.explorer import Explorer
from lossscale_app.messages import ENGLISH
from lossscale_app.page_setup import setup_json
from lossscale_app.presets import PRESETS
from lossscale_core import FORMATS, Outcome

from .javascript import Module, modules

MODULES = modules()
#: The messages that the page can ask for; what answers a scenario's question is packed with the scenario.
ASKABLE = json.loads(setup_json())["languages"]["en"]["messages"]
_FUNCTION = re.compile(r"\b(?!if|for|while|switch)(?P<name>[\w$]+)(?: = )?\((?P<parameters>[^()]*)\) (?:=>|\{)")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Call:
    """One place that asks for a message.

    Attributes:
        where: the file, and what is written there.
        wanted: patterns of the keys it can ask for; None where they come from elsewhere.
        values: the names of what is filled in; None where that cannot be told.
    """

    where: str
    wanted: tuple[str, ...] | None
    values: frozenset[str] | None

    def found(self):
        """The messages among them."""
        return {key for key in ASKABLE for pattern in self.wanted or () if re.fullmatch(pattern, key)}


def calls(module):
    """Every call of `say` in a module."""
    for found in re.finditer(r"\bsay\(", module.code):
        opening = found.end() - 1
        closing = module.closing(opening)
        if module.code[closing + 1 :].lstrip().startswith("{"):
            continue  # where `say` itself is defined
        arguments = module.split(opening + 1, closing)
        values = names(module, *arguments[1]) if len(arguments) > 1 else frozenset()
        where = f"{module.name}: {module.text[found.start() : closing + 1]}"
        yield Call(where, wanted(module, *arguments[0]), values)


def wanted(module, start, end):
    """The keys an argument can be: written there, or in the constant that it is taken from."""
    patterns = [re.escape(text) for text in module.strings(start, end)] + module.templates(start, end)
    if patterns:
        return tuple(patterns)
    for name in re.findall(r"[\w$]+", module.code[start:end]):
        patterns += listed(module, name, start) or passed(module, name, start) or constant(module, name)
    return tuple(map(re.escape, patterns)) or None


def listed(module, name, place):
    """What a statement lists around a place, where it calls an arrow function of that parameter for each."""
    for statement in re.finditer(r"\bconst [\w$]+ = ", module.code[:place]):
        ending = module.statement_end(statement.end())
        if place < ending and re.search(
            rf"(?:\({re.escape(name)}\)|\b{re.escape(name)}) => ", module.code[statement.end() : place]
        ):
            return module.strings(statement.end(), ending)
    return []


def passed(module, name, place):
    """What the function around a place is called with for a parameter of that name."""
    for found in reversed(list(_FUNCTION.finditer(module.code, 0, place))):
        parameters = [part.strip() for part in found["parameters"].split(",")]
        opens = found.end() - 1
        ending = module.closing(opens) if module.code[opens] == "{" else module.statement_end(found.end())
        if name in parameters and place < ending:
            return handed(module, found["name"], parameters.index(name))
    return []


def handed(module, function, position):
    """The strings that a function of a module is called with at a position."""
    strings = []
    for found in re.finditer(rf"\b{re.escape(function)}\(", module.code):
        arguments = module.split(found.end(), module.closing(found.end() - 1))
        if position < len(arguments):
            strings += module.strings(*arguments[position])
    return strings


def constant(module, name):
    """The strings in a constant of a module."""
    found = re.finditer(rf"\bconst {re.escape(name)} = ", module.code)
    return [text for each in found for text in module.strings(each.end(), module.statement_end(each.end()))]


def names(module, start, end):
    """The property names of an object literal."""
    if module.code[start:end].strip()[:1] != "{":
        return None
    opening = module.code.index("{", start)
    entries = [module.code[a:b].strip() for a, b in module.split(opening + 1, module.closing(opening))]
    found = [re.match(r"([A-Za-z_$][\w$]*)\s*(:|$)", entry) for entry in entries]
    return frozenset(match[1] for match in found) if all(found) else None


CALLS = {name: list(calls(module)) for name, module in MODULES.items()}
every_module = pytest.mark.parametrize("asked", CALLS.values(), ids=CALLS)


def forms(key):
    """The sentences of a message: one, or one for each plural category."""
    message = ENGLISH[key]
    return [message] if isinstance(message, str) else list(message.values())


def placeholders(key):
    return {name for form in forms(key) for name in _PLACEHOLDER.findall(form)}


def test_the_page_asks_for_messages():
    assert sum(map(len, CALLS.values())) > 50


@every_module
def test_every_message_that_is_asked_for_exists(asked):
    missing = {
        (call.where, pattern)
        for call in asked
        for pattern in call.wanted or ()
        if not any(re.fullmatch(pattern, key) for key in ENGLISH)
    }
    assert missing == set()


def test_every_message_is_asked_for():
    used = {key for asked in CALLS.values() for call in asked for key in call.found()}
    # Where a key comes from elsewhere it is written in the same file.
    for name, asked in CALLS.items():
        if any(call.wanted is None for call in asked):
            used |= set(MODULES[name].strings())
    # The start page of a site is Python's.
    used |= set(re.findall(r'"(site\w+)"', Path(export.__file__).read_text("utf-8")))
    assert sorted(set(ASKABLE) - used) == []


@every_module
def test_what_a_message_leaves_open_is_filled_in(asked):
    known = [call for call in asked if call.values is not None]
    left_open = {(call.where, key) for call in known for key in call.found() if not placeholders(key) <= call.values}
    assert left_open == set()


@every_module
def test_a_message_with_plural_forms_is_asked_for_with_a_number(asked):
    known = [call for call in asked if call.values is not None and "n" not in call.values]
    assert {(call.where, key) for call in known for key in call.found() if not isinstance(ENGLISH[key], str)} == set()


@every_module
def test_nothing_is_filled_in_that_no_message_has_a_place_for(asked):
    idle = set()
    for call in asked:
        takes = {name for key in call.found() for name in placeholders(key)}
        if any(not isinstance(ENGLISH[key], str) for key in call.found()):
            takes.add("n")
        idle |= {(call.where, name) for name in (call.values or set()) - takes if call.wanted}
    assert idle == set()


@pytest.mark.parametrize(
    ("family", "members"),
    [
        ("outcome-", [outcome.name.lower() for outcome in Outcome]),
        ("format-", list(FORMATS)),
        ("try-", [preset.id for preset in PRESETS]),
        ("column-", None),
    ],
)
def test_a_family_of_messages_has_one_for_each_member(family, members):
    members = members or constant(MODULES["table.js"], "COLUMNS")
    assert sorted(key for key in ENGLISH if key.startswith(family)) == sorted(family + member for member in members)


def test_themes_that_have_a_name_exist():
    named = {key.removeprefix("theme-") for key in ENGLISH if key.startswith("theme-")}
    assert {"auto", "light", "dark"} <= named <= set(Explorer.param.theme.objects)


def test_the_browser_has_the_outcomes_of_the_core_in_their_order():
    assert constant(MODULES["lookup.js"], "OUTCOMES") == [outcome.name.lower() for outcome in Outcome]


@pytest.mark.parametrize("key", [key for key, message in ENGLISH.items() if not isinstance(message, str)])
def test_a_message_with_plural_forms_has_those_of_english(key):
    assert set(ENGLISH[key]) == {"one", "other"}
    one, other = (set(_PLACEHOLDER.findall(ENGLISH[key][category])) for category in ("one", "other"))
    # The one is one: its number need not be said.
    assert one | {"n"} == other | {"n"}


@pytest.mark.parametrize("key", ENGLISH)
def test_a_message_is_plain_text(key):
    for form in forms(key):
        assert form == form.strip()
        assert form
        assert "  " not in form
        assert form.isprintable()
        assert not re.search(r"[<>&]\w|&\w+;", form)
        assert re.sub(_PLACEHOLDER, "", form).count("{") == 0


def test_the_reader_of_calls_understands_the_ways_they_are_written():
    module = Module(
        "sample.js",
        """
        say(key, values = {}) { return key; }
        const KEPT = { zero: "staysZero", normal: "keptAs" };
        const both = ["barZero", "barNormal"].map((each) => words.say(each, { to }));
        const key = kind === "typed" ? "scaleTyped" : "scaleIs"; // "scaleAbout"
        words.say(key, { scale, power: `2^${say("about")}` });
        words.say(KEPT[name], values);
        words.say(`outcome-${OUTCOMES[row]}`);
        words.say(one ? "fullOne" : "fullNone", { ...rest });
        const step = (by, label) => html("button", { title: words.say(label) }, "+");
        step(-1, "stepDown"); step(1, "stepUp");
        """,
    )
    read = [(call.wanted, call.values) for call in calls(module)]
    assert read == [
        (("barZero", "barNormal"), {"to"}),
        (("scaleTyped", "scaleIs"), {"scale", "power"}),
        (("about",), set()),
        (("staysZero", "keptAs"), None),
        ((r"outcome\-.+",), set()),
        (("fullOne", "fullNone"), None),
        (("stepDown", "stepUp"), set()),
    ]
