"""The training view for a test module; it takes them with `pytest_plugins = ("browser.training_fixtures",)`."""

from collections.abc import Iterator

from playwright.sync_api import Browser
import pytest

from .launch import Server
from .pages import ExplorerPage
from .training_page import begin_again, open_training


@pytest.fixture(scope="module")
def shared(browser: Browser, server: Server) -> Iterator[ExplorerPage]:
    yield from open_training(browser, server)


@pytest.fixture
def view(shared: ExplorerPage) -> ExplorerPage:
    """The view with short runs."""
    return begin_again(shared)
