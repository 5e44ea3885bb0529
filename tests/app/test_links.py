"""The link vocabulary: every state is a link, every link a state, and nothing in a link is an error."""

import math
from pathlib import Path
import re
from urllib.parse import quote

from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

from lossscale_app.catalogues import LANGUAGES
from lossscale_app.datasets import DATASETS, LOSING
from lossscale_app.explorer import Explorer
from lossscale_app.gradients import read_scale
from lossscale_app.links import (
    CONTROLS,
    DEFAULTS,
    KEYS,
    SCENARIO_NAMES,
    VIEWS,
    Link,
    link_token,
    read_link,
    vocabulary_table,
    write_link,
)
from lossscale_app.orders import EXAMPLES, MISPLACED
from lossscale_app.presets import PRESETS
from lossscale_app.scenes import SCENES
from lossscale_app.settings import DEFAULT_POLICY
from lossscale_core import parse_number

finite = st.floats(allow_nan=False, allow_infinity=False)
spellings = [
    st.integers(-1074, 1023).map(lambda k: f"2^{k}"),
    st.integers(-60, 60).map(lambda k: f"-2^{k}"),
    st.integers(-60, 60).map(lambda k: f"1.5*2^{k}"),
    finite.map(repr),
    finite.map(float.hex),
    st.integers(-(10**6), 10**6).map(str),
    st.sampled_from(["0", "-0", "inf", "-inf", "nan", "2⁻²⁶", "−3", "1E+5", "2**-3"]),
]
tokens = st.one_of(spellings)
scales = st.one_of(
    st.just(""), st.floats(min_value=1e-300, max_value=1e300).map(repr), st.integers(-40, 40).map(lambda k: f"2^{k}")
)


def in_order(choices):
    return lambda names: sorted(names, key=list(choices).index)


states = st.fixed_dictionaries(
    {
        "gradients": st.lists(tokens, max_size=12),
        "log2_scale": st.integers(-40, 40),
        "typed_scale": scales,
        "format": st.sampled_from(["fp16", "bf16", "e5m2", "e4m3"]),
        "selected": st.integers(0, 11),
        "view": st.sampled_from(VIEWS),
        "data": st.sampled_from([dataset.id for dataset in DATASETS]),
        "losing": st.sampled_from(list(LOSING)),
        "unscale": st.sampled_from(["fp32", "fp16", "never"]),
        "at": st.sampled_from(["loss", "late"]),
        "example": st.sampled_from(list(EXAMPLES)),
        "misplaced": st.sets(st.sampled_from(list(MISPLACED))).map(in_order(MISPLACED)),
        "policy": st.sampled_from([DEFAULT_POLICY, "keras3", "static,init_scale.p12", "megatron,hysteresis.1,lag.1"]),
        "run": st.sampled_from(["", "seed.3", "positions.1,reduction.sum", "learning_rate.1e-4,max_norm.none"]),
        "scenario": st.sampled_from(["", *SCENARIO_NAMES]),
        "mode": st.sampled_from(["play", "predict", "present"]),
        "language": st.sampled_from(["", *LANGUAGES]),
        "theme": st.sampled_from(["auto", "light", "dark", "projector"]),
        "embed": st.booleans(),
        "hide": st.sets(st.sampled_from(CONTROLS)).map(in_order(CONTROLS)),
    }
)


def meaning(params):
    """A state with its numbers instead of their spellings."""
    state = {**DEFAULTS, **params}
    numbers = [parse_number(token) for token in state["gradients"]]
    scale = state["typed_scale"]
    return {
        **state,
        "gradients": [(math.isnan(x), math.copysign(1, x), None if math.isnan(x) else x) for x in numbers],
        "typed_scale": read_scale(scale).value if scale else None,
    }


@settings(max_examples=5000, deadline=None)
@given(states)
@pytest.mark.slow
def test_five_thousand_states_come_back_exactly(state):
    comes_back(state)


@settings(deadline=None)
@given(states)
def test_states_come_back_exactly(state):
    comes_back(state)


def comes_back(state):
    state["selected"] = min(state["selected"], max(0, len(state["gradients"]) - 1))
    link = write_link(state)
    assert re.fullmatch(r"\?v=1(&[A-Za-z]+=[0-9A-Za-z._,-]*)*", link)
    read = read_link(link)
    assert read.ignored == ()
    assert meaning(read.params) == meaning(state)
    assert write_link({**DEFAULTS, **read.params}) == link


def test_only_what_differs_is_written_in_order():
    assert write_link(DEFAULTS) == "?v=1"
    assert write_link({**DEFAULTS, "gradients": ["0x1p-26", "2^3"]}) == "?v=1"
    state = {**DEFAULTS, "gradients": ["2^-34", "2^10"], "log2_scale": 8, "embed": True}
    assert write_link(state) == "?v=1&g=p-34,p10&k=8&e=1"


def test_defaults_are_those_of_the_vocabulary_and_of_the_explorer():
    assert read_link("?" + "&".join(f"{key.name}={key.default}" for key in KEYS if key.default)).ignored == ()
    explorer = Explorer()
    assert {name: getattr(explorer, name) for name in DEFAULTS} == DEFAULTS
    assert explorer.link == "?v=1"
    assert {key.param for key in KEYS if key.param} == set(DEFAULTS)


def test_a_scenario_sets_everything_and_later_keys_override_whatever_the_order():
    preset = next(preset for preset in PRESETS if preset.id == "fp8")
    assert read_link("?v=1&k=7&s=fp8").params == {
        "scenario": "fp8",
        "gradients": list(preset.tokens),
        "log2_scale": 7,
        "format": "e5m2",
    }


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_sets_a_view_and_what_it_shows(name):
    scene = {"scenario": name, **SCENES[name]}
    assert read_link(f"?v=1&s={name}") == Link(scene)
    assert read_link(f"?v=1&k=3&s={name}").params == {**scene, "log2_scale": 3}


@pytest.mark.parametrize("name", SCENARIO_NAMES)
def test_a_link_tells_a_scenario_and_what_differs_from_it(name):
    state = {**DEFAULTS, **read_link(f"?s={name}").params, "mode": "predict"}
    assert write_link(state) == f"?v=1&s={name}&m=predict"
    state |= {"log2_scale": -7, "format": "e4m3"}
    assert read_link(write_link(state)).params == {
        **read_link(f"?s={name}&m=predict").params,
        "log2_scale": -7,
        "format": "e4m3",
    }


BAD = [
    ("k=41", "k=41"),
    ("k=-41", "k=-41"),
    ("k=1.5", "k=1.5"),
    ("k=", "k="),
    ("k=%2B3", "k=+3"),
    ("k=٣", "k=٣"),
    ("k=1e1", "k=1e1"),
    ("g=", "g="),
    ("g=abc", "g=abc"),
    ("g=1,,2", "g=1,,2"),
    ("g=p99999", "g=p99999"),
    ("g=1e400", "g=1e400"),
    ("g=2%5E-26", "g=2^-26"),
    ("g=" + ",".join("1" * 13), "g=" + ",".join("1" * 13)),
    ("x=0", "x=0"),
    ("x=-1", "x=-1"),
    ("x=nan", "x=nan"),
    ("f=fp15", "f=fp15"),
    ("f=FP16", "f=FP16"),
    ("j=0", "j=0"),
    ("j=3", "j=3"),
    ("e=2", "e=2"),
    ("hide=everything", "hide=everything"),
    ("u=fp64", "u=fp64"),
    ("at=never", "at=never"),
    ("ex=none", "ex=none"),
    ("o=clip,backwards", "o=clip,backwards"),
    ("p=nobody", "p=nobody"),
    ("p=pytorch,growth_interval.0", "p=pytorch,growth_interval.0"),
    ("p=pytorch,growth_interval", "p=pytorch,growth_interval"),
    ("r=steps.0", "r=steps.0"),
    ("r=inject.everything", "r=inject.everything"),
    ("th=neon", "th=neon"),
    ("v=2", "v=2"),
    ("s=nothing", "s=nothing"),
    ("lang=de", "lang=de"),
    ("foo=bar", "foo=bar"),
    ("__proto__=1", "__proto__=1"),
    ("g=<img src=x onerror=alert(1)>", "g=<img src=x onerror=alert(1)>"),
]


@pytest.mark.parametrize(("link", "named"), BAD)
def test_bad_values_are_named_and_leave_the_default(link, named):
    read = read_link(f"?v=1&{link}")
    assert read.ignored == (named,)
    assert meaning(read.params) == meaning({})


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_a_link(text):
    Explorer(**read_link(text).params)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([key.name for key in KEYS] + ["z"]), st.text(max_size=30))))
def test_any_values_of_the_keys_make_a_state(pairs):
    link = read_link("&".join(f"{name}={quote(value)}" for name, value in pairs))
    Explorer(**link.params)


def test_an_overlong_link_is_not_read():
    assert read_link("?v=1&k=3&" + "g=1&" * 5000).params == {}


@pytest.mark.parametrize(
    ("token", "written"),
    [
        ("2^-26", "p-26"),
        ("-2^3", "-p3"),
        ("1e-8", "1e-8"),
        ("1.5*2^-24", "0x1.8p-24"),
        ("1e+5", "0x1.86ap16"),
        ("-∞", "-inf"),
    ],
)
def test_numbers_are_written_without_signs_that_links_escape(token, written):
    assert link_token(token) == written


def test_the_readme_has_the_vocabulary():
    assert vocabulary_table() in (Path(__file__).parents[2] / "README.md").read_text("utf-8")
