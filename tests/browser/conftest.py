"""A Chromium and a served page for the browser tests, which fail where the page complains."""

from collections.abc import Callable, Iterator
import os

from playwright.sync_api import Browser, expect, sync_playwright
import pytest

from .launch import NoBrowserError, Server, launch_chromium, serving
from .pages import DESKTOP, PHONE, ExplorerPage, open_page

_FAILED = pytest.StashKey[bool]()

# A machine with other things to do is slow, and not wrong.
expect.set_options(timeout=10_000)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    if report.failed:
        item.stash[_FAILED] = True
    return report


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        try:
            chromium = launch_chromium(playwright)
        except NoBrowserError as error:
            (pytest.fail if os.environ.get("LOSSSCALE_REQUIRE_BROWSER") else pytest.skip)(str(error))
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture(scope="session")
def kept_pages() -> Iterator[dict[str, ExplorerPage]]:
    """The pages that tests share; opening one takes longer than most tests."""
    kept: dict[str, ExplorerPage] = {}
    yield kept
    for explorer in kept.values():
        explorer.page.context.close()


@pytest.fixture
def explorer(
    request: pytest.FixtureRequest, browser: Browser, server: Server, kept_pages: dict[str, ExplorerPage]
) -> Iterator[ExplorerPage]:
    """The page as it opens on a desktop."""
    yield from _shared("desktop", request, browser, server, kept_pages, viewport=DESKTOP)


@pytest.fixture
def touch_explorer(
    request: pytest.FixtureRequest, browser: Browser, server: Server, kept_pages: dict[str, ExplorerPage]
) -> Iterator[ExplorerPage]:
    """The page as it opens on a phone."""
    yield from _shared("phone", request, browser, server, kept_pages, viewport=PHONE, has_touch=True)


def _shared(
    name: str,
    request: pytest.FixtureRequest,
    browser: Browser,
    server: Server,
    kept: dict[str, ExplorerPage],
    **options: object,
) -> Iterator[ExplorerPage]:
    """A used page brought back to what it opens with, or a new one after a test that failed."""
    if name in kept:
        kept[name].begin_again()
    else:
        kept[name] = open_page(browser, server, **options)
    explorer = kept[name]
    yield explorer
    problems = [*explorer.watch.problems(), *server.new_errors()]
    if problems or request.node.stash.get(_FAILED, False):
        kept.pop(name).page.context.close()
    assert not problems


@pytest.fixture
def open_explorer(browser: Browser, server: Server) -> Iterator[Callable[..., ExplorerPage]]:
    """Opens new pages, with what Playwright calls options of a context."""
    opened: list[ExplorerPage] = []

    def open_explorer(**options: object) -> ExplorerPage:
        opened.append(open_page(browser, server, **options))
        return opened[-1]

    yield open_explorer
    problems = [problem for explorer in opened for problem in explorer.watch.problems()] + server.new_errors()
    for explorer in opened:
        explorer.page.context.close()
    assert not problems
