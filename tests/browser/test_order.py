"""The order view: the blocks and their numbers are the core's, wherever they are put, and dragging stays a look-up."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
import csv
import io
import json
import math
from pathlib import Path

from playwright.sync_api import Browser, Page, expect
import pytest

from lossscale_app import page_setup
from lossscale_app.export import export
from lossscale_app.lookups import long_text
from lossscale_app.messages import ENGLISH
from lossscale_app.orders import EXAMPLES, MISPLACED, step_order
from lossscale_core import FORMATS, StageName, StepReport, take_step

from .expected import grouped
from .launch import Server
from .pages import ALL_K, ExplorerPage, open_page
from .test_accessibility import faults
from .test_embed import FITS, MEASURE, SIZES
from .test_exports import Saving
from .test_layout import WIDTHS, misplaced, resize

pytestmark = pytest.mark.browser

READ = """(root) => {
  const lines = (part) => [...part.children].map((line) => line.textContent);
  const cells = (row) => [...row.children].map((cell) => cell.textContent);
  return {
    slider: root.querySelector(".scale-slider").valueAsNumber,
    spoken: root.querySelector(".scale-slider").getAttribute("aria-valuetext"),
    title: root.querySelector(".outcome-title").textContent,
    mood: root.querySelector(".outcome").dataset.mood,
    lines: lines(root.querySelector(".outcome-lines")),
    numbers: [...root.querySelectorAll(".order-card .counts td")].map((cell) => cell.textContent),
    caption: lines(root.querySelector(".window-caption")),
    line: Number(root.querySelector(".scale-line").getAttribute("x1")),
    ratio: root.querySelector(".order-ratio").textContent,
    blocks: [...root.querySelectorAll(".block")].map((block) => ({
      name: block.dataset.block, wrong: "wrong" in block.dataset, differs: "differs" in block.dataset,
      mine: lines(block.querySelector(".mine")), right: lines(block.querySelector(".right-numbers")),
    })),
    rows: [...root.querySelectorAll(".order-numbers tbody tr")].map(cells),
  };
}"""

#: The link, and what it stands for: example, at, unscale, misplaced, k.
SCENES = {
    "late": ("s=late", "late", "late", "fp32", [], 12),
    "half": ("s=half", "half", "loss", "fp16", [], 12),
    "clip": ("s=clip&o=", "clip", "loss", "fp32", [], 10),
    "clip before": ("s=clip", "clip", "loss", "fp32", ["clip"], 10),
    "check after": ("view=order&ex=check&k=13&o=check", "check", "loss", "fp32", ["check"], 13),
    "accum": ("s=accum&o=", "accum", "loss", "fp32", [], 12),
    "accum update": ("s=accum&k=16", "accum", "loss", "fp32", ["update"], 16),
    "accum halved": ("s=accum", "accum", "loss", "fp32", ["update"], 12),
    "same": ("s=same", "same", "loss", "fp32", [], 0),
    "never": ("s=same&u=never&k=5", "same", "loss", "never", [], 5),
    "mean": ("s=mean&o=", "mean", "loss", "fp32", [], 8),
    "mean of means": ("s=mean", "mean", "loss", "fp32", ["average"], 8),
    "swamp": ("s=swamp&o=", "swamp", "loss", "fp32", [], 8),
    "swamp narrow": ("s=swamp", "swamp", "loss", "fp32", ["weights"], 8),
}
#: How the verdict begins and how it feels.
VERDICTS = {
    "late": ("✕ The update is lost: 0 instead of 2⁻²⁶", "underflow"),
    "half": ("✕ The update is lost: 0 instead of 2⁻²⁶", "underflow"),
    "clip": ("✓ The step is the true one, bit for bit", "normal"),
    "clip before": ("◆ The step is 512 times too small, and nothing says so", "wrong"),
    "check after": ("▲ inf slips through: the step is ≈12.50 times too large", "overflow"),
    "accum": ("✓ The step is the true one, bit for bit", "normal"),
    "accum update": ("▲ The step is skipped", "overflow"),
    "accum halved": ("◆ The step is 1.5 times too large, and nothing says so", "wrong"),
    "same": ("✓ The step is the true one, bit for bit", "normal"),
    "never": ("◆ The step is 32 times too large, and nothing says so", "wrong"),
    "mean": ("✓ The step is the true one, bit for bit", "normal"),
    "mean of means": ("◆ This is another average: 2 instead of 1", "wrong"),
    "swamp": ("✓ The step is the true one, bit for bit", "normal"),
    "swamp narrow": ("✕ FP16 weights swallow the update: 0 instead of 2⁻¹²", "underflow"),
}
BLOCK_OF = {
    StageName.STORED: "store",
    StageName.ACCUMULATED: "accumulate",
    StageName.UNSCALED: "unscale",
    StageName.CHECKED: "check",
    StageName.CLIPPED: "clip",
    StageName.UPDATED: "optimizer",
}


@contextmanager
def watched(explorer: ExplorerPage) -> Iterator[ExplorerPage]:
    """A page of one's own that is closed again, and must not have complained."""
    yield explorer
    problems = explorer.watch.problems()
    explorer.page.context.close()
    assert problems == []


@pytest.fixture(scope="module")
def shared(browser: Browser, server: Server) -> Iterator[ExplorerPage]:
    with watched(open_page(browser, server)) as explorer:
        yield explorer
    assert server.new_errors() == []


@pytest.fixture
def view(shared: ExplorerPage) -> ExplorerPage:
    shared.page.set_viewport_size(shared.size)
    shared.page.emulate_media(color_scheme="light")
    turn_to(shared.page, "clip")
    return shared


def turn_to(page: Page, name: str, more: str = "") -> None:
    """Follow a scene's link within the page, and wait until its step is here."""
    link, example, at, unscale, names, _ = SCENES[name]
    page.evaluate("(link) => { location.hash = link; }", f"v=1&{link}{more}")
    expect(page.locator(".order-card")).to_have_attribute("data-of", f"{example} {at} {unscale} {'+'.join(names)} fp16")


def shown(value: float) -> str:
    """A number as the page's blocks have it: the power where there is one."""
    return pretty(long_text(value).split(" ")[0])


def pretty(text: str) -> str:
    raised = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
    base, _, exponent = text.partition("^")
    return grouped((base + exponent.translate(raised)).replace("-", "−").replace("inf", "∞"))


def equation(value: float) -> str:
    """A number as the page's table has it: the power and the decimal."""
    first, *rest = long_text(value).split(" ")
    return " ".join(
        [pretty(first), *(f"≈ {pretty(each[1:])}" if each[0] == "≈" else f"= {pretty(each)}" for each in rest)]
    )


def listed(values: tuple[float, ...], write: Callable[[float], str] = shown) -> str:
    texts = list(map(write, values))
    return f"{texts[0]} (all {len(texts)})" if len(texts) > 2 and len(set(texts)) == 1 else ", ".join(texts)


def report_of(scene: tuple, k: int | None = None, fmt: str = "fp16") -> tuple[StepReport, StepReport]:
    """The step of a scene, and the same in the right order."""
    _, example, at, unscale, names, opened = scene
    scale = 2.0 ** (opened if k is None else k)
    wrong = take_step(EXAMPLES[example], step_order(at, unscale, names), scale, FORMATS[fmt])
    return wrong, take_step(EXAMPLES[example], scale=scale, fmt=FORMATS[fmt])


def lines_of(report: StepReport, name: StageName, write: Callable[[float], str] = shown) -> list[str]:
    """What a block says of a stage."""
    stage = next((stage for stage in report.stages if stage.name == name), None)
    if name is StageName.UPDATED:
        if report.skipped:
            return [ENGLISH["weightsStay"]]
        return [f"w falls by {listed(report.update)}"]
    if stage is None:
        return [ENGLISH["leftOut"]]
    if name is StageName.CHECKED:
        return [ENGLISH["foundInf" if stage.found_inf else "allFinite"]]
    lines = [listed(row, write) for row in stage.values]
    return lines if len(lines) == 1 else [f"#{index}: {line}" for index, line in enumerate(lines, 1)]


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_shows_the_numbers_of_the_core(view: ExplorerPage, name: str) -> None:
    scene = SCENES[name]
    turn_to(view.page, name)
    state = view.root.evaluate(READ)
    made, right = report_of(scene)
    assert (state["title"], state["mood"]) == VERDICTS[name]
    assert state["slider"] == scene[5]
    assert state["spoken"].split("; ")[1].split(" ")[:4] == state["title"].split(" ")[1:5]
    blocks = {block["name"]: block for block in state["blocks"]}
    for stage, block in BLOCK_OF.items():
        if block not in blocks or (block == "unscale" and scene[3] == "never"):
            continue
        mine, meant = lines_of(made, stage), lines_of(right, stage)
        # Norms and weights are lines of their own.
        assert [line for line in mine if line not in blocks[block]["mine"]] == []
        assert blocks[block]["differs"] == (mine != meant)
        told = "\n".join(blocks[block]["right"]).removeprefix("≠ right: ").split("\n")
        assert [line for line in meant if line not in told] == [] or mine == meant
    # The blocks stand as the core goes through its stages.
    stages = [BLOCK_OF[stage.name] for stage in made.stages if stage.name in BLOCK_OF]
    assert [b for b in stages if b in blocks] == [b for b in blocks if b in stages]
    front = ["loss", "backward", "store", "scale"] if scene[2] == "late" else ["loss", "scale", "backward", "store"]
    assert list(blocks)[:4] == front
    # The table has the same numbers, as powers and in decimal.
    rows = {row[0]: row[2:] for row in state["rows"]}
    stored = ["; ".join(lines_of(each, StageName.STORED, equation)) for each in (made, right)]
    assert [cell.removeprefix("≠ ") for cell in rows["Store in FP16"]] == stored
    update = [listed(each.update, equation) for each in (made, right)]
    assert [cell.removeprefix("≠ ") for cell in rows["Update"]] == update
    assert rows["Update"][0].startswith("≠") == (made.update != right.update)
    assert len(state["rows"]) == len(blocks) + 2


@pytest.mark.parametrize("name", ["clip before", "never", "swamp narrow", "accum halved"])
@pytest.mark.parametrize("label", ["FP16", "E4M3"])
def test_every_scale_is_a_look_up(view: ExplorerPage, name: str, label: str) -> None:
    turn_to(view.page, name)
    view.format(label)
    expect(view.root.locator("[data-block=store] h3")).to_have_text(f"Store in {label}")
    view.page.wait_for_timeout(700)
    sent = len(view.watch.frames)
    states = view.at_each(READ)
    assert len(view.watch.frames) == sent
    view.format("FP16")
    for k, state in zip(ALL_K, states, strict=True):
        made, _ = report_of(SCENES[name], k, label.lower())
        assert (k, state["slider"]) == (k, k)
        true_, yours, ratio = state["numbers"]
        assert yours.split(" ")[0].rstrip(",") == shown(made.update[0])
        assert true_.split(" ")[0].rstrip(",") == shown(
            take_step(EXAMPLES[SCENES[name][1]], fmt=FORMATS["bf16"]).update[0]
        )
        if made.skipped:
            assert state["title"] == "▲ The step is skipped"
        elif math.isfinite(made.ratio) and made.ratio:
            assert read_number(ratio) == pytest.approx(made.ratio, rel=1e-3)
            assert state["ratio"] == ratio or state["title"].startswith("✕")
        else:
            assert state["title"].startswith("✕")


def read_number(text: str) -> float:
    lowered = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
    if any(sign in text for sign in "⁰¹²³⁴⁵⁶⁷⁸⁹"):
        return 2.0 ** int(text[1:].translate(lowered))
    above, _, below = text.replace("≈", "").replace(",", "").replace("−", "-").partition("/")
    return float(above) / float(below or 1)


def test_the_window_is_where_the_update_stays_the_same(view: ExplorerPage) -> None:
    turn_to(view.page, "same")
    state = view.root.evaluate(READ)
    updates = {k: report_of(SCENES["same"], k)[0].update for k in ALL_K}
    same = [k for k in ALL_K if updates[k] == updates[0]]
    window = f"S = {pretty(f'2^{same[0]}')} … {pretty(f'2^{same[-1]}')}"
    assert window in state["caption"][0]
    assert window in state["lines"][0]
    assert "learning rate" in state["lines"][0]
    titles = [each["title"] for each in view.at_each(READ)]
    assert [k for k, title in zip(ALL_K, titles, strict=True) if title.startswith("✓")] == same


def test_a_block_is_moved_with_the_keyboard_and_back(view: ExplorerPage) -> None:
    names = "blocks => blocks.map((block) => block.dataset.block)"
    before = view.root.locator(".block").evaluate_all(names)
    assert before[-4:] == ["unscale", "check", "clip", "optimizer"]
    view.root.get_by_role("radio", name="after unscaling").focus()
    view.press("ArrowRight")
    expect(view.root.locator(".outcome-title")).to_have_text(VERDICTS["clip before"][0])
    assert view.root.locator(".block").evaluate_all(names)[-4:] == ["check", "clip", "unscale", "optimizer"]
    assert view.page.evaluate("document.activeElement.matches('[data-block=clip] [value=wrong]:checked')")
    clip = view.root.locator("[data-block=clip]")
    expect(clip).to_contain_text("out of place")
    assert view.page.url.endswith("&s=clip")
    view.press("ArrowLeft")
    expect(clip).not_to_contain_text("out of place", use_inner_text=True)
    assert view.page.evaluate("document.activeElement.matches('[data-block=clip] [value=right]:checked')")
    view.page.go_back()
    expect(clip).to_contain_text("out of place", use_inner_text=True)
    view.page.go_back()
    expect(view.root.locator(".outcome-title")).to_have_text(VERDICTS["clip"][0])
    assert view.root.locator(".block").evaluate_all(names) == before


def test_examples_open_as_their_scenes_and_everything_can_be_put_right(view: ExplorerPage) -> None:
    put_right = view.root.get_by_role("button", name=ENGLISH["putRight"])
    expect(put_right).to_be_hidden()
    view.root.get_by_role("button", name=ENGLISH["example-late"]).click()
    expect(view.root.locator(".outcome-title")).to_have_text(VERDICTS["late"][0])
    assert view.root.evaluate(READ)["slider"] == 12
    put_right.click()
    expect(view.root.locator(".outcome-title")).to_have_text(VERDICTS["clip"][0])
    expect(put_right).to_be_hidden()
    expect(view.root.get_by_role("button", name=ENGLISH["example-late"])).to_be_focused()
    # A choice that changes nothing is not offered, but for one that has been made.
    expect(view.root.locator(".choice.block-clip")).to_have_count(0)
    view.page.evaluate("location.hash = 'v=1&view=order&ex=late&o=clip'")
    expect(view.root.locator(".choice.block-clip")).to_be_visible()


def test_a_moved_slider_sends_nothing(view: ExplorerPage) -> None:
    view.page.wait_for_timeout(700)
    before = len(view.watch.frames)
    view.slider.focus()
    view.press(*["ArrowRight"] * 5)
    assert view.root.evaluate(READ)["slider"] == 15
    assert len(view.watch.frames) == before


@pytest.mark.parametrize("name", ["clip before", "accum halved", "same"])
def test_everything_is_in_its_place(view: ExplorerPage, name: str) -> None:
    turn_to(view.page, name)
    for width in WIDTHS:
        resize(view, width)
        for k in (-40, 5, 12, 40):
            view.go(k)
            assert (width, k, misplaced(view)) == (width, k, [])


def test_axe_finds_nothing(view: ExplorerPage) -> None:
    for name in ("clip before", "mean of means"):
        turn_to(view.page, name)
        assert faults(view) == []


def test_what_is_saved_are_the_numbers(view: ExplorerPage) -> None:
    scene = SCENES["clip before"]
    turn_to(view.page, "clip before")
    made, right = report_of(scene)
    saving = Saving(view)
    rows = list(csv.DictReader(io.StringIO(saving.save("CSV").data.decode())))
    expected = [
        (stage.name, batch + 1, weight + 1, value)
        for stage in made.stages
        for batch, row in enumerate(stage.values)
        for weight, value in enumerate(row)
    ] + [("update", 1, place + 1, value) for place, value in enumerate(made.update)]
    assert [(r["stage"], int(r["micro_batch"]), int(r["weight"]), float(r["yours"])) for r in rows] == expected
    assert [float(r["right"]) for r in rows if r["stage"] == "update"] == list(right.update)
    data = json.loads(saving.save("JSON").data)
    assert (data["example"], data["log2_scale"], data["format"]) == ("clip", 10, "fp16")
    assert data["yours"]["update"] == list(made.update)
    assert data["right"]["stages"]["stored"] == [list(row) for row in right.stages[2].values]
    assert b"512 times too small" in saving.save("SVG").data
    view.press("Escape")


@pytest.mark.parametrize("name", ["late", "half", "never", "clip before", "mean of means"])
def test_the_snippet_takes_the_same_step(view: ExplorerPage, name: str) -> None:
    turn_to(view.page, name)
    script = Saving(view).save("NumPy").data.decode()
    view.press("Escape")
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(script, "snippet", "exec"), {})  # noqa: S102
    made, _ = report_of(SCENES[name])
    lines = printed.getvalue().splitlines()
    assert lines[-1] == f"update {made.update} true {made.true_update} ratio {made.ratio}"
    assert lines[:-2] == [" ".join(map(str, (stage.name, *stage.values))) for stage in made.stages]


def test_it_fits_every_box(browser: Browser, server: Server) -> None:
    address = Server(f"{server.url}/?v=1&s=clip&e=1", None, None)
    with watched(open_page(browser, address, reduced_motion="reduce")) as explorer:
        for name in ("clip before", "check after", "same", "swamp narrow"):
            turn_to(explorer.page, name, "&e=1")
            expect(explorer.root.locator(".recorded")).to_be_hidden()
            for width, height in SIZES:
                explorer.page.set_viewport_size({"width": width, "height": height})
                explorer.settle()
                measured = explorer.at_each(f"(root) => ({MEASURE})(root)")
                unfit = {k: each for k, each in zip(ALL_K, measured, strict=True) if each != FITS}
                assert (name, width, unfit) == (name, width, {})


# Without a server


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved page, without the training runs, which are another test's."""
    target = tmp_path_factory.mktemp("order") / "saved.html"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(page_setup, "recorded_runs", dict)
        patched.setattr(page_setup, "recorded_overlay", dict)
        export(str(target), "?v=1&view=order&ex=clip&k=10&hide=example", "https://order.example/")
    return target


def test_a_saved_page_holds_each_mistake_and_says_what_it_does_not(browser: Browser, target: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(target.as_uri())
    root = page.locator(".lossscale")
    title = root.locator(".outcome-title")
    expect(title).to_have_text(VERDICTS["clip"][0])
    expect(root.locator(".order-tries")).to_be_hidden()
    recorded = root.locator(".order-card .recorded")
    expect(recorded).to_have_text(f"{ENGLISH['recorded']} {ENGLISH['orderRecorded']}", use_inner_text=True)
    root.locator(".block-clip [value=wrong]").check(force=True)
    expect(title).to_have_text(VERDICTS["clip before"][0])
    # Two mistakes at once, and a mistake in another format, are not held.
    root.locator(".block-unscale [value=never]").check(force=True)
    expect(root.locator(".outcome-lines")).to_have_text(ENGLISH["orderRecordedOnly"])
    expect(recorded).to_be_hidden()
    expect(root.get_by_role("link", name=ENGLISH["openLiveStep"])).to_have_attribute("href", "https://order.example/")
    assert root.locator(".block").count() == 8
    root.locator(".block-clip [value=right]").check(force=True)
    expect(title).to_have_text("◆ The step is 2 times too large, and nothing says so")
    root.get_by_role("radio", name="E5M2", exact=True).check(force=True)
    expect(root.locator(".outcome-lines")).to_have_text(ENGLISH["orderRecordedOnly"])
    root.locator(".block-unscale [value=fp32]").check(force=True)
    expect(title).to_have_text(VERDICTS["clip"][0])
    assert requests == [target.as_uri()]
    assert MISPLACED["clip"] == ("clip", "before_unscale")
    context.close()


def test_a_saved_step_fits_every_box_with_its_mark(browser: Browser, target: Path) -> None:
    address = Server(f"{target.as_uri()}#v=1&s=clip&e=1", None, None)
    with watched(open_page(browser, address, reduced_motion="reduce")) as explorer:
        for name in ("clip before", "swamp narrow"):
            turn_to(explorer.page, name, "&e=1")
            for width, height in SIZES:
                explorer.page.set_viewport_size({"width": width, "height": height})
                explorer.settle()
                measured = explorer.at_each(f"(root) => [({MEASURE})(root), ({MARK})(root)]")
                unfit = {k: each for k, each in zip(ALL_K, measured, strict=True) if each != [FITS, "Recorded."]}
                assert (name, width, unfit) == (name, width, {})


#: What is to be seen of the mark of a recorded step: its word at least.
MARK = """(root) => {
  const mark = root.querySelector(".order-card .recorded strong"), { top, bottom } = mark.getBoundingClientRect();
  return mark.checkVisibility() && top >= 0 && bottom <= innerHeight ? mark.textContent : null;
}"""
