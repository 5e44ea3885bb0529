"""The explorer away from its own page: as Panel saves it, and as Panel shows it in a notebook's cell."""

from collections.abc import Iterator
from pathlib import Path
import re

from axe_playwright_python.sync_playwright import Axe
from bokeh.document import Document
from bokeh.resources import INLINE
import panel as pn
from panel.io.notebook import render_model
from panel.io.resources import Resources, bundle_resources
from playwright.sync_api import Browser, Page, expect
import pytest

from lossscale_app import Explorer
from lossscale_core import FORMATS

from .agreement import check
from .expected import spelled
from .launch import Server
from .pages import ALL_K, ExplorerPage

pytest_plugins = ("browser.host_fixtures",)
pytestmark = pytest.mark.browser

FIRST, SECOND = ("1e-8", "0.01"), ("2^-26", "8", "-3")


def explorers() -> tuple[Explorer, Explorer]:
    return (
        Explorer(gradients=list(FIRST), format="e5m2", log2_scale=3),
        Explorer(gradients=list(SECOND), log2_scale=5, theme="dark"),
    )


def saved_by_panel(path: Path) -> None:
    pn.Column(*explorers()).save(str(path), resources=INLINE, embed=False)


def shown_in_cells(path: Path) -> None:
    """Two cells of a notebook: the scripts that Panel's extension loads, and a MIME bundle for each."""
    cells = []
    for explorer in explorers():
        document = Document()
        model = explorer.get_root(document)
        document.add_root(model)
        cells.append(render_model(model)[0]["text/html"])
    texts = bundle_resources(None, Resources.from_bokeh(INLINE, notebook=True), notebook=True).js_raw
    scripts = "".join(f"<script>{text.replace('</script>', '<' + chr(92) + '/script>')}</script>" for text in texts)
    path.write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Notebook</title>'
        f'<link rel="icon" href="data:,">{scripts}</head><body><main>{"".join(cells)}</main></body></html>',
        "utf-8",
    )


@pytest.fixture(scope="module", params=[saved_by_panel, shown_in_cells], ids=["saved", "cells"])
def cells(
    request: pytest.FixtureRequest, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ExplorerPage, ExplorerPage]]:
    """Two explorers in one document, to which Panel adds links of its own, which are cut."""
    path = tmp_path_factory.mktemp("notebook") / "notebook.html"
    request.param(path)
    context = browser.new_context(viewport={"width": 1280, "height": 1600}, reduced_motion="reduce")
    context.set_default_timeout(10_000)
    context.route(re.compile("^https?:"), lambda route: route.abort())
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(f"uncaught: {error}"))
    page.goto(path.as_uri())
    expect(page.locator(".lossscale")).to_have_count(2)
    yield Cell(page, 0), Cell(page, 1)
    context.close()
    assert [text for text in complaints if "ERR_FAILED" not in text] == []


class Cell(ExplorerPage):
    """One of the explorers of a document."""

    def __init__(self, page: Page, index: int) -> None:
        super().__init__(_Part(page, index), Server("", None, None))


class _Part:
    """A page, of whose explorers only one is seen."""

    def __init__(self, page: Page, index: int) -> None:
        self._page, self._index = page, index

    def locator(self, selector: str):
        found = self._page.locator(selector)
        return found.nth(self._index) if selector == ".lossscale" else found

    def __getattr__(self, name: str) -> object:
        return getattr(self._page, name)


def test_each_draws_in_its_own_element(cells: tuple[Cell, Cell]) -> None:
    page = cells[0].page
    assert page.locator("[data-lossscale-page]").count() == 0
    for cell, tokens, fmt, k in ((cells[0], FIRST, "e5m2", 3), (cells[1], SECOND, "fp16", 5)):
        assert cell.root.evaluate("root => root.getRootNode() instanceof ShadowRoot")
        check(cell.state(), tokens, k, FORMATS[fmt])
        assert cell.root.evaluate("root => root.clientWidth") > 600
    assert page.evaluate("document.documentElement.dataset.theme") is None
    assert [cell.root.get_attribute("data-theme") for cell in cells] == ["auto", "dark"]
    assert page.title() != ""


def test_sliders_are_independent_and_right_everywhere(cells: tuple[Cell, Cell]) -> None:
    other = cells[1].state()
    for k, state in zip(ALL_K, cells[0].sweep(), strict=True):
        check(state, FIRST, k, FORMATS["e5m2"])
    assert cells[1].state() == other
    cells[1].slider.focus()
    cells[1].press("Home", "PageUp", "ArrowRight")
    check(cells[1].state(), SECOND, -35, FORMATS["fp16"])
    assert cells[0].state().slider == 40


def test_formats_are_independent(cells: tuple[Cell, Cell]) -> None:
    before = cells[1].state().format
    for name in ("E4M3", "BF16", "FP16"):
        cells[0].format(name)
        assert (cells[0].state().format, cells[1].state().format) == (name.lower(), before)


def test_the_slider_is_where_its_line_is(cells: tuple[Cell, Cell]) -> None:
    for cell in cells:
        cell.go(4)
        x = cell.window_chart.bounding_box()["x"] + cell.state().line.x
        y = cell.centre(cell.slider.locator(".."))[1]
        cell.page.mouse.move(x, y)
        cell.page.mouse.down()
        cell.page.mouse.move(cell.viewport_x(9), y, steps=5)
        cell.page.mouse.up()
        assert cell.state().slider == 9


def test_labels_lead_to_the_boxes_of_their_own_explorer(cells: tuple[Cell, Cell]) -> None:
    for cell in cells:
        cell.root.locator("label", has_text="Exact S").click()
        assert cell.root.evaluate("root => root.getRootNode().activeElement === root.querySelector('#lse-scale')")


def test_what_is_drawn_is_filled_and_cut_by_its_own_explorer(cells: tuple[Cell, Cell]) -> None:
    for cell in cells:
        missing = cell.root.evaluate(
            """root => [...root.querySelectorAll("[clip-path], [fill^=url]")]
              .map((part) => (part.getAttribute("clip-path") ?? part.getAttribute("fill")).slice(5, -1))
              .filter((id) => root.getRootNode().querySelectorAll(`#${id}`).length !== 1)"""
        )
        assert missing == []


def test_dragging_a_gradient(cells: tuple[Cell, Cell]) -> None:
    other = cells[0].state().boxes
    octave = cells[1].octave(cells[1].landing_chart)
    with cells[1].dragging(cells[1].handles.nth(1)) as (x, y):
        cells[1].page.mouse.move(x - 4 * octave, y, steps=8)
    assert cells[1].state().boxes == ["2⁻²⁶", "2⁻¹", "−3"]
    assert cells[0].state().boxes == other == [spelled(token) for token in FIRST]


def test_they_take_no_part_in_the_address(cells: tuple[Cell, Cell]) -> None:
    page = cells[0].page
    entries, address = page.evaluate("[history.length, location.href]")
    cells[0].slider.focus()
    cells[0].press("ArrowLeft")
    page.wait_for_timeout(700)
    assert page.evaluate("[history.length, location.href]") == [entries, address]
    cells[0].press("Control+z")
    assert "?" not in page.evaluate("location.href")


def test_they_are_accessible(cells: tuple[Cell, Cell]) -> None:
    # What WCAG asks of what lies in a shadow tree, which is ours and has a path of several selectors; landmarks
    # and headings are the notebook's.
    criteria = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
    response = Axe().run(cells[0].page, options={"runOnly": {"type": "tag", "values": criteria}}).response
    violations = [
        (violation["id"], node["target"])
        for violation in response["violations"]
        for node in violation["nodes"]
        if isinstance(node["target"][0], list)
    ]
    assert violations == []
