"""The training view wherever it is shown: in files, in saved and embedded pages, at every size, to every reader."""

from collections.abc import Iterator
import csv
import io
import json
import re
from xml.etree import ElementTree

from playwright.sync_api import Browser, expect
import pytest

from lossscale_app.messages import ENGLISH
from lossscale_app.recordings import recorded_runs
from lossscale_core import Action

from .hosts import NO_STORAGE, Site, go_to_hash
from .launch import Server
from .pages import ExplorerPage, open_page
from .test_accessibility import faults
from .test_embed import FITS, MEASURE, SIZES
from .test_exports import Saving, printed
from .test_layout import misplaced
from .training_page import (
    BASE,
    RUN,
    SHOWN,
    check_measured,
    core,
    enter,
    made,
    power,
    read,
)

pytest_plugins = ("browser.host_fixtures", "browser.training_fixtures")
pytestmark = pytest.mark.browser

ALL = ("fp32", "fp32_scaled", "unscaled", "static", "dynamic")
SCENES = ("dyn", "nan", "autocast")
SCREENS = ((1280, 800), (390, 844), (525, 450), (320, 640))


# Files


@pytest.fixture
def saving(view: ExplorerPage) -> Iterator[Saving]:
    saving = Saving(view)
    yield saving
    saving.box.get_by_role("button", name="Close").click()


def test_the_columns_as_csv(saving: Saving) -> None:
    saved = saving.save("CSV")
    assert saved.name == "loss-scaling-training-k12-fp16.csv"
    text = saved.data.decode("ascii")
    assert text.endswith("\r\n")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert list(rows[0]) == [
        *("run", "step", "loss", "log2_scale", "action", "percent_lost", "window_from_log2", "window_to_log2"),
    ]
    assert len(rows) == 5 * 40
    for name in ALL:
        mine = [row for row in rows if row["run"] == name]
        for row, record in zip(mine, core(name)[0], strict=True):
            assert (int(row["step"]), row["action"]) == (record.step, record.action.value)
            assert float(row["loss"]) == pytest.approx(record.loss, rel=0.0006)
            assert 2.0 ** float(row["log2_scale"]) == record.scale
            assert float(row["percent_lost"]) == pytest.approx(100 * record.lost_of_all, rel=0.006)
            ends = (row["window_from_log2"], row["window_to_log2"])
            if record.window is None:
                assert ends == ("", "")
            else:
                assert 2.0 ** float(ends[0]) == pytest.approx(float(record.window.lower), rel=0.004)
                assert 2.0 ** float(ends[1]) == pytest.approx(float(record.window.upper), rel=0.004)


def test_the_columns_as_json(saving: Saving) -> None:
    data = json.loads(saving.save("JSON").data, parse_constant=pytest.fail)
    assert data["link"] == f"?v=1&k=12&view=training&r={RUN}"
    assert set(data["runs"]) == set(ALL)
    for name, run in data["runs"].items():
        records, accuracy = core(name)
        assert run["loss"] == [float(f"{record.loss:.3e}") for record in records]
        assert run["did"] == "".join("S" if record.action is Action.STEP else "K" for record in records)
        assert run["end"]["accuracy"] == pytest.approx(100 * accuracy, abs=0.05)


def test_the_python_makes_the_same_runs(saving: Saving) -> None:
    saved = saving.save("NumPy")
    assert saved.name == "loss-scaling-training-k12-fp16.py"
    _, out = printed(saved.data.decode())
    lines = [line.split() for line in out.splitlines()]
    for name in SHOWN:
        records, accuracy = core(name)
        *steps, last = [line[1:] for line in lines if line[0] == name]
        assert [float(loss) for _, loss, *_ in steps] == [record.loss for record in records]
        assert [(float(scale), action) for _, _, scale, action, _ in steps] == [
            (record.scale, record.action.value) for record in records
        ]
        assert float(last[0]) == accuracy


def test_the_python_has_every_setting(view: ExplorerPage) -> None:
    policy = (
        "fairseq,init_scale.p-3,growth_factor.1.5,growth_compare.ge,lag.1,min_scale.none,dtype.float32,dynamic.true"
    )
    run = "seed.007,steps.p3,batch.1e1,micro_batches.2,positions.p4,reduction.sum,optimizer.sgd,learning_rate.0.05"
    damage = "max_norm.2.5,inject.inf,inject_at.p2,inject_lasting.true"
    go_to_hash(view, f"v=1&view=training&k=-2&p={policy}&r={run},{damage}")
    made(view)
    saving = Saving(view)
    _, out = printed(saving.save("NumPy").data.decode())
    saving.box.get_by_role("button", name="Close").click()
    lines = [line.split() for line in out.splitlines()]
    for name in SHOWN:
        records, _ = core(name, policy, f"{run},{damage}", -2)
        losses = [float(line[2]) for line in lines if line[0] == name and len(line) > 2]
        assert losses == pytest.approx([record.loss for record in records], rel=0, abs=0, nan_ok=True)


def test_the_charts_as_a_picture(view: ExplorerPage) -> None:
    saving = Saving(view)
    saved = saving.save("SVG")
    assert saved.name == "loss-scaling-training-k12-fp16.svg"
    root = ElementTree.fromstring(saved.data)  # noqa: S314 - it is our own
    title = root.find("{http://www.w3.org/2000/svg}title").text
    scaler = "PyTorch GradScaler (growth_interval = 10)"
    assert title == f"Training runs in FP16, static S = {power(12)}, dynamic scaler {scaler}"
    texts = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    words = " ".join(filter(None, texts)).split()
    for key in ("safeTitle", "lossTitle", "traceTitle", "lostTitle"):
        assert set(ENGLISH[key].split()) <= set(words), key
    assert {"step", "10", "40", "FP32", "unscaled", "∂ out 4", "∂ W 1"} <= texts
    paths = [path for path in root.iter("{http://www.w3.org/2000/svg}path") if path.get("d", "").count("L") == 39]
    assert len(paths) >= 4
    assert "NaN" not in saved.data.decode()
    assert "undefined" not in saved.data.decode()
    assert saving.save("PNG").data.startswith(b"\x89PNG")
    saving.box.get_by_role("button", name="Close").click()


# Every reader, every size


def test_axe_finds_nothing(view: ExplorerPage) -> None:
    for details in view.root.locator("details").all():
        details.evaluate("details => { details.open = true; }")
    enter(view, "growth_factor", "1")
    expect(view.root.locator(".scaler-card .settings > .problem")).not_to_be_empty()
    assert faults(view) == []
    for details in view.root.locator("details").all():
        details.evaluate("details => { details.open = false; }")


@pytest.mark.parametrize("scene", [*SCENES, "plain"])
def test_everything_is_in_its_place(view: ExplorerPage, scene: str) -> None:
    view.root.get_by_role("button", name=ENGLISH[f"tryRuns-{scene}"]).click()
    made(view)
    found = {}
    for width, height in SCREENS:
        view.page.set_viewport_size({"width": width, "height": height})
        view.settle()
        for k in (-40, 0, 12, 40):
            view.go(k)
            found[width, k] = misplaced(view)
    assert {place: faults for place, faults in found.items() if faults} == {}


def test_a_run_on_its_way_is_in_its_place(view: ExplorerPage) -> None:
    go_to_hash(view, "v=1&view=training&r=steps.2000,seed.8")
    expect(view.root.locator(".run-card progress")).to_be_visible()
    view.page.wait_for_function("() => document.querySelectorAll('.loss-chart .run-line').length === 4")
    for width, height in SCREENS:
        view.page.set_viewport_size({"width": width, "height": height})
        view.settle()
        assert (width, misplaced(view)) == (width, [])
    assert read(view)["note"] == "Being made …"
    view.root.locator(".run-card").get_by_role("button", name="Stop").click()


# A saved page


@pytest.fixture(scope="module")
def saved(browser: Browser, site: Site) -> Iterator[ExplorerPage]:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, offline=True)
    context.add_init_script(NO_STORAGE)
    page = ExplorerPage(context.new_page(), Server(f"{site.saved().as_uri()}#s=dyn", None, None))
    page.open()
    yield page
    problems = page.watch.problems()
    context.close()
    assert not problems


@pytest.mark.parametrize("scene", SCENES)
def test_a_scene_opens_with_its_recorded_runs(saved: ExplorerPage, scene: str) -> None:
    go_to_hash(saved, "v=1&view=training&k=39&f=bf16")
    go_to_hash(saved, f"s={scene}")
    shown = made(saved)
    check_marks(saved)
    expect(saved.root.locator(".run-card .busy")).to_be_hidden()
    expect(saved.root.locator(".run-card").get_by_role("button", name="Make the runs")).to_be_hidden()
    runs = {key.partition(" ")[0]: run for key, run in recorded_runs().items() if is_of(scene, key)}
    for name in SHOWN:
        end = runs[name]["end"]
        if end["loss"] is None:
            assert shown["rows"][name][1] == "NaN"
        else:
            check_measured(shown["rows"][name][1], end["loss"])
        assert int(shown["rows"][name][4].replace(",", "")) == end["skipped"]
        assert len(shown["losses"][name]) == sum(loss is not None for loss in runs[name]["loss"])


def check_marks(explorer: ExplorerPage) -> None:
    """Runs and traces are said to be recorded, whatever else is hidden."""
    for card, key in (("runs", "runsRecorded"), ("overlay", "overlayRecorded")):
        mark = explorer.root.locator(f".{card}-card .recorded")
        expect(mark).to_have_text(f"{ENGLISH['recorded']} {ENGLISH[key]}", use_inner_text=True)


def test_what_is_recorded_says_so_where_controls_are_hidden(browser: Browser, site: Site) -> None:
    link = f"{site.saved().as_uri()}#v=1&s=dyn&hide=run,scaler,autocast,steps"
    explorer = open_page(browser, Server(link, None, None))
    expect(explorer.root.locator(".run-card")).to_be_hidden()
    check_marks(explorer)
    problems = explorer.watch.problems()
    explorer.page.context.close()
    assert problems == []


def is_of(scene: str, key: str) -> bool:
    """Whether a recorded run is one of a scene's."""
    run = {"dyn": "seed.1,positions.1,reduction.sum", "autocast": ""}
    run["nan"] = run["dyn"] + ",inject.nan,inject_at.40,inject_lasting.true"
    name, _, scaler, settings = key.split(" ")
    scaled = {
        "static": "24" if scene == "autocast" else "12",
        "dynamic": f"pytorch,growth_interval.{10 if scene == 'autocast' else 20}",
    }
    return settings == run[scene] and scaler == scaled.get(name, scaler)


def test_a_scale_that_is_not_recorded_says_so(saved: ExplorerPage) -> None:
    go_to_hash(saved, "v=1&view=training&k=5")
    note = saved.root.locator(".run-card .busy")
    expect(note).to_have_text(re.compile(re.escape(ENGLISH["run-note-unrecorded"])))
    assert read(saved)["rows"]["static"][1] == "…"
    # The others are.
    check_marks(saved)
    for k in (0, 8, 16, 24, 32, 40):
        saved.go(k)
        expect(note).to_be_hidden()
        assert made(saved)["rows"]["static"][0] == f"static S = {power(k)}"
    saved.format("BF16")
    expect(saved.root.locator(".runs-card .outcome-title")).to_have_text(ENGLISH["runsNotMade"])
    expect(note).to_have_text(re.compile(re.escape(ENGLISH["run-note-unrecorded"])))


def test_a_link_with_settings_that_only_python_reads_is_told_of(saved: ExplorerPage) -> None:
    go_to_hash(saved, "v=1&view=training&k=8&r=seed.9&p=pytorch,lag.1")
    expect(saved.notice).to_contain_text("r=seed.9")
    expect(saved.notice).to_contain_text("p=pytorch,lag.1")
    assert made(saved)["rows"]["static"][0] == f"static S = {power(8)}"


def test_other_settings_need_the_live_page(saved: ExplorerPage) -> None:
    go_to_hash(saved, "s=dyn")
    before, address = made(saved), saved.page.url
    box = enter(saved, "growth_interval", "5")
    expect(saved.root.locator(".scaler-card .settings > .problem")).to_have_text(ENGLISH["settingsNeedLive"])
    expect(box).to_have_value("5")
    saved.root.get_by_label("jmp", exact=True).check()
    expect(saved.root.locator(".overlay-card .problem")).to_have_text(ENGLISH["settingsNeedLive"])
    legend = saved.root.locator(".overlay-legend li")
    expect(legend).to_have_count(3)
    # The reader's own scaler is the one above, and what is recorded can be left out and put back.
    expect(legend.first).to_contain_text("PyTorch GradScaler (growth_interval = 20): ")
    saved.root.get_by_label("jmp", exact=True).uncheck()
    saved.root.get_by_label("Megatron-LM", exact=True).uncheck()
    expect(legend).to_have_count(2)
    expect(saved.root.locator(".overlay-card .problem")).to_be_empty()
    saved.root.get_by_label("Megatron-LM", exact=True).check()
    expect(legend).to_have_count(3)
    assert (read(saved), saved.page.url) == (before, address)


def test_a_saved_page_asks_nobody(saved: ExplorerPage) -> None:
    go_to_hash(saved, "s=autocast")
    saving = Saving(saved)
    for kind in ("CSV", "JSON", "NumPy", "SVG"):
        assert saving.save(kind).data
    saving.box.get_by_role("button", name="Close").click()
    addresses = [url for url in saved.watch.requests if not url.startswith(("data:", "blob:"))]
    assert addresses == [saved.server.url.partition("#")[0]]


# Embedded


@pytest.fixture(scope="module")
def boxes(browser: Browser, server: Server, site: Site) -> Iterator[dict[str, ExplorerPage]]:
    context = browser.new_context(viewport={"width": 525, "height": 450}, reduced_motion="reduce")
    addresses = {"live": f"{server.url}/?{BASE}&e=1", "saved": f"{site.saved_url()}#s=dyn&e=1"}
    kept = {name: ExplorerPage(context.new_page(), Server(url, None, None)).open() for name, url in addresses.items()}
    yield kept
    problems = [problem for explorer in kept.values() for problem in explorer.watch.problems()]
    context.close()
    assert not problems


@pytest.mark.parametrize("form", ["live", "saved"])
def test_it_fits_its_box(boxes: dict[str, ExplorerPage], form: str) -> None:
    explorer = boxes[form]
    expect(explorer.root.locator(".runs-card .outcome-title")).to_have_text(
        re.compile("Without scaling"), timeout=60_000
    )
    measured = {}
    for size in SIZES:
        for theme in ("light", "dark"):
            explorer.page.set_viewport_size({"width": size[0], "height": size[1]})
            explorer.page.emulate_media(color_scheme=theme)
            for k in (-40, 0, 12, 40):
                explorer.go(k)
                explorer.settle()
                measured[size, theme, k] = explorer.root.evaluate(MEASURE)
    assert measured == dict.fromkeys(measured, FITS)


@pytest.mark.parametrize("scene", ["nan", "autocast"])
def test_a_scene_fits_its_box_with_its_mark(boxes: dict[str, ExplorerPage], scene: str) -> None:
    explorer = boxes["saved"]
    go_to_hash(explorer, f"s={scene}&e=1")
    # In the last one there is room for the scales, too.
    for size in (*SIZES, (1200, 900)):
        explorer.page.set_viewport_size({"width": size[0], "height": size[1]})
        explorer.settle()
        assert (size, explorer.root.evaluate(MEASURE)) == (size, FITS)
        assert (size, misplaced(explorer)) == (size, [])
        mark = explorer.root.locator(".runs-card .recorded strong")
        expect(mark).to_have_text(ENGLISH["recorded"], use_inner_text=True)
        expect(mark).to_be_in_viewport(ratio=1)
