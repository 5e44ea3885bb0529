"""The loss scale's slider: keys, mouse and touch, and that its thumb is on the chart's axis."""

from io import BytesIO

from PIL import Image  # comes with bokeh
from playwright.sync_api import expect
import pytest

from .pages import ALL_K, PHONE, ExplorerPage, place

pytestmark = pytest.mark.browser

FORMATS = ("FP16", "BF16", "E5M2", "E4M3")


@pytest.mark.parametrize(
    ("key", "k"),
    [
        ("ArrowRight", 4),
        ("ArrowUp", 4),
        ("ArrowLeft", 2),
        ("ArrowDown", 2),
        ("PageUp", 7),
        ("PageDown", -1),
        ("Home", -40),
        ("End", 40),
    ],
)
def test_keys(explorer: ExplorerPage, key: str, k: int) -> None:
    explorer.go(3)
    explorer.slider.focus()
    explorer.press(key)
    state = explorer.state()
    assert (state.slider, state.line.log2) == (k, k)
    expect(explorer.slider).to_be_focused()


@pytest.mark.parametrize(("end", "keys"), [(40, ("ArrowRight", "PageUp")), (-40, ("ArrowLeft", "PageDown"))])
def test_the_ends_hold(explorer: ExplorerPage, end: int, keys: tuple[str, str]) -> None:
    explorer.go(end - 1 if end > 0 else end + 1)
    explorer.slider.focus()
    explorer.press(*keys, *keys)
    assert explorer.state().slider == end


def test_scales_beyond_the_axis(explorer: ExplorerPage) -> None:
    ticks = explorer.state().ticks
    assert ticks[0].log2 > -40
    assert ticks[-1].log2 < 40
    explorer.slider.focus()
    explorer.press("Home")
    low = explorer.state()
    assert low.bubble == "◂ S = 2⁻⁴⁰ ≈ 9.095e−13"
    explorer.press("End")
    high = explorer.state()
    assert high.bubble == "S = 2⁴⁰ = 1,099,511,627,776 ▸"
    assert low.line.x <= ticks[0].x < ticks[-1].x <= high.line.x


@pytest.mark.parametrize(
    ("k", "text"),
    [
        (12, "scale 2 to the 12, 4096; both gradients survive"),
        (13, "scale 2 to the 13, 8192; 8 overflows"),
        (0, "scale 2 to the 0, 1; 2 to the minus 26 is lost"),
        (-1, "scale 2 to the minus 1, 0.5; 2 to the minus 26 is lost"),
        (-40, "scale 2 to the minus 40, about 9.095e-13; 2 to the minus 26 and 8 are lost"),
    ],
)
def test_what_is_read_aloud(explorer: ExplorerPage, k: int, text: str) -> None:
    explorer.go(k)
    expect(explorer.slider).to_have_attribute("aria-valuetext", text)
    expect(explorer.status).to_have_text(text)


def test_its_native_range_is_told(explorer: ExplorerPage) -> None:
    assert explorer.slider.evaluate("slider => [slider.type, slider.min, slider.max]") == ["range", "-40", "40"]
    expect(explorer.slider).to_have_accessible_name("Loss scale S")


@pytest.mark.parametrize("label", FORMATS)
def test_the_thumb_is_on_the_line(explorer: ExplorerPage, label: str) -> None:
    explorer.format(label)
    left = explorer.window_chart.bounding_box()["x"]
    ticks = explorer.state().ticks
    for k in range(ticks[0].log2, ticks[-1].log2 + 1, 3):
        explorer.go(k)
        line = explorer.state().line.x
        assert abs(line - place(ticks, k)) < 0.001
        assert abs(thumb_centre(explorer) - left - line) <= 1


@pytest.mark.parametrize("size", [{"width": 1280, "height": 800}, PHONE, {"width": 1920, "height": 1080}], ids=str)
def test_dragging_takes_the_scale_under_the_pointer(explorer: ExplorerPage, size: dict[str, int]) -> None:
    explorer.page.set_viewport_size(size)
    explorer.settle()
    y = explorer.centre(explorer.slider)[1]
    explorer.page.mouse.move(explorer.viewport_x(0), y)
    explorer.page.mouse.down()
    for k in (1, 5, 12, 13, -4, -8, 8):
        x = explorer.viewport_x(k)
        explorer.page.mouse.move(x, y, steps=3)
        state = explorer.state()
        assert (state.slider, state.line.log2) == (k, k)
        assert abs(explorer.window_chart.bounding_box()["x"] + state.line.x - x) < 1
    explorer.page.mouse.up()
    assert explorer.state().slider == 8


def test_a_press_on_the_track_goes_there(explorer: ExplorerPage) -> None:
    y = explorer.centre(explorer.slider)[1]
    for k in (12, -4, 3):
        explorer.page.mouse.click(explorer.viewport_x(k), y)
        assert explorer.state().slider == k


def test_ticks_stay_while_the_scale_moves(explorer: ExplorerPage) -> None:
    ticks = explorer.state().ticks
    assert all(state.ticks == ticks for state in explorer.sweep())
    explorer.slider.focus()
    explorer.press("PageUp", "ArrowRight", "End", "Home")
    assert explorer.state().ticks == ticks


def test_ticks_follow_the_format(explorer: ExplorerPage) -> None:
    before = explorer.state()
    explorer.format("E4M3")
    after = explorer.state()
    assert after.ticks != before.ticks
    assert after.landing_ticks != before.landing_ticks
    for state in explorer.sweep(range(before.ticks[0].log2, 1)):
        assert abs(state.line.x - place(after.ticks, state.slider)) < 0.001


def test_dragging_by_touch(touch_explorer: ExplorerPage) -> None:
    explorer = touch_explorer
    y = explorer.centre(explorer.slider)[1]
    start, end = explorer.viewport_x(0), explorer.viewport_x(12)
    explorer.touch([(start + (end - start) * step / 8, y) for step in range(9)])
    state = explorer.state()
    assert (state.slider, state.title) == (12, "✓ Both gradients survive")


@pytest.mark.parametrize("place_of_finger", ["bars", "landing_chart", "window_chart"])
def test_charts_let_a_finger_scroll_the_page(touch_explorer: ExplorerPage, place_of_finger: str) -> None:
    explorer = touch_explorer
    x, y = explorer.centre(getattr(explorer, place_of_finger).first)
    before = explorer.state()
    scroll = "scrollY"
    start = explorer.page.evaluate(scroll)
    explorer.touch([(x, y - 15 * step) for step in range(12)])
    explorer.page.wait_for_function("start => scrollY > start", arg=start)
    after = explorer.state()
    assert (after.slider, after.boxes) == (before.slider, before.boxes)


def test_every_k_is_somewhere_on_the_track(explorer: ExplorerPage) -> None:
    # The native thumb's own geometry: a track as long as all of k, cut where the axis ends.
    centres = explorer.at_each(
        "(root, k) => { const box = one(root, '.scale-slider').getBoundingClientRect();"
        " return box.left + 15 + (k + 40) / 80 * (box.width - 30); }"
    )
    ticks, left = explorer.state().ticks, explorer.window_chart.bounding_box()["x"]
    assert [round(centre - left - place(ticks, k), 1) for k, centre in zip(ALL_K, centres, strict=True)] == [0] * 81


def thumb_centre(explorer: ExplorerPage) -> float:
    """The middle of the thumb as it is painted: of what its dark ring encloses."""
    box = explorer.slider.locator("..").bounding_box()
    row = {"x": round(box["x"]), "y": round(box["y"] + box["height"] / 2), "width": round(box["width"]), "height": 1}
    pixels = Image.open(BytesIO(explorer.page.screenshot(clip=row))).convert("L")
    dark = [x for x in range(pixels.width) if pixels.getpixel((x, 0)) < 60]
    return row["x"] + (dark[0] + dark[-1] + 1) / 2
