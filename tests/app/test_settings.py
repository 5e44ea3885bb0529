"""Settings as texts: every field of a scaler and of a run is read as what it says, or refused by its name."""

from dataclasses import asdict, fields, replace
from typing import get_args, get_type_hints

from hypothesis import given
from hypothesis import strategies as st
import pytest

from lossscale_app.recordings import recorded_runs
from lossscale_app.scenes import SCENES, TRAINING_TRIES
from lossscale_app.settings import (
    DEFAULT_POLICY,
    RunSettings,
    policy_fields,
    preset_values,
    read_policy,
    read_run,
    run_fields,
)
from lossscale_core import BF16, FORMATS, FP16, SCALER_PRESETS, Injection, InputError, ScalerPolicy, TrainingPlan

from .field_rules import TAKES

#: A word, and what it sets.
POLICY_WORDS = {
    "init_scale.p16": 65536,
    "init_scale.1000": 1000,
    "init_scale.0.25": 0.25,
    "init_scale.1e5": 100_000,
    "init_scale.1E-5": 0.00001,
    "init_scale.p-20": 2.0**-20,
    "init_scale.p60": 2.0**60,
    "growth_factor.1.5": 1.5,
    "backoff_factor.0.7": 0.7,
    "backoff_factor.p-3": 0.125,
    "growth_interval.10": 10,
    "growth_interval.p11": 2048,
    "growth_interval.20.0": 20,
    "growth_delay.1": 1,
    "growth_compare.ge": ">=",
    "growth_compare.eq": "==",
    "hysteresis.3": 3,
    "hysteresis_refill.finite": "finite",
    "hysteresis_refill.finite_or_backoff": "finite_or_backoff",
    "min_scale.1": 1,
    "min_scale.none": None,
    "max_scale.p24": 2**24,
    "max_scale.none": None,
    "at_min.clamp": "clamp",
    "stop_scale.1e-4": 1e-4,
    "stop_scale.none": None,
    "grow_to_inf.allow": "allow",
    "grow_to_inf.hold": "hold",
    "dtype.float64": "float64",
    "factor_dtype.float32": "float32",
    "lag.1": 1,
    "lag.0": 0,
    "tolerance.0.05": 0.05,
    "dynamic.false": False,
    "dynamic.true": True,
}
RUN_WORDS = {
    "seed.7": 7,
    "seed.007": 7,
    "steps.40": 40,
    "steps.p6": 64,
    "batch.32": 32,
    "micro_batches.4": 4,
    "positions.1": 1,
    "positions.p26": 2**26,
    "reduction.sum": "sum",
    "optimizer.sgd": "sgd",
    "learning_rate.0.01": 0.01,
    "learning_rate.1e-3": 0.001,
    "max_norm.1": 1,
    "max_norm.none": None,
    "inject.inf": "inf",
    "inject.nan": "nan",
    "inject.none": "none",
    "inject_at.12": 12,
    "inject_lasting.true": True,
    "inject_lasting.false": False,
}


def fields_of(kind):
    return {field.name for field in fields(kind)}


def same(one, two):
    """Whether two values are the same, and a truth value is no number."""
    return one == two and isinstance(one, bool) is isinstance(two, bool)


# A scaler


@pytest.mark.parametrize("preset", SCALER_PRESETS)
def test_a_preset_is_its_name(preset):
    assert read_policy(preset) == SCALER_PRESETS[preset]


def test_the_page_opens_with_pytorch_s_scaler_which_grows_after_ten_steps():
    assert read_policy(DEFAULT_POLICY) == ScalerPolicy(growth_interval=10)


def test_every_field_of_a_scaler_is_tried():
    assert {word.partition(".")[0] for word in POLICY_WORDS} == fields_of(ScalerPolicy)
    assert {word.partition(".")[0] for word in RUN_WORDS} == fields_of(RunSettings)


@pytest.mark.parametrize("preset", ["pytorch", "keras3"])
@pytest.mark.parametrize("word", POLICY_WORDS)
def test_every_field_of_a_scaler_is_read(preset, word):
    name, value = word.partition(".")[0], POLICY_WORDS[word]
    read = read_policy(f"{preset},{word}")
    assert read == replace(SCALER_PRESETS[preset], **{name: value})
    assert same(getattr(read, name), value)


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("pytorch,at_min.raise_if_at_min,min_scale.2", {"at_min": "raise_if_at_min", "min_scale": 2}),
        ("pytorch,stop_scale.1,at_min.raise_if_would_reach", {"at_min": "raise_if_would_reach", "stop_scale": 1}),
        ("pytorch,init_scale.8,init_scale.4", {"init_scale": 4}),
        ("pytorch,", {}),
        ("pytorch,,lag.1,", {"lag": 1}),
    ],
)
def test_several_words(text, changes):
    assert read_policy(text) == ScalerPolicy(**changes)


written = st.fixed_dictionaries(
    {},
    optional={
        "init_scale": st.integers(-20, 60).map(lambda k: (f"p{k}", 2.0**k)),
        "growth_factor": st.floats(1.01, 64).map(lambda x: (repr(x), x)),
        "backoff_factor": st.floats(0.01, 0.99).map(lambda x: (repr(x), x)),
        "growth_interval": st.integers(1, 10**6).map(lambda n: (str(n), n)),
        "growth_delay": st.integers(0, 50).map(lambda n: (str(n), n)),
        "growth_compare": st.sampled_from([("eq", "=="), ("ge", ">=")]),
        "hysteresis": st.integers(1, 9).map(lambda n: (str(n), n)),
        "min_scale": st.one_of(st.just(("none", None)), st.integers(-30, 20).map(lambda k: (f"p{k}", 2.0**k))),
        "max_scale": st.one_of(st.just(("none", None)), st.integers(0, 80).map(lambda k: (f"p{k}", 2.0**k))),
        "at_min": st.sampled_from(["clamp", "raise_if_at_min", "raise_if_would_reach"]).map(lambda text: (text, text)),
        "stop_scale": st.one_of(st.just(("none", None)), st.floats(1e-30, 1e3).map(lambda x: (repr(x), x))),
        "dtype": st.sampled_from([("float32", "float32"), ("float64", "float64")]),
        "lag": st.sampled_from([("0", 0), ("1", 1)]),
        "tolerance": st.floats(0, 1).map(lambda x: (repr(x), x)),
        "dynamic": st.sampled_from([("true", True), ("false", False)]),
    },
)


@given(st.sampled_from(list(SCALER_PRESETS)), written)
def test_any_scaler_comes_back_or_is_refused_as_the_core_refuses_it(preset, chosen):
    text = ",".join([preset, *(f"{name}.{word}" for name, (word, _) in chosen.items())])
    try:
        right = replace(SCALER_PRESETS[preset], **{name: value for name, (_, value) in chosen.items()})
    except InputError:
        with pytest.raises(InputError):
            read_policy(text)
    else:
        assert read_policy(text) == right


def test_a_form_turns_any_preset_into_any_other():
    shown = preset_values()
    assert list(shown) == list(SCALER_PRESETS)
    for base, before in shown.items():
        for goal, after in shown.items():
            words = [f"{name}.{value}" for name, value in after.items() if value != before[name]]
            assert read_policy(",".join([base, *words])) == SCALER_PRESETS[goal], (base, goal)


def test_a_form_shows_what_people_would_write():
    shown = preset_values()
    assert shown["pytorch"] == {
        "init_scale": "65536",
        "growth_factor": "2",
        "backoff_factor": "0.5",
        "growth_interval": "2000",
        "growth_delay": "0",
        "growth_compare": "eq",
        "hysteresis": "1",
        "hysteresis_refill": "growth",
        "min_scale": "none",
        "max_scale": "none",
        "at_min": "clamp",
        "stop_scale": "none",
        "grow_to_inf": "hold",
        "dtype": "float32",
        "factor_dtype": "float64",
        "lag": "0",
        "tolerance": "0",
        "dynamic": "true",
    }
    assert shown["keras2"]["growth_compare"] == "ge"
    assert (shown["fairseq"]["stop_scale"], shown["static"]["dynamic"]) == ("0.0001", "false")


@pytest.mark.parametrize(
    ("described", "kind"), [(policy_fields(), ScalerPolicy), (run_fields(), RunSettings)], ids=["scaler", "run"]
)
def test_a_form_offers_every_choice_there_is(described, kind):
    hints = get_type_hints(kind)
    assert [field["name"] for field in described] == list(hints)
    needed = {"raise_if_at_min": ",min_scale.1", "raise_if_would_reach": ",stop_scale.1"}
    for field in described:
        name, members = field["name"], get_args(hints[field["name"]])
        if hints[name] is bool:
            members = (True, False)
        elif type(None) in members:
            members = ()
        words = [f"{name}.{choice}" + needed.get(choice, "") for choice in field["choices"]]
        read = [read_policy(f"pytorch,{word}") if kind is ScalerPolicy else read_run(word) for word in words]
        assert [getattr(each, name) for each in read] == list(members)


# A run


@pytest.mark.parametrize("word", RUN_WORDS)
def test_every_setting_of_a_run_is_read(word):
    name, value = word.partition(".")[0], RUN_WORDS[word]
    read = read_run(word)
    assert read == replace(RunSettings(), **{name: value})
    assert same(getattr(read, name), value)


def test_nothing_is_the_run_that_the_core_makes_by_itself():
    assert read_run("") == RunSettings()
    made = RunSettings().plan(FP16, autocast=True, scaler=None)
    assert made == TrainingPlan()


def test_the_defaults_of_the_form_are_the_run_it_shows():
    text = ",".join(f"{field['name']}.{field['default']}" for field in run_fields())
    assert read_run(text) == RunSettings()


@given(
    st.integers(0, 2**32 - 1),
    st.integers(3, 100),
    st.integers(1, 64),
    st.sampled_from(["mean", "sum"]),
    st.sampled_from(["adam", "sgd"]),
    st.floats(1e-30, 1e30),
    st.one_of(st.none(), st.floats(1e-30, 1e30)),
    st.booleans(),
)
def test_any_run_comes_back(seed, steps, batch, reduction, optimizer, rate, norm, lasting):
    right = RunSettings(seed, steps, batch, 1, 2**15, reduction, optimizer, rate, norm, "inf", 3, lasting)
    words = (f"{name}.{value}" for name, value in asdict(right).items())
    text = ",".join(words).replace("None", "none").replace("True", "true").replace("False", "false")
    assert read_run(text.replace("+", "")) == right


def test_settings_make_a_plan():
    settings = read_run("seed.3,steps.20,batch.8,micro_batches.2,positions.p3,reduction.sum,optimizer.sgd")
    assert settings.plan(BF16, autocast=False, scaler=SCALER_PRESETS["jmp"]) == TrainingPlan(
        autocast=False,
        format=BF16,
        scaler=SCALER_PRESETS["jmp"],
        steps=20,
        seed=3,
        batch=8,
        micro_batches=2,
        positions=8,
        reduction="sum",
        optimizer="sgd",
    )


@pytest.mark.parametrize(
    ("text", "injection"),
    [
        ("inject_at.9,inject_lasting.true", None),
        ("inject.inf", Injection("inf", 50)),
        ("inject.nan,inject_at.9,inject_lasting.true", Injection("nan", 9, True)),
    ],
)
def test_damage_is_done_where_it_is_asked_for(text, injection):
    assert read_run(text).plan(FP16, autocast=True, scaler=None).injection == injection


# Refusals

BAD_POLICIES = {
    "init_scale.inf": ("init_scale must be", "“inf”"),
    "init_scale.nan": ("init_scale must be", "“nan”"),
    "init_scale.none": ("init_scale must be", "“none”"),
    "init_scale.0": ("init_scale must be", "“0”"),
    "init_scale.-8": ("init_scale must be", "“-8”"),
    "init_scale.1e39": ("init_scale must be", "“1e39”"),
    "init_scale.0x1p4": ("init_scale must be", "“0x1p4”"),
    "init_scale.p5000": ("init_scale must be", "“2^5000”"),
    "init_scale.p99999999999": ("init_scale must be", "“2^99999999999”"),
    "init_scale.p4p4": ("init_scale must be", "“p4p4”"),
    "init_scale.": ("init_scale must be", "“”"),
    "init_scale.2^16": ("init_scale must be", "“2^16”"),
    "init_scale": ("init_scale must be", "“”"),
    "growth_factor.1": ("growth_factor must be", "“1”"),
    "growth_factor.two": ("growth_factor must be", "“two”"),
    "growth_factor. 2": ("growth_factor must be", "“ 2”"),
    "growth_factor.{}": ("growth_factor must be", "“{}”"),
    "backoff_factor.1": ("backoff_factor must be", "“1”"),
    "backoff_factor.0": ("backoff_factor must be", "“0”"),
    "growth_interval.p-3": ("growth_interval must be", "“2^-3”"),
    "growth_interval.0": ("growth_interval must be", "“0”"),
    "growth_interval.2.5": ("growth_interval must be", "“2.5”"),
    "growth_interval.true": ("growth_interval must be", "“true”"),
    "growth_delay.-1": ("growth_delay must be", "“-1”"),
    "growth_compare.==": ("growth_compare must be", "“==”"),
    "hysteresis.0": ("hysteresis must be", "“0”"),
    "hysteresis_refill.never": ("hysteresis_refill must be", "“never”"),
    "min_scale.8,max_scale.4,init_scale.4": ("min_scale must be", "“8”"),
    "min_scale.0": ("min_scale must be", "“0”"),
    "min_scale.p17": ("min_scale must be at most init_scale, “65536”", ": “2^17”"),
    "max_scale.p15": ("max_scale must be at least init_scale, “65536”", ": “2^15”"),
    "at_min.stop": ("at_min must be", "“stop”"),
    "at_min.raise_if_at_min": ("min_scale must be", "“raise_if_at_min”"),
    "stop_scale.-1": ("stop_scale must be", "“-1”"),
    "grow_to_inf.yes": ("grow_to_inf must be", "“yes”"),
    "dtype.float16": ("dtype must be", "“float16”"),
    "factor_dtype.float": ("factor_dtype must be", "“float”"),
    "lag.2": ("lag must be", "“2”"),
    "lag.1.0": ("lag must be", "“1.0”"),
    "tolerance.2": ("tolerance must be", "“2”"),
    "dynamic.yes": ("dynamic must be", "“yes”"),
    "dynamic.1": ("dynamic must be", "“1”"),
    "speed.2": ("", "“speed.2”"),
    "_check_limits.2": ("", "“_check_limits.2”"),
    "{<b>}.1": ("", "“{<b>}.1”"),
}
BAD_RUNS = {
    "seed.-1": ("seed must be", "“-1”"),
    "seed.1.5": ("seed must be", "“1.5”"),
    "steps.0": ("steps must be", "“0”"),
    "steps.2001": ("steps must be", "“2001”"),
    "steps.many": ("steps must be", "“many”"),
    "batch.0": ("batch must be", "“0”"),
    "micro_batches.17": ("micro_batches must be", "“17”"),
    "positions.p27": ("positions must be", "“2^27”"),
    "reduction.max": ("reduction must be", "“max”"),
    "optimizer.lion": ("optimizer must be", "“lion”"),
    "learning_rate.0": ("learning_rate must be", "“0”"),
    "learning_rate.inf": ("learning_rate must be", "“inf”"),
    "max_norm.-1": ("max_norm must be", "“-1”"),
    "inject.zero": ("inject must be", "“zero”"),
    "inject_at.0": ("inject_at must be", "“0”"),
    "inject_at.none": ("inject_at must be", "“none”"),
    "inject_lasting.no": ("inject_lasting must be", "“no”"),
    "init_scale.8": ("", "“init_scale.8”"),
    "hidden.8": ("", "“hidden.8”"),
    "seed.1;steps.2": ("seed must be", "“1;steps.2”"),
}


@pytest.mark.parametrize(
    ("read", "text", "begins", "quoted"),
    [
        *((read_policy, f"pytorch,{word}", *expected) for word, expected in BAD_POLICIES.items()),
        *((read_run, word, *expected) for word, expected in BAD_RUNS.items()),
    ],
)
def test_a_refusal_names_the_field_and_quotes_what_was_written(read, text, begins, quoted):
    with pytest.raises(InputError) as refused:
        read(text)
    sentence = str(refused.value)
    assert sentence.startswith(begins)
    assert quoted in sentence
    assert sentence.endswith(".")
    assert sentence.isprintable()
    assert len(sentence) < 400


@pytest.mark.parametrize("text", ["", "torch", "PyTorch", "pytorch.lag.1", "{pytorch}", "<img src=x onerror=alert(1)>"])
def test_an_unknown_scaler_is_refused_and_the_known_ones_are_named(text):
    with pytest.raises(InputError) as refused:
        read_policy(text)
    assert str(refused.value) == (
        f"“{text}” is no scaler that is known; known are pytorch, apex_amp, apex_fp16_utils, apex_hysteresis_kernel, "
        "deepspeed_zero, deepspeed_zero_consecutive, deepspeed_fused, megatron, fairseq, jmp, keras3, keras2, "
        "paddle_dygraph, paddle_static, mxnet, openseq2seq_backoff, static."
    )


@pytest.mark.parametrize(
    ("text", "product"),
    [
        ("steps.2000,batch.1024", "2000 × 1024 × 1"),
        ("steps.1501,batch.1000", "1501 × 1000 × 1"),
        ("steps.300,batch.512,micro_batches.16", "300 × 512 × 16"),
        ("steps.2e3,batch.p10", "2e3 × 2^10 × 1"),
    ],
)
def test_more_work_than_a_server_should_do_is_refused(text, product):
    with pytest.raises(InputError) as refused:
        read_run(text)
    sentence = f"steps × batch × micro_batches must be at most 1,500,000 here: “{product}” is more."
    assert str(refused.value) == sentence
    assert read_run("steps.1500,batch.1000").steps == 1500


#: What no field takes, as a link has it, and as it is shown.
NOTHING = {
    "p-1.5": "p-1.5",
    "p99999999999": "2^99999999999",
    "-1.50": "-1.50",
    "-1e3": "-1e3",
    "1e999": "1e999",
    "-0x1p4": "-0x1p4",
    "abc": "abc",
}


@pytest.mark.parametrize("value", NOTHING)
@pytest.mark.parametrize("name", TAKES)
def test_what_a_link_has_is_quoted_as_it_is_shown(name, value):
    with pytest.raises(InputError) as refused:
        read_policy(f"pytorch,{name}.{value}") if name in fields_of(ScalerPolicy) else read_run(f"{name}.{value}")
    assert str(refused.value) == f"{name} must be {TAKES[name]}: “{NOTHING[value]}” is not."


def test_every_field_tells_what_it_takes():
    assert set(TAKES) == fields_of(ScalerPolicy) | fields_of(RunSettings)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        # Of two that contradict each other the one that was written is named.
        ("pytorch,max_scale.5", "max_scale must be at least init_scale, “65536”: “5” is not."),
        ("pytorch,min_scale.p18", "min_scale must be at most init_scale, “65536”: “2^18” is not."),
        ("megatron,max_scale.p20", "max_scale must be at least init_scale, “4294967296”: “2^20” is not."),
        ("jmp,max_scale.p-2", "max_scale must be at least min_scale, “1”: “2^-2” is not."),
        ("jmp,init_scale.0.50", "init_scale must be at least min_scale, “1”: “0.50” is not."),
        ("mxnet,init_scale.p25", "init_scale must be at most max_scale, “16777216”: “2^25” is not."),
        # Where both were, it is the same one as ever.
        ("pytorch,max_scale.p17,min_scale.p18", "min_scale must be at most max_scale, “2^17”: “2^18” is not."),
        ("pytorch,init_scale.1e6,max_scale.p3", "init_scale must be at most max_scale, “2^3”: “1e6” is not."),
        ("pytorch,min_scale.p3,init_scale.p-3", "init_scale must be at least min_scale, “2^3”: “2^-3” is not."),
        # What was written last counts.
        ("pytorch,max_scale.4,max_scale.p3", "max_scale must be at least init_scale, “65536”: “2^3” is not."),
    ],
)
def test_contradictions_name_what_was_written(text, sentence):
    with pytest.raises(InputError) as refused:
        read_policy(text)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("inject.inf,inject_at.301", "inject_at must be at most steps, “300”: “301” is not."),
        ("inject.nan,inject_at.p10,inject_lasting.true", "inject_at must be at most steps, “300”: “2^10” is not."),
        ("steps.p5,inject.nan,inject_at.33", "inject_at must be at most steps, “2^5”: “33” is not."),
        ("steps.20,inject.inf", "inject_at must be at most steps, “20”: “50” is not."),
    ],
)
def test_damage_that_would_never_be_done_is_refused(text, sentence):
    with pytest.raises(InputError) as refused:
        read_run(text)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    "text", ["inject_at.301", "steps.20", "steps.50,inject.inf", "steps.p5,inject.nan,inject_at.p5"]
)
def test_the_step_of_damage_matters_only_where_it_is_done(text):
    read_run(text)


def test_the_settings_of_every_scene_are_accepted():
    assert len(SCENES) + len(TRAINING_TRIES) > 10
    for params in (*SCENES.values(), *TRAINING_TRIES.values()):
        read_policy(params.get("policy", DEFAULT_POLICY))
        read_run(params.get("run", ""))


def test_runs_that_are_recorded_are_accepted():
    for key in recorded_runs():
        name, narrow, *scaler, run = key.split(" ")
        read_run(run)
        if name in ("dynamic", "fp32_scaled"):
            read_policy(*scaler)
        assert narrow in ("", *FORMATS)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"inject": "zero"}, "inject must be none, inf or nan: “zero” is not."),
        ({"inject": None}, "inject must be none, inf or nan: “None” is not."),
        ({"inject_at": 2.0}, "inject_at must be a whole number of at least 1: “2.0” is not."),
        ({"inject_lasting": 1}, "inject_lasting must be true or false: “1” is not."),
    ],
)
def test_settings_themselves_refuse_damage_by_their_own_names(changes, sentence):
    with pytest.raises(InputError) as refused:
        RunSettings(**changes)
    assert str(refused.value) == sentence
