"""A scenario on paper: predictions on one page and results on the other, whatever is covered on the screen."""

import re

from playwright.sync_api import expect
import pytest

from lossscale_app.messages import ENGLISH

from .lesson_page import (
    BY_ID,
    STEPS,
    begin,
    choose,
    covered,
    given_away,
    go_through,
    go_to,
    press,
    reveals,
    right_of,
    seen_line,
    told,
    told_anywhere,
    turn_to,
)
from .pages import ExplorerPage

pytest_plugins = ("browser.lesson_fixtures",)
pytestmark = pytest.mark.browser


def print_sheet(explorer: ExplorerPage) -> None:
    """Press the button, with nothing to answer it; printing is over once the page is told so."""
    explorer.page.evaluate("window.print = () => { window.printed = (window.printed ?? 0) + 1; }")
    before = explorer.page.evaluate("window.printed ?? 0")
    button = explorer.root.get_by_role("button", name=ENGLISH["printSheet"], exact=True)
    button.click()
    # Runs that its picture needs may be yet to be made.
    explorer.root.locator(".print-sheet").wait_for(state="attached", timeout=60_000)
    expect(button).to_be_visible()
    assert explorer.page.evaluate("window.printed") == before + 1


def results(explorer: ExplorerPage) -> tuple[list[str], list[str]]:
    """What the results page of a sheet says, and what is written in its picture."""
    page = explorer.root.locator(".print-sheet section").nth(1)
    return page.locator("> p").all_text_contents(), page.locator("svg text").all_text_contents()


def end_printing(explorer: ExplorerPage) -> None:
    explorer.page.emulate_media(media="null")
    explorer.page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(explorer.root.locator(".print-sheet")).to_have_count(0)


@pytest.mark.parametrize("name", ["window", "late"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_sheet_has_predictions_first_and_results_second(lecture: ExplorerPage, name: str, theme: str) -> None:
    scenario = BY_ID[name]
    choose(lecture, name)
    go_through(lecture, "play")
    lecture.page.emulate_media(color_scheme=theme)
    expect(lecture.root.locator(".outcome-title")).not_to_be_empty()
    print_sheet(lecture)
    lecture.page.emulate_media(media="print", color_scheme=theme)
    pages = lecture.root.locator(".print-sheet section")
    assert pages.count() == 2
    first, second = pages.all_inner_texts()
    for text in (first, second):
        assert told(scenario, "title") in text
        assert told(scenario, "question") in text
        assert all(told(scenario, each.id) in text for each in scenario.predictions)
    assert pages.nth(0).locator(".tick-box").count() == len(scenario.predictions)
    assert given_away(first) == []
    assert "✓" not in first
    assert told(scenario, "reflect") not in first
    parts = [told(scenario, part) for part in ("found", "reflect", "answer")]
    assert [part for part in [*parts, *reveals(scenario).values()] if part not in second] == []
    assert re.findall(r"✓ (\w)", second) == [right_of(scenario).upper()]
    assert len(re.findall("✗", second)) == len(scenario.predictions) - 1
    assert pages.nth(1).locator("svg text").count() > 10
    # In black and white, and nothing else.
    look = """parts => parts.map((part) => [getComputedStyle(part).color, getComputedStyle(part).backgroundColor])"""
    black, white, clear = "rgb(0, 0, 0)", "rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"
    assert lecture.page.locator(".lossscale, html").evaluate_all(look)[1] == [black, white]
    texts = lecture.root.locator(".print-sheet :is(h2, p, li, strong)").evaluate_all(look)
    assert {tuple(each) for each in texts} == {(black, clear)}
    assert pages.nth(1).locator("svg > rect").first.get_attribute("fill") == white
    assert lecture.root.locator("> :not(.print-sheet, style)").evaluate_all(
        "all => all.every((part) => !part.checkVisibility())"
    )
    end_printing(lecture)
    assert lecture.page.locator("html").get_attribute("data-theme") == "auto"
    assert lecture.slider.is_visible()


@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize("name", ["window", "outlier", "clip", "autocast"])
def test_a_sheet_has_two_pages(lecture: ExplorerPage, name: str, paper: str) -> None:
    choose(lecture, name)
    go_through(lecture, "play")
    expect(lecture.root.locator(".outcome-title")).not_to_be_empty()
    print_sheet(lecture)
    # The browser itself says when printing is over.
    document = lecture.page.pdf(format=paper, margin=dict.fromkeys(("top", "right", "bottom", "left"), "1cm"))
    assert len(re.findall(rb"/Type\s*/Page\b", document)) == 2
    expect(lecture.root.locator(".print-sheet")).to_have_count(0)


#: How far a scenario has come, by its mode and what is pressed then.
COME: dict[str, tuple[str, tuple[str, ...]]] = {
    "predict": ("predict", ()),
    "skipped": ("predict", ("lessonSkip",)),
    "explained": ("predict", ("lessonSkip", "lessonExplain")),
    **{name: ("present", ("lectureForward",) * place) for place, name in enumerate(STEPS)},
}


@pytest.mark.parametrize("name", ["window", "tie", "none", "clip", "dyn"])
def test_a_sheet_has_the_whole_result_however_far_one_has_come(lecture: ExplorerPage, name: str) -> None:
    choose(lecture, name)
    go_through(lecture, "play")
    title = lecture.root.locator(".outcome-title").first
    expect(title).not_to_have_text(re.compile("^$|being made"), timeout=60_000)
    print_sheet(lecture)
    said, drawn = results(lecture)
    end_printing(lecture)
    caption = lecture.root.locator(".window-chart .window-caption strong")
    if caption.count():
        assert caption.inner_text() in drawn
    assert len(drawn) > 10
    # The view's own words are what the lesson says that is seen.
    go_through(lecture, "predict")
    press(lecture, "lessonSkip")
    assert seen_line(lecture) in said
    # One scenario at every step, the others where a sheet is printed before and after.
    steps = COME if name == "window" else {come: COME[come] for come in ("predict", "explained", "show")}
    for come, (mode, buttons) in steps.items():
        begin(lecture, name, mode)
        for button in buttons:
            press(lecture, button)
        was_covered = covered(lecture) == []
        shown = lecture.root.locator(".columns").inner_html()
        lecture.page.evaluate(
            """() => {
                window.said = new Set();
                window.noting = new MutationObserver(() => said.add(document.title
                    + [...document.querySelectorAll("[role=status], [role=alert]")].map((part) => part.textContent)));
                noting.observe(document.documentElement, { subtree: true, childList: true, characterData: true });
            }"""
        )
        print_sheet(lecture)
        assert (come, *results(lecture)) == (come, said, drawn)
        # Nothing of it is seen on the screen, or read aloud.
        assert not lecture.root.locator(".print-sheet").is_visible()
        told_aloud = lecture.page.evaluate("() => { noting.disconnect(); return [...said].join(); }")
        if was_covered:
            assert lecture.root.locator(".columns").inner_html() == shown
            assert given_away(lecture.page.locator("body").aria_snapshot()) == []
            assert given_away(lecture.root.inner_text()) == []
            assert seen_line_of(said) not in told_aloud
        lecture.page.emulate_media(media="print")
        assert lecture.root.locator(".print-sheet svg").is_visible()
        assert lecture.root.locator(".columns").is_hidden()
        end_printing(lecture)
        assert (covered(lecture) == []) == was_covered
        if was_covered:
            assert told_anywhere(lecture) == []


def seen_line_of(said: list[str]) -> str:
    """The outcome on a results page, without what leads to it."""
    (line,) = (each for each in said if each.startswith("You see: "))
    return line.removeprefix("You see: ").lstrip("✕✓▲◆ ")


def test_a_sheet_is_about_the_scenario_whatever_has_been_changed(lecture: ExplorerPage) -> None:
    choose(lecture, "fp8")
    print_sheet(lecture)
    before = results(lecture)
    end_printing(lecture)
    go_to(lecture, "explain")
    lecture.format("BF16")
    lecture.go(7)
    for view in ("window", "training"):
        turn_to(lecture, view)
        print_sheet(lecture)
        assert results(lecture) == before
        end_printing(lecture)
