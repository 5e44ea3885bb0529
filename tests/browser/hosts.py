"""Saved explorers, on a disk and on a static server, and other people's pages around any explorer."""

from functools import cache
from html import escape
from pathlib import Path
from types import SimpleNamespace

from playwright.sync_api import Frame, Page, expect

from lossscale_app.links import read_link
from lossscale_app.saved_page import saved_page

from .pages import ExplorerPage

#: What an embedded explorer's host may do at worst: no origin of its own, no cookies, no storage.
SANDBOX = "allow-scripts"

#: Any use of storage is an uncaught error.
NO_STORAGE = """
const refuse = () => { throw new DOMException("no storage here", "SecurityError"); };
for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches", "cookieStore"]) {
  Object.defineProperty(window, name, { get: refuse, configurable: true });
}
Object.defineProperty(Document.prototype, "cookie", { get: refuse, set: refuse, configurable: true });
"""


class Site:
    """A folder of pages, which are also served under two origins: that of the number and that of the name."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.origin = f"http://127.0.0.1:{port}"
        self.other_origin = f"http://localhost:{port}"
        self.saved = cache(self._saved)

    def write(self, name: str, text: str) -> str:
        """Put a page into the folder; returns its address."""
        self.folder.joinpath(name).write_text(text, "utf-8")
        return f"{self.origin}/{name}"

    def _saved(self, link: str = "", live: str = "") -> Path:
        """The file of a saved explorer that opens with a link."""
        path = self.folder / f"saved-{len(list(self.folder.iterdir()))}.html"
        path.write_text(saved_page(read_link(link), live), "utf-8")
        return path

    def saved_url(self, link: str = "") -> str:
        """The address of a saved explorer, without a hash."""
        return f"{self.origin}/{self.saved(link).name}"

    def host(self, name: str, body: str, head: str = "") -> str:
        """Put somebody's page into the folder; returns its address."""
        return self.write(
            f"{name}.html",
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(name)}</title>'
            '<meta name="viewport" content="width=device-width">'
            f'<link rel="icon" href="data:,">{head}</head><body>{body}</body></html>',
        )


class _FrameView:
    """A frame that is asked what a page is asked; what only a page has, its own page answers."""

    def __init__(self, frame: Frame) -> None:
        self.locator = frame.locator
        self.evaluate = frame.evaluate
        self.wait_for_function = frame.wait_for_function
        self._page = frame.page

    def __getattr__(self, name: str) -> object:
        return getattr(self._page, name)


def framed(page: Page, selector: str = "iframe") -> ExplorerPage:
    """The explorer in a frame of a page, once it can be used."""
    element = page.locator(selector)
    element.scroll_into_view_if_needed()
    element.content_frame.locator(".scale-slider").wait_for()
    frame = element.element_handle().content_frame()
    explorer = ExplorerPage(_FrameView(frame), SimpleNamespace(url=frame.url))
    explorer.frame = frame
    return explorer


def share_link(explorer: ExplorerPage) -> str:
    """The link that Share offers."""
    return explorer.root.evaluate(
        """root => {
            root.querySelector(".open-share").click();
            const { value } = root.querySelector(".share-link");
            root.querySelector("dialog.share").close();
            return value;
        }"""
    )


def wait_until_read(explorer: ExplorerPage) -> None:
    """Wait until no link is still with Python."""
    expect(explorer.root).not_to_have_attribute("data-reading", "")


def go_to_hash(explorer: ExplorerPage, link: str) -> None:
    """What a reader does who types another hash."""
    explorer.page.evaluate(
        """link => new Promise((done) => {
            addEventListener("hashchange", () => setTimeout(done), { once: true });
            location.hash = link;
        })""",
        link,
    )
    wait_until_read(explorer)
