"""The page as the tests see it: all its selectors, and what can be done with it and read from it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
import json
import re
from types import SimpleNamespace
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, WebSocket, expect

from .launch import Server

DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
SEED = ["2⁻²⁶", "8"]
ALL_K = range(-40, 41)

#: What holds the parts of the page, and what a part may not stick out of.
CARDS = ".table-room, .card, .bar-top, .notice, dialog"
FOCUSABLE = "a[href], button:not(:disabled), summary, input:not(:disabled), select, textarea, [tabindex='0']"
#: Whether an element is there for eyes, and not only for ears or for the browser.
SEEN = """
(element) => {
  if (!element.checkVisibility({ visibilityProperty: true }) || element.closest("script, style")) return false;
  for (let part = element; part; part = part.parentElement) {
    if (getComputedStyle(part).clipPath === "inset(50%)") return false;
  }
  return true;
}
"""
#: What tells something by its shape and colour.
MARKS = ".mark, .hollow"
LINES = ".journey-line"

# What the page shows, read in one go. Everything is looked up under the explorer's own element,
# since in a notebook that lies in a shadow tree.
_READ = r"""
const one = (part, selector) => part.querySelector(selector);
const all = (part, selector) => [...part.querySelectorAll(selector)];
const number = (text) => (text === undefined || text === null || text === "" ? null : Number(text));
const shift = (element) => Number(/translate\(([^,)]+)/.exec(element.getAttribute("transform"))[1]);
const drop = (element) => Number(/,([^)]+)\)/.exec(element.getAttribute("transform"))[1]);
const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const exponent = (text) => Number([...text.slice(1)].map((c) => (c === "⁻" ? "-" : superscripts.indexOf(c))).join(""));
const ticks = (chart) => all(chart, ".axis text:not(.axis-title)")
  .map((text) => ({ log2: exponent(text.textContent), x: Number(text.getAttribute("x")) }));

const read = (root) => ({
  slider: one(root, ".scale-slider").valueAsNumber,
  value_text: one(root, ".scale-slider").getAttribute("aria-valuetext"),
  bubble: one(root, ".bubble").textContent,
  caption: all(root, ".window-caption > *").map((part) => part.textContent),
  line: { log2: number(one(root, ".scale-line").dataset.log2), x: Number(one(root, ".scale-line").getAttribute("x1")) },
  crossings: all(root, ".crossing").map((mark) => ({ outcome: mark.dataset.outcome, x: shift(mark), y: drop(mark) })),
  ticks: ticks(one(root, ".window-chart")),
  bars: all(root, ".bar").map((bar) => all(bar, ".segment").map((part) => {
    const from = Number(part.getAttribute("x"));
    return { outcome: part.classList[1], from, to: from + Number(part.getAttribute("width")) };
  })),
  landing: all(root, ".landing").map((row) => ({
    outcome: one(row, ".stored").dataset.outcome,
    stored: one(row, ".stored").dataset.stored,
    log2: number(one(row, ".stored").dataset.log2),
    scaled_log2: number(one(row, ".stored").dataset.scaledLog2),
    x: shift(one(row, ".stored")),
    hollow_x: shift(one(row, ".handle")),
    name: one(row, ".gradient-name").textContent,
    kept: one(row, ".kept").textContent,
    spoken: one(row, ".handle").getAttribute("aria-valuetext"),
  })),
  landing_ticks: ticks(one(root, ".landing-chart")),
  mood: one(root, ".outcome").dataset.mood,
  title: one(root, ".outcome-title").textContent,
  lines: all(root, ".outcome-lines p").map((line) => line.textContent),
  table_caption: one(root, "caption").textContent,
  rows: all(root, "tbody tr").map((row) => ({
    outcome: row.dataset.outcome,
    cells: Object.fromEntries([...row.children].map((cell) => [cell.className.replace("cell-", ""), cell.textContent])),
  })),
  boxes: all(root, ".gradient-box").map((box) => box.value),
  journey: one(root, ".journey").hidden ? null : {
    selected: one(root, ".journey select").selectedIndex,
    values: Object.fromEntries(["scaled", "stored", "recovered", "error"].map((name) =>
      [name, one(root, `.value.step-${name}`).textContent])),
    bits: one(root, ".detail.step-stored").textContent,
    label: one(root, ".step:nth-child(2) dt").textContent,
    without: one(root, ".without").textContent,
  },
  format: one(root, ".choice.format :checked").value,
  theme: one(root, ".choice.theme :checked").value,
  pressed: all(root, ".try [aria-pressed=true]").map((button) => button.textContent),
  problem: one(root, ".problem").textContent,
  notice: one(root, ".notice").textContent,
});

const move = (root, k) => {
  const slider = one(root, ".scale-slider");
  slider.value = k;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
};
"""


class ExplorerPage:
    """The explorer in a browser's page."""

    def __init__(self, page: Page, server: Server) -> None:
        self.page = page
        self.server = server
        self.size = page.viewport_size
        self.watch = Watch(page, server)
        root = self.root = page.locator(".lossscale")
        self.slider = root.get_by_role("slider", name="Loss scale S", exact=True)
        self.window_chart = root.locator(".window-chart")
        self.landing_chart = root.locator(".landing-chart")
        self.boxes = root.locator(".gradient-box")
        self.removes = root.locator(".remove")
        self.bars = root.locator(".bar")
        self.handles = root.locator(".handle[role=slider]")
        self.add_field = root.get_by_label("Add gradients", exact=True)
        self.add_button = root.get_by_role("button", name="Add", exact=True)
        self.scale_field = root.get_by_label("Exact S", exact=True)
        self.scale_button = root.get_by_role("button", name="Set", exact=True)
        self.reset = root.get_by_role("button", name="Reset", exact=True)
        self.journey_choice = root.get_by_label("Gradient whose journey is shown", exact=True)
        self.problem = root.locator(".problem[role=alert]")
        self.notice = root.locator(".notice")
        self.status = root.locator(".unseen[role=status]")
        self.tries = root.locator(".try button")
        self.share = root.get_by_role("button", name="Share", exact=True)

    def open(self) -> "ExplorerPage":
        """Load the page and wait until it can be used."""
        self.page.goto(self.server.url)
        self.slider.wait_for()
        return self

    def begin_again(self) -> None:
        """Bring a used page back to what it opens with."""
        self.page.mouse.move(0, 0)
        if self.page.viewport_size != self.size:
            self.page.set_viewport_size(self.size)
        self.page.emulate_media(color_scheme="light")
        self.root.evaluate(
            """root => {
                const box = document.activeElement;
                box.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
                box.blur();
                for (const field of root.querySelectorAll(".field")) field.value = "";
                root.querySelector("dialog").close();
                root.querySelector(".choice.theme [value=auto]").click();
                root.querySelector(".reset").click();
                scrollTo(0, 0);
            }"""
        )
        self.settle()

    # What is shown

    def state(self) -> SimpleNamespace:
        """All that the page shows now."""
        return _namespace(self.root.evaluate(f"root => {{ {_READ} return JSON.stringify(read(root)); }}"))

    def sweep(self, ks: Iterable[int] = ALL_K) -> list[SimpleNamespace]:
        """All that the page shows at each of the slider's positions, within one task of the browser."""
        return _namespace(json.dumps(self.at_each("read", ks)))

    def at_each(self, script: str, ks: Iterable[int] = ALL_K) -> list:
        """What a script `(root, k) => ...` returns at each of the slider's positions."""
        return self.root.evaluate(
            f"(root, ks) => {{ {_READ} return ks.map((k) => {{ move(root, k); return ({script})(root, k); }}); }}",
            list(ks),
        )

    # What can be done

    def go(self, k: int) -> None:
        """Put the slider to k."""
        self.root.evaluate(f"(root, k) => {{ {_READ} move(root, k); }}", k)

    def press(self, *keys: str) -> None:
        """Press keys, one after another."""
        for key in keys:
            self.page.keyboard.press(key)

    def format(self, name: str) -> None:
        """Choose a storage format by its label."""
        self.root.get_by_role("radio", name=name, exact=True).check(force=True)

    def theme(self, name: str) -> None:
        """Choose the page's colours."""
        menu = self.root.locator(".display-menu")
        menu.evaluate("menu => { menu.open = true; }")
        menu.get_by_role("radio", name=name.capitalize(), exact=True).check(force=True)
        menu.evaluate("menu => { menu.open = false; }")

    def try_it(self, words: str) -> None:
        """Press one of the things to try."""
        self.root.locator(".try").get_by_role("button", name=words).click()

    def type_gradients(self, text: str) -> None:
        """Type into the box for new gradients and press Enter."""
        self.add_field.fill(text)
        self.add_field.press("Enter")

    def type_scale(self, text: str) -> None:
        """Type into the box for an exact scale and press Enter."""
        self.scale_field.fill(text)
        self.scale_field.press("Enter")

    def retype(self, index: int, text: str) -> None:
        """Type another value over a gradient and press Enter."""
        self.boxes.nth(index).fill(text)
        self.boxes.nth(index).press("Enter")

    def put(self, *tokens: str) -> None:
        """Replace the list by typing, and wait until it is shown."""
        while self.removes.count():
            self.removes.first.click()
        self.page.wait_for_timeout(150)  # no hand is faster
        self.type_gradients(", ".join(tokens))
        self.wait_for_rows(len(tokens))

    def wait_for_rows(self, count: int) -> None:
        """Wait until the list holds so many gradients."""
        expect(self.root.locator("tbody tr")).to_have_count(count)

    def wait_for_problem(self) -> str:
        """Wait until the page says what is wrong with what was typed."""
        self.problem.filter(has_text=re.compile(".")).wait_for()
        return self.problem.inner_text()

    def settle(self) -> None:
        """Wait until the page is drawn to its size, and no colour changes any more."""
        self.page.evaluate(
            """async () => {
                for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
                await Promise.allSettled(document.getAnimations().map(({ finished }) => finished));
                await new Promise((done) => setTimeout(done));
            }"""
        )

    # Where things are

    def centre(self, locator: Locator) -> tuple[float, float]:
        """The middle of an element, in the viewport."""
        locator.scroll_into_view_if_needed()
        box = locator.bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def octave(self, chart: Locator) -> float:
        """How many pixels an octave is on a chart's axis."""
        state = self.state()
        ticks = state.ticks if chart == self.window_chart else state.landing_ticks
        return (ticks[-1].x - ticks[0].x) / (ticks[-1].log2 - ticks[0].log2)

    def viewport_x(self, log2: float) -> float:
        """Where a scale lies on the window chart's axis, in the viewport."""
        return self.window_chart.bounding_box()["x"] + place(self.state().ticks, log2)

    @contextmanager
    def dragging(self, locator: Locator) -> Iterator[tuple[float, float]]:
        """Hold an element with the mouse; gives where it was taken."""
        x, y = self.centre(locator)
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        yield x, y
        self.page.mouse.up()

    def touch(self, points: list[tuple[float, float]]) -> None:
        """Move a finger along points."""
        devtools = self.page.context.new_cdp_session(self.page)
        kinds = ["touchStart", *["touchMove"] * (len(points) - 1), "touchEnd"]
        for kind, point in zip(kinds, [*points, None], strict=True):
            fingers = [{"x": point[0], "y": point[1]}] if point else []
            devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})
        devtools.detach()


def open_page(browser: Browser, server: Server, **options: object) -> ExplorerPage:
    """Open the explorer in a page of its own, with what Playwright calls options of a context."""
    context = browser.new_context(**{"viewport": DESKTOP, **options})
    context.set_default_navigation_timeout(60_000)
    return ExplorerPage(context.new_page(), server).open()


class Watch:
    """Notes what must not happen on a page, and what is sent to the server."""

    def __init__(self, page: Page, server: Server) -> None:
        self.page = page
        self.host = urlsplit(server.url).netloc
        self.requests: list[str] = []
        self.frames: list[str | bytes] = []
        self.expected: str | None = None
        self._problems: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self._problems.append(f"uncaught: {error}"))
        page.on("request", self._request)
        page.on("websocket", self._websocket)

    def problems(self) -> list[str]:
        """What went wrong since the last call, but for what the test expects."""
        self.page.evaluate("0")  # lets the events come in
        problems, self._problems = self._problems, []
        return [each for each in problems if not (self.expected and re.search(self.expected, each))]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._problems.append(f"console {message.type}: {message.text}")

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)
        self._foreign(request.url)

    def _websocket(self, socket: WebSocket) -> None:
        self._foreign(socket.url)
        socket.on("framesent", lambda frame: self.frames.append(frame))

    def _foreign(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("blob", "data") and parts.netloc != self.host:
            self._problems.append(f"request to another host: {url}")


def place(ticks: list[SimpleNamespace], log2: float) -> float:
    """Where a value lies on an axis, from two of its ticks."""
    first, last = ticks[0], ticks[-1]
    return first.x + (log2 - first.log2) * (last.x - first.x) / (last.log2 - first.log2)


def _namespace(text: str):
    return json.loads(text, object_hook=lambda fields: SimpleNamespace(**fields))
