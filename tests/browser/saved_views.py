"""A saved page that goes from view to view by its hash: one page, opened once, for many pictures of it."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser

from .hosts import Site, wait_until_read
from .launch import Server
from .pages import ExplorerPage

#: What each view, and the card of a scenario, opens with.
VIEWS = {
    "window": "view=window&k=5",
    "distribution": "view=distribution&k=8",
    "training": "s=dyn",
    "order": "s=clip&o=clip",
    "lesson": "s=window&m=predict",
}
#: One gradient for each outcome, at k = 0.
OUTCOMES = "view=window&g=p-26,p-20,1,p17,0,nan"


@contextmanager
def saved_views(browser: Browser, address: str, **options: object) -> Iterator[ExplorerPage]:
    """A saved page of one's own, which must not have complained when it is left."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, "locale": "en-GB", **options})
    context.set_default_timeout(10_000)
    explorer = ExplorerPage(context.new_page(), Server(address, None, None)).open()
    yield explorer
    problems = explorer.watch.problems()
    context.close()
    assert not problems


def saved_address(site: Site) -> str:
    """Where the saved page lies on the disk."""
    return site.saved().as_uri()


def show(explorer: ExplorerPage, link: str, keys: str = "") -> None:
    """Follow a link of the page, with further keys; wait until what it stands for is drawn."""
    explorer.page.evaluate(
        """link => new Promise((done) => {
            addEventListener("hashchange", () => setTimeout(done), { once: true });
            const before = location.href;
            location.hash = link;
            if (location.href === before) done();
        })""",
        f"v=1&{link}{keys}",
    )
    wait_until_read(explorer)
    explorer.settle()


def unfold(explorer: ExplorerPage) -> None:
    """Open all that is folded away, but for the menu."""
    explorer.root.evaluate(
        "root => root.querySelectorAll('details:not(.display-menu)').forEach((each) => { each.open = true; })"
    )
    explorer.settle()
