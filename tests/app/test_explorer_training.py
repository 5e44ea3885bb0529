"""Training runs asked of the explorer: told while they are made, stopped when nobody wants them, in nobody's way."""

import asyncio
import json
import threading

import pytest

from lossscale_app import Explorer
from lossscale_app.overlays import overlay
from lossscale_app.runs import RUNS, Request, train
from lossscale_core import InputError

from .lookup_mirror import strict_json
from .loops import run

SETTINGS = {"policy": "pytorch,growth_interval.4", "run": "steps.33,batch.16", "k": 5, "format": "fp16"}


def asked(runs=RUNS, number=7, **changes):
    return {"ask": number, "train": {**SETTINGS, **changes, "runs": list(runs)}}


@pytest.fixture
def sent(monkeypatch):
    """What explorers reply, in order, as a browser reads it."""
    replies = []
    monkeypatch.setattr(Explorer, "_reply", lambda self, data: replies.append(strict_json(json.dumps(data))))
    return replies


def shown():
    """An explorer that pretends to be on a page."""
    explorer = Explorer()
    explorer._models = {"shown": None}
    return explorer


@pytest.fixture
def explorer(sent):
    return shown()


@pytest.fixture
def often(monkeypatch):
    """Every step is told by itself."""
    monkeypatch.setattr("lossscale_app.explorer._STEPS_EVERY", 0)


def steps_in(replies, number):
    return [part for reply in replies if reply.get("of") == number for part in reply["training"]]


def test_runs_are_told_while_they_are_made_and_then_as_made(explorer, sent, often):
    before = explorer.param.values()
    run(explorer._handle_msg(asked()))
    assert sent[-1] == {"answer": 7, "trained": True}
    assert all(set(reply) == {"training", "of"} for reply in sent[:-1])
    assert len(sent) > 10
    whole = []
    train(Request(*SETTINGS.values()), RUNS, whole.append)
    for name in RUNS:
        parts = [part for part in steps_in(sent, 7) if part["run"] == name]
        (right,) = [part for part in whole if part["run"] == name]
        assert [loss for part in parts for loss in part["loss"]] == right["loss"]
        assert "".join(part["did"] for part in parts) == right["did"]
        assert parts[-1]["end"] == right["end"]
    assert explorer.param.values() == before


def test_only_what_is_asked_for_is_made(explorer, sent):
    run(explorer._handle_msg(asked(["static"], k=6)))
    assert {part["run"] for part in steps_in(sent, 7)} == {"static"}
    assert steps_in(sent, 7)[0]["scales"] == [[1, 6, "2^6"]]
    assert sent[-1] == {"answer": 7, "trained": True}


@pytest.mark.parametrize("last", ["cancelled", "left"])
def test_runs_that_nobody_wants_any_more_stop(explorer, sent, often, last):
    async def stop():
        going = asyncio.create_task(explorer._handle_msg(asked(number=3, run="steps.2000,batch.16")))
        while not sent:
            await asyncio.sleep(0.01)
        if last == "cancelled":
            await explorer._handle_msg({"ask": 4, "cancel": 3})
        else:
            explorer._models = {}
        await going

    run(stop())
    assert {"answer": 3, "cancelled": True} in sent
    assert not any(reply.get("trained") for reply in sent)
    assert 0 < max(part["first"] for part in steps_in(sent, 3)) < 1900
    assert explorer._cancelled == set()


def test_a_session_without_a_page_makes_no_runs(explorer, sent):
    explorer._models = {}
    run(explorer._handle_msg(asked(run="steps.2000,batch.15")))
    assert sent == [{"answer": 7, "cancelled": True}]


def test_the_event_loop_turns_while_runs_are_made(explorer, sent):
    ticks = []

    async def both():
        going = asyncio.create_task(explorer._handle_msg(asked(run="steps.60,batch.17")))
        while not going.done():
            ticks.append(len(sent))
            await asyncio.sleep(0.001)

    run(both())
    assert len(ticks) > 20
    assert sent[-1] == {"answer": 7, "trained": True}


def test_others_are_answered_while_more_runs_are_made_than_there_are_threads(sent, often):
    """Whatever the machine: a typed gradient does not wait for anybody's training."""
    many, other = [shown() for _ in range(12)], shown()
    order = []

    async def all_at_once():
        async def training(index, explorer):
            await explorer._handle_msg(asked(["dynamic"], number=index, run=f"steps.400,batch.16,seed.{index}"))
            order.append("trained")

        going = [asyncio.create_task(training(*each)) for each in enumerate(many)]
        while not sent:
            await asyncio.sleep(0.01)
        await other._handle_msg({"ask": 99, "gradients": ["1.2345"], "scale": ""})
        await other._handle_msg({"ask": 100, "overlay": {"pattern": "FN", "policies": ["pytorch"]}})
        order.append("answered")
        for explorer in many:
            explorer._models = {}
        await asyncio.gather(*going)

    run(all_at_once())
    assert order == ["answered", *["trained"] * 12]
    assert [reply["answer"] for reply in sent if reply.get("answer") in (99, 100)] == [99, 100]


def test_runs_are_made_by_no_thread_of_the_event_loop(explorer, sent, monkeypatch):
    threads = set()

    def noting(request, names, tell):
        threads.add(threading.current_thread().name)

    monkeypatch.setattr("lossscale_app.explorer.train", noting)

    async def loop_and_work():
        threads.add(threading.current_thread().name)
        await explorer._handle_msg(asked())

    run(loop_and_work())
    assert len(threads) == 2


# Settings and patterns


def test_settings_that_can_be_used_are_just_confirmed(explorer, sent):
    before = explorer.param.values()
    run(explorer._handle_msg({"ask": 1, "settings": {"policy": "megatron,lag.1", "run": "steps.9"}}))
    assert sent == [{"answer": 1, "settings": True}]
    assert explorer.param.values() == before


def test_a_pattern_is_answered_with_traces(explorer, sent):
    run(explorer._handle_msg({"ask": 2, "overlay": {"pattern": "nnf", "policies": ["pytorch", "megatron"]}}))
    assert sent == [{"answer": 2, "overlay": overlay("NNF", ["pytorch", "megatron"])}]


PROBLEMS = {
    "a bad scaler": asked(policy="torch"),
    "a bad field": asked(policy="pytorch,growth_factor.1"),
    "bad settings": asked(run="steps.0"),
    "a run that is none": asked([["fp32"]]),
    "no runs": {"ask": 1, "train": {**SETTINGS}},
    "no request": {"ask": 1, "train": None},
    "a request without a number": {"train": {**SETTINGS, "runs": ["fp32"]}},
    "settings that are none": {"ask": 1, "settings": None},
    "half of the settings": {"ask": 1, "settings": {"policy": "pytorch"}},
    "settings with a bad scaler": {"ask": 1, "settings": {"policy": "pytorch,backoff_factor.1", "run": ""}},
    "settings with a bad run": {"ask": 1, "settings": {"policy": "pytorch", "run": "seed.x"}},
    "braces": {"ask": 1, "settings": {"policy": "{0}", "run": "{name}"}},
    "a pattern that is none": {"ask": 1, "overlay": {"pattern": 3, "policies": []}},
    "an empty pattern": {"ask": 1, "overlay": {"pattern": "", "policies": ["pytorch"]}},
    "bad letters": {"ask": 1, "overlay": {"pattern": "FXN", "policies": ["pytorch"]}},
    "a very long pattern": {"ask": 1, "overlay": {"pattern": "F" * 1_000_000, "policies": ["pytorch"]}},
    "too many scalers": {"ask": 1, "overlay": {"pattern": "F", "policies": ["pytorch"] * 7}},
    "scalers that are none": {"ask": 1, "overlay": {"pattern": "F", "policies": [{}, []]}},
    "scalers as a text": {"ask": 1, "overlay": {"pattern": "F", "policies": "pytorch"}},
    "no question to cancel": {"ask": 1, "cancel": "all"},
}


@pytest.mark.parametrize("message", PROBLEMS.values(), ids=PROBLEMS)
def test_a_problem_is_a_sentence_and_nothing_is_made(explorer, sent, message):
    before = explorer.param.values()
    run(explorer._handle_msg(message))
    (answer,) = sent
    assert set(answer) == {"answer", "problem"}
    assert answer["answer"] == message.get("ask")
    assert 20 < len(answer["problem"]) < 400
    assert answer["problem"].endswith(".")
    assert answer["problem"].isprintable()
    assert explorer.param.values() == before


@pytest.mark.parametrize(
    ("name", "value", "quoted"),
    [
        ("policy", "torch", "“torch”"),
        ("policy", "pytorch,growth_factor.1", "“1”"),
        ("run", "steps.0", "“0”"),
        ("run", "speed.3", "“speed.3”"),
    ],
)
def test_a_param_that_cannot_be_used_is_refused(explorer, name, value, quoted):
    before = explorer.param.values()
    with pytest.raises(InputError, match=quoted):
        setattr(explorer, name, value)
    with pytest.raises(InputError, match=quoted):
        Explorer(**{name: value})
    assert explorer.param.values() == before


def test_scaler_and_run_are_in_the_link():
    explorer = Explorer()
    explorer.param.update(view="training", policy="megatron,lag.1", run="seed.4,steps.9")
    assert explorer.link == "?v=1&view=training&p=megatron,lag.1&r=seed.4,steps.9"
