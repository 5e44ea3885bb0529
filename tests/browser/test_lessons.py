"""Scenarios in the page: predict, observe, explain. Nothing is told before, and nothing is kept or sent."""

from collections.abc import Callable
import re

from playwright.sync_api import Browser, expect
import pytest

from lossscale_app.catalogues import LANGUAGES, messages
from lossscale_app.links import DEFAULTS, read_link, write_link
from lossscale_app.messages import ENGLISH
from lossscale_app.scenarios import SCENARIOS, Scenario, scenario_params
from lossscale_core import FORMATS, Outcome, classify, parse_number

from .hosts import NO_STORAGE, Site, go_to_hash
from .launch import Server
from .lesson_page import (
    BY_ID,
    REST,
    VIEWS,
    begin,
    choose,
    covered,
    every_scenario,
    given_away,
    go_through,
    lines,
    opened,
    predict,
    press,
    pretty,
    query,
    reveals,
    right_of,
    seen_line,
    told,
    told_anywhere,
    turn_to,
    unescaped,
)
from .pages import ExplorerPage

pytest_plugins = ("browser.host_fixtures", "browser.lesson_fixtures")
pytestmark = pytest.mark.browser

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
    assert told_anywhere(lesson) == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("mode", ["predict", "present"])
def test_the_page_as_it_comes_holds_no_answer(browser: Browser, server: Server, language: str, mode: str) -> None:
    with opened(browser, f"{server.url}/?v=1&s=none&m={mode}&lang={language}") as fresh:
        frames = [frame if isinstance(frame, str) else frame.decode("utf-8", "replace") for frame in fresh.received]
        source = unescaped("\n".join([fresh.document, *frames]))
        # All that there is to say has come.
        assert told(BY_ID["tie"], "question", "en") in source
        assert told(BY_ID["tie"], "question", "pl") in source
        assert given_away(source) == []
        # A lecture covers the same as a prediction.
        for scenario in SCENARIOS[:: 1 if mode == "predict" else 4]:
            go_to_hash(fresh, f"v=1&s={scenario.id}&m={mode}&lang={language}")
            assert lines(fresh)[0] == told(scenario, "question", language)
            assert covered(fresh) == []
            assert told_anywhere(fresh) == []
            if mode == "present":
                fresh.root.locator("[data-act=forward]").click()
                assert told_anywhere(fresh) == []


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
    assert seen_line(lesson).startswith("You see: ")
    assert lines(lesson)[2:] == [
        f"You predicted: {told(scenario, wrong)}.",
        seen_line(lesson),
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
    assert lines(lesson)[2:6] == [said, seen_line(lesson), f"What holds: {told(tie, 'b')}.", told(tie, "found")]


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
    # What was predicted and what is seen stay side by side while it is explained.
    press(lesson, "lessonExplain")
    assert f"You predicted: {told(BY_ID[name], 'a')}." in lines(lesson)
    assert lesson.at_each("(root) => one(root, '.lesson-seen').textContent", ks) == seen


# What is given


def spelled(word: str, language: str) -> str:
    """A setting as people read it."""
    name, _, value = word.partition(".")
    value = str(messages(language).get(f"choice-{value}", value))
    return f"{name} = {pretty(value, language)}"


def of_a_run(params: dict[str, str], language: str) -> str:
    """What is given with a training run, of its scaler and its settings."""
    said, between = messages(language), {"en": ", ", "pl": "; "}[language]
    preset, *changes = params["policy"].split(",")
    scaler = str(said[f"scaler-{preset}"])
    if changes:
        settings = between.join(spelled(each, language) for each in changes)
        scaler = said["givenScaler"].format(scaler=scaler, settings=settings)
    settings = between.join(spelled(each, language) for each in filter(None, params["run"].split(",")))
    label = FORMATS[params["format"]].label
    return said["givenRuns"].format(format=label, scaler=scaler, settings=settings or said["givenDefault"])


@pytest.mark.parametrize("name", ["dyn", "nan", "autocast"])
def test_a_run_is_given_in_words(lesson: ExplorerPage, name: str) -> None:
    # The browser's language comes last, in which the other tests are.
    for language, link in (("pl", "&lang=pl"), ("en", "")):
        go_to_hash(lesson, f"v=1&s={name}&m=predict{link}")
        line = messages(language)["lessonGiven"].format(given=of_a_run({**DEFAULTS, **scenario_params(name)}, language))
        assert lines(lesson)[1] == line
        assert not re.search(r"[a-z_]\.\w", line)


def other_format(lesson: ExplorerPage) -> None:
    lesson.format("E4M3")


def other_list(lesson: ExplorerPage) -> None:
    lesson.type_gradients("2^-3")
    expect(lesson.boxes).to_have_count(3)


@pytest.mark.parametrize("change", [other_format, other_list], ids=lambda change: change.__name__)
def test_what_is_given_is_that_of_the_beginning(lesson: ExplorerPage, change: Callable[[ExplorerPage], None]) -> None:
    choose(lesson, "fp8")
    line = ENGLISH["lessonGiven"].format(given="2⁻²⁶ and 8 in E5M2")
    assert "beginning" in line
    assert lines(lesson)[1] == line
    press(lesson, "lessonSkip")
    assert lines(lesson)[1] == line
    change(lesson)
    assert lines(lesson)[1] == line
    # A format can be chosen before a prediction, too.
    begin(lesson, "fp8")
    lesson.format("BF16")
    assert lines(lesson)[1] == line


# Another view than the scenario's


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", ["window", "clip", "dyn"])
def test_over_another_view_the_question_is_not_asked(lesson: ExplorerPage, name: str, view: str) -> None:
    scenario, own = BY_ID[name], scenario_params(name).get("view", "window")
    if view == own:
        return
    away = ENGLISH["lessonElsewhere"].format(view=ENGLISH[f"view-{own}"])
    choose(lesson, name)
    # Whoever has not predicted yet sees nothing of any view.
    turn_to(lesson, view)
    assert covered(lesson) == []
    assert lines(lesson) == [away]
    assert told(scenario, "question") not in lesson.root.inner_text()
    press(lesson, "lessonReturn")
    assert query(lesson.page) == f"?v=1&s={name}&m=predict"
    assert lines(lesson)[0] == told(scenario, "question")
    assert lesson.page.evaluate("document.activeElement.matches('.prediction input')")
    for act in ("lessonSkip", "lessonExplain"):
        press(lesson, act)
        turn_to(lesson, view)
        assert lines(lesson) == [away]
        assert covered(lesson) != []
        assert told_anywhere(lesson) == []
        press(lesson, "lessonReturn")
        assert lines(lesson)[0] == told(scenario, "question")
        expect(lesson.root.locator(".lesson-seen")).not_to_be_empty()
    go_through(lesson, "play")
    line = lesson.root.locator(".lesson-line")
    expect(line).to_have_text(told(scenario, "question"))
    turn_to(lesson, view)
    expect(line).to_have_text("")


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
    assert told(BY_ID["window"], "question", "pl") in unescaped(text)
    with opened(browser, path.as_uri(), script=NO_STORAGE, offline=True) as saved:
        for scenario in SCENARIOS:
            choose(saved, scenario.id)
            assert covered(saved) == []
            assert told_anywhere(saved) == []
        predict(saved, "a")
        press(saved, "lessonExplain")
        assert told(SCENARIOS[-1], "found") in lines(saved)
        assert saved.page.url.endswith(f"#v=1&s={SCENARIOS[-1].id}&m=predict")
        assert saved.watch.requests == [path.as_uri()]
