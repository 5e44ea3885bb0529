"""The charts over the steps, drawing by drawing: windows, scales, skipped steps and lost gradients are the core's."""

from collections.abc import Iterator
import csv
from dataclasses import astuple, dataclass
import io
import math
import re

from playwright.sync_api import Browser
import pytest

from lossscale_app.messages import ENGLISH
from lossscale_core import Action, StepRecord, Window

from .hosts import go_to_hash
from .launch import Server
from .pages import ExplorerPage
from .test_exports import Saving
from .training_page import (
    POLICY,
    RUN,
    SHOWN,
    check_measured,
    check_percent,
    core,
    last_loss,
    made,
    open_training,
    power,
)

pytestmark = pytest.mark.browser


@dataclass(frozen=True)
class Runs:
    """What is trained."""

    policy: str
    run: str
    k: int
    format: str

    def records(self, name: str) -> tuple[StepRecord, ...]:
        return core(name, *astuple(self))[0]

    @property
    def link(self) -> str:
        return f"v=1&view=training&k={self.k}&f={self.format}&p={self.policy}&r={self.run}"


CASES = {
    "FP16": Runs(POLICY, RUN, 13, "fp16"),
    "BF16": Runs(POLICY, RUN, 12, "bf16"),
    "E5M2": Runs(POLICY, RUN, 13, "e5m2"),
    "E4M3, with steps without a window": Runs(
        POLICY, "steps.40,learning_rate.0.03,positions.16,inject.nan,inject_at.20", 16, "e4m3"
    ),
    "down to 0": Runs(
        "pytorch,backoff_factor.p-60", "steps.20,positions.1,inject.nan,inject_at.9,inject_lasting.true", 0, "fp16"
    ),
    "up to inf": Runs("pytorch,growth_factor.p120,growth_interval.1,grow_to_inf.allow", "steps.20", 0, "fp16"),
}

# The horizontal edges of all pieces of a path, as [from, to, y], and of marks the middles of their triangles.
_READ = r"""(root) => {
  const all = (selector) => [...root.querySelectorAll(selector)];
  const texts = (parts) => parts.map((part) => part.textContent);
  const number = (part, name) => Number(part.getAttribute(name));
  const path = (selector) => all(`.trace-chart ${selector}`).map((part) => part.getAttribute("d")).join("");
  const edges = (selector) => {
    let x = 0, y = 0;
    return [...path(selector).matchAll(/([MLHV])([-\d.]+)(?:,([-\d.]+))?/g)].flatMap(([, letter, one, two]) => {
      const from = x;
      if (letter !== "V") x = Number(one);
      if (letter !== "H") y = Number(letter === "V" ? one : two);
      return letter === "H" ? [[Math.min(from, x), Math.max(from, x), y]] : [];
    });
  };
  const marks = (selector) => [...path(selector).matchAll(/M([-\d.]+),([-\d.]+)L[-\d.]+,([-\d.]+)L/g)]
    .map(([, x, apex, base]) => [Number(x), Number(apex) + (Number(base) - Number(apex)) * 9 / 16]);
  const areas = ["overflow", "underflow", "none", "nonfinite"].map((name) => [name, edges(`.band-area.${name}`)]);
  const lines = all(".trace-chart .share-line"), [cursor] = all(".trace-chart .step-cursor");
  const tops = all(".lost-map .lost-ground").map((ground) => number(ground, "y"));
  const cell = (part) => {
    const x = number(part, "x");
    return [x, x + number(part, "width"), Number(/level-(\d)/.exec(part.getAttribute("class"))[1])];
  };
  return {
    ticks: texts(all(".trace-chart .share")).map((text, place) => [text, number(lines[place], "y1")]),
    steps: all(".trace-chart .axis text:not(.axis-title)").map((text) => [Number(text.textContent), number(text, "x")]),
    ends: [number(cursor, "y1"), number(cursor, "y2")],
    areas: { safe: edges(".band.safe"), ...Object.fromEntries(areas) },
    scales: edges(".run-line.trace"),
    static: number(all(".trace-chart .run-line.static")[0], "y1"),
    skips: { static: marks(".skips.static .mark"), dynamic: marks(".skips.dynamic .mark") },
    keys: texts(all(".trace-legend span").filter((key) => key.checkVisibility())),
    rows: texts(all(".lost-map .share[text-anchor=end]")),
    tops,
    lost: tops.map((y) => all(".lost-map .lost").filter((part) => number(part, "y") === y).map(cell)),
    table: all(".steps-card tbody tr").map((row) => texts([...row.children])),
  };
}"""


@dataclass(frozen=True)
class Drawn:
    """The charts of some runs, as they are drawn."""

    runs: Runs
    explorer: ExplorerPage
    results: dict
    charts: dict

    def x(self, step: int) -> float:
        (one, left), *_, (other, right) = self.charts["steps"]
        return left + (step - one) * (right - left) / (other - one)

    def y(self, log2: float) -> float:
        """Where a scale is on the chart; 0 and inf are at its ends."""
        if math.isinf(log2):
            return self.charts["ends"][log2 < 0]
        ticks = [(exponent(text), y) for text, y in self.charts["ticks"] if text not in ("0", "∞")]
        (one, low), *_, (other, high) = ticks
        return low + (log2 - one) * (high - low) / (other - one)

    def of_scale(self, scale: float) -> float:
        return self.y(-math.inf if scale == 0 else math.log2(scale))


def exponent(text: str) -> int:
    return int(text[1:].translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))


@pytest.fixture(scope="module")
def shared(browser: Browser, server: Server) -> Iterator[ExplorerPage]:
    yield from open_training(browser, server)


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES)
def drawn(request: pytest.FixtureRequest, shared: ExplorerPage) -> Drawn:
    go_to_hash(shared, request.param.link)
    results = made(shared)
    shared.root.locator(".steps-card details").evaluate("details => { details.open = true; }")
    shared.settle()
    return Drawn(request.param, shared, results, shared.root.evaluate(_READ))


def at(edges: list[list[float]], x: float) -> list[float]:
    """How high the edges are that pass over a place, from the top."""
    return sorted(y for left, right, y in edges if left < x < right)


def test_results_are_those_of_the_core(drawn: Drawn) -> None:
    for run in SHOWN:
        records, accuracy = core(run, *astuple(drawn.runs))
        _, loss, right, lost, skipped = drawn.results["rows"][run]
        if math.isfinite(last_loss(records)):
            check_measured(loss, last_loss(records))
        check_percent(right, accuracy)
        check_percent(lost, sum(record.lost_of_all for record in records) / len(records))
        assert int(skipped) == sum(record.action is Action.SKIP for record in records)


def test_areas_are_where_the_windows_end(drawn: Drawn) -> None:
    top, floor = drawn.charts["ends"]
    for record in drawn.runs.records("dynamic"):
        if record.window is None:
            expected = {"nonfinite": [top, floor]}
        else:
            below, above = sorted(drawn.y(math.log2(end)) for end in (record.window.lower, record.window.upper))
            between = "none" if record.window.empty else "safe"
            expected = {"overflow": [top, below], between: [below, above], "underflow": [above, floor]}
        for name, edges in drawn.charts["areas"].items():
            assert at(edges, drawn.x(record.step)) == pytest.approx(expected.get(name, []), abs=0.15), (record, name)


def test_scales_are_as_high_as_they_are(drawn: Drawn) -> None:
    for record in drawn.runs.records("dynamic"):
        (y,) = at(drawn.charts["scales"], drawn.x(record.step))
        assert y == pytest.approx(drawn.of_scale(record.scale), abs=0.1), record
    assert drawn.charts["static"] == pytest.approx(drawn.y(drawn.runs.k), abs=0.1)


def test_every_skipped_step_is_marked_at_its_scale(drawn: Drawn) -> None:
    for name, shown in drawn.charts["skips"].items():
        skipped = [record for record in drawn.runs.records(name) if record.action is Action.SKIP]
        expected = [(drawn.x(record.step), drawn.of_scale(record.scale)) for record in skipped]
        assert len(shown) == len(expected)
        for place, expected_place in zip(shown, expected, strict=True):
            assert place == pytest.approx(expected_place, abs=0.15), name


def test_what_is_in_the_picture_is_explained(drawn: Drawn) -> None:
    skips = {name: any(r.action is Action.SKIP for r in drawn.runs.records(name)) for name in ("dynamic", "static")}
    records = drawn.runs.records("dynamic")
    empty = any(record.window is not None and record.window.empty for record in records)
    keys = {"traceSkippedDynamic": skips["dynamic"], "traceSkippedStatic": skips["static"], "stepNoWindow": empty}
    assert drawn.charts["keys"] == [ENGLISH[key] for key, shown in keys.items() if shown]
    # A scale that is no power of two has a name at its end of the axis.
    odd = {"0" if record.scale == 0 else "∞" for record in records if record.scale in (0, math.inf)}
    assert {text for text, _ in drawn.charts["ticks"] if text in ("0", "∞")} == odd


def test_lost_gradients_are_in_their_row_and_step(drawn: Drawn) -> None:
    assert drawn.charts["rows"] == [
        ENGLISH[key].replace("{n}", str(layer)) for key in ("lostOutputs", "lostParameters") for layer in range(1, 5)
    ]
    assert drawn.charts["tops"] == sorted(set(drawn.charts["tops"]))
    for record in drawn.runs.records("unscaled"):
        x = drawn.x(record.step)
        for share, cells in zip(record.lost, drawn.charts["lost"], strict=True):
            found = [level for left, right, level in cells if left < x < right]
            # Three digits of a share are sent.
            assert found in (level(0.995 * share), level(1.005 * share)), (record.step, share)


def level(share: float) -> list[int]:
    """How dark a share is drawn; not at all where nothing is lost."""
    return [sum(share > least for least in (0.01, 0.1, 0.5, 0.9))] if share else []


def test_the_window_of_each_step_in_words(drawn: Drawn) -> None:
    records = drawn.runs.records("dynamic")
    for row, record in zip(drawn.charts["table"], records, strict=True):
        assert int(row[0]) == record.step
        check_window(row[-1], record.window, closed=drawn.runs.format == "e4m3")


def check_window(text: str, window: Window | None, *, closed: bool) -> None:
    if window is None or window.empty:
        assert text == "no window"
    elif window.log2_powers:
        first, last = window.log2_powers
        assert text == f"window {power(first)} … {power(last)}"
    else:
        sign = "≤" if closed else "<"
        found = re.fullmatch(f"safe window ≈?(.*) < S {sign} ≈?(.*) · no power of two inside", text)
        ends = [float(window.lower), float(window.upper)]
        assert [float(end.replace(",", "")) for end in found.groups()] == pytest.approx(ends, rel=5e-4)
        assert window.upper_closed is closed


def test_the_step_that_is_looked_at_in_words(drawn: Drawn) -> None:
    """One step of each kind."""
    kinds = {
        repr(record.window and (record.window.empty, record.window.log2_powers is None)): record
        for record in drawn.runs.records("dynamic")
    }
    for record in kinds.values():
        said = drawn.explorer.root.evaluate(
            """(root, step) => {
                const slider = root.querySelector(".step-slider");
                slider.value = step;
                slider.dispatchEvent(new Event("input"));
                return [...root.querySelectorAll(".step-card dd")].at(-1).textContent;
            }""",
            record.step,
        )
        window = re.search(r"(safe window|window|no window).*", said)
        check_window(window[0], record.window, closed=drawn.runs.format == "e4m3")


def test_a_file_has_the_ends_of_windows_alone(drawn: Drawn) -> None:
    saving = Saving(drawn.explorer)
    rows = list(csv.DictReader(io.StringIO(saving.save("CSV").data.decode("ascii"), newline="")))
    saving.box.get_by_role("button", name="Close").click()
    mine = [row for row in rows if row["run"] == "dynamic"]
    for row, record in zip(mine, drawn.runs.records("dynamic"), strict=True):
        ends = [row["window_from_log2"], row["window_to_log2"]]
        if record.window is None or record.window.empty:
            assert ends == ["", ""]
        else:
            found = [math.log2(end) for end in (record.window.lower, record.window.upper)]
            assert list(map(float, ends)) == pytest.approx(found, abs=0.0051)


def test_the_cases_show_all_that_can_be_shown() -> None:
    """Else the tests above look at nothing."""
    records = [record for runs in CASES.values() for record in runs.records("dynamic")]
    windows = {record.window and (record.window.empty, record.window.log2_powers is None) for record in records}
    assert windows == {None, (False, False), (False, True), (True, True)}
    assert {0, math.inf} < {record.scale for record in records if record.action is Action.SKIP}
    statics = [record.action for runs in CASES.values() for record in runs.records("static")]
    assert {*statics} == {Action.STEP, Action.SKIP}
    lost = {tuple(level(share)) for runs in CASES.values() for r in runs.records("unscaled") for share in r.lost}
    assert len(lost) == 6
