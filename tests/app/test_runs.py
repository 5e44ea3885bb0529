"""Training runs as columns: what the core's trainer records, step by step, told in parts that make the whole."""

from dataclasses import replace
from fractions import Fraction
from itertools import groupby, product
import json
import math

import numpy as np
import pytest

from lossscale_app import runs
from lossscale_app.messages import ENGLISH
from lossscale_app.runs import RUNS, Request, read_request, recorded, train
from lossscale_core import (
    BF16,
    E4M3,
    FP16,
    SCALER_PRESETS,
    Action,
    Ending,
    Injection,
    InputError,
    ScalerPolicy,
    Training,
    TrainingPlan,
    Window,
    parse_number,
)

from .lookup_mirror import strict_json

SCALES = range(-40, 41)
LETTERS = {Action.STEP: "S", Action.SKIP: "K", Action.RAISE: "R"}

#: Runs of all kinds, short ones, and the same as a plan of the core's.
CASES = {
    "a scale that moves": (
        Request("pytorch,growth_interval.5", "steps.33,seed.1,positions.1,reduction.sum", 12, "fp16"),
        TrainingPlan(steps=33, seed=1, positions=1, reduction="sum"),
        ScalerPolicy(growth_interval=5),
    ),
    "most gradients lost": (
        Request("pytorch", "steps.21", -4, "fp16"),
        TrainingPlan(steps=21),
        ScalerPolicy(),
    ),
    "E4M3 and odd scales": (
        Request("pytorch,init_scale.1000,growth_factor.1.1,growth_interval.2", "steps.12,positions.64", 9, "e4m3"),
        TrainingPlan(steps=12, positions=64, format=E4M3),
        ScalerPolicy(init_scale=1000, growth_factor=1.1, growth_interval=2),
    ),
    "BF16 and SGD": (
        Request("megatron", "steps.12,optimizer.sgd,max_norm.1,micro_batches.2,batch.16", 0, "bf16"),
        TrainingPlan(steps=12, optimizer="sgd", max_norm=1, micro_batches=2, batch=16, format=BF16),
        SCALER_PRESETS["megatron"],
    ),
    "NaN in the data": (
        Request("pytorch", "steps.200,batch.4,inject.nan,inject_at.7,inject_lasting.true", 40, "fp16"),
        TrainingPlan(steps=200, batch=4, injection=Injection("nan", 7, lasting=True)),
        ScalerPolicy(),
    ),
    "one overflow": (
        Request("deepspeed_zero,hysteresis.1", "steps.9,inject.inf,inject_at.3", 3, "fp16"),
        TrainingPlan(steps=9, injection=Injection("inf", 3)),
        replace(SCALER_PRESETS["deepspeed_zero"], hysteresis=1),
    ),
    "steps without a window": (
        Request(
            "pytorch,growth_interval.10",
            "steps.40,learning_rate.0.03,positions.16,inject.nan,inject_at.20",
            12,
            "e4m3",
        ),
        TrainingPlan(steps=40, learning_rate=0.03, positions=16, injection=Injection("nan", 20), format=E4M3),
        ScalerPolicy(growth_interval=10),
    ),
}
every_case = pytest.mark.parametrize("case", CASES)


@pytest.fixture
def anew(monkeypatch):
    """Nothing was made before."""
    monkeypatch.setattr(runs, "_KEPT", runs._Kept(64))


def plan_of(case, name):
    request, plan, policy = CASES[case]
    scalers = {"fp32_scaled": policy, "dynamic": policy}
    scalers["static"] = ScalerPolicy(init_scale=2.0**request.log2_scale, dynamic=False)
    return replace(plan, autocast=not name.startswith("fp32"), scaler=scalers.get(name))


def told(request, names=RUNS):
    """What is told of runs, in order, as a browser reads it."""
    parts = []
    train(request, names, parts.append)
    return [strict_json(json.dumps(part)) for part in parts]


def joined(parts, name):
    """The columns of a run, put together: the browser does no more."""
    mine = [part for part in parts if part["run"] == name]
    whole = {"did": "", "loss": [], "scales": [], "lostOfAll": [], "windows": []}
    for part in mine:
        assert part["first"] == len(whole["loss"]) + 1
        for column in whole.keys() & part.keys():
            whole[column] += part[column]
    lost = [np.array(part["lost"]).T for part in mine if "lost" in part]
    return {**whole, "lost": np.concatenate(lost).tolist() if lost else [], "end": mine[-1]["end"]}


@pytest.fixture(scope="module")
def made():
    """Every run of every case: its columns, and what the core records."""
    found = {}
    for case, (request, _, _) in CASES.items():
        parts = told(request)
        for name in RUNS:
            training = Training(plan_of(case, name))
            found[case, name] = (joined(parts, name), list(training), training)
    return found


every_run = pytest.mark.parametrize(("case", "name"), list(product(CASES, RUNS)))


@every_run
def test_the_plan_is_what_was_asked_for(case, name):
    assert CASES[case][0].plan(name) == plan_of(case, name)


@every_run
def test_every_step_is_as_the_core_records_it(made, case, name):
    columns, records, _ = made[case, name]
    assert len(columns["loss"]) == len(columns["did"]) == len(records)
    for shown, record in zip(columns["loss"], records, strict=True):
        assert shown == (float(f"{record.loss:.3e}") if math.isfinite(record.loss) else None)
    assert columns["did"] == "".join(LETTERS[record.action] for record in records)


@every_run
def test_the_scale_of_every_step(made, case, name):
    columns, records, _ = made[case, name]
    assert columns["scales"][0][0] == 1
    for record in records:
        _, log2, text = [entry for entry in columns["scales"] if entry[0] <= record.step][-1]
        scale = record.scale
        assert log2 == (pytest.approx(math.log2(scale), abs=1e-4) if 0 < scale < math.inf else None)
        exact = parse_number(text.removeprefix("≈"))
        assert exact == scale if "≈" not in text else exact == pytest.approx(scale, rel=1e-3)
        assert text.startswith("2^") == (0 < scale < math.inf and math.log2(scale).is_integer())


def test_a_scale_that_sinks_to_nothing_is_told(made):
    columns, _, _ = made["NaN in the data", "dynamic"]
    assert columns["scales"][-1][1:] == [None, "0"]


@every_run
def test_what_is_lost_in_every_step(made, case, name):
    columns, records, _ = made[case, name]
    if name.startswith("fp32"):
        assert columns["lost"] == columns["lostOfAll"] == columns["windows"] == []
        return
    shares = [[*record.lost, record.lost_of_all] for record in records]
    shown = [[*lost, of_all] for lost, of_all in zip(columns["lost"], columns["lostOfAll"], strict=True)]
    assert np.shape(shown) == (len(records), 9)
    for percent, share in zip(np.ravel(shown), np.ravel(shares), strict=True):
        assert percent == pytest.approx(100 * share, rel=0.005)
        assert (percent == 0, percent == 100) == (share == 0, share == 1)


def test_hardly_any_is_not_none_and_nearly_all_is_not_all(made):
    record = made["most gradients lost", "unscaled"][1][0]
    extreme = replace(record, lost=(0.0, 1e-9, 0.5, 0.12345, 0.98765, 0.9996, 0.999999, 1.0), lost_of_all=0.9999)
    part = runs._part([extreme], 0, narrow=True)
    assert [column[0] for column in part["lost"]] == [0, 1e-7, 50, 12.3, 98.8, 99.9, 99.9, 100]
    assert part["lostOfAll"] == [99.9]


@every_run
def test_the_window_of_every_step(made, case, name):
    columns, records, _ = made[case, name]
    for shown, record in zip(columns["windows"], records, strict=False):
        window = record.window
        assert (shown is None) == (window is None)
        if window is None:
            continue
        ends = [window.lower, window.upper]
        assert shown[:2] == pytest.approx([math.log2(end) for end in ends], abs=0.0051)
        powers = [k for k in range(-200, 200) if 2.0**k in window]
        if powers:
            assert shown[2:] == [powers[0], powers[-1]]
        elif ends[0] < ends[1]:
            texts = shown[2:]
            exact = [parse_number(text.removeprefix("≈")) for text in texts]
            assert exact == pytest.approx([float(end) for end in ends], rel=5e-4)
            assert all("≈" in text or parse_number(text) == end for text, end in zip(texts, ends, strict=True))
        else:
            assert len(shown) == 2


#: The ends of windows that no short run has, and their column.
ODD_WINDOWS = {
    "everything": ((0, math.inf), [None, None, None, None]),
    "a power of two as an end": ((Fraction(2) ** 28, 3 * Fraction(2) ** 27), [28, 28.58, "2^28", "402653184"]),
    "both ends the same": ((Fraction(3), Fraction(3)), [1.58, 1.58]),
}


@pytest.mark.parametrize(("ends", "column"), ODD_WINDOWS.values(), ids=ODD_WINDOWS)
def test_odd_windows(made, ends, column):
    window = Window(Fraction(ends[0]), False, ends[1], False)
    record = replace(made["most gradients lost", "unscaled"][1][0], window=window)
    (shown,) = runs._part([record], 0, narrow=True)["windows"]
    assert shown == column


@every_run
def test_what_came_of_a_run(made, case, name):
    columns, records, training = made[case, name]
    end = columns["end"]
    # A batch whose loss is no number says nothing about what has been learned, unless training ends with it.
    last = [record.loss for record in records[-30:]]
    if records[-1].ending is None:
        last = list(filter(math.isfinite, last))
    mean = sum(last) / len(last) if last else math.nan
    assert end["loss"] == (float(f"{mean:.3e}") if math.isfinite(mean) else None)
    assert end["steps"] == len(records)
    assert end["accuracy"] == pytest.approx(100 * training.accuracy(), abs=0.05)
    assert end["lost"] == pytest.approx(100 * np.mean([record.lost_of_all for record in records]), rel=0.005)
    assert end["skipped"] == sum(record.action is not Action.STEP for record in records)
    assert end["ending"] == ("" if records[-1].ending is None else records[-1].ending.name.lower())
    windows = [record.window for record in records if record.window is not None]
    assert end["safe"] == [sum(2.0**k in window for window in windows) for k in SCALES]


def test_the_cases_show_all_that_can_be_shown(made):
    """Else the tests above look at nothing."""
    dids = {letter for columns, _, _ in made.values() for letter in columns["did"]}
    assert {"S", "K"} <= dids
    counts = {count for columns, _, _ in made.values() for count in columns["end"]["safe"]}
    assert len(counts) > 10
    assert any(entry[2].startswith("≈") for columns, _, _ in made.values() for entry in columns["scales"])
    shares = {share for columns, _, _ in made.values() for share in columns["lostOfAll"]}
    assert 0 in shares
    assert max(shares) > 40
    assert {columns["end"]["ending"] for columns, _, _ in made.values()} >= {"", "weights"}
    windows = [record.window for _, records, _ in made.values() for record in records]
    assert {window and (window.empty, window.log2_powers is None) for window in windows} == {
        *(None, (False, False), (False, True), (True, True))
    }


@pytest.mark.parametrize(("scale", "same"), [("65536", True), ("p40", True), ("1000", False)])
def test_two_runs_are_the_same_only_bit_for_bit(scale, same):
    request = Request(f"pytorch,init_scale.{scale}", "steps.8", 0, "fp16")
    ends = [joined(told(request, ["fp32", "fp32_scaled"]), name)["end"]["weights"] for name in ("fp32", "fp32_scaled")]
    trained = [Training(request.plan(name)) for name in ("fp32", "fp32_scaled")]
    for training in trained:
        list(training)
    pairs = zip(trained[0].parameters, trained[1].parameters, strict=True)
    assert all(np.array_equal(one, two) for one, two in pairs) is same
    assert (ends[0] == ends[1]) is same


# Telling


def test_all_runs_go_on_side_by_side(anew):
    parts = told(Request("pytorch", "steps.31,batch.8", 5, "fp16"))
    turns = [part["run"] for part in parts]
    assert turns == [*RUNS] * (len(turns) // len(RUNS))
    assert len(turns) >= 4 * len(RUNS)
    for _, group in groupby(sorted(parts, key=lambda part: part["run"]), key=lambda part: part["run"]):
        assert [("end" in part) for part in group] == [False] * (len(turns) // len(RUNS) - 1) + [True]


def test_a_run_that_ends_early_lets_the_others_go_on(anew):
    parts = told(Request("pytorch", "steps.40,batch.8,inject.inf,inject_at.3", 5, "fp16"))
    first = [part for part in parts if part["run"] == "unscaled"]
    assert len(first) == 1
    assert (len(first[0]["loss"]), first[0]["end"]["ending"]) == (3, "weights")
    assert {name: len(joined(parts, name)["loss"]) for name in RUNS} == dict.fromkeys(RUNS, 40) | {"unscaled": 3}


def test_a_run_made_before_is_told_at_once_and_is_the_same(anew, monkeypatch):
    request = Request("pytorch,growth_interval.3", "steps.23,batch.8,seed.9", 30, "fp16")
    before = told(request)
    monkeypatch.setattr(runs, "Training", None)
    after = told(request)
    assert [part["run"] for part in after] == list(RUNS)
    for name in RUNS:
        one, two = joined(before, name), joined(after, name)
        for step in range(1, 24):
            assert scale_at(one, step) == scale_at(two, step)
        assert {**one, "scales": 0} == {**two, "scales": 0}
    whole = recorded(request)
    assert list(whole) == [request.key(name) for name in RUNS]
    for name, part in zip(RUNS, after, strict=True):
        assert strict_json(json.dumps({"run": name, **whole[request.key(name)]})) == part


def scale_at(columns, step):
    return [entry[1:] for entry in columns["scales"] if entry[0] <= step][-1]


def test_only_some_runs_are_kept(monkeypatch):
    monkeypatch.setattr(runs, "_KEPT", runs._Kept(2))
    requests = [Request("pytorch", f"steps.11,batch.4,seed.{seed}", 0, "fp16") for seed in range(3)]
    for request in (requests[0], requests[1], requests[0], requests[2]):
        told(request, ["fp32"])
    assert [len(told(request, ["fp32"])) for request in (requests[0], requests[2], requests[1])] == [1, 1, 3]


def test_what_telling_raises_ends_the_work(anew, monkeypatch):
    class Enough(Exception):  # noqa: N818 - it is no error
        pass

    made, parts = [], []
    step = Training._step
    monkeypatch.setattr(Training, "_step", lambda self, number: made.append(number) or step(self, number))

    def tell(part):
        parts.append(part)
        if len(parts) == 3:
            raise Enough

    request = Request("pytorch", "steps.500,batch.4", 0, "fp16")
    with pytest.raises(Enough):
        train(request, RUNS, tell)
    assert (len(parts), len(made)) == (3, 15)
    parts.clear()
    train(replace(request, run="steps.9,batch.4"), ["fp32"], lambda part: None)
    assert len(made) == 15 + 9


# Telling runs apart


def test_runs_have_one_key_exactly_where_they_are_one_run():
    policies, settings = ("pytorch", "megatron"), ("", "seed.1")
    keyed = {}
    for policy, run, k, fmt, name in product(policies, settings, (0, 5), ("fp16", "bf16"), RUNS):
        request = Request(policy, run, k, fmt)
        plan = request.plan(name)
        # Without autocast the narrow format changes nothing.
        meant = plan if plan.autocast else replace(plan, format=FP16)
        keyed.setdefault(request.key(name), set()).add(meant)
    assert all(len(plans) == 1 for plans in keyed.values())
    assert len({plan for plans in keyed.values() for plan in plans}) == len(keyed) == 2 * (1 + 2 + 2 + 2 * 2 + 2 * 2)


# Requests

ASKED = {"policy": "pytorch", "run": "steps.5", "k": 3, "format": "fp16", "runs": ["fp32", "dynamic"]}


def test_a_request_is_read():
    assert read_request(ASKED) == (Request("pytorch", "steps.5", 3, "fp16"), ["fp32", "dynamic"])


NONSENSE = {
    "nothing": {},
    "no scaler": {**ASKED, "policy": None},
    "a scaler that is unknown": {**ASKED, "policy": "torch"},
    "a bad field": {**ASKED, "policy": "pytorch,growth_factor.1"},
    "a number as settings": {**ASKED, "run": 3},
    "bad settings": {**ASKED, "run": "steps.0"},
    "too much": {**ASKED, "run": "steps.2000,batch.1024"},
    "a k beyond the slider": {**ASKED, "k": 41},
    "a k between": {**ASKED, "k": 0.5},
    "a k as text": {**ASKED, "k": "3"},
    "a format that is unknown": {**ASKED, "format": "fp4"},
    "a format that is none": {**ASKED, "format": ["fp16"]},
    "FP32 as narrow format": {**ASKED, "format": "fp32"},
    "a run that is unknown": {**ASKED, "runs": ["fp32", "fp64"]},
    "a run that is none": {**ASKED, "runs": [["fp32"], {}]},
    "runs as a text": {**ASKED, "runs": "fp32"},
    "numbers for runs": {**ASKED, "runs": [0]},
}


@pytest.mark.parametrize("asked", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_is_refused_in_a_sentence(asked):
    with pytest.raises(InputError) as refused:
        read_request(asked)
    sentence = str(refused.value)
    assert 20 < len(sentence) < 400
    assert sentence.endswith(".")


# Endings

#: A run that ends so, and what is done in its last step.
ENDED = {
    Ending.WEIGHTS: ("unscaled", "pytorch", "inject.inf,inject_at.4", "S"),
    Ending.DIVERGED: ("fp32", "pytorch", "learning_rate.3e38,positions.1", "S"),
    Ending.LOSS: ("fp32_scaled", "pytorch", "optimizer.sgd,learning_rate.1e37,positions.1", "K"),
    Ending.SCALER: ("dynamic", "deepspeed_zero,init_scale.1,hysteresis.1", "inject.inf,inject_at.4", "R"),
}


@pytest.mark.parametrize("ending", Ending)
def test_every_ending_is_told_and_has_a_sentence(ending):
    name, policy, run, action = ENDED[ending]
    columns = joined(told(Request(policy, f"steps.20,{run}", 0, "fp16"), [name]), name)
    assert columns["end"]["ending"] == ending.name.lower()
    assert columns["end"]["steps"] == len(columns["loss"]) < 20
    assert columns["did"][-1] == action
    assert ENGLISH[f"ending-{ending.name.lower()}"].endswith(".")
