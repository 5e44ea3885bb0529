"""Scenarios in a class: the steps of a lecture, keys of a presenter's remote, and every screen."""

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
    STEPS,
    TELLING,
    begin,
    choose,
    covered,
    given_away,
    go_through,
    go_to,
    hides_window,
    lines,
    opened,
    predict,
    press,
    query,
    reveals,
    right_of,
    step,
    told,
    turn_to,
)
from .pages import DESKTOP, PHONE, ExplorerPage
from .test_accessibility import faults
from .test_layout import misplaced

pytest_plugins = ("browser.host_fixtures", "browser.lesson_fixtures")
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def shared(browser: Browser, server: Server) -> Iterator[ExplorerPage]:
    with opened(browser, f"{server.url}/?v=1&s=window&m=present") as explorer:
        # A remote is used before anything has been clicked.
        explorer.press("PageDown")
        explorer.first_key = step(explorer)
        yield explorer
    assert server.new_errors() == []


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
    for go_on in steps:
        lecture.page.set_viewport_size(DESKTOP)
        go_on()
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
