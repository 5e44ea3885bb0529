"""Prints how fast the served page answers a hand, against a blank page in the same browser.

Run it with `python tests/benchmarks/interaction.py`; it needs a Chromium, as the browser tests do.
"""

from collections.abc import Sequence
import gzip
from pathlib import Path
from statistics import quantiles
import sys
import time

from playwright.sync_api import Browser, Page, Response, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from browser.launch import launch_chromium, serving
from browser.pages import DESKTOP, ExplorerPage, open_page

OPENINGS = 7
KEYS = 60
NOTCHES = 20

BLANK = "data:text/html,<!doctype html><title>blank</title><input type=range min=-40 max=40 value=0>"

# From the key's event to the second frame after it, by when what the first one drew is on the screen.
_TIME_KEYS = """
() => {
  window.delays = [];
  document.addEventListener("keydown", () => {
    const began = performance.now();
    requestAnimationFrame(() => requestAnimationFrame(() => delays.push(performance.now() - began)));
  }, { capture: true });
}
"""


def main() -> None:
    with sync_playwright() as playwright, serving() as server:
        browser = launch_chromium(playwright)
        blank = browser.new_page(viewport=DESKTOP)
        blank.goto(BLANK)
        print_keys(key_times(open_page(browser, server).page), key_times(blank))
        print_openings(
            [usable(browser, server.url) for _ in range(OPENINGS)], [usable(browser, BLANK) for _ in range(OPENINGS)]
        )
        print_weight(browser, server.url)
        print(f"sent in a drag of {NOTCHES} notches: {frames_of_a_drag(open_page(browser, server))} websocket frames")
        browser.close()


def key_times(page: Page) -> list[float]:
    """Milliseconds from each of many key presses to the painted frame."""
    page.evaluate(_TIME_KEYS)
    page.locator("[type=range]").focus()
    for place in range(KEYS):
        page.keyboard.press("ArrowRight" if place % NOTCHES < NOTCHES // 2 else "ArrowLeft")
        page.wait_for_timeout(40)
    page.wait_for_function("keys => delays.length === keys", arg=KEYS)
    return page.evaluate("delays")


def usable(browser: Browser, url: str) -> float:
    """Milliseconds until the slider takes the focus and is drawn, with nothing cached."""
    context = browser.new_context(viewport=DESKTOP)
    page = context.new_page()
    began = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.locator("[type=range]").focus()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    taken = (time.perf_counter() - began) * 1000
    context.close()
    return taken


def frames_of_a_drag(explorer: ExplorerPage) -> int:
    """How many frames are sent to the server while an arrow key is held for some notches."""
    explorer.page.wait_for_timeout(1000)
    explorer.slider.focus()
    before = len(explorer.watch.frames)
    explorer.press(*["ArrowRight"] * NOTCHES)
    return len(explorer.watch.frames) - before


def print_weight(browser: Browser, url: str) -> None:
    """What is loaded: requests and bytes, as they are and as a compressing server would send them."""
    page = browser.new_page(viewport=DESKTOP)
    responses: list[Response] = []
    page.on("response", lambda response: responses.append(response))
    page.goto(url, wait_until="networkidle")
    bodies = [response.body() for response in responses if response.url.startswith("http")]
    raw, packed = sum(map(len, bodies)), sum(len(gzip.compress(body)) for body in bodies)
    print(f"{len(bodies)} requests: {raw / 1e6:.2f} MB raw, {packed / 1e6:.2f} MB gzip ({raw / packed:.1f} times less)")


def print_keys(times: Sequence[float], blank: Sequence[float]) -> None:
    p50, p95 = middle_and_worst(times)
    blank50, blank95 = middle_and_worst(blank)
    print(f"key to painted frame: p50 {p50:.1f} ms, p95 {p95:.1f} ms")
    print(f"  {p50 / blank50:.2f} and {p95 / blank95:.2f} times a blank page's ({blank50:.1f} and {blank95:.1f} ms)")


def print_openings(times: Sequence[float], blank: Sequence[float]) -> None:
    p50, worst = sorted(times)[OPENINGS // 2], max(times)
    print(f"usable after: p50 {p50:.0f} ms, at worst {worst:.0f} ms of {OPENINGS}")
    print(f"  {p50 / sorted(blank)[OPENINGS // 2]:.1f} times a blank page's")


def middle_and_worst(times: Sequence[float]) -> tuple[float, float]:
    """The 50th and the 95th percentile."""
    percentiles = quantiles(times, n=100, method="inclusive")
    return percentiles[49], percentiles[94]


if __name__ == "__main__":
    main()
