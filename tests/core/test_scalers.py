"""Loss scalers: every traced step of every framework, and what holds for any policy."""

from dataclasses import asdict, fields, replace
import math

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from lossscale_core import SCALER_PRESETS, Action, InputError, ScalerPolicy

from .scaler_traces import ACTIONS, CLOSED, DIFFERENT, OPEN, PYTORCH

patterns = st.text("FN", max_size=60)
powers = st.integers(-20, 20).map(lambda k: 2.0**k)
precisions = st.sampled_from(["float32", "float64"])


@st.composite
def policies(draw, growth=None, backoff=None, scales=powers, lag=None):
    """Any policy that changes soon, its first scale between its floor and its ceiling."""
    low, first, high = sorted(draw(scales) for _ in range(3))
    min_scale, max_scale = draw(st.sampled_from([None, low])), draw(st.sampled_from([None, high]))
    endings = ["clamp", "raise_if_would_reach"] + ["raise_if_at_min"] * (min_scale is not None)
    return ScalerPolicy(
        init_scale=first,
        growth_factor=draw(st.floats(1.01, 64) if growth is None else growth),
        backoff_factor=draw(st.floats(0.01, 0.99) if backoff is None else backoff),
        growth_interval=draw(st.integers(1, 5)),
        growth_delay=draw(st.integers(0, 2)),
        growth_compare=draw(st.sampled_from(["==", ">="])),
        hysteresis=draw(st.integers(1, 3)),
        hysteresis_refill=draw(st.sampled_from(["growth", "finite", "finite_or_backoff"])),
        min_scale=min_scale,
        max_scale=max_scale,
        at_min=draw(st.sampled_from(endings)),
        stop_scale=low,
        grow_to_inf=draw(st.sampled_from(["hold", "allow"])),
        dtype=draw(precisions),
        factor_dtype=draw(precisions),
        lag=draw(st.sampled_from([0, 1] if lag is None else [lag])),
        tolerance=draw(st.sampled_from([0.0, 0.3, 1.0])),
    )


def powers_of(base):
    return st.integers(1, 4).map(lambda k: base**k)


def actions_of(signs):
    return tuple(Action(ACTIONS[sign]) for sign in signs)


def states(policy, pattern):
    """The state before each step, whether the step overflows, and the state after it."""
    state = policy.start()
    for letter in pattern:
        after, action = policy.step(state, letter == "N")
        if action is Action.RAISE:
            return
        yield state, letter == "N", after
        state = after


def test_the_table_has_all_traces():
    assert (len(OPEN), len(CLOSED)) == (47, 13)
    assert {trace.preset for trace in OPEN} == set(DIFFERENT)


@pytest.mark.parametrize("trace", OPEN, ids=str)
def test_traces(trace):
    ran = replace(SCALER_PRESETS[trace.preset], **trace.overrides).run(trace.pattern)
    assert ran.scales == trace.scales
    assert ran.actions == actions_of(trace.actions)


@pytest.mark.parametrize("trace", CLOSED, ids=str)
def test_traces_in_which_the_scale_decides_what_overflows(trace):
    policy = replace(SCALER_PRESETS[trace.preset], **trace.overrides)
    state, scales, actions = policy.start(), [], []
    for _ in trace.actions:
        scales.append(state.scale)
        state, action = policy.step(state, found_inf=state.scale >= 65520)
        actions.append(action)
    assert tuple(scales) == trace.scales
    assert tuple(actions) == actions_of(trace.actions)


@pytest.mark.parametrize("name", DIFFERENT)
def test_every_field_of_a_preset(name):
    assert asdict(SCALER_PRESETS[name]) == {**PYTORCH, **DIFFERENT[name], "dynamic": True}


def test_which_scalers_there_are():
    assert set(SCALER_PRESETS) == {*DIFFERENT, "static"}
    assert ScalerPolicy() == SCALER_PRESETS["pytorch"]


def pytorch(pattern, init_scale, growth_factor, backoff_factor, growth_interval):
    """PyTorch's documented rule on its own: a float32 scale, and factors that multiply it in float64.

    Back off at every inf or NaN; grow after every `growth_interval` steps in a row without, but not to inf.
    """
    scale, finite, scales = np.float32(init_scale), 0, [float(np.float32(init_scale))]
    with np.errstate(over="ignore"):
        for letter in pattern:
            finite = 0 if letter == "N" else finite + 1
            if letter == "N":
                scale = np.float32(np.float64(scale) * np.float64(backoff_factor))
            elif finite % growth_interval == 0:
                grown = np.float32(np.float64(scale) * np.float64(growth_factor))
                scale = grown if np.isfinite(grown) else scale
            scales.append(float(scale))
    return tuple(scales)


@given(
    pattern=patterns,
    init_scale=st.floats(2**-100, 2**127, exclude_max=True),
    growth_factor=st.floats(1.001, 1e6),
    backoff_factor=st.floats(1e-6, 0.999),
    growth_interval=st.integers(1, 5),
)
def test_pytorch_by_its_documented_rule(pattern, **rule):
    assert ScalerPolicy(**rule).run(pattern).scales == pytorch(pattern, **rule)


def deepspeed(pattern, window, hysteresis, floor, consecutive):
    """DeepSpeed's rule on its own, by numbers of steps: it looks at how far back the last overflow is.

    Ends with None where training ends.
    """
    scale, left, last, scales = 64.0, hysteresis, -1, [64.0]
    for number, letter in enumerate(pattern):
        since = number - last - 1
        if letter == "N":
            last = number
            if left > 1:
                left -= 1
            elif scale == floor:
                return (*scales, None)
            else:
                scale = max(scale / 2, floor)
        else:
            grows = since > 0 and since % window == 0
            left = hysteresis if consecutive or grows else left
            scale *= 2 if grows else 1
        scales.append(scale)
    return tuple(scales)


@given(
    pattern=patterns,
    window=st.integers(1, 5),
    hysteresis=st.integers(1, 3),
    floor=st.sampled_from([1.0, 16.0, 48.0]),
    consecutive=st.booleans(),
)
def test_deepspeed_by_numbers_of_steps(pattern, window, hysteresis, floor, consecutive):
    policy = replace(
        SCALER_PRESETS["deepspeed_zero_consecutive" if consecutive else "deepspeed_zero"],
        **{"init_scale": 64.0, "growth_interval": window, "hysteresis": hysteresis, "min_scale": floor},
    )
    ran, expected = policy.run(pattern), deepspeed(pattern, window, hysteresis, floor, consecutive)
    if expected[-1] is None:
        assert ran.actions[-1] is Action.RAISE
        expected = (*expected[:-1], expected[-2])
    assert ran.scales == expected


def fairseq(pattern, window, tolerance):
    """fairseq's rule on its own, by numbers of steps; the scale ends training at 1 or below."""
    scale, overflow, change, overflows, scales = 64.0, -1, -1, 0, [64.0]
    for number, letter in enumerate(pattern):
        if letter == "N":
            overflow, overflows = number, overflows + 1
            if overflows / (number - change) >= tolerance:
                if scale / 2 <= 1:
                    return (*scales, scale)
                scale, change, overflows = scale / 2, number, 0
        elif (number - overflow) % window == 0:
            scale, change = scale * 2, number
        scales.append(scale)
    return tuple(scales)


@given(pattern=patterns, window=st.integers(1, 5), tolerance=st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0]))
def test_fairseq_by_numbers_of_steps(pattern, window, tolerance):
    policy = replace(
        SCALER_PRESETS["fairseq"], init_scale=64.0, growth_interval=window, tolerance=tolerance, stop_scale=1.0
    )
    assert policy.run(pattern).scales == fairseq(pattern, window, tolerance)


@given(policy=policies(), pattern=patterns)
def test_a_run_is_the_fold_of_its_steps(policy, pattern):
    state, scales, actions = policy.start(), [policy.start().scale], []
    for letter in pattern:
        state, action = policy.step(state, letter == "N")
        scales.append(state.scale)
        actions.append(action)
        if action is Action.RAISE:
            break
    ran = policy.run(pattern)
    assert (ran.scales, ran.actions) == (tuple(scales), tuple(actions))


@given(policy=policies(scales=st.floats(1e-30, 1e30)), pattern=patterns)
def test_the_scale_stays_between_floor_and_ceiling(policy, pattern):
    stored = np.float32 if policy.dtype == "float32" else float
    floor = 0 if policy.min_scale is None else stored(policy.min_scale)
    ceiling = math.inf if policy.max_scale is None else stored(policy.max_scale)
    assert all(floor <= scale <= ceiling for scale in policy.run(pattern).scales)


@given(policy=policies(), pattern=patterns)
def test_an_overflow_never_raises_the_scale_that_comes_next(policy, pattern):
    for before, found_inf, after in states(policy, pattern):
        assert after.next_scale <= before.next_scale if found_inf else after.next_scale >= before.next_scale
        assert policy.lag or after.scale == after.next_scale
        assert 1 <= after.overflows_left <= policy.hysteresis


@given(policy=policies(), pattern=patterns)
def test_an_overflow_is_no_step(policy, pattern):
    ran = policy.run(pattern)
    done = pattern[: len(ran.actions)]
    assert all((action is Action.STEP) == (letter == "F") for letter, action in zip(done, ran.actions, strict=True))
    assert Action.RAISE not in ran.actions[:-1]
    assert len(ran.actions) == len(pattern) or ran.actions[-1] is Action.RAISE


@given(policy=policies(lag=0), pattern=patterns)
def test_a_raise_keeps_the_state(policy, pattern):
    *_, state = [policy.start(), *(after for _, _, after in states(policy, pattern))]
    for found_inf in (False, True):
        after, action = policy.step(state, found_inf)
        assert action is not Action.RAISE or after == state


@given(policy=policies(lag=0), pattern=patterns)
def test_lag_shows_every_scale_one_step_later(policy, pattern):
    ran, late = policy.run(pattern), replace(policy, lag=1).run(pattern)
    assert late.actions == ran.actions
    if Action.RAISE not in ran.actions:
        assert late.scales == (ran.scales[:1] + ran.scales)[: len(ran.scales)]


@given(policy=policies(growth=powers_of(2.0), backoff=powers_of(0.5)), pattern=patterns)
def test_factors_that_are_powers_of_two_keep_powers_of_two(policy, pattern):
    assert all(math.frexp(scale)[0] == 0.5 for scale in policy.run(pattern).scales if 2**-149 <= scale < math.inf)


@pytest.mark.parametrize(
    ("name", "ceiling"), [("apex_amp", 2.0**24), ("mxnet", 2.0**24), ("openseq2seq_backoff", 2.0**14)]
)
def test_growth_ends_at_the_ceiling(name, ceiling):
    policy = replace(SCALER_PRESETS[name], init_scale=ceiling * 0.75, growth_interval=1)
    assert policy.run("FFFFF").scales[policy.lag + 1 :] == (ceiling,) * (5 - policy.lag)


def test_an_overflow_that_is_tolerated_at_the_floor_does_not_end_training():
    policy = replace(SCALER_PRESETS["deepspeed_zero"], init_scale=1.0)
    assert policy.run("NN").actions == (Action.SKIP, Action.RAISE)


def test_overflows_that_were_tolerated_count_beyond_a_growth():
    policy = replace(SCALER_PRESETS["fairseq"], growth_interval=2, tolerance=0.6)
    assert policy.run("FNFFFN").scales == (128, 128, 128, 128, 256, 256, 128)
    assert policy.run("FFFN").scales == (128, 128, 256, 256, 256)


@pytest.mark.parametrize("name", DIFFERENT)
def test_an_interval_of_finite_steps_grows_once_by_the_factor(name):
    policy = replace(SCALER_PRESETS[name], init_scale=1024.0)
    interval, wait = policy.growth_interval, policy.growth_delay + policy.lag
    scales = policy.run("F" * (2 * interval + wait)).scales
    first, second = interval + wait, 2 * interval + wait
    assert set(scales[:first]) == {1024}
    assert set(scales[first:second]) == {2048}
    assert scales[second] == 4096


@pytest.mark.parametrize(
    ("refill", "pattern", "scales"),
    [
        ("growth", "NNNN", (8, 8, 4, 2, 1)),
        ("finite", "NNNN", (8, 8, 4, 2, 1)),
        ("finite_or_backoff", "NNNN", (8, 8, 4, 4, 2)),
        ("growth", "NFNFNN", (8, 8, 8, 4, 4, 2, 1)),
        ("finite", "NFNFNN", (8, 8, 8, 8, 8, 8, 4)),
        ("growth", "NFFNNN", (8, 8, 8, 16, 16, 8, 4)),
    ],
)
def test_when_tolerated_overflows_are_counted_anew(refill, pattern, scales):
    policy = ScalerPolicy(init_scale=8, growth_interval=2, hysteresis=2, hysteresis_refill=refill)
    assert policy.run(pattern).scales == scales


def test_a_state_from_a_longer_interval_grows_only_with_the_comparison_that_allows_it():
    long = ScalerPolicy(growth_interval=100)
    *_, (_, _, state) = states(long, "F" * 10)
    equal, beyond = (replace(long, growth_interval=5, growth_compare=compare) for compare in ("==", ">="))
    assert equal.step(state, False)[0].scale == 65536
    assert beyond.step(state, False)[0].scale == 131072


@given(pattern=patterns, scale=st.floats(2**-126, 2**127), changes=policies())
def test_a_static_scale_never_moves(pattern, scale, changes):
    policy = replace(changes, dynamic=False, init_scale=scale, min_scale=None, max_scale=None, at_min="clamp")
    ran = policy.run(pattern)
    assert set(ran.scales) == {policy.start().scale}
    assert ran.actions == tuple(Action.SKIP if letter == "N" else Action.STEP for letter in pattern)


def test_products_in_float32_and_in_float64():
    """As numpy forms them: a factor rounded to float32, the product rounded from float64, none rounded."""
    ran = {
        (dtype, factor_dtype): ScalerPolicy(
            init_scale=1000.1, backoff_factor=0.7, dtype=dtype, factor_dtype=factor_dtype
        )
        .run("NNNNNNNN")
        .scales[-1]
        for dtype in ("float32", "float64")
        for factor_dtype in ("float32", "float64")
    }
    single, mixed, double = np.float32(1000.1), np.float32(1000.1), 1000.1
    for _ in range(8):
        single = single * np.float32(0.7)
        mixed = np.float32(np.float64(mixed) * 0.7)
        double = double * 0.7
    assert single.dtype == np.float32
    assert ran["float32", "float32"] == single
    assert ran["float32", "float64"] == mixed
    assert ran["float64", "float64"] == double
    assert len(set(ran.values())) == 4


def test_what_a_policy_says_is_rounded_as_it_is_stored():
    """0.1 and 1.1 are no float32 values, nor float64 ones."""
    tenth, factor = float(np.float32(0.1)), float(np.float32(1.1))
    growing = ScalerPolicy(init_scale=1, growth_factor=1.1, growth_interval=1, dtype="float64")
    assert growing.run("F").scales == (1, 1.1)
    assert replace(growing, factor_dtype="float32").run("F").scales == (1, factor)
    limited = replace(growing, growth_factor=2.0, init_scale=0.06, max_scale=0.1)
    assert limited.run("F").scales[-1] == 0.1
    assert replace(limited, dtype="float32").run("F").scales[-1] == tenth
    falling = ScalerPolicy(init_scale=0.15, min_scale=0.1)
    assert falling.run("N").scales[-1] == tenth
    assert replace(falling, dtype="float64").run("N").scales[-1] == 0.1
    assert replace(falling, at_min="raise_if_at_min").run("NN").actions == (Action.SKIP, Action.RAISE)
    ending = ScalerPolicy(init_scale=0.2, stop_scale=0.1, at_min="raise_if_would_reach")
    assert ending.run("N").actions == replace(ending, dtype="float64").run("N").actions == (Action.RAISE,)


def test_a_scale_that_halves_long_enough_is_zero():
    ran = ScalerPolicy(init_scale=1.0).run("N" * 151)
    assert ran.scales[149] == 2**-149
    assert ran.scales[150:] == (0, 0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_settings_of_numpy_for_errors_do_not_matter(dtype):
    policy = ScalerPolicy(init_scale=2.0**120, growth_interval=1, growth_factor=1e9, dtype=dtype, grow_to_inf="allow")
    with np.errstate(all="raise"):
        assert policy.run("F" * 300).scales[-1] == math.inf
        assert policy.run("N" * 1500).scales[-1] == 0


def test_numbers_of_numpy_are_numbers():
    policy = ScalerPolicy(np.float32(1024), np.float64(2), 0.5, np.int64(3))
    assert policy.run("FFF").scales == (1024, 1024, 1024, 2048)


def test_no_steps():
    ran = ScalerPolicy().run("")
    assert (ran.scales, ran.actions) == ((65536,), ())


def test_a_million_steps():
    ran = ScalerPolicy(growth_interval=3).run("NFFFFFFNNF" * 100_000)
    assert len(ran.actions) == 1_000_000
    assert ran.scales[10] == 16384 * 2


HUGE = 10**400
BAD = {
    "init_scale": [0, -1, math.inf, -math.inf, math.nan, "1", None, True, HUGE, 1e39, 1e-50, [1.0], 1j],
    "growth_factor": [1, 0.5, 0, -2, math.inf, math.nan, "2", None, True, HUGE],
    "backoff_factor": [1, 2, 0, -0.5, math.inf, math.nan, "0.5", None, False],
    "growth_interval": [0, -1, 2.5, 3.0, "3", None, True, math.nan, math.inf],
    "growth_delay": [-1, 0.5, "0", None, False],
    "growth_compare": [">", "", None, 1, "= ="],
    "hysteresis": [0, -1, 1.5, "1", None, True],
    "hysteresis_refill": ["never", None, 1, ["growth"]],
    "min_scale": [0, -1, math.inf, math.nan, "1", True, 1e39, HUGE],
    "max_scale": [0, -1, math.inf, math.nan, "1", True, 1e39, HUGE],
    "at_min": ["raise", None],
    "stop_scale": [0, -1, math.inf, math.nan, "1", True],
    "grow_to_inf": ["clamp", None, True],
    "dtype": ["float16", None, np.float32, float],
    "factor_dtype": ["double", None, np.float64],
    "lag": [2, -1, 0.0, True, "1", None],
    "tolerance": [-0.1, 1.1, math.nan, math.inf, "0", None, True],
    "dynamic": [1, 0, "yes", None],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_what_cannot_work_is_refused_by_name(name, value):
    with pytest.raises(InputError) as refused:
        ScalerPolicy(**{name: value})
    said = str(refused.value)
    assert said.startswith(f"{name} must be ")
    assert f": “{str(value)[:60]}" in said
    assert said.endswith("” is not.")
    assert len(said) < 200


def test_every_field_is_checked():
    assert set(BAD) == {field.name for field in fields(ScalerPolicy)}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"min_scale": 4.0, "max_scale": 2.0}, "min_scale must be at most max_scale, “2.0”: “4.0” is not."),
        ({"min_scale": 4, "init_scale": 2}, "init_scale must be at least min_scale, “4”: “2” is not."),
        ({"max_scale": 4, "init_scale": 8}, "init_scale must be at most max_scale, “4”: “8” is not."),
        ({"at_min": "raise_if_at_min"}, "min_scale must be given where at_min is “raise_if_at_min”: it is none."),
        (
            {"at_min": "raise_if_would_reach", "min_scale": 1.0},
            "stop_scale must be given where at_min is “raise_if_would_reach”: it is none.",
        ),
        (
            {"growth_factor": 1 + 2**-30, "factor_dtype": "float32"},
            f"growth_factor must be a finite number above 1 in float32: “{1 + 2**-30}” is not.",
        ),
        (
            {"backoff_factor": 1 - 2**-30, "factor_dtype": "float32"},
            f"backoff_factor must be a number between 0 and 1 in float32: “{1 - 2**-30}” is not.",
        ),
    ],
)
def test_fields_that_contradict_each_other_are_refused(changes, said):
    with pytest.raises(InputError) as refused:
        ScalerPolicy(**changes)
    assert str(refused.value) == said


def test_what_float32_cannot_hold_float64_can():
    for name in ("init_scale", "max_scale"):
        with pytest.raises(InputError, match=f"{name} must be .* in float32"):
            ScalerPolicy(**{name: 1e39})
        assert ScalerPolicy(**{name: 1e39}, dtype="float64").run("F").actions == (Action.STEP,)
    assert ScalerPolicy(growth_factor=1 + 2**-30).growth_factor == 1 + 2**-30
