"""For every reader: rules of WCAG, text and targets that are large enough, the keyboard, contrast."""

from collections.abc import Callable, Iterator
import re

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect
import pytest

from .agreement import AWKWARD
from .launch import serving
from .pages import DESKTOP, FOCUSABLE, LINES, MARKS, PHONE, ExplorerPage, open_page
from .pixels import contrast, contrasts, screenshot
from .sizes import small_targets, small_texts

pytestmark = pytest.mark.browser

AXE = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "rules": {"target-size": {"enabled": True}},
    "resultTypes": ["violations"],
}


def show_error(explorer: ExplorerPage) -> None:
    explorer.type_gradients("abc")
    explorer.wait_for_problem()


def empty_list(explorer: ExplorerPage) -> None:
    explorer.removes.first.click()
    explorer.removes.first.click()


def open_share(explorer: ExplorerPage) -> None:
    explorer.share.click()
    explorer.root.locator("dialog svg").wait_for()


def show_no_window(explorer: ExplorerPage) -> None:
    explorer.try_it("Save both at once?")


STATES: dict[str, Callable[[ExplorerPage], object]] = {
    "as it opens": lambda explorer: None,
    "both survive": lambda explorer: explorer.go(3),
    "overflow": lambda explorer: explorer.go(13),
    "E4M3": lambda explorer: explorer.format("E4M3"),
    "awkward list": lambda explorer: explorer.put(*AWKWARD),
    "no window": show_no_window,
    "error": show_error,
    "emptied list": empty_list,
    "sharing": open_share,
}
#: Outcomes that a bar shows with a pattern, too.
HATCHED = ("underflow", "subnormal", "overflow", "nonfinite")
#: Those of them with different pictures.
PICTURES = ("as it opens", "overflow", "awkward list")


@pytest.mark.parametrize("state", STATES)
def test_axe_finds_nothing_and_all_is_large_enough(explorer: ExplorerPage, state: str) -> None:
    STATES[state](explorer)
    assert faults(explorer) == []


@pytest.fixture
def orphan(browser: Browser) -> Iterator[ExplorerPage]:
    """A page whose server is gone."""
    with serving() as server:
        explorer = open_page(browser, server)
        server.signal("SIGKILL")
        explorer.notice.filter(has_text=re.compile(".")).wait_for()
        yield explorer
        explorer.page.context.close()


def test_axe_finds_nothing_offline(orphan: ExplorerPage) -> None:
    assert faults(orphan) == []


@pytest.mark.parametrize("tokens", [(), AWKWARD], ids=["seed", "awkward"])
def test_tab_reaches_every_control_and_shows_where_it_is(explorer: ExplorerPage, tokens: tuple[str, ...]) -> None:
    if tokens:
        explorer.put(*tokens)
        explorer.page.evaluate("document.activeElement.blur()")
    controls = explorer.root.evaluate(
        """(root, focusable) => [...root.querySelectorAll(focusable)]
            .filter((control) => control.checkVisibility() && !(control.type === "radio" && !control.checked))
            .map((control, index) => { control.dataset.stop = index; return index; })""",
        FOCUSABLE,
    )
    explorer.page.evaluate(
        "document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')"
    )
    stops = []
    for _ in controls:
        explorer.press("Tab")
        focus = explorer.page.evaluate_handle("document.activeElement").as_element()
        stop = focus.get_attribute("data-stop")
        assert stop is not None, f"{stops}: Tab left the explorer"
        stops.append(int(stop))
        if tokens:
            continue
        around = focus.evaluate(
            """(control) => {
                const box = (control.closest("label") ?? control).getBoundingClientRect();
                const x = Math.max(0, box.x - 6), y = Math.max(0, box.y - 6);
                return { x, y, width: box.width + 12, height: box.height + 12 };
            }"""
        )
        focused = screenshot(explorer.page, clip=around)
        focus.evaluate("control => control.blur()")
        changed = contrast(focused, screenshot(explorer.page, clip=around)) >= 3
        assert changed.sum() >= 150, f"nothing shows the focus on {focus.evaluate('control => control.outerHTML')}"
    assert stops == controls
    explorer.press("Tab")
    assert explorer.page.evaluate("document.activeElement.dataset.stop") is None


def test_choices_are_made_with_arrow_keys(explorer: ExplorerPage) -> None:
    explorer.root.get_by_role("radio", name="FP16", exact=True).focus()
    for name in ("bf16", "e5m2", "e4m3", "fp16"):
        explorer.press("ArrowRight")
        assert explorer.state().format == name
    explorer.root.locator(".display-menu summary").focus()
    explorer.press("Enter", "Tab", "ArrowRight", "ArrowRight")
    assert explorer.state().theme == "dark"
    explorer.press("Escape")
    assert not explorer.root.locator(".display-choices").is_visible()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("state", PICTURES)
def test_pictures_have_contrast(explorer: ExplorerPage, state: str, size: dict[str, int]) -> None:
    explorer.page.set_viewport_size(size)
    STATES[state](explorer)
    explorer.page.evaluate("document.activeElement.blur()")
    for theme in ("light", "dark"):
        explorer.page.emulate_media(color_scheme=theme)
        explorer.settle()
        texts, others = contrasts(explorer.page, ".lossscale", ".picture text", LINES, MARKS)
        assert len(texts) > 10
        assert len(others) >= 3
        faint = {name: ratio for name, ratio in texts.items() if ratio < 4.5}
        faint |= {name: ratio for name, ratio in others.items() if ratio < 3}
        assert (theme, faint) == (theme, {})


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_readers_choice_of_colours_wins(explorer: ExplorerPage, theme: str) -> None:
    explorer.page.emulate_media(color_scheme="dark" if theme == "light" else "light")
    explorer.theme(theme)
    explorer.page.mouse.move(0, 0)
    assert (screenshot(explorer.page).mean() > 128) == (theme == "light")


def test_outcomes_differ_by_shape_and_word_not_colour_alone(explorer: ExplorerPage) -> None:
    explorer.put("2^-26", "2^-20", "1", "2^17", "0", "nan")
    shapes = explorer.root.locator(".stored .mark").evaluate_all("marks => marks.map((mark) => mark.getAttribute('d'))")
    hatches = explorer.bars.locator("rect[fill^=url]").evaluate_all(
        "all => all.map((part) => part.getAttribute('fill'))"
    )
    state = explorer.state()
    assert len(set(shapes)) == 6
    assert len({row.cells.outcome for row in state.rows}) == 6
    assert {hatch.rpartition("-")[2] for hatch in hatches} == {f"{name})" for name in HATCHED}


def test_the_consequence_is_told_once_the_hand_rests(explorer: ExplorerPage) -> None:
    explorer.slider.focus()
    before = explorer.status.inner_text()
    explorer.press("ArrowRight", "ArrowRight")
    assert explorer.status.inner_text() == before
    expect(explorer.status).to_have_text("scale 2 to the 2, 4; both gradients survive")


def faults(explorer: ExplorerPage) -> list[str]:
    """What axe objects to, and what is too small, on a desktop and on a phone, in light and dark."""
    found = []
    for size in (DESKTOP, PHONE):
        explorer.page.set_viewport_size(size)
        for theme in ("light", "dark"):
            explorer.page.emulate_media(color_scheme=theme)
            explorer.settle()
            for violation in Axe().run(explorer.page, options=AXE).response["violations"]:
                found += [f"{violation['id']}, {theme}, {size['width']}: {node['html']}" for node in violation["nodes"]]
        found += [*small_texts(explorer), *small_targets(explorer)]
    return found
