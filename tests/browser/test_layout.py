"""At every width: nothing sticks out, is cut off, or lies over something else."""

from collections.abc import Callable, Iterator, Sequence

from playwright.sync_api import Browser, expect
import pytest

from lossscale_core import FORMATS

from .agreement import AWKWARD, SEED
from .hosts import Site
from .pages import CARDS, SEEN, ExplorerPage
from .saved_views import saved_address, saved_views, show
from .sizes import small_texts

pytest_plugins = ("browser.host_fixtures",)
pytestmark = pytest.mark.browser

WIDTHS = (320, 360, 390, 525, 768, 1024, 1280, 1920)
LISTS = {
    "seed": SEED,
    "twelve long ones": tuple(f"-{digit}.234567e-{exponent}" for exponent in (8, 26, 300) for digit in (1, 4, 7, 9)),
    "awkward": AWKWARD,
}


def resize(explorer: ExplorerPage, width: int) -> None:
    explorer.page.set_viewport_size({"width": width, "height": 900})
    explorer.settle()


@pytest.mark.parametrize("tokens", LISTS.values(), ids=LISTS)
def test_everything_is_in_its_place(explorer: ExplorerPage, tokens: Sequence[str]) -> None:
    if tokens != SEED:
        explorer.put(*tokens)
        explorer.page.evaluate("document.activeElement.blur()")
    for width in WIDTHS:
        resize(explorer, width)
        assert (width, small_texts(explorer)) == (width, [])
        assert width < 360 or (width, cut_names(explorer)) == (width, [])
        for k in (0, 3, 13, -40, 40):
            explorer.go(k)
            assert (width, k, misplaced(explorer)) == (width, k, [])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("label", ["FP16", "E4M3"])
def test_caption_and_bubble_stay_in_their_card(explorer: ExplorerPage, label: str, width: int) -> None:
    explorer.format(label)
    resize(explorer, width)
    outside = explorer.at_each(
        """(root, k) => [".bubble", ".window-caption"].filter((part) => {
            const box = one(root, part).getBoundingClientRect();
            const card = one(root, part).closest(".card").getBoundingClientRect();
            return box.left < card.left || box.right > card.right || box.top < card.top || box.bottom > card.bottom;
        })"""
    )
    assert outside == [[]] * 81


@pytest.mark.parametrize("width", WIDTHS)
def test_scenarios_and_sentences_fit(explorer: ExplorerPage, width: int) -> None:
    resize(explorer, width)
    for button in explorer.tries.all():
        button.evaluate("button => button.click()")
        assert misplaced(explorer) == []
    explorer.add_field.fill("supercalifragilisticexpialidocious" * 3)
    explorer.add_field.press("Enter")
    explorer.wait_for_problem()
    assert misplaced(explorer) == []


@pytest.mark.parametrize("width", [320, 1280])
def test_text_grows_with_the_readers_setting(open_explorer: Callable[..., ExplorerPage], width: int) -> None:
    explorer = open_explorer(viewport={"width": width, "height": 900})
    size = "parseFloat(getComputedStyle(document.querySelector('.lossscale')).fontSize)"
    before = explorer.page.evaluate(size)
    devtools = explorer.page.context.new_cdp_session(explorer.page)
    devtools.send("Page.setFontSizes", {"fontSizes": {"standard": 32, "fixed": 26}})
    explorer.settle()
    assert explorer.page.evaluate(size) >= 1.5 * before
    assert misplaced(explorer) == []
    assert small_texts(explorer) == []


def test_a_resized_page_is_drawn_anew(explorer: ExplorerPage) -> None:
    explorer.go(12)
    for width in (1280, 390, 1024, 320, 1920):
        resize(explorer, width)
        chart, picture = explorer.window_chart.bounding_box(), explorer.window_chart.locator("svg").bounding_box()
        assert abs(picture["width"] - chart["width"]) < 1
        assert abs(picture["height"] - chart["height"]) < 1
        assert explorer.state().line.log2 == 12


def test_the_first_screen_shows_what_matters(explorer: ExplorerPage) -> None:
    for part in (explorer.window_chart, explorer.root.locator(".outcome"), explorer.landing_chart):
        expect(part).to_be_in_viewport(ratio=1)


@pytest.fixture(scope="module")
def lesson(browser: Browser, site: Site) -> Iterator[ExplorerPage]:
    with saved_views(browser, saved_address(site)) as explorer:
        yield explorer


@pytest.mark.parametrize("language", ["en", "pl"])
def test_the_bars_leave_room_for_the_page(lesson: ExplorerPage, language: str) -> None:
    show(lesson, "s=window&m=play", f"&lang={language}")
    for width, height, most in ((525, 450, 0.4 * 450), (390, 844, 220)):
        lesson.page.set_viewport_size({"width": width, "height": height})
        lesson.settle()
        assert lesson.root.locator(".columns").bounding_box()["y"] <= most
        assert misplaced(lesson) == []


@pytest.mark.parametrize("language", ["en", "pl"])
def test_the_title_of_a_scenario_is_cut_only_where_there_is_no_room(lesson: ExplorerPage, language: str) -> None:
    show(lesson, "s=window&m=play", f"&lang={language}")
    lesson.page.set_viewport_size({"width": 1280, "height": 800})
    select = lesson.root.locator(".lesson-bar select")
    cut = select.evaluate(
        """(select) => {
            const pen = document.createElement("canvas").getContext("2d");
            const { font, paddingLeft, paddingRight } = getComputedStyle(select), chosen = select.value;
            pen.font = font;
            const cut = [...select.options].filter((option) => {
                select.value = option.value;
                const room = select.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
                return pen.measureText(option.text).width > room;
            }).map((option) => option.text);
            select.value = chosen;
            return cut;
        }"""
    )
    assert cut == []
    expect(select).to_have_css("text-overflow", "ellipsis")


@pytest.mark.parametrize("theme", ["light", "projector"])
def test_every_band_of_a_format_is_named_once(lesson: ExplorerPage, theme: str) -> None:
    for width in (390, 1280):
        lesson.page.set_viewport_size({"width": width, "height": 800})
        for name in FORMATS:
            show(lesson, f"view=window&f={name}&th={theme}")
            labels = lesson.landing_chart.locator(".band-label:not(:empty)").evaluate_all(
                "all => all.map((each) => [each.classList[1], each.classList[2], each.textContent])"
            )
            bands = [band for band, place, _ in labels if place != "place"]
            assert sorted(bands) == ["normal", "overflow", "subnormal", "underflow"]
            assert len({text for *_, text in labels}) == len(labels)
            assert misplaced(lesson) == []


def misplaced(explorer: ExplorerPage) -> list[str]:
    """All that is wrong with where things are."""
    sideways = explorer.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    scrolling = [f"the page scrolls sideways by {sideways} px"] if sideways else []
    return [*scrolling, *cut_off(explorer), *sticking_out(explorer), *overlapping(explorer), *meeting(explorer)]


def cut_off(explorer: ExplorerPage) -> list[str]:
    """Boxes with a text that is wider than they are."""
    return explorer.root.evaluate(
        f"""(root) => [...root.querySelectorAll("*")].filter((box) =>
            box.clientWidth && box.scrollWidth > box.clientWidth && !box.matches("input, select, textarea, svg *")
            && ({SEEN})(box) && [...box.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
            .map((box) => `${{box.outerHTML}}: ${{box.scrollWidth}} > ${{box.clientWidth}}`)"""
    )


def cut_names(explorer: ExplorerPage) -> list[str]:
    """Gradients whose boxes are too small for them."""
    return explorer.boxes.evaluate_all(
        "all => all.filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.value)"
    )


def sticking_out(explorer: ExplorerPage) -> list[str]:
    """Texts that leave their card, their picture or the window."""
    return explorer.root.evaluate(
        f"""(root, cards) => {{
            const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
            const range = document.createRange(), out = [];
            while (walker.nextNode()) {{
                const text = walker.currentNode, parent = text.parentElement;
                if (!text.data.trim() || !({SEEN})(parent)) continue;
                range.selectNodeContents(text);
                const around = parent.ownerSVGElement ?? parent.closest(cards) ?? root;
                const holder = around.getBoundingClientRect(), scrolls = around.matches(".table-room");
                for (const box of range.getClientRects()) {{
                    if (box.left < Math.max(0, holder.left) || box.right > Math.min(innerWidth, holder.right)
                        || (!scrolls && (box.top < holder.top || box.bottom > holder.bottom))) out.push(text.data);
                }}
            }}
            return out;
        }}""",
        CARDS,
    )


def overlapping(explorer: ExplorerPage) -> list[str]:
    """Texts and boxes of a chart that lie over one another by more than the leading of a line."""
    return explorer.root.evaluate(
        f"""(root) => [...root.querySelectorAll(".chart")].flatMap((chart) => {{
            const parts = [...chart.querySelectorAll("text, .window-caption > *, .bubble, .gradient-box, .remove")]
                .filter({SEEN})
                .map((part) => ({{ name: part.value || part.textContent, box: part.getBoundingClientRect() }}))
                .filter((part) => part.name);
            return parts.flatMap((one, index) => parts.slice(index + 1)
                .filter((two) => Math.min(one.box.right, two.box.right) - Math.max(one.box.left, two.box.left) > 1
                    && Math.min(one.box.bottom, two.box.bottom) - Math.max(one.box.top, two.box.top) > 5)
                .map((two) => `“${{one.name}}” and “${{two.name}}”`));
        }})"""
    )


def meeting(explorer: ExplorerPage) -> list[str]:
    """Cards and bars that lie over one another, and lines that run through what is written under them."""
    return explorer.root.evaluate(
        """(root) => {
            const boxes = (selector) => [...root.querySelectorAll(selector)].filter((each) => each.checkVisibility())
                .map((each) => ({ name: each.getAttribute("class"), box: each.getBoundingClientRect() }));
            const meet = ({ box: a }, { box: b }) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > -2
                && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
            const cards = boxes(".card, .bar-top, .lesson-bar"), captions = boxes(".window-caption");
            return [...cards.flatMap((one, index) => cards.slice(index + 1).map((two) => [one, two])),
                ...boxes(".scale-line").flatMap((line) => captions.map((caption) => [line, caption]))]
                .filter(([one, two]) => meet(one, two)).map(([one, two]) => `${one.name} over ${two.name}`);
        }"""
    )
