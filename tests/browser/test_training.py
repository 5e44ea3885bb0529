"""The training view: runs as the core makes them, told while they are made, and stopped when they are not wanted."""

from collections.abc import Iterator
import math
import re

from playwright.sync_api import Browser, expect
import pytest

from lossscale_app.messages import ENGLISH
from lossscale_core import Action

from .hosts import go_to_hash
from .launch import Server, serving
from .pages import ExplorerPage, open_page
from .training_page import (
    BASE,
    RUN,
    SHOWN,
    asked,
    check_measured,
    check_percent,
    core,
    enter,
    field,
    last_loss,
    made,
    power,
    read,
)

pytest_plugins = ("browser.training_fixtures",)
pytestmark = pytest.mark.browser


# What is shown is what the core made


def test_results_are_those_of_the_core(view: ExplorerPage) -> None:
    shown = read(view)
    names = {"fp32": "FP32", "unscaled": "without scaling", "static": f"static S = {power(12)}", "dynamic": "dynamic"}
    for run in SHOWN:
        records, accuracy = core(run)
        name, loss, right, lost, skipped = shown["rows"][run]
        assert name == names[run]
        check_measured(loss, last_loss(records))
        check_percent(right, accuracy)
        check_percent(lost, sum(record.lost_of_all for record in records) / 40)
        assert int(skipped) == sum(record.action is Action.SKIP for record in records)
    assert int(shown["rows"]["dynamic"][4]) >= 4
    expect(view.root.locator(".recorded:visible")).to_have_count(0)
    assert view.page.title().startswith(f"S = {power(12)} = 4096: {shown['title'].lstrip('✓✕▲ ')}")


def test_the_losses_of_every_step(view: ExplorerPage) -> None:
    shown = read(view)
    for run in SHOWN:
        losses = [record.loss for record in core(run)[0]]
        points = shown["losses"][run]
        assert len(points) == 40
        (x1, y1), (x2, y2) = points[0], points[-1]
        for index, (x, y) in enumerate(points):
            assert x == pytest.approx(x1 + (x2 - x1) * index / 39, abs=0.11)
            share = math.log(losses[index] / losses[0]) / math.log(losses[-1] / losses[0])
            assert y == pytest.approx(y1 + (y2 - y1) * share, abs=0.3)


def test_autocast_and_scaling_are_told_apart(view: ExplorerPage) -> None:
    shown = read(view)
    assert set(shown["cells"]) == {"fp32", "fp32_scaled", "unscaled", "dynamic"}
    for run, (loss, lost) in shown["cells"].items():
        records, _ = core(run)
        check_measured(loss.removeprefix("loss "), last_loss(records))
        check_percent(lost.removesuffix(" of the gradients lost"), sum(record.lost_of_all for record in records) / 40)
    assert shown["same"] == ENGLISH["autocastSame"]


def test_fp32_with_an_odd_scale_is_not_called_the_same(view: ExplorerPage) -> None:
    go_to_hash(view, f"{BASE}&p=pytorch,init_scale.1000")
    one, two = (core(run, "pytorch,init_scale.1000")[0] for run in ("fp32", "fp32_scaled"))
    assert [record.loss for record in one] != [record.loss for record in two]
    assert made(view)["same"] == ""


def test_the_safe_scales_are_counted(view: ExplorerPage) -> None:
    windows = [record.window for record in core("dynamic")[0]]
    counts = {k: sum(2.0**k in window for window in windows) for k in range(-40, 41)}
    best = [k for k, count in counts.items() if count == max(counts.values())]
    shown = read(view)
    assert (
        shown["caption"]
        == f"S = {power(best[0])} … {power(best[-1])}: inside the window in {counts[best[0]]} of 40 steps"
    )
    for k in (12, 14, 40):
        view.go(k)
        assert read(view)["spoken"].endswith(f"inside the window in {counts[k]} of 40 steps")


def test_every_step_in_numbers(view: ExplorerPage) -> None:
    go_to_hash(view, "v=1&view=training&r=steps.40")
    made(view)
    card = view.root.locator(".steps-card")
    card.locator("summary").click()
    words = {Action.STEP: "step", Action.SKIP: "skipped"}
    for run, label in (("dynamic", "dynamic"), ("fp32", "FP32"), ("unscaled", "without scaling")):
        card.get_by_role("radio", name=label).check(force=True)
        rows = card.locator("tbody tr").evaluate_all(
            "rows => rows.map((row) => [...row.children].map((cell) => cell.textContent))"
        )
        for (step, loss, scale, action, lost, window), record in zip(rows, core(run, run="steps.40")[0], strict=True):
            assert (int(step), action) == (record.step, words[record.action])
            check_measured(loss, record.loss)
            check_percent(lost, record.lost_of_all)
            assert scale == power(round(math.log2(record.scale)))
            powers = record.window.log2_powers if record.window else None
            assert window == (f"window {power(powers[0])} … {power(powers[1])}" if powers else "")
    card.locator("summary").click()


# Looking at a step


def test_the_step_slider_tells_each_step(view: ExplorerPage) -> None:
    slider = view.root.get_by_role("slider", name=ENGLISH["stepName"])
    slider.focus()
    for keys, step in (
        (("Home",), 1),
        (("ArrowRight",), 2),
        (("ArrowRight",), 3),
        (("End",), 40),
        (("ArrowLeft",), 39),
    ):
        view.press(*keys)
        shown = read(view)
        assert shown["step"] == f"Step {step}"
        for run, said in zip(SHOWN, shown["said"], strict=True):
            record = core(run)[0][step - 1]
            assert said.startswith("loss ")
            check_measured(said.split(" · ")[0].removeprefix("loss "), record.loss)
            assert ("▲ skipped" in said) == (record.action is Action.SKIP)
            scaled = f"S = {power(round(math.log2(record.scale)))}" in said.split(" · ")
            assert scaled == (run in ("static", "dynamic"))
        first, last = core("dynamic")[0][step - 1].window.log2_powers
        assert shown["said"][-1].endswith(f"window {power(first)} … {power(last)}")
        assert slider.get_attribute("aria-valuetext") == f"step {step}; dynamic scaling: {aloud(shown['said'][-1])}"
        assert shown["cursors"] == pytest.approx([shown["losses"]["fp32"][step - 1][0]] * 3, abs=0.06)


def aloud(said: str) -> str:
    """A sentence for the eye as it is read aloud."""
    digits = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    worded = re.sub("2([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda found: f"2 to the {found[1].translate(digits)}", said)
    return worded.replace("the -", "the minus ").replace("▲ ", "").replace(" · ", ", ")


def test_pointing_at_a_chart_looks_at_that_step(view: ExplorerPage) -> None:
    points = read(view)["losses"]["fp32"]
    for name in ("loss-chart", "trace-chart", "lost-map"):
        picture = view.root.locator(f".{name} .picture")
        picture.scroll_into_view_if_needed()
        box = picture.bounding_box()
        for step in (7, 40, 1):
            view.page.mouse.move(box["x"] + points[step - 1][0], box["y"] + 40)
            expect(view.root.locator(".step-card h2")).to_have_text(f"Step {step}")
            assert read(view)["cursors"][0] == pytest.approx(points[step - 1][0], abs=0.1)


# Making runs


def test_runs_are_told_while_they_are_made_and_can_be_stopped(view: ExplorerPage) -> None:
    card = view.root.locator(".run-card")
    run = "steps.1000,seed.77,batch.64"
    go_to_hash(view, f"v=1&view=training&r={run}")
    expect(card.locator("progress")).to_be_visible()
    view.page.wait_for_function("() => document.querySelectorAll('.loss-chart .run-line').length === 4")
    early = read(view)
    assert 0 < early["progress"] < 1
    assert early["note"] == "Being made …"
    assert early["title"] == "The runs are being made …"
    assert early["rows"]["fp32"][1] == "…"
    lengths = [len(points) for points in early["losses"].values()]
    assert 0 < max(lengths) < 1000
    assert max(lengths) - min(lengths) <= 5
    view.page.wait_for_function(f"() => document.querySelector('.run-card progress').value > {early['progress']}")

    before = len(view.watch.frames)
    card.get_by_role("button", name="Stop").click()
    expect(card.locator(".busy")).to_contain_text("Stopped.")
    expect(card.locator("progress")).to_be_hidden()
    assert any('"cancel"' in str(frame) for frame in view.watch.frames[before:])
    stopped = read(view)
    view.page.wait_for_timeout(600)
    assert read(view)["losses"] == stopped["losses"]
    assert stopped["title"] == ENGLISH["runsNotMade"]

    # Begun anew from the first step, on the way to the same.
    card.get_by_role("button", name="Make the runs").click()
    expect(card.locator("progress")).to_be_visible()
    expect(card.get_by_role("button", name="Make the runs")).to_be_hidden()
    view.page.wait_for_function(
        "count => document.querySelector('.loss-chart .run-line.fp32')?.getAttribute('d').split('L').length > count",
        arg=len(stopped["losses"]["fp32"]),
    )
    # Other settings take their place at once.
    go_to_hash(view, BASE)
    assert float(made(view)["rows"]["fp32"][1]) == pytest.approx(last_loss(core("fp32")[0]), rel=0.006)


def test_releasing_the_slider_makes_the_static_run_anew(view: ExplorerPage) -> None:
    view.page.wait_for_timeout(700)
    before = len(view.watch.frames)
    with view.dragging(view.slider):
        x, y = view.centre(view.slider)
        for place in range(1, 9):
            view.page.mouse.move(x - 12 * place, y)
            view.page.wait_for_timeout(20)
        k = view.slider.evaluate("slider => slider.valueAsNumber")
        assert k < 12
        assert view.watch.frames[before:] == []
    assert made(view)["rows"]["static"][0] == f"static S = {power(k)}"
    assert asked(view, before) == [["static"]]
    records, _ = core("static", k=k)
    check_measured(read(view)["rows"]["static"][1], last_loss(records))
    # It has been there before: nothing is asked.
    view.go(12)
    view.page.wait_for_timeout(800)
    assert asked(view, before) == [["static"]]
    assert made(view)["rows"]["static"][0] == f"static S = {power(12)}"


@pytest.fixture(scope="module")
def other(browser: Browser, server: Server) -> Iterator[ExplorerPage]:
    """Another reader's page."""
    other = open_page(browser, server)
    yield other
    problems = other.watch.problems()
    other.page.context.close()
    assert problems == []


def test_two_readers_do_not_wait_for_each_other(view: ExplorerPage, other: ExplorerPage) -> None:
    go_to_hash(view, "v=1&view=training&r=steps.2000,seed.5")
    expect(view.root.locator(".run-card progress")).to_be_visible()
    other.type_gradients("1.2345e-5")
    other.wait_for_rows(3)
    assert 0 <= read(view)["progress"] < 1
    expect(view.root.locator(".run-card progress")).to_be_visible()
    view.root.locator(".run-card").get_by_role("button", name="Stop").click()


def test_the_slider_follows_at_once_while_two_readers_train(view: ExplorerPage, other: ExplorerPage) -> None:
    both = {view: "seed.5", other: "seed.6"}
    for explorer, seed in both.items():
        go_to_hash(explorer, f"v=1&view=training&k=12&r=steps.2000,{seed}")
    going = [explorer.root.locator(".run-card progress") for explorer in both]
    for explorer, progress in zip(both, going, strict=True):
        # The settings of a link are Python's to read.
        expect(field(explorer, "steps")).to_have_value("2000")
        expect(progress).to_be_visible()
    other.slider.focus()
    for k in (13, 14, 15):
        other.press("ArrowRight")
        expect(other.root.locator(".safe-chart .bubble")).to_have_text(re.compile(f"^S = {power(k)} = "))
        expect(other.slider).to_have_attribute("aria-valuetext", re.compile(f"^scale 2 to the {k}, "))
        assert read(other)["rows"]["static"][0] == f"static S = {power(k)}"
        assert other.slider.evaluate("slider => slider.valueAsNumber") == k
    for explorer, progress in zip(both, going, strict=True):
        expect(progress).to_be_visible()
        assert read(explorer)["progress"] < 1
        explorer.root.locator(".run-card").get_by_role("button", name="Stop").click()


def test_a_nan_in_the_data_skips_every_later_step(view: ExplorerPage) -> None:
    view.root.get_by_role("button", name=ENGLISH["tryRuns-nan"]).click()
    shown = made(view)
    settings = "seed.1,positions.1,reduction.sum,inject.nan,inject_at.40,inject_lasting.true"
    records, _ = core("dynamic", "pytorch,growth_interval.20", settings)
    assert {record.action for record in records[39:]} == {Action.SKIP}
    assert records[38].action is Action.STEP
    assert shown["title"] == "▲ Without scaling training breaks down at step 40."
    assert shown["lines"][:2] == [
        f"Static S = {power(12)}: from step 40 on every step is skipped, and nothing more is learned.",
        "Dynamic: from step 40 on every step is skipped, and the scale comes to 0.",
    ]
    assert shown["lines"][2:] == [
        f"Ended at step 40 ({name}). A gradient that is inf or NaN was applied, and the weights are no longer finite."
        for name in ("FP32", "without scaling")
    ]
    assert int(shown["rows"]["dynamic"][4]) == sum(record.action is Action.SKIP for record in records)
    assert len(shown["losses"]["dynamic"]) == 39


# Without a server


def test_a_server_that_is_gone(browser: Browser) -> None:
    with serving() as server:
        explorer = open_page(browser, server)
        go_to_hash(explorer, f"v=1&view=training&r={RUN.replace('40', '20')}&k=12")
        expect(field(explorer, "steps")).to_have_value("20")
        before = made(explorer)
        explorer.watch.expected = "WebSocket|ERR_CONNECTION_REFUSED|[Ll]ost|[Cc]onnection"
        server.signal("SIGKILL")
        expect(explorer.notice).to_contain_text("server is gone")
        assert read(explorer)["rows"] == before["rows"]
        enter(explorer, "steps", "30")
        expect(explorer.root.locator(".run-card .settings > .problem")).to_have_text(ENGLISH["settingsNeedServer"])
        explorer.root.get_by_label("Megatron-LM").uncheck()
        expect(explorer.root.locator(".overlay-card .problem")).to_have_text(ENGLISH["settingsNeedServer"])
        explorer.go(3)
        expect(explorer.root.locator(".run-card .busy")).to_have_text(re.compile(ENGLISH["run-note-offline"][:30]))
        assert read(explorer)["rows"]["static"][1] == "…"
        explorer.page.context.close()


def test_a_server_that_dies_while_runs_are_made(browser: Browser) -> None:
    with serving() as server:
        explorer = open_page(browser, server)
        go_to_hash(explorer, "v=1&view=training&r=steps.2000")
        expect(explorer.root.locator(".run-card progress")).to_be_visible()
        explorer.watch.expected = "WebSocket|ERR_CONNECTION_REFUSED|[Ll]ost|[Cc]onnection"
        server.signal("SIGKILL")
        expect(explorer.root.locator(".run-card > .problem")).to_have_text(ENGLISH["answerLost"])
        expect(explorer.root.locator(".run-card progress")).to_be_hidden()
        explorer.page.context.close()
