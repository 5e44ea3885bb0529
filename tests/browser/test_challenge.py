"""The window that is for the reader to find: in a scenario, and in a challenge."""

from collections.abc import Callable

from playwright.sync_api import expect
import pytest

from lossscale_app.links import DEFAULTS, read_link
from lossscale_app.messages import ENGLISH
from lossscale_core import FORMATS, parse_number, safe_window

from .lesson_page import (
    BY_ID,
    REST,
    VIEWS,
    choose,
    go_through,
    hides_window,
    predict,
    press,
    pretty,
    query,
    turn_to,
)
from .pages import ALL_K, ExplorerPage

pytest_plugins = ("browser.lesson_fixtures",)
pytestmark = pytest.mark.browser


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


@pytest.mark.parametrize("view", [view for view in VIEWS if view != "window"])
def test_a_challenge_is_told_in_its_own_view(lesson: ExplorerPage, view: str) -> None:
    lesson.reset.click()
    challenge(lesson)
    turn_to(lesson, view)
    expect(lesson.root.locator(".lesson")).to_have_count(0)
    assert ENGLISH["challengeLine"] not in lesson.root.inner_text()
    # It waits where it was set, and is not found meanwhile.
    survive = safe_window(dared(lesson), FORMATS["fp16"]).survive
    lesson.page.wait_for_timeout(REST)
    turn_to(lesson, "window")
    expect(lesson.root.locator(".lesson")).to_contain_text(ENGLISH["challengeLine"])
    assert hides_window(lesson)
    lesson.go(survive.log2_powers[0] - 1)
    lesson.slider.press("ArrowRight")
    expect(lesson.root.locator(".lesson")).to_contain_text(ENGLISH["challengeFound"].partition("{")[0])


@pytest.mark.parametrize("view", ["window", "distribution", "training"])
def test_a_challenge_is_not_found_in_another_format(lesson: ExplorerPage, view: str) -> None:
    """BF16 saves both gradients at every scale that FP16 does, and at 1."""
    lesson.reset.click()
    challenge(lesson)
    turn_to(lesson, view)
    lesson.format("BF16")
    lesson.page.wait_for_timeout(REST)
    turn_to(lesson, "window")
    expect(lesson.root.locator(".lesson")).to_have_count(0)
    assert "Found" not in lesson.root.inner_text()
    # The list in its own format again is no challenge that goes on.
    lesson.format("FP16")
    expect(lesson.root.locator(".lesson")).to_have_count(0)
    assert not hides_window(lesson)


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
    "other format": lambda lesson: lesson.format("E5M2"),
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
