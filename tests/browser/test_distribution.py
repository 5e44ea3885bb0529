"""The distribution view: what it shows at every scale is what the core counts, and it stays a look-up."""

from collections.abc import Callable, Iterator
import io
from itertools import pairwise
from pathlib import Path
import re
from types import SimpleNamespace

import numpy as np
from playwright.sync_api import Browser, Locator, expect
import pytest

from lossscale_app.datasets import DATASETS
from lossscale_app.export import export
from lossscale_core import FORMATS, Outcome, count_outcomes, safe_window, share_text

from .launch import Server, serving
from .pages import ALL_K, ExplorerPage, open_page, place
from .test_accessibility import faults
from .test_layout import WIDTHS, misplaced, resize

pytestmark = pytest.mark.browser

SHOWN = (Outcome.UNDERFLOW, Outcome.SUBNORMAL, Outcome.NORMAL, Outcome.OVERFLOW)
VALUES = {d.id: np.concatenate([tensor.values.ravel() for tensor in d.make()]) for d in DATASETS}

# What the view shows, read in one go.
READ = """(root) => {
  const text = (selector) => root.querySelector(selector).textContent;
  const all = (selector) => [...root.querySelectorAll(selector)];
  const cells = (row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent);
  return {
    slider: root.querySelector(".scale-slider").valueAsNumber,
    spoken: root.querySelector(".scale-slider").getAttribute("aria-valuetext"),
    bubble: text(".bubble"), title: text(".outcome-title"), advice: text(".advice"),
    mood: root.querySelector(".outcome").dataset.mood,
    lines: [...root.querySelectorAll(".outcome-lines p")].map((line) => line.textContent),
    counts: all(".counts tbody tr").map(cells),
    line: Number(root.querySelector(".scale-line").getAttribute("x1")),
    bands: all(".band-area").map((band) => Number(band.getAttribute("x"))),
    caption: [...root.querySelectorAll(".window-caption > *")].map((part) => part.textContent),
  };
}"""


@pytest.fixture(scope="module")
def shared(browser: Browser, server: Server) -> Iterator[ExplorerPage]:
    explorer = open_page(browser, server)
    explorer.root.get_by_role("radio", name="Whole model").check(force=True)
    expect(explorer.root.locator(".counts")).to_be_visible()
    yield explorer
    problems = [*explorer.watch.problems(), *server.new_errors()]
    explorer.page.context.close()
    assert not problems


@pytest.fixture
def view(shared: ExplorerPage) -> ExplorerPage:
    """The view as it opens: the detector's gradients in FP16 at S = 1."""
    shared.page.set_viewport_size(shared.size)
    shared.reset.click()
    if shared.root.get_attribute("data-view") == "window":
        shared.root.get_by_role("radio", name="Whole model").check(force=True)
    choose(shared, "ssd")
    may_lose(shared, "0")
    shared.settle()
    return shared


def choose(explorer: ExplorerPage, name: str) -> None:
    explorer.root.locator(f".data [data-id={name}]").click()
    expect(explorer.root.locator(f".kept-card[data-of={name}]")).to_be_visible()


def may_lose(explorer: ExplorerPage, percent: str) -> None:
    explorer.root.locator(f".losing [value='{percent}']").check(force=True)


def number(text: str) -> int:
    return int(text.replace(",", ""))


@pytest.mark.parametrize("name", VALUES)
def test_counts_at_every_scale_in_every_format(view: ExplorerPage, name: str) -> None:
    choose(view, name)
    expect(view.root.locator(".outcome-title")).not_to_be_empty()
    values = VALUES[name]
    alive = np.count_nonzero(values)
    for fmt in FORMATS.values():
        view.format(fmt.label)
        states = view.at_each(READ)
        for k, state in zip(ALL_K, states, strict=True):
            counted = count_outcomes(values, 2.0**k, fmt)
            shown = [number(count) for _, count in state["counts"]]
            assert (k, shown) == (k, [counted[outcome] for outcome in SHOWN])
            shares = [share.replace("\u2212", "-") for share, _ in state["counts"]]
            assert shares == [share_text(counted[outcome], alive) for outcome in SHOWN]
            assert state["slider"] == k
            moods = {"overflow"} if shown[3] else {"underflow"} if shown[0] else {"normal", "subnormal"}
            assert state["mood"] in moods
            sign = "▲" if shown[3] else "✕" if shown[0] else "✓"
            assert state["title"].startswith(sign)
            assert state["title"][2:] in state["spoken"]


def test_the_bands_move_under_the_histogram(view: ExplorerPage) -> None:
    ticks = view.root.locator(".histogram .axis text:not(.axis-title)").evaluate_all(
        "texts => texts.map((text) => [text.textContent, Number(text.getAttribute('x'))])"
    )
    octave = (ticks[-1][1] - ticks[0][1]) / (exponent(ticks[-1][0]) - exponent(ticks[0][0]))
    bars = view.root.locator(".octave-bar").evaluate_all("bars => bars.map((bar) => bar.getAttribute('x'))")
    states = view.at_each(READ, range(-4, 5))
    for before, after in pairwise(states):
        # One notch moves where subnormals begin and end one octave to the left.
        for band in (1, 2):
            assert before["bands"][band] - after["bands"][band] == pytest.approx(octave, abs=0.01)
    assert bars == view.root.locator(".octave-bar").evaluate_all("bars => bars.map((bar) => bar.getAttribute('x'))")


def exponent(text: str) -> int:
    digits = {"⁻": "-", **{c: str(n) for n, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}}
    return int("".join(digits[c] for c in text[1:]))


def test_the_scale_line_is_on_the_axis_and_the_slider(view: ExplorerPage) -> None:
    ticks = view.root.locator(".curve-chart .axis text:not(.axis-title)").evaluate_all(
        "texts => texts.map((text) => ({ name: text.textContent, x: Number(text.getAttribute('x')) }))"
    )
    axis = [SimpleNamespace(log2=exponent(tick["name"]), x=tick["x"]) for tick in ticks]
    for k, state in zip(range(-5, 20), view.at_each(READ, range(-5, 20)), strict=True):
        assert state["line"] == pytest.approx(place(axis, k), abs=0.01)


def test_nothing_is_sent_while_the_slider_moves(view: ExplorerPage) -> None:
    view.page.wait_for_timeout(800)
    before = len(view.watch.frames)
    view.slider.focus()
    view.press(*["ArrowRight"] * 20)
    assert view.root.evaluate(READ)["slider"] == 20
    assert len(view.watch.frames) == before


def test_the_window_is_that_of_the_core(view: ExplorerPage) -> None:
    survive = safe_window(VALUES["ssd"], FORMATS["fp16"]).survive
    first, last = survive.log2_powers
    caption = view.root.evaluate(READ)["caption"]
    assert f"{survive.lower} < S" in caption[0]
    assert exponent(caption[1].split(": ")[1].split(" … ")[0]) == first
    assert exponent(caption[1].split(" … ")[1]) == last


def test_a_share_may_be_lost(view: ExplorerPage) -> None:
    view.go(9)
    assert view.root.evaluate(READ)["title"].startswith("✕")
    may_lose(view, "0.01")
    state = view.root.evaluate(READ)
    assert state["title"].startswith("✓")
    assert state["title"].endswith("of the gradients survive")
    assert "losing at most 0.01" in state["caption"][1]


def test_the_advice_is_taken_by_its_button(view: ExplorerPage) -> None:
    view.root.get_by_role("button", name=re.compile("Set S = ")).click()
    state = view.root.evaluate(READ)
    assert state["slider"] == 20
    assert state["title"].startswith("✓ All")
    assert "3 octaves below overflow" in state["advice"]
    expect(view.root.locator(".take")).to_be_hidden()


def test_decisions_are_links_and_come_back(view: ExplorerPage) -> None:
    choose(view, "wide")
    may_lose(view, "1")
    view.format("E5M2")
    assert view.page.url.endswith("?v=1&f=e5m2&view=distribution&d=wide&l=1")
    view.page.go_back()
    expect(view.root.locator("[name=lse-format]:checked")).to_have_value("fp16")
    view.page.go_back()
    expect(view.root.locator(".losing :checked")).to_have_value("0")
    view.press("Control+y", "Control+y")
    expect(view.root.locator("[name=lse-format]:checked")).to_have_value("e5m2")
    view.page.reload()
    expect(view.root.locator(".data [aria-pressed=true]")).to_have_attribute("data-id", "wide")
    expect(view.root.locator(".outcome-title")).to_contain_text("lost")


def test_tensors_tell_which_one_forces_the_scale(view: ExplorerPage) -> None:
    choose(view, "layers")
    rows = view.root.locator(".tensors tbody tr")
    expect(rows).to_have_count(10)
    view.go(8)
    tensors = {tensor.name: tensor for tensor in next(d for d in DATASETS if d.id == "layers").make()}
    for cells in rows.evaluate_all("rows => rows.map((row) => [...row.children].map((cell) => cell.textContent))"):
        counted = count_outcomes(tensors[cells[0]].values, 2.0**8, FORMATS["fp16"])
        assert cells[4] == share_text(counted[Outcome.UNDERFLOW], 4000)
        assert number(cells[5]) == counted[Outcome.OVERFLOW]
        first, last = safe_window(tensors[cells[0]].values, FORMATS["fp16"]).survive.log2_powers
        assert [exponent(power) for power in cells[6].split(" … ")] == [first, last]
    sort(view, "Lost")
    assert rows.first.locator("th").text_content() == "layers.0.weight"
    sort(view, "Its own safe S")
    assert rows.first.locator("th").text_content() == "head.weight"
    expect(view.root.locator(".tensors th[aria-sort]")).to_have_text("Its own safe S")
    sort(view, "Its own safe S")
    assert rows.first.locator("th").text_content() == "layers.0.weight"


def sort(explorer: ExplorerPage, column: str) -> None:
    explorer.root.locator(".tensors").get_by_role("button", name=column, exact=True).click()


def test_the_histogram_in_numbers(view: ExplorerPage) -> None:
    view.root.locator(".octaves summary").click()
    rows = view.root.locator(".octaves tbody tr").evaluate_all(
        "rows => rows.map((row) => [...row.children].map((cell) => cell.textContent))"
    )
    exponents = np.frexp(np.abs(VALUES["ssd"][VALUES["ssd"] != 0]))[1] - 1
    assert [number(count) for _, _, count in rows] == [int((exponents == e).sum()) for e in range(-34, -7)]
    assert [exponent(name.split(" … ")[0]) for name, _, _ in rows] == list(range(-34, -7))


def test_axe_finds_nothing(view: ExplorerPage) -> None:
    choose(view, "layers")
    view.root.locator(".octaves summary").click()
    assert faults(view) == []
    view.root.locator(".octaves summary").click()


@pytest.mark.parametrize("name", ["ssd", "layers", "spike"])
def test_everything_is_in_its_place(view: ExplorerPage, name: str) -> None:
    choose(view, name)
    for width in WIDTHS:
        resize(view, width)
        for k in (0, 20, 36):
            view.go(k)
            assert (width, k, misplaced(view)) == (width, k, [])


# Files


def npz(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def upload(explorer: ExplorerPage, name: str, content: bytes) -> None:
    explorer.root.locator("#lse-file").set_input_files({"name": name, "mimeType": "", "buffer": content})


def own(explorer: ExplorerPage) -> Locator:
    return explorer.root.locator(".data [aria-pressed=true]")


def test_a_file_of_the_readers_own(view: ExplorerPage) -> None:
    draw = np.random.default_rng(3)
    arrays = {
        "conv.weight": np.exp2(draw.normal(-22, 3, 5000)).astype(np.float32),
        "fc": np.exp2(draw.normal(-12, 2, 800)).astype(np.float16),
    }
    upload(view, "grads <b>.npz", npz(**arrays))
    expect(own(view)).to_have_text("grads <b>.npz")
    expect(view.root.locator(".data-note")).to_have_text("5800 values in 2 tensors.")
    values = np.concatenate([array.astype(np.float32) for array in arrays.values()])
    for k, state in zip(range(-2, 12), view.at_each(READ, range(-2, 12)), strict=True):
        counted = count_outcomes(values, 2.0**k, FORMATS["fp16"])
        assert [number(count) for _, count in state["counts"]] == [counted[outcome] for outcome in SHOWN]
    # It is no part of the link, and still there after another look.
    assert "d=" not in view.page.url
    choose(view, "wide")
    view.root.get_by_role("button", name="grads <b>.npz").click()
    expect(view.root.locator(".data-note")).to_have_text("5800 values in 2 tensors.")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("model.pt", b"PK", "is no .npy, .npz"),
        ("broken.npz", npz(a=np.ones(400))[:-90], "broken.npz"),
        ("objects.npy", b"\x93NUMPY\x01\x00", "objects.npy"),
        ("words.csv", b"alpha,beta\n1,two\n", "two"),
        ("empty.txt", b"", "empty.txt"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_a_sentence(
    view: ExplorerPage, name: str, content: bytes, sentence: str
) -> None:
    before = view.root.evaluate(READ)
    view.watch.expected = "status of 4"  # what the browser itself logs about a refusal
    upload(view, name, content)
    problem = view.root.locator(".data .problem")
    expect(problem).to_contain_text(sentence)
    assert len(problem.text_content()) < 300
    assert problem.text_content().endswith(".")
    expect(view.root.locator(".busy")).to_be_hidden()
    assert view.root.evaluate(READ) == before
    view.watch.problems()
    view.watch.expected = None
    upload(view, "good.csv", b"1e-8, 3, 0.5\n")
    expect(own(view)).to_have_text("good.csv")
    expect(problem).to_be_empty()


def test_a_dropped_file_is_taken(view: ExplorerPage) -> None:
    view.root.locator(".data").evaluate(
        """(card) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File(["2^-26 8 0"], "dropped.txt"));
            for (const type of ["dragenter", "dragover", "drop"]) {
                card.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));
            }
        }"""
    )
    expect(own(view)).to_have_text("dropped.txt")
    expect(view.root.locator(".data-note")).to_have_text("3 values in 1 tensor.")


def test_long_work_tells_its_progress_and_can_be_stopped(view: ExplorerPage) -> None:
    values = np.exp2(np.random.default_rng(1).normal(-20, 4, 30_000_000)).astype(np.float32)
    buffer = io.BytesIO()
    np.save(buffer, values)
    path = Path(view.page.evaluate("'/tmp'")) / "large-for-lossscale.npy"
    path.write_bytes(buffer.getvalue())
    try:
        view.root.locator("#lse-file").set_input_files(path)
        expect(view.root.locator(".busy")).to_be_visible()
        view.go(7)  # the page goes on meanwhile
        assert view.root.evaluate(READ)["slider"] == 7
        view.root.get_by_role("button", name="Cancel").click()
        expect(view.root.locator(".busy")).to_be_hidden()
        view.page.wait_for_timeout(500)
        expect(own(view)).to_have_attribute("data-id", "ssd")
        view.root.locator("#lse-file").set_input_files(path)
        expect(own(view)).to_have_text(path.name, timeout=60_000)
        counted = count_outcomes(values, 2.0**7, FORMATS["fp16"])
        assert [number(count) for _, count in view.root.evaluate(READ)["counts"]] == [counted[o] for o in SHOWN]
    finally:
        path.unlink()


# Without a server


def test_a_saved_page_has_all_distributions(open_explorer: Callable, browser: Browser, tmp_path: Path) -> None:
    target = tmp_path / "saved.html"
    export(str(target), "?v=1&view=distribution&d=deep&k=12", "")
    context = browser.new_context()
    page = context.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(target.as_uri())
    page.wait_for_selector(".counts")
    root = page.locator(".lossscale")
    for name, values in VALUES.items():
        root.locator(f".data [data-id={name}]").click()
        counted = count_outcomes(values, 2.0**12, FORMATS["fp16"])
        assert [number(count) for _, count in root.evaluate(READ)["counts"]] == [counted[outcome] for outcome in SHOWN]
    assert root.locator("#lse-file").count() == 0
    assert requests == [target.as_uri()]
    context.close()


def test_a_dead_server_changes_nothing(browser: Browser) -> None:
    with serving() as server:
        explorer = open_page(browser, server)
        explorer.root.get_by_role("radio", name="Whole model").check(force=True)
        expect(explorer.root.locator(".counts")).to_be_visible()
        explorer.watch.expected = "WebSocket|ERR_CONNECTION_REFUSED|[Ll]ost|[Cc]onnection"
        server.signal("SIGKILL")
        for k, state in zip(range(0, 20), explorer.at_each(READ, range(0, 20)), strict=True):
            counted = count_outcomes(VALUES["ssd"], 2.0**k, FORMATS["fp16"])
            assert [number(count) for _, count in state["counts"]] == [counted[outcome] for outcome in SHOWN]
        expect(explorer.notice).to_contain_text("server is gone")
        explorer.root.locator(".data [data-id=wide]").click()
        expect(explorer.root.locator(".data .problem")).to_contain_text("server")
        explorer.page.context.close()


def test_a_page_opens_with_the_file_the_server_was_started_with(browser: Browser, tmp_path: Path) -> None:
    np.save(tmp_path / "grads.npy", np.float32([2.0**-30, 1, 2.0**5, 0]))
    command = ("-c", "from lossscale_app.command_line import main; raise SystemExit(main())", "serve")
    with serving((*command, str(tmp_path / "grads.npy"), "--no-show")) as server:
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{server.url}/?v=1&view=distribution")
        expect(page.locator(".data [aria-pressed=true]")).to_have_text("grads.npy")
        expect(page.locator(".data-note")).to_have_text("4 values in 1 tensor.")
        assert server.new_errors() == []
        context.close()
