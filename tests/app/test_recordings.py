"""The runs that come with a saved page: the page finds every one of them under the key it makes itself."""

import json
import math
import shutil
import subprocess

import pytest

from lossscale_app.bundle import browser_text
from lossscale_app.links import DEFAULTS, read_link
from lossscale_app.overlays import overlay
from lossscale_app.page_setup import setup_json
from lossscale_app.recordings import recorded_overlay, recorded_runs
from lossscale_app.runs import RUNS, Request, recorded, train
from lossscale_app.scenes import SCENES, TRAINING_TRIES
from lossscale_core import Training

from .lookup_mirror import strict_json

STATIC = (0, 8, 16, 24, 32, 40)


def state_of(link):
    """The browser's state of a link."""
    return state_with(read_link(link).params)


def state_with(params):
    state = {**DEFAULTS, **params}
    return {"policy": state["policy"], "run": state["run"], "k": state["log2_scale"], "format": state["format"]}


#: What the page opens with, every scenario of the training view, and what it offers to try.
SHOWN = {
    "as it opens": state_of("?view=training"),
    **{name: state_of(f"?s={name}") for name, scene in SCENES.items() if scene.get("view") == "training"},
    **{name: state_with(params) for name, params in TRAINING_TRIES.items()},
}


def in_the_page(program, **values):
    """What a program finds that has the page's own `runs.js`, and some values."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node on this machine to run the page's module; the browser tests run it too")
    given = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in values.items())
    text = f"{browser_text('runs.js')}\n{given}const found = {program};\nconsole.log(JSON.stringify(found));"
    done = subprocess.run(
        [node, "--input-type=module", "-"], input=text, capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout)


def test_the_page_finds_all_it_shows():
    program = """shown.map((state) => {
        const runs = new Runs(recorded);
        const steps = ALL_RUNS.map((name) => runs.isRecorded(name, state) && runs.get(name, state).end.steps);
        return [runs.missing(state), steps];
    })"""
    found = in_the_page(program, recorded=recorded_runs(), shown=list(SHOWN.values()))
    assert {"dyn", "nan", "autocast", "plain"} < set(SHOWN)
    for name, (missing, steps) in zip(SHOWN, found, strict=True):
        # Without a scaler a NaN ends the run at once.
        ended = [40, 300, 40, 300, 300] if name == "nan" else [300] * 5
        assert (name, missing, steps) == (name, [], ended)


def test_the_page_finds_the_static_scales():
    program = """{
        scales: new Runs(recorded).staticScales(state),
        other: new Runs(recorded).staticScales({ ...state, run: "seed.5" }),
        at: ks.map((k) => new Runs(recorded).missing({ ...state, k })),
        others: [{ run: "seed.5" }, { policy: "megatron" }, { format: "bf16" }]
            .map((changes) => new Runs(recorded).missing({ ...state, ...changes })),
    }"""
    found = in_the_page(program, recorded=recorded_runs(), state=state_of(""), ks=list(range(-40, 41)))
    assert found == {
        "scales": list(STATIC),
        "other": [],
        "at": [[] if k in STATIC else ["static"] for k in range(-40, 41)],
        "others": [list(RUNS), ["fp32_scaled", "dynamic"], ["unscaled", "static", "dynamic"]],
    }


def test_nothing_is_recorded_that_the_page_does_not_find():
    program = "shown.flatMap((state) => ALL_RUNS.map((name) => new Runs({}).key(name, state)))"
    shown = [*SHOWN.values(), *({**SHOWN["as it opens"], "k": k} for k in STATIC)]
    assert set(in_the_page(program, shown=shown)) == set(recorded_runs())


@pytest.mark.parametrize("name", RUNS)
def test_what_is_recorded_is_the_run(name):
    """But for the last digits, which other machines compute otherwise: these grow from step to step."""
    state = SHOWN["dyn"]
    request = Request(state["policy"], state["run"], state["k"], state["format"])
    columns = recorded_runs()[request.key(name)]
    ((key, fresh),) = recorded(request, (name,)).items()
    assert key == request.key(name)
    assert columns.keys() == fresh.keys()
    assert columns["end"].keys() == fresh["end"].keys()
    records = list(Training(request.plan(name)))
    assert columns["loss"][:20] == pytest.approx([record.loss for record in records[:20]], rel=2e-3)
    assert columns["did"][:20] == "".join("S" if record.action == "step" else "K" for record in records[:20])
    assert len(columns["loss"]) == len(columns["did"]) == len(records)
    assert columns["end"]["loss"] == pytest.approx(fresh["end"]["loss"], rel=0.5)


def test_the_page_joins_the_parts_of_a_run_to_the_whole():
    state = {"policy": "pytorch,growth_interval.4", "run": "steps.23,seed.5,positions.1,reduction.sum"}
    state |= {"k": -9, "format": "fp16"}
    request = Request(*state.values())
    parts = []
    train(request, RUNS, parts.append)
    program = """(() => {
        const runs = new Runs({}), half = parts.slice(0, 7);
        for (const part of half) runs.take(part, state);
        const begun = runs.missing(state).length;
        runs.begin(runs.missing(state), state);
        const empty = ALL_RUNS.every((name) => runs.get(name, state) === null);
        for (const part of parts) runs.take(part, state);
        const shown = (name) => [1, 2, 11, 23, 24].map((step) => atStep(runs.get(name, state), step));
        return {
            begun, empty, missing: runs.missing(state), recorded: runs.isRecorded("fp32", state),
            runs: Object.fromEntries(ALL_RUNS.map((name) => [name, runs.get(name, state)])),
            at: Object.fromEntries(ALL_RUNS.map((name) => [name, shown(name)])),
            pattern: patternOf(runs.get("dynamic", state)), raised: patternOf({ did: "KSSR" }),
        };
    })()"""
    found = in_the_page(program, parts=parts, state=state)
    assert (found["begun"], found["empty"], found["missing"], found["recorded"]) == (5, True, [], False)
    assert len(parts) > 20
    for name in RUNS:
        records, run = list(Training(request.plan(name))), found["runs"][name]
        assert run["loss"] == [float(f"{record.loss:.3e}") for record in records]
        assert run["did"] == "".join("S" if record.action == "step" else "K" for record in records)
        assert run["end"]["steps"] == 23
        shown = found["at"][name]
        assert shown[4] is None
        for step, at in zip((1, 2, 11, 23), shown, strict=False):
            record = records[step - 1]
            assert (at["loss"], at["log2"]) == (run["loss"][step - 1], pytest.approx(math.log2(record.scale)))
            assert at["did"] == run["did"][step - 1]
            assert at["lost"] == pytest.approx(100 * record.lost_of_all, rel=0.005)
            if not name.startswith("fp32"):
                assert at["lostByTensor"] == pytest.approx([100 * share for share in record.lost], rel=0.005)
                assert tuple(at["window"][2:]) == record.window.log2_powers
    assert found["pattern"] == found["runs"]["dynamic"]["did"].replace("S", "F").replace("K", "N")
    assert "N" in found["pattern"]
    assert len({str(column) for column in found["runs"]["static"]["lost"]}) > 4
    assert found["raised"] == "NFFN"


def test_the_pattern_and_the_scalers_that_the_page_opens_with():
    text = browser_text("overlaycard.js")
    recorded = recorded_overlay()
    assert f'PATTERN = "{recorded["pattern"]}"' in text
    own = {DEFAULTS["policy"], *(scene["policy"] for scene in SCENES.values() if "policy" in scene)}
    policies = [*sorted(own), "deepspeed_zero", "megatron"]
    assert '["mine", "deepspeed_zero", "megatron"].includes(name)' in text
    assert recorded["traces"] == overlay(recorded["pattern"], policies)


def test_a_saved_page_has_the_recordings_and_a_served_one_has_none():
    saved, served = strict_json(setup_json(served=False)), strict_json(setup_json())
    assert set(saved["recorded"]["runs"]) == set(recorded_runs())
    assert saved["recorded"]["overlay"] == recorded_overlay()
    assert served["recorded"] == {}
