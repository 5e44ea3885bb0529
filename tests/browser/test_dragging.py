"""Moving a gradient by octaves: on the landing chart and on its bar, with the mouse and with keys."""

from fractions import Fraction

from playwright.sync_api import Locator, expect
import pytest

from lossscale_core import FP16, parse_number

from .expected import from_core, is_right, tells
from .pages import SEED, ExplorerPage

pytestmark = pytest.mark.browser


def test_with_the_mouse_on_the_landing_chart(explorer: ExplorerPage) -> None:
    octave = explorer.octave(explorer.landing_chart)
    seen = []
    with explorer.dragging(explorer.handles.first) as (x, y):
        for octaves in range(1, 9):
            explorer.page.mouse.move(x + octaves * octave, y)
            seen.append(explorer.state().rows[0].cells.gradient)
    assert seen == ["2⁻²⁵", "2⁻²⁴", "2⁻²³", "2⁻²²", "2⁻²¹", "2⁻²⁰", "2⁻¹⁹", "2⁻¹⁸"]
    assert explorer.state().boxes == ["2⁻¹⁸", "8"]


def test_the_hollow_mark_stays_under_the_pointer(explorer: ExplorerPage) -> None:
    octave = explorer.octave(explorer.landing_chart)
    with explorer.dragging(explorer.handles.first) as (x, y):
        for octaves in (3, 7, -2, 12):
            explorer.page.mouse.move(x + octaves * octave, y, steps=4)
            box = explorer.handles.first.bounding_box()
            assert abs(box["x"] + box["width"] / 2 - x - octaves * octave) < 1


def test_with_the_mouse_on_its_bar(explorer: ExplorerPage) -> None:
    # A larger gradient needs a smaller scale: the bar's borders go left as it grows.
    octave = explorer.octave(explorer.window_chart)
    before = explorer.state()
    border = getattr(before.bars[0][1], "from")
    with explorer.dragging(explorer.bars.first.locator(".segment").last) as (x, y):
        for octaves in (1, 4, -3):
            explorer.page.mouse.move(x + octaves * octave, y, steps=3)
            state = explorer.state()
            assert tells(state.rows[0].cells.gradient, Fraction(2) ** (-26 - octaves))
            assert abs(getattr(state.bars[0][1], "from") - border - octaves * octave) < 0.001
    assert explorer.state().boxes == ["2⁻²³", "8"]


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        (["ArrowRight"], "2⁻²⁵"),
        (["ArrowUp"], "2⁻²⁵"),
        (["ArrowLeft"], "2⁻²⁷"),
        (["ArrowDown"], "2⁻²⁷"),
        (["PageUp"], "2⁻²²"),
        (["PageDown"], "2⁻³⁰"),
        (["ArrowRight", "PageUp", "ArrowLeft"], "2⁻²²"),
    ],
)
def test_with_keys(explorer: ExplorerPage, keys: list[str], name: str) -> None:
    handle = explorer.handles.first
    handle.focus()
    explorer.press(*keys)
    state = explorer.state()
    assert state.rows[0].cells.gradient == state.boxes[0] == name
    assert state.landing[0].name == f"g = {name}"
    expect(explorer.handles.first).to_be_focused()


def test_focus_stays_on_the_handle(explorer: ExplorerPage) -> None:
    explorer.handles.nth(1).focus()
    for _ in range(12):
        explorer.press("ArrowRight")
        expect(explorer.handles.nth(1)).to_be_focused()
    assert explorer.state().boxes == ["2⁻²⁶", "2¹⁵"]


def test_the_handle_tells_its_place(explorer: ExplorerPage) -> None:
    handle = explorer.handles.first
    expect(handle).to_have_accessible_name("Gradient 1, by octaves")
    handle.focus()
    explorer.press("ArrowRight")
    wanted = {
        "aria-valuemin": "-48",
        "aria-valuemax": "24",
        "aria-valuenow": "-25",
        "aria-valuetext": "2 to the minus 25",
    }
    for name, value in wanted.items():
        expect(handle).to_have_attribute(name, value)


def test_the_table_follows_every_octave(explorer: ExplorerPage) -> None:
    explorer.put("1e-8", "-3")
    explorer.go(4)
    explorer.handles.first.focus()
    for octaves in range(1, 40):
        explorer.press("ArrowRight")
        cells = explorer.state().rows[0].cells
        row = from_core(1e-8 * 2**octaves, Fraction(16), FP16)
        assert is_right(cells.gradient, Fraction(1e-8) * 2**octaves)
        assert tells(cells.scaled, row.scaled)
        assert tells(cells.stored, row.stored)
        assert tells(cells.recovered, row.recovered)
        assert (cells.bits, cells.error) == (row.bits, row.error)


@pytest.mark.parametrize(
    ("token", "octaves"), [("1e-8", 3), ("-0.1", -7), ("8", 1), ("0x1.8p-24", 5), ("1.75*2^-24", -2), ("65519.99", 2)]
)
def test_the_moved_value_is_exact(explorer: ExplorerPage, token: str, octaves: int) -> None:
    explorer.put(token)
    drag_by_octaves(explorer, explorer.handles.first, octaves)
    box = explorer.boxes.first
    box.focus()
    written = box.input_value()
    assert parse_number(written) == parse_number(token) * 2.0**octaves
    # Typed again it is the same gradient to the server, too.
    scaled = explorer.state().rows[0].cells.scaled
    explorer.put(written)
    assert explorer.state().rows[0].cells.scaled == scaled


def test_there_and_back_again(explorer: ExplorerPage) -> None:
    explorer.put("1e-8", "-3")
    before = explorer.state()
    drag_by_octaves(explorer, explorer.handles.first, 9)
    drag_by_octaves(explorer, explorer.handles.first, -9)
    after = explorer.state()
    assert is_right(after.rows[0].cells.gradient, 1e-8)
    for row, same in zip(after.rows, before.rows, strict=True):
        row.cells.gradient = same.cells.gradient
        assert row == same


@pytest.mark.parametrize(("key", "octave"), [("PageDown", -48), ("PageUp", 24)])
def test_octaves_end(explorer: ExplorerPage, key: str, octave: int) -> None:
    explorer.handles.first.focus()
    explorer.press(*[key] * 20)
    state = explorer.state()
    assert tells(state.rows[0].cells.gradient, Fraction(2) ** octave)
    expect(explorer.handles.first).to_have_attribute("aria-valuenow", str(octave))
    explorer.press("ArrowRight" if octave > 0 else "ArrowLeft")
    assert explorer.state() == state


@pytest.mark.parametrize(("key", "octave"), [("PageDown", 84), ("PageUp", 108)])
def test_octaves_of_a_gradient_far_away(explorer: ExplorerPage, key: str, octave: int) -> None:
    explorer.put("2^96")
    explorer.handles.first.focus()
    explorer.press(*[key] * 5)
    assert tells(explorer.state().rows[0].cells.gradient, Fraction(2) ** octave)


def test_the_pointer_may_go_beyond_the_end(explorer: ExplorerPage) -> None:
    with explorer.dragging(explorer.handles.nth(1)) as (x, y):
        explorer.page.mouse.move(x + 2000, y, steps=3)
        assert explorer.state().rows[1].cells.gradient == "2²⁴"
        explorer.page.mouse.move(x, y, steps=3)
        assert explorer.state().rows[1].cells.gradient in ("8", "2³")


def test_the_axis_waits_until_the_hand_rests(explorer: ExplorerPage) -> None:
    ticks = explorer.state().ticks
    octave = explorer.octave(explorer.landing_chart)
    with explorer.dragging(explorer.handles.first) as (x, y):
        for octaves in (4, 8, 12):
            explorer.page.mouse.move(x + octaves * octave, y)
            assert explorer.state().ticks == ticks
    assert explorer.state().ticks != ticks


def test_a_drag_takes_only_its_own_gradient(explorer: ExplorerPage) -> None:
    drag_by_octaves(explorer, explorer.handles.nth(1), -6)
    state = explorer.state()
    assert state.boxes == ["2⁻²⁶", "0.125"] or state.boxes == ["2⁻²⁶", "2⁻³"]
    assert state.journey.selected == 1


def test_what_has_no_octave_cannot_be_moved(explorer: ExplorerPage) -> None:
    explorer.put("0", "nan", "inf")
    assert explorer.handles.count() == 0
    with explorer.dragging(explorer.bars.first.locator(".segment").first) as (x, y):
        explorer.page.mouse.move(x + 200, y, steps=4)
    assert explorer.state().boxes == ["0", "NaN", "∞"]


def test_another_button_does_not_drag(explorer: ExplorerPage) -> None:
    x, y = explorer.centre(explorer.handles.first)
    explorer.page.mouse.move(x, y)
    explorer.page.mouse.down(button="middle")
    explorer.page.mouse.move(x + 100, y, steps=3)
    explorer.page.mouse.up(button="middle")
    assert explorer.state().boxes == SEED


@pytest.mark.parametrize("what", ["handles", "bars"])
def test_with_a_finger(touch_explorer: ExplorerPage, what: str) -> None:
    explorer = touch_explorer
    octave = explorer.octave(explorer.landing_chart if what == "handles" else explorer.window_chart)
    x, y = explorer.centre(getattr(explorer, what).first)
    explorer.touch([(x + step * octave, y) for step in range(7)])
    assert explorer.state().boxes == ["2⁻²⁰" if what == "handles" else "2⁻³²", "8"]


def drag_by_octaves(explorer: ExplorerPage, handle: Locator, octaves: int) -> None:
    """Move a gradient's hollow mark with the mouse."""
    octave = explorer.octave(explorer.landing_chart)
    with explorer.dragging(handle) as (x, y):
        explorer.page.mouse.move(x + octaves * octave, y, steps=4)
