"""Scenarios in the page: predict, observe, explain. Nothing is told before, and nothing is kept or sent."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
import re
from types import SimpleNamespace

from playwright.sync_api import Browser, Page, expect
import pytest

from lossscale_app.links import DEFAULTS, read_link, write_link
from lossscale_app.messages import ENGLISH
from lossscale_app.scenarios import SCENARIOS, Scenario, scenario_params
from lossscale_core import FORMATS, Outcome, classify, parse_number, safe_window

from .hosts import NO_STORAGE, Site
from .launch import Server
from .pages import ALL_K, DESKTOP, ExplorerPage

pytest_plugins = ("browser.host_fixtures",)
pytestmark = pytest.mark.browser

BY_ID = {scenario.id: scenario for scenario in SCENARIOS}
every_scenario = pytest.mark.parametrize("scenario", SCENARIOS, ids=BY_ID)

#: What tells the answer, or lets one find it.
TELLING = (
    ".scale-slider, input[type=range], .stepper, .bubble, .chart, svg, .outcome, .journey, table, .card:not(.lesson)"
)
#: Longer than it takes until a hand rests, and until what it did is told.
REST = 700

_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")

# What the window chart shows of the window.
READ_WINDOW = """(root) => ({
  bands: root.querySelectorAll(".band").length,
  caption: root.querySelector(".window-caption").textContent,
  safe: parseFloat(getComputedStyle(root.querySelector(".scale-track"), "::after").width),
  bars: root.querySelectorAll(".bar").length,
  segments: [...root.querySelectorAll(".bar .segment")].map((part) => part.classList[1]),
  reasons: root.querySelectorAll(".outcome-lines p").length,
})"""


# What the page says, from the scenarios' data


def pretty(text: str) -> str:
    """A number of the core's as the page spells it."""
    text = re.sub(r"\^(-?\d+)", lambda power: power[1].translate(_RAISED), text)
    text = text.replace("*", "·").replace("-", "−").replace("inf", "∞").replace("nan", "NaN")
    return re.sub("%$", "\u202f%", text)


def told(scenario: Scenario, part: str) -> str:
    """A text of a scenario, with its numbers."""
    facts = {name: pretty(text) for name, text in scenario.facts().items()}
    return ENGLISH[f"scenario-{scenario.id}-{part}"].format(**facts)


def right_of(scenario: Scenario) -> str:
    return next(each.id for each in scenario.predictions if not each.misconception)


def reveals(scenario: Scenario) -> dict[str, str]:
    """The misconception that each wrong prediction reveals, in words."""
    return {
        each.id: ENGLISH[f"misconception-{each.misconception}"] for each in scenario.predictions if each.misconception
    }


def answers() -> set[str]:
    """All that tells an answer: sentences of all scenarios with their numbers, and what stands between the numbers."""
    texts = {told(each, part) for each in SCENARIOS for part in ("found", "answer")}
    texts |= set(chain.from_iterable(reveals(each).values() for each in SCENARIOS))
    for each in SCENARIOS:
        for part in ("found", "answer"):
            texts |= {max(re.split(r"\{\w+\}", ENGLISH[f"scenario-{each.id}-{part}"]), key=len).strip()}
    assert min(map(len, texts)) > 15
    return texts


ANSWERS = answers()


def given_away(text: str) -> list[str]:
    return [answer for answer in ANSWERS if answer in unescaped(text)]


def unescaped(text: str) -> str:
    """A text, or source text, with its letters beyond ASCII."""
    return re.sub(r"\\+u([0-9a-f]{4})", lambda letter: chr(int(letter[1], 16)), text)


# A page that is brought from one scenario to the next


@contextmanager
def opened(browser: Browser, url: str, script: str = "", **options: object) -> Iterator[ExplorerPage]:
    """A page of one's own at an address, with a scenario or without; it must not complain."""
    context = browser.new_context(**{"viewport": DESKTOP, "reduced_motion": "reduce", **options})
    if script:
        context.add_init_script(script)
    explorer = ExplorerPage(context.new_page(), SimpleNamespace(url=url))
    explorer.page.goto(url)
    explorer.root.locator(".columns > *").first.wait_for()
    yield explorer
    problems = explorer.watch.problems()
    context.close()
    assert problems == []


def choose(explorer: ExplorerPage, name: str) -> None:
    explorer.root.get_by_label(ENGLISH["scenarioLabel"], exact=True).select_option(name)


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


def lines(explorer: ExplorerPage) -> list[str]:
    """The paragraphs of the lesson that are seen."""
    return explorer.root.locator(".lesson p").evaluate_all(
        "all => all.filter((line) => line.checkVisibility()).map((line) => line.innerText)"
    )


def query(page: Page) -> str:
    return "?" + page.url.partition("?")[2]


@pytest.fixture(scope="module")
def shared(browser: Browser, server: Server) -> Iterator[ExplorerPage]:
    with opened(browser, f"{server.url}/?v=1&s=window&m=predict") as explorer:
        explorer.fresh = explorer.page.content()
        yield explorer
    assert server.new_errors() == []


@pytest.fixture
def lesson(shared: ExplorerPage) -> ExplorerPage:
    """The page at the first scenario, before a prediction."""
    begin(shared, "window")
    return shared


# The list and the link


def test_the_list_has_all_scenarios_in_two_groups(lesson: ExplorerPage) -> None:
    groups = lesson.root.locator("#lse-scenario optgroup").evaluate_all(
        "groups => groups.map((group) => [group.label, [...group.children].map(({ value, text }) => [value, text])])"
    )
    numbered = [
        (each.homework, [each.id, f"{place}. {told(each, 'title')}"]) for place, each in enumerate(SCENARIOS, 1)
    ]
    assert groups == [
        [ENGLISH[key], [option for homework, option in numbered if homework is at_home]]
        for key, at_home in (("scenarioClass", False), ("scenarioHomework", True))
    ]
    assert sum(len(options) for _, options in groups) == 19


@every_scenario
def test_a_chosen_scenario_is_its_state_and_its_link(lesson: ExplorerPage, scenario: Scenario) -> None:
    lesson.reset.click()
    choose(lesson, scenario.id)
    assert query(lesson.page) == f"?v=1&s={scenario.id}"
    if scenario.id in ("window", "outlier"):
        expect(lesson.boxes).to_have_count(len(scenario_params(scenario.id)["gradients"]))
    go_through(lesson, "predict")
    assert query(lesson.page) == f"?v=1&s={scenario.id}&m=predict"
    assert len(lesson.page.url) <= 120
    # Without its name, the link says all of the state.
    choose(lesson, "")
    state = {**DEFAULTS, **scenario_params(scenario.id)}
    assert query(lesson.page) == write_link(state)
    assert read_link(query(lesson.page)).ignored == ()


def test_back_undoes_a_choice(lesson: ExplorerPage) -> None:
    chosen = lesson.root.get_by_label(ENGLISH["scenarioLabel"], exact=True)
    choose(lesson, "outlier")
    go_through(lesson, "play")
    expect(lesson.boxes).to_have_count(7)
    lesson.page.go_back()
    expect(chosen).to_have_value("outlier")
    assert covered(lesson) == []
    lesson.page.go_back()
    expect(chosen).to_have_value("window")
    assert query(lesson.page) == "?v=1&s=window&m=predict"
    assert covered(lesson) == []
    lesson.page.go_back()
    expect(lesson.boxes).to_have_count(2)
    assert query(lesson.page) == "?v=1&s=window"


# Before a prediction


def covered(explorer: ExplorerPage) -> list[str]:
    """What is in the document beside the question."""
    found = explorer.root.evaluate(
        """(root, telling) => [...root.querySelectorAll(telling)].filter((part) => !part.closest("dialog"))
            .map((part) => part.outerHTML)""",
        TELLING,
    )
    parts = explorer.root.locator(".columns > *").evaluate_all("parts => parts.map((part) => part.className)")
    return [*found, *(part for part in parts if part != "card lesson")]


@every_scenario
def test_before_a_prediction_there_is_nothing_but_the_question(lesson: ExplorerPage, scenario: Scenario) -> None:
    # From an answer that is all to be seen.
    press(lesson, "lessonSkip")
    press(lesson, "lessonExplain")
    choose(lesson, "tie" if scenario.id == "window" else "window")
    choose(lesson, scenario.id)
    assert covered(lesson) == []
    title = told(scenario, "title")
    assert lesson.page.title() == ENGLISH["documentTitleCovered"].format(title=title)
    assert lesson.status.text_content() == ""
    assert lines(lesson)[0] == told(scenario, "question")
    options = lesson.root.locator(".prediction").all_inner_texts()
    assert options == [f"{each.id.upper()} {told(scenario, each.id)}" for each in scenario.predictions]
    expect(lesson.root.get_by_role("button", name=ENGLISH["lessonCommit"])).to_be_disabled()
    assert given_away(lesson.page.evaluate("document.body.innerText")) == []
    assert told(scenario, "reflect") not in lesson.page.evaluate("document.body.textContent")
    assert given_away(lesson.page.content()) == []


def test_the_page_as_it_comes_holds_no_answer(shared: ExplorerPage) -> None:
    assert told(BY_ID["window"], "title") in shared.fresh
    assert given_away(shared.fresh) == []


@pytest.mark.parametrize("name", ["window", "late", "dyn"])
def test_nothing_is_told_while_it_is_covered(lesson: ExplorerPage, name: str) -> None:
    press(lesson, "lessonSkip")
    expect(lesson.status).not_to_be_empty()
    choose(lesson, name if name != "window" else "tie")
    choose(lesson, name)
    lesson.page.evaluate(
        """() => {
            const status = document.querySelector(".unseen[role=status]");
            window.said = new Set();
            const note = () => said.add(document.title).add(status.textContent);
            note();
            window.noting = new MutationObserver(note);
            noting.observe(document.documentElement, { subtree: true, childList: true, characterData: true });
        }"""
    )
    lesson.page.wait_for_timeout(1500 if name == "dyn" else REST)
    said = lesson.page.evaluate("() => { noting.disconnect(); return [...said]; }")
    assert set(said) - {""} == {ENGLISH["documentTitleCovered"].format(title=told(BY_ID[name], "title"))}
    assert lesson.status.text_content() == ""


# Observe, then explain


@every_scenario
def test_a_round(lesson: ExplorerPage, scenario: Scenario) -> None:
    choose(lesson, scenario.id)
    wrong = list(reveals(scenario))[-1]
    predict(lesson, wrong)
    assert f"You predicted: {told(scenario, wrong)}." in lines(lesson)
    expect(lesson.slider).to_be_visible()
    expect(lesson.root.locator(".outcome-title")).not_to_be_empty()
    expect(lesson.root.locator(".lesson-seen")).to_be_visible()
    assert given_away(lesson.root.locator(".lesson").inner_text()) == []
    press(lesson, "lessonExplain")
    expect(lesson.root.locator(".lesson-misconception")).to_have_text([reveals(scenario)[wrong]])
    assert lines(lesson)[2:] == [
        f"You predicted: {told(scenario, wrong)}.",
        f"What holds: {told(scenario, right_of(scenario))}.",
        reveals(scenario)[wrong],
        told(scenario, "found"),
        f"{ENGLISH['lessonReflect']} {told(scenario, 'reflect')}",
    ]
    lesson.root.locator(".lesson summary").click()
    assert lines(lesson)[-1] == told(scenario, "answer")
    offered = lesson.root.locator(".lesson-more").all_inner_texts()
    titles = [told(BY_ID[each], "title") for each in scenario.next]
    assert offered == [*(ENGLISH["lessonTry"].format(title=title) for title in titles), ENGLISH["lessonPlay"]]


@pytest.mark.parametrize("letter", ["b", None], ids=["right", "skipped"])
def test_who_is_right_or_predicts_nothing_has_no_misconception(lesson: ExplorerPage, letter: str | None) -> None:
    choose(lesson, "tie")
    tie = BY_ID["tie"]
    assert right_of(tie) == "b"
    if letter:
        predict(lesson, letter)
    else:
        # What is picked and not committed is no prediction.
        lesson.root.locator(".prediction [value=a]").check()
        press(lesson, "lessonSkip")
    said = f"You predicted: {told(tie, 'b')}." if letter else ENGLISH["lessonSkipped"]
    assert said in lines(lesson)
    press(lesson, "lessonExplain")
    assert lesson.root.locator(".lesson-misconception").count() == 0
    assert lines(lesson)[2:5] == [said, f"What holds: {told(tie, 'b')}.", told(tie, "found")]


@pytest.mark.parametrize("name", ["window", "tie", "fp8"])
def test_what_is_seen_follows_the_slider(lesson: ExplorerPage, name: str) -> None:
    choose(lesson, name)
    predict(lesson, "a")
    state = {**DEFAULTS, **scenario_params(name)}
    values = [parse_number(token) for token in state["gradients"]]
    ks = range(-10, 25)
    seen = lesson.at_each("(root) => one(root, '.lesson-seen').textContent", ks)
    for k, line in zip(ks, seen, strict=True):
        outcomes = set(classify(values, 2.0**k, FORMATS[state["format"]]))
        sign = "▲" if Outcome.OVERFLOW in outcomes else "✕" if Outcome.UNDERFLOW in outcomes else "✓"
        assert line.startswith(f"You see: {sign} "), k
    assert seen[-1] == f"You see: {lesson.root.locator('.outcome-title').inner_text()}"
    assert len(set(seen)) >= 2


def test_next_is_another_scenario_and_covered_again(lesson: ExplorerPage) -> None:
    press(lesson, "lessonSkip")
    press(lesson, "lessonExplain")
    press(lesson, "lessonTry", title=told(BY_ID["none"], "title"))
    assert query(lesson.page) == "?v=1&s=none&m=predict"
    assert covered(lesson) == []
    assert lines(lesson)[0] == told(BY_ID["none"], "question")
    assert lesson.page.evaluate("document.activeElement.matches('.prediction input')")
    assert lesson.root.locator(".prediction :checked").count() == 0
    # Nor is a prediction remembered by whoever comes back, or leaves for a while.
    predict(lesson, "b")
    go_through(lesson, "play")
    expect(lesson.root.locator(".lesson")).to_have_count(0)
    go_through(lesson, "predict")
    assert covered(lesson) == []
    lesson.page.go_back()
    lesson.page.go_back()
    assert covered(lesson) == []
    assert lesson.root.locator(".prediction :checked").count() == 0


def test_go_on_playing(lesson: ExplorerPage) -> None:
    press(lesson, "lessonSkip")
    press(lesson, "lessonExplain")
    press(lesson, "lessonPlay")
    assert query(lesson.page) == "?v=1&s=window"
    expect(lesson.root.locator(".lesson")).to_have_count(0)
    expect(lesson.slider).to_be_focused()
    expect(lesson.root.locator(".lesson-line")).to_have_text(told(BY_ID["window"], "question"))


def test_nothing_is_kept_or_sent(lesson: ExplorerPage) -> None:
    choose(lesson, "none")
    lesson.page.wait_for_timeout(REST)
    sent = len(lesson.watch.frames)
    address = lesson.page.url
    predict(lesson, "d")
    press(lesson, "lessonExplain")
    lesson.root.locator(".lesson summary").click()
    lesson.page.wait_for_timeout(REST)
    assert lesson.watch.frames[sent:] == []
    assert lesson.page.url == address
    assert lesson.page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
    assert lesson.page.context.cookies() == []
    assert set(lesson.page.evaluate("Object.keys(history.state.lossscale.state)")) == {
        *("gradients", "scale", "k", "format", "selected", "view", "data", "losing", "unscale", "at", "example"),
        *("misplaced", "policy", "run", "scenario", "mode", "theme", "language"),
    }
    go_through(lesson, "play")
    lesson.page.wait_for_timeout(REST)
    assert len(lesson.watch.frames) > sent


# The window


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


def test_the_window_is_shown_once_the_hand_rests_in_it(lesson: ExplorerPage) -> None:
    assert BY_ID["window"].goal == tuple(range(2, 13))
    predict(lesson, "b")
    assert hides_window(lesson)
    for _ in range(13):
        lesson.press("ArrowRight")
    assert lesson.state().slider == 13
    lesson.page.wait_for_timeout(REST)
    assert hides_window(lesson)
    lesson.press("ArrowLeft")
    assert hides_window(lesson)
    expect(lesson.root.locator(".band")).to_have_count(2)
    assert not hides_window(lesson)
    expect(lesson.root.get_by_role("button", name=ENGLISH["lessonWindow"])).to_have_count(0)
    expect(lesson.slider).to_be_focused()
    # Whoever has found it may leave again; and it is what free play shows.
    lesson.press("ArrowRight")
    lesson.page.wait_for_timeout(REST)
    assert not hides_window(lesson)
    read = """(root) => [".window-caption", ".outcome", ".segment"].map((part) =>
        [...root.querySelectorAll(part)].map(({ textContent, classList }) => [textContent, ...classList]))"""
    found = lesson.root.evaluate(read)
    go_through(lesson, "play")
    assert lesson.root.evaluate(read) == found


def test_the_window_is_shown_to_whoever_asks(lesson: ExplorerPage) -> None:
    predict(lesson, "c")
    assert hides_window(lesson)
    press(lesson, "lessonWindow")
    assert not hides_window(lesson)
    # Where none is to be found, the explanation shows that.
    choose(lesson, "none")
    predict(lesson, "a")
    assert hides_window(lesson)
    press(lesson, "lessonExplain")
    expect(lesson.root.locator(".window-caption")).to_contain_text(ENGLISH["windowNone"])
    # Where a scenario does not ask for scales, there is nothing to hide.
    choose(lesson, "tie")
    press(lesson, "lessonSkip")
    assert not hides_window(lesson)


# A challenge


def challenge(explorer: ExplorerPage) -> None:
    explorer.root.get_by_role("button", name=ENGLISH["challengeMe"], exact=True).click()


def dared(explorer: ExplorerPage) -> list[float]:
    params = {**DEFAULTS, **read_link(query(explorer.page)).params}
    return [parse_number(token) for token in params["gradients"]]


@pytest.mark.parametrize(("name", "times"), [("fp16", 20), ("e5m2", 4), ("e4m3", 4)])
def test_a_challenge_can_be_met(lesson: ExplorerPage, name: str, times: int) -> None:
    lesson.reset.click()
    lesson.format(FORMATS[name].label)
    seen = set()
    for _ in range(times):
        challenge(lesson)
        values = dared(lesson)
        seen.add(tuple(values))
        survive = safe_window(values, FORMATS[name]).survive
        assert len(values) == 2
        assert 1 not in survive
        assert 1 <= len([k for k in ALL_K if 2.0**k in survive]) <= 6
        assert lesson.state().format == name
        assert lesson.state().slider == 0
        assert hides_window(lesson)
    assert len(seen) > times / 2


def test_where_nothing_needs_a_scale_the_challenge_is_in_fp16(lesson: ExplorerPage) -> None:
    lesson.reset.click()
    lesson.format("BF16")
    challenge(lesson)
    assert lesson.state().format == "fp16"
    assert 1 not in safe_window(dared(lesson), FORMATS["fp16"]).survive
    assert hides_window(lesson)


def test_a_challenge_is_found_by_resting_in_the_window(lesson: ExplorerPage) -> None:
    lesson.reset.click()
    challenge(lesson)
    survive = safe_window(dared(lesson), FORMATS["fp16"]).survive
    first, last = survive.log2_powers
    lesson.slider.focus()
    for _ in range(last + 1):
        lesson.press("ArrowRight")
    lesson.page.wait_for_timeout(REST)
    assert hides_window(lesson)
    for _ in range(last + 1 - first):
        lesson.press("ArrowLeft")
    found = ENGLISH["challengeFound"].format(scale=pretty(f"2^{first}"))
    expect(lesson.root.locator(".lesson")).to_contain_text(found)
    assert not hides_window(lesson)
    before = dared(lesson)
    press(lesson, "challengeAgain")
    assert dared(lesson) != before
    assert hides_window(lesson)
    expect(lesson.root.locator(".lesson")).to_contain_text(ENGLISH["challengeLine"])
    press(lesson, "lessonWindow")
    assert not hides_window(lesson)
    expect(lesson.root.locator(".lesson")).to_contain_text(ENGLISH["challengeShown"])
    press(lesson, "challengeLeave")
    expect(lesson.root.locator(".lesson")).to_have_count(0)
    expect(lesson.slider).to_be_focused()


ENDS: dict[str, Callable[[ExplorerPage], object]] = {
    "left": lambda lesson: press(lesson, "challengeLeave"),
    "reset": lambda lesson: lesson.reset.click(),
    "gradient removed": lambda lesson: lesson.removes.first.click(),
    "gradient moved": lambda lesson: (lesson.handles.first.focus(), lesson.press("PageDown")),
    "undone": lambda lesson: lesson.press("Control+z"),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_challenge_ends(lesson: ExplorerPage, end: str) -> None:
    lesson.reset.click()
    challenge(lesson)
    assert hides_window(lesson)
    ENDS[end](lesson)
    expect(lesson.root.locator(".lesson")).to_have_count(0)
    # A gradient that was moved may have no window with the other one.
    expect(lesson.root.locator(".segment.unknown")).to_have_count(0)
    expect(lesson.root.locator(".window-caption")).not_to_have_text(str(ENGLISH["windowHidden"]))


# For every reader


def test_a_round_with_the_keyboard_alone(lesson: ExplorerPage) -> None:
    def tab_to(selector: str, key: str) -> None:
        for _ in range(60):
            lesson.press(key)
            assert lesson.page.evaluate("document.activeElement.closest('.lossscale') !== null")
            if lesson.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
        raise AssertionError(f"Tab does not reach {selector}")

    lesson.root.get_by_label(ENGLISH["scenarioLabel"], exact=True).focus()
    tab_to(".prediction input", "Tab")
    lesson.press(" ", "ArrowDown")
    tab_to("[data-act=commit]", "Tab")
    lesson.press("Enter")
    expect(lesson.slider).to_be_focused()
    assert f"You predicted: {told(BY_ID['window'], 'b')}." in lines(lesson)
    lesson.press("PageUp")
    expect(lesson.root.locator(".band")).to_have_count(2)
    expect(lesson.slider).to_be_focused()
    tab_to("[data-act=explain]", "Tab")
    lesson.press("Enter")
    expect(lesson.root.locator(".lesson-right")).to_be_focused()
    tab_to(".lesson summary", "Tab")
    lesson.press("Enter")
    assert lines(lesson)[-1] == told(BY_ID["window"], "answer")
    tab_to("[data-id=tie]", "Tab")
    lesson.press("Enter")
    assert query(lesson.page) == "?v=1&s=tie&m=predict"
    assert lesson.page.evaluate("document.activeElement.matches('.prediction input')")


def test_a_saved_page_leads_through_scenarios_without_a_server(browser: Browser, site: Site) -> None:
    path = site.saved("?v=1&s=window&m=predict")
    text = path.read_text("utf-8")
    assert told(BY_ID["window"], "question") in unescaped(text)
    assert given_away(text) == []
    with opened(browser, path.as_uri(), script=NO_STORAGE, offline=True) as saved:
        for scenario in SCENARIOS:
            choose(saved, scenario.id)
            assert covered(saved) == []
            assert given_away(saved.page.evaluate("document.body.innerText")) == []
        predict(saved, "a")
        press(saved, "lessonExplain")
        assert told(SCENARIOS[-1], "found") in lines(saved)
        assert saved.page.url.endswith(f"#v=1&s={SCENARIOS[-1].id}&m=predict")
        assert saved.watch.requests == [path.as_uri()]
