"""At every width: nothing sticks out, is cut off, or lies over something else."""

from collections.abc import Callable, Sequence

from playwright.sync_api import expect
import pytest

from .agreement import AWKWARD, SEED
from .pages import CARDS, SEEN, ExplorerPage
from .sizes import small_texts

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


def misplaced(explorer: ExplorerPage) -> list[str]:
    """All that is wrong with where things are."""
    sideways = explorer.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    scrolling = [f"the page scrolls sideways by {sideways} px"] if sideways else []
    return [*scrolling, *cut_off(explorer), *sticking_out(explorer), *overlapping(explorer)]


def cut_off(explorer: ExplorerPage) -> list[str]:
    """Boxes with a text that is wider than they are."""
    return explorer.root.evaluate(
        f"""(root) => [...root.querySelectorAll("*")].filter((box) =>
            box.clientWidth && box.scrollWidth > box.clientWidth && !box.matches("input, select, textarea, svg *")
            && ({SEEN})(box) && [...box.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
            .map((box) => `${{box.outerHTML}}: ${{box.scrollWidth}} > ${{box.clientWidth}}`)"""
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
