"""Saving what is shown: every file of both views, live and from a disk, and pictures that need nothing around them."""

from collections.abc import Callable
from contextlib import redirect_stdout
from fractions import Fraction
import io
import json
from pathlib import Path
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
from PIL import Image  # comes with bokeh
from playwright.sync_api import Browser, expect
import pytest

from lossscale_app.datasets import DATASETS
from lossscale_app.exports import window_files
from lossscale_app.messages import ENGLISH
from lossscale_core import FORMATS, Outcome, count_outcomes, parse_number, safe_window

from .expected import from_core
from .hosts import NO_STORAGE, Site, framed
from .launch import Server, serving
from .pages import ALL_K, ExplorerPage, open_page
from .test_accessibility import faults
from .test_layout import WIDTHS, misplaced

pytest_plugins = ("browser.host_fixtures",)
pytestmark = pytest.mark.browser

TEXTS = ("CSV", "JSON", "SVG", "NumPy")
LIST = "?v=1&g=p-26,-1e-8,0x1.8p-24,8,0,inf&k=3&f=e5m2"
MODEL = "?v=1&k=10&f=bf16&view=distribution&d=wide&l=1"
SVG = "{http://www.w3.org/2000/svg}"


class Saving:
    """The part of the Share dialog that saves."""

    def __init__(self, explorer: ExplorerPage) -> None:
        self.explorer = explorer
        self.page = explorer.page
        self.box = explorer.root.get_by_role("dialog", name=ENGLISH["shareTitle"])
        self.group = self.box.get_by_role("group", name=ENGLISH["exportTitle"])
        self.text = self.group.get_by_label(ENGLISH["exportText"])
        self.copy = self.group.get_by_role("button", name="Copy", exact=True)
        self.told = self.box.get_by_role("status")
        if explorer.root.get_attribute("data-view") == "distribution":
            explorer.root.locator(".kept-card[data-of]").wait_for()
        explorer.share.click()

    def press(self, kind: str) -> None:
        self.group.get_by_role("button", name=kind, exact=True).click()

    def save(self, kind: str) -> SimpleNamespace:
        """Press a button and take what is saved."""
        with self.page.expect_download() as download:
            self.press(kind)
        name = download.value.suggested_filename
        expect(self.told).to_have_text(f"{name} goes to your downloads.")
        return SimpleNamespace(name=name, data=Path(download.value.path()).read_bytes())


@pytest.fixture(params=["live", "saved"])
def any_page(
    request: pytest.FixtureRequest, open_at: Callable[..., ExplorerPage], server: Server, site: Site
) -> Callable[..., ExplorerPage]:
    """Opens a link, live or in a saved page on a disk."""

    def open_link(link: str, **options: object) -> ExplorerPage:
        if request.param == "live":
            return open_at(f"{server.url}/{link}", **options)
        return open_at(site.saved(link).as_uri(), script=NO_STORAGE, offline=True, **options)

    return open_link


def printed(snippet: str) -> tuple[dict, str]:
    """What a snippet defines and prints."""
    names: dict = {}
    out = io.StringIO()
    with np.errstate(), redirect_stdout(out):
        exec(compile(snippet, "snippet", "exec"), names)  # noqa: S102 - it is what is tested
    return names, out.getvalue()


# The numbers


def test_the_numbers_of_a_list(open_at: Callable[..., ExplorerPage], server: Server) -> None:
    saving = Saving(open_at(f"{server.url}/{LIST}"))
    right = window_files(LIST)
    for kind, ending in (("CSV", "csv"), ("JSON", "json")):
        saved = saving.save(kind)
        assert saved.name == f"loss-scaling-window-k3-e5m2.{ending}"
        assert saved.data.decode() == right[ending]
        expect(saving.text).to_have_value(right[ending].replace("\r\n", "\n"))


def test_a_typed_scale_is_in_the_name(open_at: Callable[..., ExplorerPage], server: Server) -> None:
    saving = Saving(open_at(f"{server.url}/?v=1&x=1000"))
    saved = saving.save("CSV")
    assert saved.name == "loss-scaling-window-s1000-fp16.csv"
    assert saved.data.decode() == window_files("?v=1&x=1000")["csv"]


@pytest.mark.parametrize("form", ["saved", "orphan"])
def test_the_digits_of_a_list_need_python(
    open_at: Callable[..., ExplorerPage], site: Site, browser: Browser, form: str
) -> None:
    if form == "saved":
        check_refused(Saving(open_at(site.saved(LIST).as_uri())), ENGLISH["exportNeedsLive"])
        return
    with serving() as server:
        explorer = open_page(browser, server)
        explorer.watch.expected = "WebSocket|ERR_CONNECTION_REFUSED|[Ll]ost|[Cc]onnection"
        server.signal("SIGKILL")
        explorer.notice.filter(has_text="The server is gone").wait_for()
        saving = Saving(explorer)
        check_refused(saving, ENGLISH["exportNeedsServer"])
        assert saving.save("SVG").data.startswith(b"<svg")
        explorer.page.context.close()


def check_refused(saving: Saving, sentence: str) -> None:
    downloads: list[object] = []
    saving.page.on("download", lambda download: downloads.append(download))
    for kind in ("CSV", "JSON"):
        saving.save("NumPy")
        expect(saving.text).to_be_visible()
        before = len(downloads)
        saving.press(kind)
        expect(saving.told).to_have_text(sentence)
        expect(saving.text).to_be_hidden()
        saving.page.wait_for_timeout(200)
        assert len(downloads) == before


def test_a_server_that_dies_while_it_is_asked(browser: Browser) -> None:
    with serving() as server:
        explorer = open_page(browser, server)
        explorer.watch.expected = "WebSocket|ERR_CONNECTION_REFUSED|[Ll]ost|[Cc]onnection"
        saving = Saving(explorer)
        server.signal("SIGSTOP")
        saving.press("CSV")
        expect(saving.told).to_have_text(ENGLISH["exportAsking"])
        server.signal("SIGKILL")
        expect(saving.told).to_have_text(ENGLISH["exportNeedsServer"])
        explorer.page.context.close()


@pytest.mark.parametrize("link", [LIST, "?v=1&g=1e-8,p-26&k=-2&f=bf16", "?v=1&g=0x1.8p-24,-3&x=0.1"])
def test_the_numpy_of_a_list(any_page: Callable[..., ExplorerPage], link: str) -> None:
    explorer = any_page(link)
    explorer.handles.first.focus()
    explorer.press("ArrowRight")
    values = [parse_number(box) for box in explorer.root.evaluate(TOKENS)]
    saved = Saving(explorer).save("NumPy")
    assert saved.name.endswith(".py")
    names, _ = printed(saved.data.decode())
    fmt = FORMATS[re.search("-(\\w+).py", saved.name)[1]]
    rows = [from_core(value, scale_of(link), fmt) for value in values]
    assert [repr(float(each)) for each in names["stored"]] == [repr(row.stored) for row in rows]
    assert [repr(float(each)) for each in names["recovered"]] == [repr(row.recovered) for row in rows]


#: The gradients as the page writes them in their boxes once they are entered.
TOKENS = """root => [...root.querySelectorAll(".gradient-box")].map((box) => {
    box.focus();
    const { value } = box;
    box.blur();
    return value;
})"""


def scale_of(link: str) -> Fraction:
    typed, k = re.search(r"x=([\d.]+)", link), re.search(r"k=(-?\d+)", link)
    return Fraction(float(typed[1])) if typed else Fraction(2) ** int(k[1])


def test_the_counts_of_a_distribution(any_page: Callable[..., ExplorerPage]) -> None:
    explorer = any_page(MODEL)
    saving = Saving(explorer)
    values = next(dataset for dataset in DATASETS if dataset.id == "wide").make()[0].values
    counted = {
        name: [[count_outcomes(values, 2.0**k, fmt)[Outcome(code)] for code in range(1, 5)] for k in ALL_K]
        for name, fmt in FORMATS.items()
    }

    saved = saving.save("CSV")
    assert saved.name == "loss-scaling-distribution-wide-k10-bf16.csv"
    head, *lines, last = saved.data.decode("ascii").split("\r\n")
    assert (head, last) == ("k,scale,underflow,subnormal,normal,overflow", "")
    cells = [line.split(",") for line in lines]
    assert [int(k) for k, *_ in cells] == list(ALL_K)
    assert [float(scale) for _, scale, *_ in cells] == [2.0**k for k in ALL_K]
    assert cells[39][1] == "0.5"
    assert cells[-1][1] == "1099511627776"
    assert [list(map(int, counts)) for _, _, *counts in cells] == counted["bf16"]

    data = json.loads(saving.save("JSON").data)
    assert data["link"] == MODEL
    assert (data["data"], data["size"], data["zeros"], data["nonfinite"]) == ("wide", values.size, 0, 0)
    assert data["counts"] == counted
    assert sum(data["octaves"]["counts"]) == data["alive"] == values.size
    assert data["safe_powers"]["bf16"]["0"] == list(safe_window(values, FORMATS["bf16"]).survive.log2_powers)
    assert [tensor["name"] for tensor in data["tensors"]] == ["gradients"]
    assert data["tensors"][0]["steps"]["fp16"][0] == {"k": -40, "underflow": counted["fp16"][0][0], "overflow": 0}
    assert "≈" not in json.dumps(data, ensure_ascii=False)

    _, out = printed(saving.save("NumPy").data.decode())
    assert list(map(int, out.strip("[] \n").split())) == counted["bf16"][10 + 40]


def test_a_file_of_the_readers_own(
    open_at: Callable[..., ExplorerPage], server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.exp2(np.random.default_rng(5).normal(-22, 4, 3000))
    name = "my 'grads'.npz"
    np.savez(tmp_path / name, a=values[:2000], b=values[2000:].reshape(10, 100))
    explorer = open_at(f"{server.url}/?v=1&view=distribution&k=4&f=e4m3")
    explorer.root.locator("#lse-file").set_input_files(tmp_path / name)
    expect(explorer.root.locator(".data [aria-pressed=true]")).to_have_text(name)
    saving = Saving(explorer)
    monkeypatch.chdir(tmp_path)
    _, out = printed(saving.save("NumPy").data.decode())
    counted = count_outcomes(values, 16, FORMATS["e4m3"])
    assert list(map(int, out.strip("[] \n").split())) == [counted[Outcome(code)] for code in range(1, 5)]
    data = json.loads(saving.save("JSON").data)
    assert data["data"] == name
    assert [tensor["size"] for tensor in data["tensors"]] == [2000, 1000]


@pytest.mark.parametrize("link", [LIST, MODEL])
def test_texts_can_be_copied(open_at: Callable[..., ExplorerPage], server: Server, link: str) -> None:
    explorer = open_at(f"{server.url}/{link}")
    explorer.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    saving = Saving(explorer)
    expect(saving.text).to_be_hidden()
    for kind in TEXTS:
        saved = saving.save(kind)
        expect(saving.text).to_have_value(saved.data.decode().replace("\r\n", "\n"))
        saving.copy.click()
        expect(saving.told).to_have_text("Copied.")
        assert explorer.page.evaluate("navigator.clipboard.readText()") == saving.text.input_value()
    saving.save("PNG")
    expect(saving.text).to_be_hidden()
    saving.save("NumPy")
    saving.box.get_by_role("button", name="Close").click()
    explorer.share.click()
    expect(saving.text).to_be_hidden()
    expect(saving.told).to_be_empty()


def test_a_saved_page_asks_nobody(open_at: Callable[..., ExplorerPage], site: Site) -> None:
    uri = site.saved(MODEL).as_uri()
    explorer = open_at(uri, script=NO_STORAGE, offline=True)
    saving = Saving(explorer)
    for kind in (*TEXTS, "PNG"):
        saving.save(kind)
    assert [url for url in explorer.watch.requests if not url.startswith(("data:", "blob:"))] == [uri]


# The pictures


PICTURES = {
    "list": LIST,
    "dark list": "?v=1&k=13&th=dark",
    "no window": "?v=1&g=p-34,p20&x=1000",
    "model": MODEL,
    "dark model": "?v=1&k=20&view=distribution&th=dark",
}


def shown_texts(explorer: ExplorerPage) -> list[str]:
    """The words of the charts that are shown."""
    return explorer.root.evaluate(
        """root => [...root.querySelectorAll(".chart")].flatMap((chart) => [
            chart.closest(".card").querySelector("h2").textContent,
            ...[...chart.querySelectorAll("text")].filter((text) => text.checkVisibility({ visibilityProperty: true }))
                .map((text) => text.textContent),
            ...[...chart.querySelectorAll(".gradient-box")].map((box) => box.value),
            ...[...chart.querySelectorAll(".bubble")].map((part) => part.textContent),
            ...[...chart.querySelectorAll(".window-caption > *")].flatMap((part) => part.textContent.split(" ")),
        ]).filter(Boolean)"""
    )


@pytest.mark.parametrize("link", PICTURES.values(), ids=PICTURES)
def test_a_picture_needs_nothing_around_it(any_page: Callable[..., ExplorerPage], link: str) -> None:
    explorer = any_page(link)
    texts = shown_texts(explorer)
    text = Saving(explorer).save("SVG").data.decode()
    root = ElementTree.fromstring(text)  # noqa: S314 - it is our own
    assert root.tag == f"{SVG}svg"
    parts = list(root.iter())
    assert {part.tag.removeprefix(SVG) for part in parts} <= {
        *("svg", "title", "desc", "defs", "clipPath", "pattern", "g", "rect", "path", "line", "circle", "polygon"),
        "text",
    }
    attributes = {name for part in parts for name in part.attrib}
    assert not attributes & {"class", "style", "href", "role", "tabindex", "onclick"}
    assert not any(name.startswith(("on", "data-", "aria-")) for name in attributes)
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert "var(" not in text
    assert "light-dark" not in text
    ids = [part.get("id") for part in parts if part.get("id")]
    assert len(set(ids)) == len(ids) >= 5
    assert set(re.findall(r"url\(([^)]*)\)", text)) <= {f"#{name}" for name in ids}
    written = [part.text for part in parts if part.tag == f"{SVG}text"]
    words = " ".join(written).split()
    assert [each for each in texts if each not in written and not set(each.split()) <= set(words)] == []


def test_the_title_says_scale_format_and_window(open_at: Callable[..., ExplorerPage], server: Server) -> None:
    for link, title in (
        ("?v=1&k=3", "FP16, S = 2³ = 8: safe window 2 < S < 8190"),
        (
            "?v=1&view=distribution&k=13&f=e5m2",
            "A detector, as published. E5M2, S = 2¹³ = 8192: safe window 131,072 < S < ≈7.944e6",
        ),
    ):
        saving = Saving(open_at(f"{server.url}/{link}"))
        root = ElementTree.fromstring(saving.save("SVG").data)  # noqa: S314
        assert root.find(f"{SVG}title").text == title
        lines = [line.text for line in root.findall(f"{SVG}text")]
        assert " ".join(lines).startswith(f"{title} ")
        assert all("window 1" not in line for line in lines)


#: Where the pictures of the charts lie in the page, and the size of the page's pixels.
CHARTS = """root => [...root.querySelectorAll(".chart")].map((chart) => {
    const { left, top, width, height } = chart.getBoundingClientRect();
    return { x: left + scrollX, y: top + scrollY, width, height };
})"""


@pytest.mark.parametrize("link", PICTURES.values(), ids=PICTURES)
def test_a_picture_looks_like_the_page(
    open_at: Callable[..., ExplorerPage], server: Server, browser: Browser, link: str
) -> None:
    explorer = open_at(f"{server.url}/{link}")
    if "distribution" in link:
        explorer.root.locator(".kept-card[data-of]").wait_for()
    explorer.page.mouse.move(0, 0)
    explorer.settle()
    charts = explorer.root.evaluate(CHARTS)
    shot = pixels(explorer.page.screenshot(full_page=True))
    saving = Saving(explorer)
    svg, png = saving.save("SVG").data.decode(), pixels(saving.save("PNG").data)
    alone = picture_alone(browser, svg)
    assert png.shape[0] == 2 * alone.shape[0]
    assert png.shape[1] == 2 * alone.shape[1]
    assert (png[:, :, 3] == 255).all()
    places = [float(y) for y in re.findall(r'<g transform="translate\(24,([\d.]+)\)">', svg)]
    assert len(places) == len(charts) == 2
    for chart, y in zip(charts, places, strict=True):
        inside = cut(shot, chart["x"], chart["y"], chart)
        assert different(inside, cut(alone, 24, y, chart)) < 0.06
        assert different(inside, cut(png[::2, ::2], 24, y, chart)) < 0.06
    # Beside the charts there is the card's own colour.
    corners = alone[[0, 0, -1, -1], [0, -1, 0, -1]]
    assert len(np.unique(corners, axis=0)) == 1


def pixels(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGBA"), np.int16)


def cut(picture: np.ndarray, x: float, y: float, size: dict[str, float]) -> np.ndarray:
    x, y = round(x), round(y)
    return picture[y : y + int(size["height"]), x : x + int(size["width"]), :3]


def different(one: np.ndarray, two: np.ndarray) -> float:
    """The share of pixels whose like is not within two pixels: shapes may fall between pixels in other ways."""
    assert one.shape == two.shape
    inner = one[2:-2, 2:-2]
    rows, columns = inner.shape[:2]
    nearest = np.full((rows, columns), 999)
    for down in range(5):
        for right in range(5):
            other = two[down : down + rows, right : right + columns]
            nearest = np.minimum(nearest, np.abs(other - inner).max(axis=2))
    return float((nearest > 48).mean())


def picture_alone(browser: Browser, svg: str) -> np.ndarray:
    """An SVG as an image in an empty page."""
    page = browser.new_page()
    page.set_content('<body style="margin: 0"><img style="display: block"></body>')
    page.locator("img").evaluate(
        "(image, svg) => { image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`; return image.decode(); }", svg
    )
    data = page.locator("img").screenshot()
    page.close()
    return pixels(data)


# The dialog, and a frame that may not save


def test_in_a_frame_that_may_not_save(browser: Browser, site: Site) -> None:
    frame = f'<iframe src="{site.saved_url()}" sandbox="allow-scripts" width="900" height="700" title="x"></iframe>'
    page = browser.new_page()
    warnings: list[str] = []
    page.on("console", lambda message: warnings.append(message.text))
    page.goto(site.host("no-downloads", frame))
    saving = Saving(framed(page))
    for kind in ("SVG", "NumPy"):
        saving.press(kind)
        expect(saving.told).to_contain_text("if the page around this one lets it")
        expect(saving.text).not_to_have_value("")
    saving.press("PNG")
    expect(saving.told).to_contain_text(".png goes to your downloads, if")
    assert all("Download is disallowed" in warning for warning in warnings)
    page.close()


def test_the_dialog_is_accessible_and_fits(open_at: Callable[..., ExplorerPage], server: Server) -> None:
    explorer = open_at(f"{server.url}/{MODEL}", reduced_motion="reduce")
    saving = Saving(explorer)
    saving.save("NumPy")
    explorer.root.locator("dialog svg").wait_for()
    assert faults(explorer) == []
    for width in (WIDTHS[0], WIDTHS[-1]):
        explorer.page.set_viewport_size({"width": width, "height": 1500})
        explorer.settle()
        for kind in ("NumPy", "PNG"):
            saving.save(kind)
            assert (width, kind, misplaced(explorer)) == (width, kind, [])


def test_buttons_are_reached_by_keys(open_at: Callable[..., ExplorerPage], server: Server) -> None:
    explorer = open_at(f"{server.url}/{LIST}")
    saving = Saving(explorer)
    saving.group.get_by_role("button", name="NumPy").focus()
    with explorer.page.expect_download():
        explorer.press("Enter")
    explorer.press("Tab")
    expect(saving.text).to_be_focused()
    explorer.press("Tab")
    expect(saving.copy).to_be_focused()
