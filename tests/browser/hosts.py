"""Saved explorers, on a disk and on a static server, and other people's pages around any explorer.

A test module takes the fixtures with `pytest_plugins = ("browser.hosts",)`.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from html import escape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
import threading
from types import SimpleNamespace

from playwright.sync_api import Browser, Frame, Page
import pytest

from lossscale_app.links import read_link
from lossscale_app.saved_page import saved_page

from .launch import COMMAND, Server, serving
from .pages import DESKTOP, ExplorerPage, Watch

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


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield Site(folder, server.server_address[1])
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def open_server() -> Iterator[Server]:
    """A live page that sandboxed frames can reach, too."""
    with serving((*COMMAND, "--allow-websocket-origin", "*")) as server:
        yield server


@pytest.fixture
def open_at(browser: Browser) -> Iterator[Callable[..., ExplorerPage]]:
    """Opens an explorer at an address, live or saved; a page that complains fails the test."""
    opened: list[ExplorerPage] = []

    def open_at(url: str, script: str = "", **options: object) -> ExplorerPage:
        context = browser.new_context(**{"viewport": DESKTOP, **options})
        context.set_default_timeout(10_000)
        if script:
            context.add_init_script(script)
        opened.append(ExplorerPage(context.new_page(), SimpleNamespace(url=url)))
        return opened[-1].open()

    yield open_at
    problems = [problem for explorer in opened for problem in explorer.watch.problems()]
    for explorer in opened:
        explorer.page.context.close()
    assert not problems


@pytest.fixture
def open_host(browser: Browser, site: Site) -> Iterator[Callable[..., Page]]:
    """Opens somebody's page; what it or the explorers in it complain about fails the test."""
    opened: list[Watch] = []

    def open_host(url: str, *hosts: str, script: str = "", **options: object) -> Page:
        context = browser.new_context(**{"viewport": DESKTOP, **options})
        context.set_default_timeout(10_000)
        if script:
            context.add_init_script(script)
        opened.append(Watch(context.new_page(), SimpleNamespace(url=url)))
        opened[-1].expected = "|".join(f"request to another host: {host}" for host in hosts) or None
        opened[-1].page.goto(url)
        return opened[-1].page

    yield open_host
    problems = [problem for watch in opened for problem in watch.problems()]
    for watch in opened:
        watch.page.context.close()
    assert not problems


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


def go_to_hash(explorer: ExplorerPage, link: str) -> None:
    """What a reader does who types another hash."""
    explorer.page.evaluate(
        """link => new Promise((done) => {
            addEventListener("hashchange", () => setTimeout(done), { once: true });
            location.hash = link;
        })""",
        link,
    )
