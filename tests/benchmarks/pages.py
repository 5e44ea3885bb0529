"""Prints what a saved page weighs and how fast it is from a disk; `interaction.py` does so for the served one.

Run it with `python tests/benchmarks/pages.py`; it needs a Chromium, as the browser tests do.
"""

import gzip
from pathlib import Path
import sys
import tempfile

from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.interaction import BLANK, NOTCHES, OPENINGS, key_times, print_keys, print_openings, usable
from browser.launch import launch_chromium
from browser.pages import DESKTOP

from lossscale_app.links import Link
from lossscale_app.saved_page import saved_page


def main() -> None:
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = launch_chromium(playwright)
        path = Path(folder) / "page.html"
        path.write_text(saved_page(Link()), "utf-8")
        data = path.read_bytes()
        print(f"saved page: {len(data) / 1e6:.2f} MB raw, {len(gzip.compress(data)) / 1e6:.3f} MB gzip")
        page, blank = (browser.new_page(viewport=DESKTOP) for _ in range(2))
        requests, sockets = watched(page)
        page.goto(path.as_uri())
        blank.goto(BLANK)
        print_keys(key_times(page), key_times(blank))
        print_openings(
            [usable(browser, path.as_uri()) for _ in range(OPENINGS)], [usable(browser, BLANK) for _ in range(OPENINGS)]
        )
        page.locator(".scale-slider").focus()
        for _ in range(NOTCHES):
            page.keyboard.press("ArrowRight")
        page.wait_for_timeout(1000)
        print(f"{len(requests)} request, that for the file, and {len(sockets)} websockets")
        browser.close()


def watched(page: Page) -> tuple[list[str], list[str]]:
    """The requests and websockets of a page, as they come."""
    requests: list[str] = []
    sockets: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("websocket", lambda socket: sockets.append(socket.url))
    return requests, sockets


if __name__ == "__main__":
    main()
