"""Scenarios in the page: predict, observe, explain. Nothing is told before, and nothing is kept or sent."""

from playwright.sync_api import Browser, expect
import pytest

from lossscale_app.links import DEFAULTS, read_link, write_link
from lossscale_app.messages import ENGLISH
from lossscale_app.scenarios import SCENARIOS, Scenario, scenario_params
from lossscale_core import FORMATS, Outcome, classify, parse_number

from .hosts import NO_STORAGE, Site
from .lesson_page import (
    BY_ID,
    REST,
    choose,
    covered,
    every_scenario,
    given_away,
    go_through,
    lines,
    opened,
    predict,
    press,
    query,
    reveals,
    right_of,
    told,
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
