"""The projector theme: read from the last row, with the lights on, in every view."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from playwright.sync_api import Browser, expect
import pytest

from lossscale_app.scenarios import SCENARIOS

from .hosts import Site
from .pages import SEEN, ExplorerPage
from .pixels import contrast, screenshot
from .saved_views import OUTCOMES, VIEWS, saved_address, saved_views, show, unfold
from .sizes import small_texts
from .test_layout import meeting, misplaced

pytest_plugins = ("browser.host_fixtures",)
pytestmark = pytest.mark.browser

#: Sizes of a hall's screen, and the smallest text there.
SIZES = {(1280, 720): 20, (800, 600): 16, (1920, 1080): 20}
LEAST_LINE, LEAST_THUMB = 3, 44
STATES = {**VIEWS, "outcomes": OUTCOMES, "lecture": "s=window&m=present"}

# What is drawn, from the back to the front: each is seen against what lies behind it and its like.
AREAS = (
    ".segment, .octave-bar, .lost, .band, .overflow-step, .plate, .crossing circle, .band-hatch, rect[fill^=url],"
    " polygon[fill^=url]"
)
GUIDES = ".share-line, .axis line"
EDGES = ".band, .overflow-step"
MARKS = ".mark, .hollow, .scale-line, .run-line, .overlay-line, .order-line, .true-line, .journey-line, .step-cursor"
TEXTS = ".picture text"
#: What takes no part: a plate and a hatch are as dark as their segment, which other tests see to.
UNMEASURED = (".plate", ".band-hatch", "[fill^=url]")

_PARTS = f"""(root, [selector, unmeasured]) => [...root.querySelectorAll(".chart")]
  .flatMap((chart) => [...chart.querySelectorAll(selector)].map((part) => ({{ chart, part }})))
  .map(({{ chart, part }}) => ({{ chart, part, box: part.getBoundingClientRect() }}))
  .filter(({{ part, box }}) => (box.width || box.height) && ({SEEN})(part))
  .filter(({{ part }}) => !part.matches(unmeasured) && !part.closest("defs, clipPath"))
  .map(({{ chart, part, box }}) => {{
    const style = getComputedStyle(part);
    let opacity = 1;
    for (let each = part; each !== chart; each = each.parentElement) opacity *= Number(getComputedStyle(each).opacity);
    const paints = [[style.fill, style.fillOpacity], [style.stroke, style.strokeOpacity]]
      .filter(([paint]) => paint.startsWith("rgb(")).map(([paint, alpha]) => ({{ paint, alpha: alpha * opacity }}));
    const name = [[...chart.classList].pop(), part.getAttribute("class") ?? part.localName, part.textContent].join(" ");
    const shadow = /drop-shadow\\((rgb\\([^)]*\\))/.exec(style.filter)?.[1];
    return {{
      name, paints, halo: shadow ?? (part.localName === "text" ? paints[1]?.paint : null) ?? null,
      box: [box.left + scrollX, box.top + scrollY, box.right + scrollX, box.bottom + scrollY],
    }};
  }})"""

_LINES = """(root) => [...root.querySelectorAll(".chart svg *")].flatMap((part) => {
  const style = getComputedStyle(part);
  const drawn = part.matches(".hatch") || (part.checkVisibility({ visibilityProperty: true }) && !part.closest("defs"));
  if (!drawn || style.stroke === "none") return [];
  const { a, d } = part.getScreenCTM();
  const grown = style.vectorEffect === "non-scaling-stroke" ? 1 : Math.sqrt(Math.abs(a * d));
  const name = `${part.closest(".chart").className} ${part.localName}.${part.getAttribute("class")}`;
  return [{ name, wide: parseFloat(style.strokeWidth) * grown }];
})"""


@dataclass
class Seen:
    """How two colours are told apart: as they are, and with a fifth of white over both."""

    plain: float
    veiled: float


@pytest.fixture(scope="module")
def hall(browser: Browser, site: Site) -> Iterator[ExplorerPage]:
    with saved_views(browser, saved_address(site), viewport={"width": 1280, "height": 720}) as explorer:
        yield explorer


def at(hall: ExplorerPage, state: str, size: tuple[int, int] = (1280, 720), language: str = "en") -> ExplorerPage:
    hall.page.set_viewport_size({"width": size[0], "height": size[1]})
    show(hall, STATES[state], f"&th=projector&lang={language}")
    unfold(hall)
    return hall


@pytest.mark.parametrize(("size", "language"), [*((size, "en") for size in SIZES), ((1280, 720), "pl")], ids=str)
def test_texts_lines_and_places(hall: ExplorerPage, size: tuple[int, int], language: str) -> None:
    for state in STATES:
        at(hall, state, size, language)
        assert (state, small_texts(hall, SIZES[size] - 0.01)) == (state, [])
        lines = hall.root.evaluate(_LINES)
        assert len(lines) > 10 or state in ("lesson", "lecture")
        assert (state, [line for line in lines if line["wide"] < LEAST_LINE - 0.01]) == (state, [])
        for k in (None, -40, 40):
            if k is not None and lines:
                hall.go(k)
            assert (state, k, misplaced(hall)) == (state, k, [])


@pytest.mark.parametrize("size", [(1280, 720), (800, 600), (525, 450), (390, 844), (320, 480)], ids=str)
def test_boxes_are_as_tall_as_their_text(hall: ExplorerPage, size: tuple[int, int]) -> None:
    for state in ("window", "training", "lecture"):
        at(hall, state, size, "pl")
        low = hall.root.evaluate(
            """root => [...root.querySelectorAll("select, input[type=text]")].filter((box) => box.checkVisibility())
                .map((box) => ({ box, style: getComputedStyle(box) }))
                .map(({ box, style }) => [box.id, parseFloat(style.fontSize),
                    box.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom)])
                .filter(([, text, height]) => height < 1.1 * text)"""
        )
        assert (state, low) == (state, [])


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize(("state", "slider"), [("window", "scale"), ("training", "scale"), ("training", "step")])
def test_thumbs_are_large(hall: ExplorerPage, state: str, slider: str, size: tuple[int, int]) -> None:
    at(hall, state, size)
    thumb = hall.root.locator(f".{slider}-slider")
    thumb.scroll_into_view_if_needed()
    hall.page.mouse.move(0, 0)
    hall.page.evaluate("document.activeElement.blur()")
    variable = "--thumb" if slider == "scale" else "--step-thumb"
    meant = thumb.evaluate("(input, name) => parseFloat(getComputedStyle(input).getPropertyValue(name))", variable)
    assert meant >= LEAST_THUMB
    shown = screenshot(hall.page, clip=around(hall, thumb))
    style = hall.page.add_style_tag(content=".lossscale input::-webkit-slider-thumb { visibility: hidden !important; }")
    changed = np.abs(shown - screenshot(hall.page, clip=around(hall, thumb))).max(axis=-1) > 40
    style.evaluate("style => style.remove()")
    rows, columns = (np.flatnonzero(changed.any(axis=axis)) for axis in (1, 0))
    assert rows[-1] - rows[0] + 1 >= LEAST_THUMB
    assert columns[-1] - columns[0] + 1 >= LEAST_THUMB
    if slider == "scale":
        # It is drawn where the scale is.
        line = hall.root.locator(".scale-line").evaluate("line => line.getBoundingClientRect().x")
        middle = around(hall, thumb)["x"] + (columns[0] + columns[-1] + 1) / 2
        assert middle == pytest.approx(line, abs=2)


def around(hall: ExplorerPage, thumb) -> dict[str, float]:
    """All of a slider's row that is in the window."""
    box = thumb.bounding_box()
    left = max(0, box["x"] - 20)
    width = min(box["x"] + box["width"] + 20, hall.page.viewport_size["width"]) - left
    return {"x": left, "y": box["y"] - 20, "width": width, "height": box["height"] + 40}


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_gradient_is_taken_by_a_large_handle(hall: ExplorerPage, size: tuple[int, int]) -> None:
    at(hall, "window", size)
    handle = hall.handles.first
    handle.scroll_into_view_if_needed()
    x, y = hall.centre(handle)
    reach = LEAST_THUMB / 2 - 1
    for right, down in ((0, 0), (-reach, 0), (reach, 0), (0, -reach), (0, reach)):
        hit = "([x, y]) => document.elementFromPoint(x, y)?.closest('.handle')?.getAttribute('role')"
        assert hall.page.evaluate(hit, [x + right, y + down]) == "slider", (right, down)


@pytest.mark.parametrize("state", [state for state in STATES if state not in ("lesson", "lecture")])
def test_marks_stand_out(hall: ExplorerPage, state: str) -> None:
    at(hall, state)
    if state == "outcomes":
        hall.go(3)
    hall.page.evaluate("document.activeElement.blur()")
    hall.page.mouse.move(0, 0)
    found: dict[str, list[Seen]] = {}
    shown = screenshot(hall.page)
    layers = {
        f"{AREAS}, {GUIDES}": f"{AREAS}, {GUIDES}, {MARKS}, {TEXTS}",
        MARKS: f"{GUIDES}, {MARKS}, {TEXTS}",
        TEXTS: TEXTS,
    }
    for selector, hidden in layers.items():
        behind = without(hall, hidden)
        for part in hall.root.evaluate(_PARTS, [selector, ", ".join(UNMEASURED)]):
            best = told_apart(part, shown, behind)
            found[part["name"]] = [*found.get(part["name"], []), *([best] if best.plain else [])]
    assert len(found) > 12
    # Too narrow to cover a pixel may be one of a kind, but not all of them.
    assert [name for name, all_of in found.items() if not all_of] == []
    faint = {name: [each for each in all_of if each.plain < 4.5 or each.veiled < 3] for name, all_of in found.items()}
    assert {name: those for name, those in faint.items() if those} == {}


def test_hatches_stand_out_and_are_seen(hall: ExplorerPage) -> None:
    at(hall, "outcomes")
    style = "part => (({ fill, stroke, strokeOpacity }) => ({ fill, stroke, strokeOpacity }))(getComputedStyle(part))"
    for name in ("underflow", "overflow", "nonfinite"):
        hatch = hall.root.locator(f"#lse-bar-{name} .hatch").evaluate(style)
        segment = colour(hall.root.locator(f".window-chart .segment.{name}").first.evaluate(style)["fill"])
        assert hatch["strokeOpacity"] == "1"
        line, white = colour(hatch["stroke"]), np.full(3, 255.0)
        assert contrast(line, white) >= 4.5
        assert contrast(veiled(line), white) >= 3
        assert contrast(line, segment) >= 1.5


def test_every_line_of_the_scalers_stands_out(hall: ExplorerPage) -> None:
    at(hall, "training")
    lines = hall.root.locator(".overlay-chart svg").evaluate(
        """(svg) => [...Array(6).keys()].map((place) => {
            const path = document.createElementNS(svg.namespaceURI, "path");
            path.setAttribute("class", `overlay-line line-${place}`);
            svg.append(path);
            const { stroke, strokeDasharray } = getComputedStyle(path);
            path.remove();
            return [stroke, strokeDasharray];
        })"""
    )
    assert len({dashes for _, dashes in lines}) == 6
    for stroke, _ in lines:
        for ground in ("rgb(255, 255, 255)", "rgb(251, 233, 224)"):
            assert contrast(colour(stroke), colour(ground)) >= 4.5
            assert contrast(veiled(colour(stroke)), veiled(colour(ground))) >= 3


def told_apart(part: dict, shown: np.ndarray, behind: np.ndarray) -> Seen:
    """The worst contrast of what is drawn to the pixels that it covers, of its paint that stands out most."""
    if part["halo"]:
        paint, halo = colour(part["paints"][0]["paint"]), colour(part["halo"])
        return Seen(float(contrast(paint, halo)), float(contrast(veiled(paint), veiled(halo))))
    left, top, right, bottom = (round(side) for side in part["box"])
    area = np.s_[max(0, top - 3) : bottom + 3, max(0, left - 3) : right + 3]
    best = Seen(0, 0)
    for paint in part["paints"]:
        mixed = paint["alpha"] * colour(paint["paint"]) + (1 - paint["alpha"]) * behind[area]
        changed = np.abs(shown[area] - behind[area]).max(axis=-1) > 24
        covered = changed & (np.abs(shown[area] - mixed).max(axis=-1) < 12)
        if covered.any():
            front, ground = mixed[covered], behind[area][covered]
            plain, veil = contrast(front, ground).min(), contrast(veiled(front), veiled(ground)).min()
            best = Seen(max(best.plain, float(plain)), max(best.veiled, float(veil)))
    return best


def without(hall: ExplorerPage, selector: str) -> np.ndarray:
    """The page without what is drawn in front; where something crosses an edge it is seen against both sides."""
    clear = "fill: transparent !important; stroke: transparent !important;"
    edges = f".lossscale .chart :is({EDGES}) {{ stroke: transparent !important; }}" if selector != TEXTS else ""
    style = hall.page.add_style_tag(content=f".lossscale .chart :is({selector}) {{ {clear} }} {edges}")
    picture = screenshot(hall.page)
    style.evaluate("style => style.remove()")
    return picture


def colour(css: str) -> np.ndarray:
    return np.array([float(number) for number in css[css.index("(") + 1 : -1].split(",")[:3]])


def veiled(colours: np.ndarray) -> np.ndarray:
    """A fifth of white over colours, as the screen mixes them."""
    return 0.8 * colours + 0.2 * 255


def test_the_whole_screen(hall: ExplorerPage) -> None:
    at(hall, "window")
    hall.page.evaluate(
        """() => {
            window.asked = [];
            Element.prototype.requestFullscreen = function () { asked.push(this.localName); return Promise.resolve(); };
        }"""
    )
    hall.root.locator(".display-menu summary").click()
    button = hall.root.get_by_role("button", name="Full screen")
    expect(button).to_be_visible()
    button.click()
    assert hall.page.evaluate("asked") == ["html"]
    hall.page.mouse.click(5, 700)
    expect(button).to_be_hidden()


@pytest.mark.parametrize("width", [1920, 1280, 800, 320])
def test_the_menu_opens_inside_the_window(hall: ExplorerPage, width: int) -> None:
    at(hall, "window", (width, 700))
    hall.page.evaluate("document.querySelector('.display-menu').open = false; scrollTo(0, 0)")
    hall.root.locator(".display-menu summary").click()
    hall.settle()
    choices = hall.root.locator(".display-choices")
    for theme in ("Light", "Projector"):
        choices.get_by_text(theme, exact=True).evaluate("label => label.click()")
        hall.settle()
        box = choices.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    hall.press("Escape")


@pytest.mark.parametrize(("size", "every"), [((1280, 800), 1), ((1920, 1080), 5)], ids=str)
def test_cards_keep_apart_from_the_beginning(hall: ExplorerPage, size: tuple[int, int], every: int) -> None:
    hall.page.set_viewport_size({"width": size[0], "height": size[1]})
    for place, scenario in enumerate(SCENARIOS[::every]):
        link = f"v=1&s={scenario.id}&m=play&th=projector&lang={'pl' if place % 2 else 'en'}"
        hall.page.evaluate("link => history.replaceState(null, '', `#${link}`)", link)
        # A page that is new to its first drawing; nothing here may make it lay itself out anew.
        hall.page.reload()
        hall.root.locator(".card").first.wait_for()
        hall.settle()
        assert (scenario.id, meeting(hall)) == (scenario.id, [])
        for theme in ("light", "projector"):
            hall.root.locator(f".choice.theme [value={theme}]").evaluate("input => input.click()")
            hall.settle()
            assert (scenario.id, theme, meeting(hall)) == (scenario.id, theme, [])


@pytest.mark.parametrize("language", ["en", "pl"])
def test_the_first_bar_is_one_row(hall: ExplorerPage, language: str) -> None:
    for size in ((1280, 800), (1920, 1080)):
        at(hall, "window", size, language)
        rows = hall.root.locator(".bar-top > *").evaluate_all(
            """all => new Set(all.filter((each) => each.checkVisibility()).map((each) => {
                const { top, bottom } = each.getBoundingClientRect();
                return Math.round((top + bottom) / 16);
            })).size"""
        )
        assert rows == 1


def test_from_one_theme_to_another(hall: ExplorerPage) -> None:
    at(hall, "window")
    for theme, wide in (("light", 30), ("projector", 48)):
        hall.theme(theme)
        hall.settle()
        thumb, middle = hall.slider.evaluate(
            """(input) => {
                const { x, width } = input.getBoundingClientRect();
                const thumb = parseFloat(getComputedStyle(input).getPropertyValue("--thumb"));
                return [thumb, x + thumb / 2 + (width - thumb) * (input.value - input.min) / (input.max - input.min)];
            }"""
        )
        # The slider knows its new size: the thumb's middle is where the line is.
        line = hall.root.locator(".scale-line").evaluate("line => line.getBoundingClientRect().x")
        assert (thumb, middle) == (wide, pytest.approx(line, abs=2))
