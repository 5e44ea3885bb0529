"""The training view as the tests see it, and the runs that the core makes of the same settings."""

from collections.abc import Iterator
from functools import cache
import json
import re

from playwright.sync_api import Browser, Locator, expect
import pytest

from lossscale_app.runs import Request
from lossscale_core import StepRecord, Training

from .hosts import go_to_hash
from .launch import Server
from .pages import ExplorerPage, open_page

#: Short runs, in which the dynamic scaler skips steps, and next to nothing is lost at the static scale.
RUN = "steps.40,seed.1,positions.1,reduction.sum"
POLICY = "pytorch,growth_interval.10"
BASE = f"v=1&view=training&k=12&r={RUN}"
#: The runs that are side by side.
SHOWN = ("fp32", "unscaled", "static", "dynamic")

# A machine with other things to do makes runs slowly.
_MAKING = 90_000
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

# What the view shows, read in one go.
_READ = r"""(root) => {
  const all = (selector) => [...root.querySelectorAll(selector)];
  const text = (selector) => root.querySelector(selector)?.textContent ?? null;
  const texts = (parts) => [...parts].map((part) => part.textContent);
  const number = (part, name) => Number(part.getAttribute(name));
  const points = (name) => {
    const line = root.querySelector(`.loss-chart .run-line.${name}`)?.getAttribute("d") ?? "";
    return [...line.matchAll(/[ML]([\d.]+),([\d.]+)/g)].map((found) => [Number(found[1]), Number(found[2])]);
  };
  return {
    title: text(".runs-card .outcome-title"),
    mood: root.querySelector(".runs-card").dataset.mood,
    lines: texts(all(".runs-card .outcome-lines p")),
    rows: Object.fromEntries(all(".run-table tbody tr").map((row) => [row.dataset.run, texts(row.children)])),
    losses: Object.fromEntries(["fp32", "unscaled", "static", "dynamic"].map((name) => [name, points(name)])),
    skipped: root.querySelector(".trace-chart .skips.dynamic .mark")?.getAttribute("d").split("M").length - 1,
    cells: Object.fromEntries(all(".autocast td[data-run]").map((cell) => [cell.dataset.run, texts(cell.children)])),
    same: text(".autocast-card > p:last-child"),
    step: text(".step-card h2"),
    said: texts(all(".step-card dd")),
    cursors: all(".step-cursor").map((line) => number(line, "x1")),
    caption: text(".safe-chart .window-caption"),
    spoken: root.querySelector(".scale-slider").getAttribute("aria-valuetext"),
    note: text(".run-card .busy span"),
    progress: root.querySelector(".run-card progress").value,
  };
}"""


def power(exponent: int) -> str:
    """A power of two as the page writes it."""
    return "2" + str(exponent).translate(_SUPERSCRIPTS)


@cache
def core(
    name: str, policy: str = POLICY, run: str = RUN, k: int = 12, fmt: str = "fp16"
) -> tuple[tuple[StepRecord, ...], float]:
    """The records of a run, and which share of the held-out images it tells right."""
    training = Training(Request(policy, run, k, fmt).plan(name))
    return tuple(training), training.accuracy()


def last_loss(records: tuple[StepRecord, ...]) -> float:
    """The mean over the last 30 steps."""
    losses = [record.loss for record in records[-30:]]
    return sum(losses) / len(losses)


def check_measured(text: str, value: float) -> None:
    """A text has three digits of a value."""
    assert len(re.sub(r"^0\.0*|[.,]", "", text)) >= 3
    assert float(text.replace(",", "")) == pytest.approx(value, rel=0.006)


def check_percent(text: str, share: float) -> None:
    """A text is a share in percent, to a tenth; 0% is nothing at all."""
    if text.startswith("<"):
        assert text.replace("\u00a0", " ") == "< 0.1%"
        assert 0 < share < 0.001
    else:
        assert float(text.removesuffix("%")) == pytest.approx(100 * share, abs=0.0501)
        assert (text == "0%") == (share == 0)


def read(explorer: ExplorerPage) -> dict:
    """All that the view shows now."""
    return explorer.root.evaluate(_READ)


def made(explorer: ExplorerPage) -> dict:
    """Wait until all runs are made; what is shown then."""
    expect(explorer.root.locator(".autocast")).not_to_contain_text("…", timeout=_MAKING)
    expect(explorer.root.locator(".run-table")).not_to_contain_text("…", timeout=_MAKING)
    expect(explorer.root.locator(".run-card progress")).to_be_hidden()
    explorer.settle()
    return read(explorer)


def open_training(browser: Browser, server: Server) -> Iterator[ExplorerPage]:
    """A page on the training view, which must not complain until it is left."""
    explorer = open_page(browser, server)
    explorer.root.get_by_role("radio", name="Training").check(force=True)
    yield explorer
    problems = [*explorer.watch.problems(), *server.new_errors()]
    explorer.page.context.close()
    assert not problems


def begin_again(explorer: ExplorerPage) -> ExplorerPage:
    """Bring the view back to short runs."""
    explorer.page.set_viewport_size(explorer.size)
    explorer.page.emulate_media(color_scheme="light")
    explorer.page.mouse.move(0, 0)
    for link in ("v=1&view=training&r=steps.1,batch.1", BASE):
        go_to_hash(explorer, link)
    made(explorer)
    explorer.page.evaluate("scrollTo(0, 0)")
    return explorer


def field(explorer: ExplorerPage, name: str) -> Locator:
    """The box of a setting, wherever it is folded away."""
    box = explorer.root.locator(".scaler-card, .run-card").get_by_label(name, exact=True)
    box.evaluate("box => box.closest('details')?.setAttribute('open', '')")
    return box


def enter(explorer: ExplorerPage, name: str, text: str) -> Locator:
    """Type a setting, and press Enter."""
    box = field(explorer, name)
    box.fill(text)
    box.press("Enter")
    return box


def asked(explorer: ExplorerPage, since: int) -> list[list[str]]:
    """The runs that the page has asked for since so many frames were sent."""
    frames = [str(frame) for frame in explorer.watch.frames[since:] if '"train"' in str(frame)]
    return [json.loads(re.search(r'"runs"[,:]\s*(\[[^]]*\])', frame)[1]) for frame in frames]
