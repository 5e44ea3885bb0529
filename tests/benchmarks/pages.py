"""Prints what the page weighs and how fast it is, from a disk and from a server.

Run it with `python tests/benchmarks/pages.py`; it needs a Chromium, as the browser tests do.
"""

import gzip
from pathlib import Path
import sys
import tempfile
import time
from urllib.request import urlopen

from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from browser.launch import launch_chromium, serving

from lossscale_app.links import Link
from lossscale_app.saved_page import saved_page

OPENINGS = 7
KEYS = 60

# From the key's event to the frame after the one that shows it.
_KEY_TO_PAINT = """
() => {
  window.delays = [];
  document.addEventListener("keydown", () => {
    const began = performance.now();
    requestAnimationFrame(() => requestAnimationFrame(() => delays.push(performance.now() - began)));
  }, { capture: true });
}
"""


def main() -> None:
    with sync_playwright() as playwright, serving() as server, tempfile.TemporaryDirectory() as folder:
        browser = launch_chromium(playwright)
        path = Path(folder) / "page.html"
        path.write_text(saved_page(Link()), "utf-8")
        print_sizes("saved file", path.read_bytes())
        with urlopen(server.url, timeout=60) as answer:
            print_sizes("served page", answer.read())
        for name, url in (("from disk", path.as_uri()), ("from server", server.url)):
            measure(browser, name, url)
        browser.close()


def print_sizes(name: str, data: bytes) -> None:
    print(f"{name}: {len(data) / 1e6:.2f} MB raw, {len(gzip.compress(data)) / 1e6:.3f} MB gzip")


def measure(browser: Browser, name: str, url: str) -> None:
    usable = sorted(opening(browser, url) for _ in range(OPENINGS))
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    requests: list[str] = []
    frames: list[object] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("websocket", lambda socket: socket.on("framesent", frames.append))
    page.goto(url)
    page.locator(".scale-slider").wait_for()
    page.wait_for_timeout(1000)
    sizes = page.evaluate("performance.getEntriesByType('resource').reduce((sum, each) => sum + each.transferSize, 0)")
    delays = keys(page)
    print(f"{name}: usable after {usable[OPENINGS // 2]:.0f} ms (p50 of {OPENINGS}; worst {usable[-1]:.0f} ms)")
    print(f"{name}: key to paint p50 {quantile(delays, 0.5):.1f} ms, p95 {quantile(delays, 0.95):.1f} ms")
    print(f"{name}: {len(requests)} requests, {sizes / 1e6:.2f} MB transferred beside the page itself")
    print(f"{name}: {drag(page, frames)} websocket frames during a 20-notch drag, {len(frames)} in all")
    page.close()


def opening(browser: Browser, url: str) -> float:
    """Milliseconds until the slider can be moved, with nothing cached."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    began = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.wait_for_function("document.querySelector('.scale-slider')?.offsetWidth > 0")
    taken = (time.perf_counter() - began) * 1000
    context.close()
    return taken


def keys(page: Page) -> list[float]:
    page.evaluate(_KEY_TO_PAINT)
    page.locator(".scale-slider").focus()
    for place in range(KEYS):
        page.keyboard.press("ArrowRight" if place % 20 < 10 else "ArrowLeft")
        page.wait_for_timeout(40)
    page.wait_for_function(f"delays.length === {KEYS}")
    page.wait_for_timeout(1000)
    return sorted(page.evaluate("delays"))


def drag(page: Page, frames: list[object]) -> int:
    """How many frames are sent between taking the thumb and letting it go."""
    box = page.locator(".slider-clip").bounding_box()
    line = float(page.locator(".scale-line").get_attribute("x1"))
    left, y = page.locator(".window-chart").bounding_box()["x"], box["y"] + box["height"] / 2
    page.mouse.move(left + line, y)
    page.mouse.down()
    before = len(frames)
    for notch in range(1, 21):
        page.mouse.move(left + line + 10 * notch, y)
        page.wait_for_timeout(30)
    sent = len(frames) - before
    page.mouse.up()
    return sent


def quantile(values: list[float], share: float) -> float:
    return values[min(len(values) - 1, int(share * len(values)))]


if __name__ == "__main__":
    main()
