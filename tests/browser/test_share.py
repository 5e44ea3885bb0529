"""Sharing: the dialog, its QR code, its snippets in the pages they are for, and the page as a file."""

from collections.abc import Callable
from pathlib import Path
import re

from playwright.sync_api import Page, expect
import pytest
import segno

from lossscale_app.links import DEFAULTS, read_link, write_link
from lossscale_app.snippets import SNIPPETS

from .hosts import Site, framed, share_link
from .launch import Server, serving
from .pages import ExplorerPage, open_page

pytest_plugins = ("browser.host_fixtures",)
pytestmark = pytest.mark.browser

LINK = "?v=1&g=p-34,p10,-3&k=8&f=bf16&th=dark"
LOST_CONNECTION = "WebSocket|ERR_CONNECTION_REFUSED|[Ll]ost|[Cc]onnection"


class Dialog:
    """The Share dialog."""

    def __init__(self, explorer: ExplorerPage) -> None:
        self.button = explorer.root.get_by_role("button", name="Share", exact=True)
        box = self.box = explorer.root.get_by_role("dialog", name="Share this state")
        self.link = box.get_by_label("Link", exact=True)
        self.code = box.get_by_role("img", name="QR code of the link")
        self.kind = box.get_by_label("Embed in")
        self.snippet = box.get_by_label("Snippet")
        self.copiers = box.get_by_role("button", name="Copy", exact=True)
        self.told = box.get_by_role("status")
        self.download = box.get_by_role("link", name="Download this page")
        self.close = box.get_by_role("button", name="Close")


@pytest.fixture(params=["live", "saved"])
def any_explorer(request: pytest.FixtureRequest, open_at: Callable[..., ExplorerPage], server: Server, site: Site):
    return open_at(f"{server.url}/{LINK}" if request.param == "live" else site.saved_url() + LINK.replace("?", "#"))


def test_opened_and_closed_by_keys(any_explorer: ExplorerPage) -> None:
    dialog = Dialog(any_explorer)
    for closing in ("Escape", "Enter"):
        dialog.button.focus()
        any_explorer.press("Enter")
        expect(dialog.box).to_be_visible()
        assert dialog.box.evaluate("box => box.contains(document.activeElement)")
        if closing == "Enter":
            dialog.close.focus()
        any_explorer.press(closing)
        expect(dialog.box).to_be_hidden()
        expect(dialog.button).to_be_focused()


def test_keys_stay_inside(any_explorer: ExplorerPage) -> None:
    dialog = Dialog(any_explorer)
    dialog.button.click()
    for _ in range(12):
        any_explorer.press("Tab")
        inside = "box => box.contains(document.activeElement) || document.activeElement === document.body"
        assert dialog.box.evaluate(inside)
    assert any_explorer.state().slider == 8


def test_the_link_is_the_state(any_explorer: ExplorerPage) -> None:
    address = any_explorer.server.url.split("?")[0].split("#")[0]
    mark = "?" if "?" in any_explorer.server.url else "#"
    assert share_link(any_explorer) == address + LINK.replace("?", mark)
    any_explorer.format("E5M2")
    any_explorer.go(-5)
    moved = LINK.replace("k=8", "k=-5").replace("bf16", "e5m2")
    assert share_link(any_explorer) == address + moved.replace("?", mark)


def test_copying(any_explorer: ExplorerPage) -> None:
    page = any_explorer.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    dialog = Dialog(any_explorer)
    dialog.button.click()
    for index, field in enumerate((dialog.link, dialog.snippet)):
        page.evaluate("navigator.clipboard.writeText('nothing')")
        dialog.copiers.nth(index).click()
        expect(dialog.told).to_have_text("Copied.")
        assert page.evaluate("navigator.clipboard.readText()") == field.input_value() != ""


@pytest.mark.parametrize("command", ["copies", "does nothing"])
def test_copying_without_permission(open_at: Callable[..., ExplorerPage], site: Site, command: str) -> None:
    refuse = "window.put = navigator.clipboard.writeText.bind(navigator.clipboard);"
    refuse += "navigator.clipboard.writeText = () => Promise.reject(new DOMException('no', 'NotAllowedError'));"
    refuse += "document.execCommand = () => false;" if command == "does nothing" else ""
    explorer = open_at(site.saved_url(), script=refuse)
    explorer.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    explorer.page.evaluate("put('nothing')")
    dialog = Dialog(explorer)
    dialog.button.click()
    for index, field in enumerate((dialog.link, dialog.snippet)):
        dialog.copiers.nth(index).click()
        sentence = "Copied." if command == "copies" else "Selected: copy it with your keyboard."
        expect(dialog.told).to_have_text(sentence)
        expect(field).to_be_focused()
        assert field.evaluate("field => field.value.slice(field.selectionStart, field.selectionEnd)") == (
            field.input_value()
        )
    copied = explorer.page.evaluate("navigator.clipboard.readText()")
    assert copied == (dialog.snippet.input_value() if command == "copies" else "nothing")


def test_copying_without_a_clipboard(open_at: Callable[..., ExplorerPage], site: Site) -> None:
    explorer = open_at(site.saved_url(), script="Object.defineProperty(navigator, 'clipboard', { value: undefined });")
    dialog = Dialog(explorer)
    dialog.button.click()
    dialog.copiers.first.click()
    expect(dialog.told).to_have_text("Copied.")


# The QR code


@pytest.mark.parametrize(
    "link",
    [LINK, "?v=1", "?v=1&g=" + ",".join(f"{digit}" * 95 for digit in range(1, 10))],
    ids=["some", "none", "long"],
)
def test_the_code_is_the_link(open_at: Callable[..., ExplorerPage], server: Server, link: str) -> None:
    explorer = open_at(f"{server.url}/{link}")
    dialog = Dialog(explorer)
    dialog.button.click()
    expect(dialog.code).to_be_visible()
    assert dialog.link.input_value() == f"{server.url}/{write_link({**DEFAULTS, **read_link(link).params})}"
    expected = segno.make(dialog.link.input_value(), error="l", boost_error=False, micro=False)
    dark = [[bool(bit) for bit in row] for row in expected.matrix_iter(border=4)]
    assert modules(dialog, len(dark)) == dark
    assert server.new_errors() == []


def modules(dialog: Dialog, size: int) -> list[list[bool]]:
    """Which modules of the code are dark, as it is painted, 5 pixels a module."""
    return dialog.code.evaluate(
        """async (svg, size) => {
            const picture = svg.cloneNode(true);
            picture.setAttribute("xmlns", "http://www.w3.org/2000/svg");
            picture.setAttribute("width", 5 * size);
            picture.setAttribute("height", 5 * size);
            const image = new Image();
            image.src = `data:image/svg+xml,${encodeURIComponent(picture.outerHTML)}`;
            await image.decode();
            const canvas = document.createElement("canvas");
            canvas.width = canvas.height = 5 * size;
            const pen = canvas.getContext("2d");
            pen.drawImage(image, 0, 0);
            const { data } = pen.getImageData(0, 0, 5 * size, 5 * size);
            const dark = (row, column) => data[4 * ((5 * row + 2) * 5 * size + 5 * column + 2)] < 128;
            const places = [...Array(size).keys()];
            return places.map((row) => places.map((column) => dark(row, column)));
        }""",
        size,
    )


def test_the_code_follows_the_state(open_at: Callable[..., ExplorerPage], server: Server) -> None:
    explorer = open_at(server.url)
    dialog = Dialog(explorer)
    drawings = []
    for k in (1, 2):
        explorer.go(k)
        dialog.button.click()
        expect(dialog.code).to_be_visible()
        drawings.append(dialog.code.inner_html())
        dialog.close.click()
    assert drawings[0] != drawings[1]


def test_a_saved_page_has_no_code(open_at: Callable[..., ExplorerPage], site: Site) -> None:
    explorer = open_at(site.saved_url())
    dialog = Dialog(explorer)
    dialog.button.click()
    explorer.page.wait_for_timeout(300)
    assert dialog.code.count() == dialog.download.count() == 0
    expect(dialog.link).to_be_visible()


def test_an_orphan_has_no_code(browser) -> None:
    with serving() as server:
        explorer = open_page(browser, server)
        explorer.watch.expected = LOST_CONNECTION
        server.signal("SIGKILL")
        explorer.notice.filter(has_text="The server is gone").wait_for()
        dialog = Dialog(explorer)
        dialog.button.click()
        expect(dialog.link).to_have_value(f"{server.url}/?v=1")
        explorer.page.wait_for_timeout(300)
        assert dialog.code.count() == 0
        problems = explorer.watch.problems()
        explorer.page.context.close()
    assert problems == []


# Snippets


def html_of(kind: str, snippet: str) -> str:
    """What the place makes of a snippet."""
    if kind == "MyST":
        return re.fullmatch(r"```\{raw\} html\n(.*)\n```", snippet, re.DOTALL)[1]
    if kind == "Quarto":
        return re.fullmatch(r"```\{=html\}\n(.*)\n```", snippet, re.DOTALL)[1]
    if kind == "Sphinx":
        head, _, body = snippet.partition("\n\n")
        assert head == ".. raw:: html"
        assert all(line.startswith("   ") for line in body.splitlines())
        return "\n".join(line[3:] for line in body.splitlines())
    if kind == "reveal.js":  # reveal fills in src when it comes to the slide
        return snippet.replace(" data-src=", " src=")
    return snippet


#: Where the frame is that of HTML, word for word, the saved form is enough.
FORMS = [*(("saved", kind) for kind in SNIPPETS), ("live", "HTML")]


@pytest.mark.parametrize(("form", "kind"), FORMS)
def test_a_snippet_shows_the_state_in_its_host(
    open_at: Callable[..., ExplorerPage],
    open_host: Callable[..., Page],
    server: Server,
    site: Site,
    kind: str,
    form: str,
) -> None:
    explorer = open_at(f"{server.url}/{LINK}" if form == "live" else site.saved_url() + LINK.replace("?", "#"))
    dialog = Dialog(explorer)
    dialog.button.click()
    dialog.kind.select_option(kind)
    html = html_of(kind, dialog.snippet.input_value())
    above = '<p style="height: 9000px">Above the fold</p>'
    address = site.host(f"{form}-{kind}", f'<main style="max-width: 60rem">{above}{html}</main>')
    for width in (360, 1024):
        page = open_host(address, server.url, viewport={"width": width, "height": 700})
        frame = page.locator("iframe")
        expect(frame).to_have_count(1)
        expect(frame).to_have_attribute("loading", "lazy")
        expect(frame).to_have_attribute("title", "Loss Scaling Explorer: find the safe loss scale")
        assert len(page.frames) == 1 or page.frames[1].url in ("", "about:blank")  # it waits for the reader
        inside = framed(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert inside.page.evaluate("[document.documentElement.scrollWidth <= innerWidth]") == [True]
        assert frame.bounding_box()["width"] >= min(width, 960) - 40
        assert inside.root.locator(".open-full").get_attribute("href") == explorer.server.url
        assert inside.root.locator(".scale-line").get_attribute("data-log2") == "8"
        assert inside.page.evaluate("document.documentElement.dataset.theme") == "dark"
        inside.slider.focus()
        inside.press("ArrowRight")
        assert inside.root.locator(".scale-line").get_attribute("data-log2") == "9"


def test_a_snippet_is_safe_in_its_host() -> None:
    """Nothing of a state can end the attribute it is in; the vocabulary has no such characters."""
    for name, snippet in SNIPPETS.items():
        assert snippet.count('src="{src}"') == 1, name
        assert snippet.count('title="{title}"') == 1, name


def test_the_markdown_snippets_are_the_html_one() -> None:
    for kind in ("MyST", "Quarto", "Sphinx"):
        assert " ".join(html_of(kind, SNIPPETS[kind]).split()) == SNIPPETS["HTML"]


# The page as a file


def test_the_downloaded_page_opens_from_disk(
    open_at: Callable[..., ExplorerPage], server: Server, tmp_path: Path
) -> None:
    explorer = open_at(f"{server.url}/?v=1&g=1e-8,-3,0x1.8p-24&k=8&f=e5m2&j=2&th=light")
    before = explorer.state()
    dialog = Dialog(explorer)
    dialog.button.click()
    with explorer.page.expect_download() as download:
        dialog.download.click()
    assert download.value.suggested_filename == "loss-scaling.html"
    path = tmp_path / "loss-scaling.html"
    download.value.save_as(path)

    saved = open_at(path.as_uri())
    assert saved.watch.requests == [path.as_uri()]
    assert saved.state() == before
    # On a disk the link is that of the live page, which it was saved from.
    assert share_link(saved) == share_link(explorer)
    expect(saved.root.locator(".elsewhere a")).to_have_attribute("href", f"{server.url}/")


def test_a_script_in_a_link_is_inert_in_the_download(
    open_at: Callable[..., ExplorerPage], server: Server, tmp_path: Path
) -> None:
    nasty = "</script><script>document.title='hacked'</script><!--<script>"
    explorer = open_at(server.url)
    answer = explorer.page.request.get(f"{server.url}/download", params={"v": "1", "k": "3", "g": nasty, nasty: "1"})
    path = tmp_path / "nasty.html"
    path.write_bytes(answer.body())
    assert "hacked'</script>" not in answer.text()
    saved = open_at(path.as_uri())
    assert saved.state().slider == 3
    assert saved.state().notice == f"Parts of the link were ignored: g={nasty}, {nasty}=1"
    assert saved.page.title() != "hacked"
