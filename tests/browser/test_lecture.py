"""Scenarios in a class: the steps of a lecture, keys of a presenter's remote, a sheet of paper, and every screen."""

from collections.abc import Callable, Iterator
import re

from playwright.sync_api import Browser, Page, expect
import pytest

from lossscale_app.messages import ENGLISH
from lossscale_app.scenarios import SCENARIOS

from .hosts import Site, go_to_hash
from .launch import Server
from .lesson_page import (
    BY_ID,
    TELLING,
    begin,
    choose,
    covered,
    given_away,
    go_through,
    hides_window,
    lines,
    opened,
    predict,
    press,
    query,
    reveals,
    right_of,
    seen_line,
    told,
    told_anywhere,
    turn_to,
)
from .pages import DESKTOP, PHONE, ExplorerPage
from .test_accessibility import faults
from .test_layout import misplaced

pytest_plugins = ("browser.host_fixtures",)
pytestmark = pytest.mark.browser

STEPS = ("describe", "predict", "show", "explain", "next")


@pytest.fixture(scope="module")
def shared(browser: Browser, server: Server) -> Iterator[ExplorerPage]:
    with opened(browser, f"{server.url}/?v=1&s=window&m=present") as explorer:
        # A remote is used before anything has been clicked.
        explorer.press("PageDown")
        explorer.first_key = step(explorer)
        yield explorer
    assert server.new_errors() == []


@pytest.fixture
def lecture(shared: ExplorerPage) -> ExplorerPage:
    """A lecture on the first scenario, at its first step."""
    begin(shared, "window", "present")
    return shared


def step(explorer: ExplorerPage) -> str:
    """The step that is gone through, by the list of steps."""
    current = explorer.root.locator(".lecture-steps [aria-current=step]")
    return {ENGLISH[f"lecture-{name}"]: name for name in STEPS}[current.inner_text()]


def go_to(explorer: ExplorerPage, name: str) -> None:
    while step(explorer) != name:
        press(explorer, "lectureForward")


def counts(explorer: ExplorerPage) -> str:
    return "".join(explorer.root.locator(".vote-count").all_inner_texts())


# The steps


def test_five_steps_by_their_buttons(lecture: ExplorerPage) -> None:
    window, card = BY_ID["window"], lecture.root.locator(".lesson")
    assert query(lecture.page) == "?v=1&s=window&m=present"
    assert card.locator(".lecture-steps li").count() == 5
    back = card.get_by_role("button", name=ENGLISH["lectureBack"], exact=True)
    forward = card.get_by_role("button", name=ENGLISH["lectureForward"], exact=True)
    seen = []
    for name in STEPS:
        assert step(lecture) == name
        assert lines(lecture)[0] == told(window, "question")
        assert back.count() == (name != "describe")
        assert (covered(lecture) == []) == (name in ("describe", "predict"))
        assert (given_away(lecture.page.content()) == []) == (name != "explain")
        title = ENGLISH["documentTitleCovered"].format(title=told(window, "title"))
        assert (lecture.page.title() == title) == (name in ("describe", "predict"))
        seen.append(card.inner_text())
        if name == "next":
            break
        forward.click()
        expect(forward if name != "explain" else card.locator("[data-id=tie]")).to_be_focused()
    assert ENGLISH["lectureDescribe"] in seen[0]
    assert all(told(window, each.id) in seen[1] and told(window, each.id) not in seen[0] for each in window.predictions)
    assert "You see: ✕ 2⁻²⁶ is lost" in seen[2]
    assert all(idea in seen[3] for idea in reveals(window).values())
    assert f"What holds: {told(window, right_of(window))}." in seen[3]
    assert told(window, "found") in seen[3]
    assert told(window, "reflect") in seen[3]
    for name in reversed(STEPS[:-1]):
        back.click()
        assert step(lecture) == name
    assert covered(lecture) == []
    assert lecture.status.text_content() == ""


def test_the_last_step_offers_a_similar_case(lecture: ExplorerPage) -> None:
    go_to(lecture, "next")
    press(lecture, "lessonTry", title=told(BY_ID["tie"], "title"))
    assert query(lecture.page) == "?v=1&s=tie&m=present"
    assert step(lecture) == "describe"
    assert covered(lecture) == []
    assert lines(lecture)[0] == told(BY_ID["tie"], "question")


def test_the_window_is_shown_once_it_is_found_asked_for_or_explained(lecture: ExplorerPage) -> None:
    go_to(lecture, "show")
    assert hides_window(lecture)
    press(lecture, "lectureForward")
    assert not hides_window(lecture)
    press(lecture, "lectureForward")
    assert not hides_window(lecture)
    begin(lecture, "window", "present")
    go_to(lecture, "show")
    assert hides_window(lecture)
    press(lecture, "lessonWindow")
    assert not hides_window(lecture)
    assert step(lecture) == "show"
    begin(lecture, "window", "present")
    go_to(lecture, "show")
    lecture.slider.focus()
    lecture.press("ArrowRight", "ArrowRight")
    expect(lecture.root.locator(".band")).to_have_count(2)
    assert not hides_window(lecture)


# Keys


def test_a_remote_works_before_anything_has_the_focus(shared: ExplorerPage) -> None:
    assert shared.first_key == "predict"


def test_a_remote_turns_steps_and_not_the_slider(lecture: ExplorerPage) -> None:
    lecture.press("PageUp")
    assert step(lecture) == "describe"
    lecture.press("PageDown", "PageDown")
    assert step(lecture) == "show"
    lecture.slider.focus()
    lecture.press("ArrowRight", "PageDown")
    assert step(lecture) == "explain"
    lecture.press("PageDown", "PageDown", "PageDown")
    assert step(lecture) == "next"
    lecture.press("PageUp", "PageUp")
    assert step(lecture) == "show"
    assert lecture.state().slider == 1
    expect(lecture.slider).to_be_focused()
    # What has the focus goes, and the focus stays in the page.
    lecture.press("PageUp")
    assert step(lecture) == "predict"
    expect(lecture.root.get_by_role("button", name=ENGLISH["lectureForward"], exact=True)).to_be_focused()
    # Elsewhere the keys are the slider's.
    go_through(lecture, "play")
    lecture.slider.focus()
    lecture.press("PageDown", "a")
    assert lecture.state().slider == -3


# What can have the focus, beside the lesson; and the one at a place among it gets it.
FOCUSABLE = """(root, place) => {
    const all = [...root.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
        .filter((each) => each.checkVisibility() && !each.disabled && !each.closest(".lesson, dialog"));
    all[place]?.focus({ preventScroll: true });
    return all.map((each) => `${each.localName} ${each.id || each.className}`);
}"""


@pytest.mark.parametrize("name", ["window", "dyn", "clip"])
def test_a_remote_turns_steps_wherever_the_focus_is(lecture: ExplorerPage, name: str) -> None:
    choose(lecture, name)
    lecture.press("PageDown")
    assert step(lecture) == "predict"
    lecture.press("PageDown")
    lecture.root.locator(".outcome-title:not(:empty)").first.wait_for()
    tried = lecture.root.evaluate(FOCUSABLE, -1)
    assert {"select", "input", "button", "summary"} <= {each.split()[0] for each in tried}
    read = """root => [...root.querySelectorAll("select, input")]
        .map(({ id, value, checked }) => [id, value, checked].join())"""
    before = lecture.root.evaluate(read)
    # One view with all its controls, and the others with one of each kind.
    kinds = {each if name == "window" else each.split()[0]: place for place, each in enumerate(tried)}
    for place in kinds.values():
        each = tried[place]
        assert lecture.root.evaluate(FOCUSABLE, place)[place] == each
        lecture.press("PageDown")
        assert (each, step(lecture)) == (each, "explain")
        lecture.press("PageUp")
        assert (each, step(lecture)) == (each, "show")
    # Nothing was chosen or moved; whose journey is shown goes with the focus.
    changed = [pair for pair in zip(before, lecture.root.evaluate(read), strict=True) if len(set(pair)) > 1]
    assert [pair for pair in changed if "journey" not in pair[0]] == []
    assert re.sub(r"&j=\d", "", query(lecture.page)) == f"?v=1&s={name}&m=present"


def test_a_list_keeps_its_own_keys(lecture: ExplorerPage) -> None:
    """All but those of a remote: arrows choose, and letters find."""
    go_to(lecture, "predict")
    chosen = lecture.root.get_by_label(ENGLISH["scenarioLabel"], exact=True)
    chosen.focus()
    lecture.press("a", "d")
    assert counts(lecture) == "0000"
    lecture.press("ArrowDown")
    expect(chosen).to_have_value("tie")
    lecture.press("PageDown")
    expect(chosen).to_have_value("tie")
    assert step(lecture) == "predict"


def test_over_another_view_a_lecture_goes_on_and_counts_no_votes(lecture: ExplorerPage) -> None:
    go_to(lecture, "predict")
    turn_to(lecture, "distribution")
    assert covered(lecture) == []
    assert lines(lecture) == [ENGLISH["lessonElsewhere"].format(view=ENGLISH["view-window"])]
    lecture.press("a")
    assert lecture.root.locator(".vote").count() == 0
    lecture.press("PageDown")
    assert step(lecture) == "show"
    assert covered(lecture) != []
    assert lines(lecture) == [ENGLISH["lessonElsewhere"].format(view=ENGLISH["view-window"])]
    press(lecture, "lectureBack")
    assert step(lecture) == "predict"
    expect(lecture.root.get_by_role("button", name=ENGLISH["lectureForward"], exact=True)).to_be_focused()
    press(lecture, "lessonReturn")
    assert query(lecture.page) == "?v=1&s=window&m=present"
    assert counts(lecture) == "0000"


# A frame that was clicked gets the focus a moment later.
HAS_FOCUS = """() => new Promise((done) => {
    const look = () => (document.hasFocus() ? done() : setTimeout(look, 50));
    look();
})"""


@pytest.mark.parametrize("link", ["e=1&", ""], ids=["embedded", "whole"])
def test_in_a_frame_keys_act_only_while_a_control_has_the_focus(
    open_host: Callable[..., Page], site: Site, link: str
) -> None:
    source = f"{site.saved_url()}#v=1&{link}s=window&m=present"
    body = f'<iframe src="{source}" width="834" height="604" style="border: 0"></iframe><p style="height: 3000px">'
    host = open_host(site.host(f"lecture-{link[:1]}", body))
    frame = host.frame_locator("iframe")
    here = frame.locator(".lecture-steps [aria-current=step]")
    frame.locator(".lesson h2").wait_for(state="attached")
    for selector in (".lesson-question", ".lecture-steps"):
        frame.locator(selector).last.click()
        frame.locator(":root").evaluate(HAS_FOCUS)
        for key in ("PageDown", "a", "PageUp", "PageDown"):
            host.keyboard.press(key)
        expect(here).to_have_text(str(ENGLISH["lecture-describe"]))
    frame.locator("[data-act=forward]").evaluate("button => { button.focus(); button.click(); }")
    expect(here).to_have_text(str(ENGLISH["lecture-predict"]))
    host.keyboard.press("b")
    assert "".join(frame.locator(".vote-count").all_inner_texts()) == "0100"
    frame.locator(".lesson-question").click()
    host.keyboard.press("b")
    host.keyboard.press("PageDown")
    expect(here).to_have_text(str(ENGLISH["lecture-predict"]))
    assert "".join(frame.locator(".vote-count").all_inner_texts()) == "0100"
    frame.locator("[data-act=forward]").focus()
    host.keyboard.press("PageDown")
    expect(here).to_have_text(str(ENGLISH["lecture-show"]))


def test_votes_are_counted_with_letters_in_their_step(lecture: ExplorerPage) -> None:
    lecture.press("a", "A", "b")
    press(lecture, "lectureForward")
    assert counts(lecture) == "0000"
    lecture.press("a", "c", "c", "C", "d", "Shift+D", "Shift+D", "Shift+b", "e", "Control+a", "Alt+a")
    assert counts(lecture) == "1030"
    lecture.root.locator(".vote").nth(1).click(click_count=2)
    lecture.root.get_by_role("button", name=ENGLISH["lectureUnvote"].format(letter="C"), exact=True).click()
    assert counts(lecture) == "1220"
    lecture.press("PageDown", "a", "b", "PageDown", "a", "Shift+C")
    assert step(lecture) == "explain"
    assert counts(lecture) == "1220"
    assert lecture.root.locator("button.vote").count() == 0
    # Whoever goes back counts on; whoever leaves begins anew.
    lecture.press("PageUp", "PageUp", "d")
    assert counts(lecture) == "1221"
    assert "=a" not in lecture.page.url.replace("s=window", "")
    for leave in (lambda: go_through(lecture, "predict"), lambda: choose(lecture, "none")):
        leave()
        choose(lecture, "window")
        go_through(lecture, "present")
        assert step(lecture) == "describe"
        lecture.press("PageDown")
        assert counts(lecture) == "0000"
        lecture.press("a")
        assert counts(lecture) == "1000"


def test_what_is_typed_is_no_vote_and_a_dialog_keeps_its_keys(lecture: ExplorerPage) -> None:
    go_to(lecture, "predict")
    chosen = lecture.root.get_by_label(ENGLISH["scenarioLabel"], exact=True)
    chosen.focus()
    lecture.press("a", "c")
    expect(chosen).to_have_value("window")
    lecture.share.click()
    lecture.root.get_by_label(ENGLISH["shareLink"], exact=True).focus()
    lecture.press("a", "PageDown", "Escape")
    assert step(lecture) == "predict"
    assert counts(lecture) == "0000"
    go_to(lecture, "show")
    lecture.add_field.focus()
    lecture.press("a", "PageDown")
    assert step(lecture) == "explain"
    expect(lecture.add_field).to_be_focused()
    expect(lecture.add_field).to_have_value("a")
    lecture.add_field.fill("")


def test_a_lecture_is_in_the_page_alone(lecture: ExplorerPage) -> None:
    lecture.page.wait_for_timeout(700)
    sent = len(lecture.watch.frames)
    lecture.press("PageDown", "a", "b", "PageDown", "PageDown")
    lecture.page.wait_for_timeout(700)
    assert lecture.watch.frames[sent:] == []
    assert lecture.page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]


# A sheet of paper


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


# Every screen


def small(explorer: ExplorerPage) -> list[str]:
    """What is too small for a finger."""
    return explorer.root.locator(".lesson, .lesson-bar").evaluate_all(
        """parts => parts.flatMap((part) => [...part.querySelectorAll("button, label:has(input), select, summary")])
            .filter((target) => target.checkVisibility() && Math.min(target.offsetWidth, target.offsetHeight) < 28)
            .map((target) => target.outerHTML)"""
    )


def test_every_step_is_accessible_and_in_its_place(lecture: ExplorerPage) -> None:
    steps = [
        lambda: go_through(lecture, "predict"),
        lambda: predict(lecture, "a"),
        lambda: press(lecture, "lessonExplain"),
        lambda: go_through(lecture, "present"),
    ]
    steps += [lambda: press(lecture, "lectureForward")] * 4
    for step in steps:
        lecture.page.set_viewport_size(DESKTOP)
        step()
        assert faults(lecture) == []
        for width in (320, PHONE["width"], 1280):
            lecture.page.set_viewport_size({"width": width, "height": 844})
            lecture.settle()
            assert small(lecture) == []
            assert misplaced(lecture) == []


def test_it_is_embedded_without_scroll_bars(browser: Browser, server: Server) -> None:
    measure = """() => {
        const { scrollWidth, scrollHeight } = document.scrollingElement;
        return [scrollWidth - innerWidth, scrollHeight - innerHeight];
    }"""
    with opened(browser, f"{server.url}/?v=1&s=window&m=predict&e=1", viewport={"width": 525, "height": 450}) as box:
        for scenario in SCENARIOS:
            go_to_hash(box, f"v=1&s={scenario.id}&m=predict")
            assert lines(box)[0] == told(scenario, "question")
            assert (scenario.id, box.page.evaluate(measure)) == (scenario.id, [0, 0])
            seen = box.root.locator(TELLING).evaluate_all("all => all.filter((part) => part.checkVisibility()).length")
            assert seen == 0
        go_to_hash(box, "v=1&s=window&m=predict")
        expect(box.root.locator(".open-full")).to_have_attribute("href", f"{server.url}/?v=1&s=window&m=predict")
        for step in (lambda: None, lambda: predict(box, "a"), lambda: press(box, "lessonExplain")):
            step()
            for width, height in ((320, 640), (390, 844), (525, 450)):
                box.page.set_viewport_size({"width": width, "height": height})
                box.settle()
                assert box.page.evaluate(measure)[0] == 0
                assert small(box) == []
