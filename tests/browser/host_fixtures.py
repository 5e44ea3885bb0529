"""Fixtures around `hosts`; a test module takes them with `pytest_plugins = ("browser.host_fixtures",)`."""

from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
import threading
from types import SimpleNamespace
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page
import pytest

from .hosts import Site
from .launch import COMMAND, Server, serving
from .pages import DESKTOP, ExplorerPage, Watch


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
        opened[-1].expected = (
            "|".join(rf"request to another host: \w+://{urlsplit(host).netloc}/" for host in hosts) or None
        )
        opened[-1].page.goto(url)
        return opened[-1].page

    yield open_host
    problems = [problem for watch in opened for problem in watch.problems()]
    for watch in opened:
        watch.page.context.close()
    assert not problems
