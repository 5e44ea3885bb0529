"""The lesson card as the tests see it, and what it has to say, from the scenarios' data."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
import re
from types import SimpleNamespace

from playwright.sync_api import Browser, Page
import pytest

from lossscale_app.catalogues import LANGUAGES, messages
from lossscale_app.messages import ENGLISH
from lossscale_app.scenarios import SCENARIOS, Scenario

from .pages import DESKTOP, ExplorerPage

BY_ID = {scenario.id: scenario for scenario in SCENARIOS}
every_scenario = pytest.mark.parametrize("scenario", SCENARIOS, ids=BY_ID)

#: What tells the answer, or lets one find it.
TELLING = (
    ".scale-slider, input[type=range], .stepper, .bubble, .chart, svg, .outcome, .journey, table, .card:not(.lesson)"
)
VIEWS = ("window", "distribution", "training", "order")

#: Longer than it takes until a hand rests, and until what it did is told.
REST = 700

_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")

# What the window chart shows of the window.
#: The steps of a lecture.
STEPS = ("describe", "predict", "show", "explain", "next")

READ_WINDOW = """(root) => ({
  bands: root.querySelectorAll(".band").length,
  caption: root.querySelector(".window-caption").textContent,
  safe: parseFloat(getComputedStyle(root.querySelector(".scale-track"), "::after").width),
  bars: root.querySelectorAll(".bar").length,
  segments: [...root.querySelectorAll(".bar .segment")].map((part) => part.classList[1]),
  reasons: root.querySelectorAll(".outcome-lines p").length,
})"""


# What the page says, from the scenarios' data


def pretty(text: str, language: str = "en") -> str:
    """A number of the core's as the page spells it."""
    if language == "pl":
        text = re.sub(r"(?<=\d)\.(?=\d)", ",", text)
    text = re.sub(r"\^(-?\d+)", lambda power: power[1].translate(_RAISED), text)
    text = text.replace("*", "·").replace("-", "−").replace("inf", "∞").replace("nan", "NaN")
    return grouped(text, language)


def grouped(text: str, language: str) -> str:
    """A text with long whole numbers in groups of three digits."""
    comma = {"en": ",", "pl": "\u00a0"}[language]
    return re.sub(r"(?<![\w.,^])\d{5,}(?!\w)", lambda digits: f"{int(digits[0]):,}".replace(",", comma), text)


def told(scenario: Scenario, part: str, language: str = "en") -> str:
    """A text of a scenario, with its numbers."""
    facts = {name: pretty(text, language) for name, text in scenario.facts().items()}
    return grouped(messages(language)[f"scenario-{scenario.id}-{part}"].format(**facts), language)


def right_of(scenario: Scenario) -> str:
    return next(each.id for each in scenario.predictions if not each.misconception)


def reveals(scenario: Scenario, language: str = "en") -> dict[str, str]:
    """The misconception that each wrong prediction reveals, in words."""
    said = messages(language)
    return {each.id: said[f"misconception-{each.misconception}"] for each in scenario.predictions if each.misconception}


def answers(language: str) -> set[str]:
    """All that tells an answer: sentences of all scenarios with their numbers, and what stands between the numbers."""
    texts = {told(each, part, language) for each in SCENARIOS for part in ("found", "reflect", "answer")}
    texts |= set(chain.from_iterable(reveals(each, language).values() for each in SCENARIOS))
    for each in SCENARIOS:
        for part in ("found", "answer"):
            said = messages(language)[f"scenario-{each.id}-{part}"]
            texts |= {max(re.split(r"\{\w+\}", said), key=len).strip()}
    assert min(map(len, texts)) > 12
    return texts


ANSWERS = set(chain.from_iterable(map(answers, LANGUAGES)))

#: What a scenario's data call its answer; as JSON, and as JSON within JSON.
_NAMED = re.compile(r'\\*"(?:right|facts|goal|misconceptions?|found|reflect)\\*"\s*:')


def given_away(text: str) -> list[str]:
    """What of any answer is in a text, in any language."""
    plain = unescaped(text)
    return [*(answer for answer in ANSWERS if answer in plain), *_NAMED.findall(plain)]


def told_anywhere(explorer: ExplorerPage) -> list[str]:
    """What of any answer is in the page, seen or not, read aloud or not."""
    page, body = explorer.page, explorer.page.locator("body")
    texts = (body.text_content(), body.aria_snapshot(), page.title(), page.url, page.content())
    return [found for text in texts for found in given_away(text)]


def unescaped(text: str) -> str:
    """A text, or source text, with its letters beyond ASCII."""
    return re.sub(r"\\+u([0-9a-f]{4})", lambda letter: chr(int(letter[1], 16)), text)


# A page that is brought from one scenario to the next


@contextmanager
def opened(browser: Browser, url: str, script: str = "", **options: object) -> Iterator[ExplorerPage]:
    """A page of one's own at an address, with a scenario or without; it must not complain.

    What comes from the server is kept: the `document`, and the messages that are `received`.
    """
    context = browser.new_context(**{"viewport": DESKTOP, "reduced_motion": "reduce", **options})
    if script:
        context.add_init_script(script)
    explorer = ExplorerPage(context.new_page(), SimpleNamespace(url=url))
    explorer.received = []
    take = lambda frame: explorer.received.append(frame)  # noqa: E731 - Playwright takes no method of a list
    explorer.page.on("websocket", lambda socket: socket.on("framereceived", take))
    explorer.document = explorer.page.goto(url).text()
    explorer.root.locator(".columns > *").first.wait_for()
    yield explorer
    problems = explorer.watch.problems()
    context.close()
    assert problems == []


def choose(explorer: ExplorerPage, name: str) -> None:
    explorer.root.get_by_label(ENGLISH["scenarioLabel"], exact=True).select_option(name)


def turn_to(explorer: ExplorerPage, view: str) -> None:
    explorer.root.locator(f".choice.view [value={view}]").check(force=True)


def go_through(explorer: ExplorerPage, mode: str) -> None:
    explorer.root.locator(f".choice.mode [value={mode}]").check(force=True)


def begin(explorer: ExplorerPage, name: str, mode: str = "predict") -> None:
    """Come to a scenario from free play."""
    explorer.page.set_viewport_size(DESKTOP)
    explorer.page.emulate_media(color_scheme="light")
    explorer.reset.click()
    choose(explorer, name)
    go_through(explorer, mode)


def press(explorer: ExplorerPage, key: str, **values: str) -> None:
    """Press a button of the lesson, by its message."""
    explorer.root.locator(".lesson").get_by_role("button", name=ENGLISH[key].format(**values), exact=True).click()


def predict(explorer: ExplorerPage, letter: str) -> None:
    explorer.root.locator(f".prediction [value={letter}]").check()
    press(explorer, "lessonCommit")


def seen_line(explorer: ExplorerPage) -> str:
    """What the lesson says that is seen; the words of it are the view's."""
    return explorer.root.locator(".lesson-seen").inner_text()


def lines(explorer: ExplorerPage) -> list[str]:
    """The paragraphs of the lesson that are seen."""
    return explorer.root.locator(".lesson p").evaluate_all(
        "all => all.filter((line) => line.checkVisibility()).map((line) => line.innerText)"
    )


def query(page: Page) -> str:
    return "?" + page.url.partition("?")[2]


def covered(explorer: ExplorerPage) -> list[str]:
    """What is in the document beside the question."""
    found = explorer.root.evaluate(
        """(root, telling) => [...root.querySelectorAll(telling)].filter((part) => !part.closest("dialog"))
            .map((part) => part.outerHTML)""",
        TELLING,
    )
    parts = explorer.root.locator(".columns > *").evaluate_all("parts => parts.map((part) => part.className)")
    return [*found, *(part for part in parts if part != "card lesson")]


def hides_window(explorer: ExplorerPage) -> bool:
    """Whether nothing tells where the window is; all of it, or nothing, must be hidden."""
    shown = SimpleNamespace(**explorer.root.evaluate(READ_WINDOW))
    ends = [tick.log2 for tick in explorer.state().ticks]
    hidden = {
        "bands": shown.bands == 0,
        "caption": shown.caption == ENGLISH["windowHidden"],
        "safe": shown.safe == 0,
        "segments": shown.segments == ["unknown"] * shown.bars,
        "reasons": shown.reasons == 0,
        "axis": (ends[0], ends[-1]) == (-40, 40),
    }
    assert len(set(hidden.values())) == 1, hidden
    return hidden["bands"]


def step(explorer: ExplorerPage) -> str:
    """The step that is gone through, by the list of steps."""
    current = explorer.root.locator(".lecture-steps [aria-current=step]")
    return {ENGLISH[f"lecture-{name}"]: name for name in STEPS}[current.inner_text()]


def go_to(explorer: ExplorerPage, name: str) -> None:
    while step(explorer) != name:
        press(explorer, "lectureForward")
