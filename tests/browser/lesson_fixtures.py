"""A page that goes through scenarios; a test module takes it with `pytest_plugins = ("browser.lesson_fixtures",)`."""

from collections.abc import Iterator

from playwright.sync_api import Browser
import pytest

from .launch import Server
from .lesson_page import begin, opened
from .pages import ExplorerPage


@pytest.fixture(scope="module")
def shared(browser: Browser, server: Server) -> Iterator[ExplorerPage]:
    with opened(browser, f"{server.url}/?v=1&s=window&m=predict") as explorer:
        yield explorer
    assert server.new_errors() == []


@pytest.fixture
def lesson(shared: ExplorerPage) -> ExplorerPage:
    """The page at the first scenario, before a prediction."""
    begin(shared, "window")
    return shared


@pytest.fixture
def lecture(shared: ExplorerPage) -> ExplorerPage:
    """A lecture on the first scenario, at its first step."""
    begin(shared, "window", "present")
    return shared
