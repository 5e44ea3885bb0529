"""The scenarios of a lesson as data: predictions, what each wrong one reveals, and the numbers of the answers.

Their words are messages. Every number in an answer is computed here, from the core.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import islice, takewhile
from typing import Any

from lossscale_app.gradients import LOG2_SCALES
from lossscale_app.orders import EXAMPLES
from lossscale_app.presets import PRESETS
from lossscale_app.runs import Request
from lossscale_app.scenes import SCENES
from lossscale_app.settings import DEFAULT_POLICY, read_policy, read_run
from lossscale_core import (
    BF16,
    E4M3,
    E5M2,
    FORMATS,
    FP16,
    FP32,
    Format,
    InputError,
    ScalerPolicy,
    Stage,
    StageName,
    StepOrder,
    StepReport,
    Training,
    Window,
    cast_exact,
    decimal_text,
    encode,
    number_text,
    percent_text,
    power_text,
    recovered,
    safe_window,
    take_step,
)
from lossscale_core.errors import quoted

#: Numbers as texts, by the names that messages have for them.
Facts = dict[str, str]

_PRESETS = {preset.id: preset for preset in PRESETS}
_RIGHT_ORDER = StepOrder()

#: The misconception of the right prediction.
_RIGHT = ""


@dataclass(frozen=True)
class Prediction:
    """An answer to choose before anything is seen.

    Attributes:
        id: a letter, in the order in which the predictions are shown.
        misconception: the id of the misconception that choosing it reveals; empty for the right one.
    """

    id: str
    misconception: str


@dataclass(frozen=True)
class Scenario:
    """A question, what people predict, and what is to be discovered.

    Attributes:
        id: its name in links and messages.
        predictions: three or four, of which one is right.
        next: scenarios to try next.
        facts: the numbers of its texts, as the core writes them; the gradients of a preset as they are written there.
        goal: for a scenario that asks to find scales, every k of the slider that is right: () where none is. None
            where no scale is to be found.
        homework: whether it suits homework, rather than a class.
        about: the training run that it asks about, if it asks about one.
    """

    id: str
    predictions: tuple[Prediction, ...]
    next: tuple[str, ...]
    facts: Callable[[], Facts]
    goal: tuple[int, ...] | None = None
    homework: bool = False
    about: str = ""


def scenario_params(name: str) -> dict[str, Any]:
    """The state that a scenario opens with.

    Args:
        name: its id.

    Returns:
        Params of the explorer; those left out have their default.

    Raises:
        InputError: there is no such scenario.
    """
    if name in SCENES:
        return dict(SCENES[name])
    if name not in _PRESETS:
        raise InputError("{name} is no scenario that is known.", name=quoted(name))
    preset = _PRESETS[name]
    return {"gradients": list(preset.tokens), "log2_scale": preset.log2_scale, "format": preset.format}


def scenarios_data() -> list[dict[str, Any]]:
    """Describe all scenarios for the browser.

    Returns:
        For each scenario its fields, and the `view` it opens; a prediction is `right` or has a `misconception`.
    """
    return [
        {
            "id": scenario.id,
            "predictions": [
                {"id": each.id, "misconception": each.misconception, "right": not each.misconception}
                for each in scenario.predictions
            ],
            "next": list(scenario.next),
            "facts": dict(scenario.facts()),
            "goal": None if scenario.goal is None else list(scenario.goal),
            "homework": scenario.homework,
            "about": scenario.about,
            "view": scenario_params(scenario.id).get("view", "window"),
        }
        for scenario in SCENARIOS
    ]


def _numbers(**values: float | Fraction) -> Facts:
    return {name: number_text(value) for name, value in values.items()}


def _powers(**values: float | Fraction) -> Facts:
    return {name: str(power_text(value)) for name, value in values.items()}


def _ends(window: Window, above: str = "above", below: str = "below") -> Facts:
    """The ends of a window, the lower one excluded."""
    return {above: number_text(window.lower), below: decimal_text(window.upper, exact_digits=8)}


def _first_and_last(window: Window, first: str = "first", last: str = "last") -> Facts:
    """The smallest power of two that one end of a window admits, and the largest that the other does."""
    return _powers(**{first: 2.0**window.first_log2, last: 2.0**window.last_log2})


def _values(name: str) -> list[float]:
    return [gradient.value for gradient in _PRESETS[name].gradients]


def _survival(name: str, fmt: Format | None = None) -> Window:
    """The safe window of a preset's gradients."""
    return safe_window(_values(name), fmt or FORMATS[_PRESETS[name].format]).survive


def _safe_powers(name: str) -> tuple[int, ...]:
    """Every k of the slider that is safe for a preset's gradients."""
    window = _survival(name)
    return tuple(k for k in LOG2_SCALES if Fraction(2) ** k in window)


def _stored(value: float | Fraction, fmt: Format = FP16) -> float:
    return cast_exact(Fraction(value), fmt)


def _step(name: str, order: StepOrder = _RIGHT_ORDER) -> StepReport:
    """The step of a scene, at its scale and in FP16."""
    return take_step(EXAMPLES[name], order, _scale(name), FP16)


def _scale(name: str) -> float:
    """The scale of a scene."""
    return 2.0 ** SCENES[name].get("log2_scale", 0)


def _at(report: StepReport, name: StageName) -> float:
    """The number at a stage of a step: that of the first weight, in the first micro-batch."""
    return _stage(report, name).values[0][0]


def _stage(report: StepReport, name: StageName) -> Stage:
    return next(stage for stage in report.stages if stage.name is name)


@cache
def _window_facts() -> Facts:
    small, large = _values("window")
    safe = safe_window([small, large], FP16)
    first, last = 2.0**safe.survive.first_log2, 2.0**safe.survive.last_log2
    return {
        **_numbers(small=small, large=large, lost=FP16.survival.value, limit=FP16.overflow.value),
        **_ends(safe.survive),
        **_powers(first=first, last=last, under=first / 2, over=2 * last, full=2.0**safe.full_precision.first_log2),
    }


@cache
def _tie_facts() -> Facts:
    tie, _, triple = _PRESETS["tie"].tokens
    first, second, third = map(_stored, _values("tie"))
    return {
        "tie": tie,
        "triple": triple,
        **_numbers(first=first, second=second, third=third, smallest=FP16.min_subnormal),
    }


@cache
def _late_facts() -> Facts:
    late, right = _step("late", StepOrder(scale="late")), _step("late")
    return _powers(scale=_scale("late")) | _numbers(
        gradient=_at(late, StageName.GRADIENT),
        stored=_at(late, StageName.STORED),
        late=_at(late, StageName.SCALED),
        scaled=_at(right, StageName.STORED),
        recovered=_at(right, StageName.UNSCALED),
    )


@cache
def _half_facts() -> Facts:
    half, right = _step("half", StepOrder(unscale="stored")), _step("half")
    return _powers(scale=_scale("half")) | _numbers(
        gradient=_at(half, StageName.GRADIENT),
        stored=_at(half, StageName.STORED),
        half=_at(half, StageName.UNSCALED),
        recovered=_at(right, StageName.UNSCALED),
        lost=FP16.survival.value,
        deepest=FP32.min_subnormal,
    )


@cache
def _inf_facts() -> Facts:
    (large,) = _values("inf")
    last = 2.0 ** _survival("inf").last_log2
    near = FP16.overflow.value - Fraction(1, 10)
    return {
        **_powers(last=last, scale=2 * last),
        **_numbers(large=large, product=2 * last * large, kept=_stored(last * large)),
        **_numbers(limit=FP16.overflow.value, largest=_stored(near)),
        "near": decimal_text(near),
    }


@cache
def _none_facts() -> Facts:
    small, large = _values("none")
    window = _survival("none")
    return {
        **_powers(small=small, large=large),
        **_ends(window),
        **_first_and_last(window),
        "ratio": decimal_text(Fraction(large) / Fraction(small)),
        "span": decimal_text(FP16.overflow.value / FP16.survival.value),
    }


@cache
def _below1_facts() -> Facts:
    small, large = _values("below1")
    window = _survival("below1")
    lowest = small * 2.0**window.first_log2
    return {
        **_powers(small=small, large=large, lowest=_stored(lowest), lost=FP16.survival.value),
        **_numbers(limit=FP16.overflow.value),
        **_ends(window),
        **_first_and_last(window),
    }


@cache
def _bf16_facts() -> Facts:
    # One more bit than BF16 has, which FP16 keeps.
    fine = 1 + 2.0**-9
    small, large = (_stored(value, BF16) for value in _values("bf16"))
    return {
        **_numbers(small=small, large=large, coarse=_stored(fine, BF16)),
        "fine": decimal_text(_stored(fine)),
        **_numbers(width=BF16.bits, largest=BF16.max_finite, fp16_largest=FP16.max_finite),
        **_numbers(bits=BF16.significant_bits, fp16_bits=FP16.significant_bits),
        **_numbers(exponent=BF16.exponent_bits, fp16_exponent=FP16.exponent_bits),
    }


@cache
def _fp8_facts() -> Facts:
    small, large = _values("fp8")
    in_e5m2, in_fp16 = _survival("fp8"), _survival("fp8", FP16)
    return {
        **_numbers(small=small, large=large, smallest=E5M2.min_subnormal, fp16_smallest=FP16.min_subnormal),
        **_first_and_last(in_e5m2),
        **_first_and_last(in_fp16, "fp16_first", "fp16_last"),
        **_ends(in_e5m2),
        **_ends(in_fp16, "fp16_above", "fp16_below"),
        **_ends(_survival("fp8", E4M3), "e4m3_above", "e4m3_below"),
    }


@cache
def _clip_facts() -> Facts:
    wrong, right = _step("clip", StepOrder(clip="before_unscale")), _step("clip")
    limit, scale = EXAMPLES["clip"].clip_at, _scale("clip")
    return _powers(scale=scale) | _numbers(
        scaled=_stage(wrong, StageName.CLIPPED).norm,
        norm=_stage(right, StageName.CLIPPED).norm,
        limit=limit,
        effective=limit / scale,
        factor=1 / wrong.ratio,
    )


@cache
def _accum_facts() -> Facts:
    wrong, right = _step("accum", StepOrder(scale_update="micro_batch")), _step("accum")
    scaled = _stage(wrong, StageName.SCALED)
    first, second = scaled.scales
    (first_part,), (second_part,) = scaled.values
    return _powers(first=first, second=second) | _numbers(
        first_part=first_part,
        second_part=second_part,
        sum=_at(wrong, StageName.ACCUMULATED),
        wrong=_at(wrong, StageName.UNSCALED),
        fixed=_at(right, StageName.ACCUMULATED),
        right=_at(right, StageName.UNSCALED),
    )


@cache
def _dyn_facts() -> Facts:
    largest = 8.0
    policy = read_policy(SCENES["dyn"]["policy"])
    tried = _closed_loop(policy, safe_window([largest], FP16).survive, 4 * policy.growth_interval)
    skipped = len(list(takewhile(lambda step: step[1], tried)))
    later, after_that = [number for number, (_, skips) in enumerate(tried) if skips and number > skipped][:2]
    return _powers(start=policy.init_scale, settled=tried[skipped][0], over=tried[later][0]) | _numbers(
        largest=largest, skipped=skipped, interval=policy.growth_interval, period=after_that - later
    )


def _closed_loop(policy: ScalerPolicy, window: Window, steps: int) -> list[tuple[float, bool]]:
    """The scales that a scaler has, and whether the step is skipped, where gradients overflow outside a window."""
    state, tried = policy.start(), []
    for _ in range(steps):
        skips = state.scale not in window
        tried.append((state.scale, skips))
        state, _ = policy.step(state, found_inf=skips)
    return tried


@cache
def _coarse_facts() -> Facts:
    (token,), (gradient,) = _PRESETS["coarse"].tokens, _values("coarse")
    kept = {k: recovered(_stored(gradient * 2.0**k), 2.0**k) for k in LOG2_SCALES if k >= 0}
    exact = [2.0**k for k, value in kept.items() if value == gradient]
    errors = [percent_text(Fraction(kept[k]) / Fraction(gradient) - 1) for k in (0, 1)]
    return {
        "gradient": token,
        **_powers(next_scale=2.0, exact=exact[0], last=exact[-1], distance=FP16.min_subnormal),
        **_numbers(stored=kept[0], times=gradient * exact[0] / FP16.min_subnormal, bits=FP16.significant_bits),
        "error": errors[0],
        "next_error": errors[1],
    }


@cache
def _swamp_facts() -> Facts:
    narrow, wide = _step("swamp", StepOrder(weights="stored")), _step("swamp")
    (weight,) = EXAMPLES["swamp"].weights
    below = FP16.value_of(int(encode(weight, FP16)) - 1)
    return _powers(scale=_scale("swamp")) | _numbers(
        weight=weight,
        update=_at(narrow, StageName.UNSCALED),
        after=_at(narrow, StageName.UPDATED),
        kept=wide.update[0],
        gap=weight - below,
    )


@cache
def _outlier_facts() -> Facts:
    rest = safe_window(_values("outlier")[:-1], FP16).survive
    window = _survival("outlier")
    return {
        **_first_and_last(rest, "rest_first", "rest_last"),
        **_ends(window),
        **_numbers(rest_below=rest.upper, inside=window.lower * 3 / 2),
    }


@cache
def _same_facts() -> Facts:
    (gradients,), rate = EXAMPLES["same"].gradients, EXAMPLES["same"].learning_rate
    update = _step("same").update
    return {
        **_first_and_last(safe_window(gradients, FP16).survive),
        **_powers(small=gradients[0], large=gradients[1]),
        **_numbers(small_update=update[0], large_update=update[1], rate=Fraction(str(rate))),
    }


@cache
def _mean_facts() -> Facts:
    wrong, right = _step("mean", StepOrder(average="micro_batches")), _step("mean")
    tokens = EXAMPLES["mean"].tokens
    shares = [Fraction(count, sum(tokens)) for count in tokens]
    return _numbers(
        means=wrong.update[0],
        token_mean=right.update[0],
        equal=Fraction(1, len(tokens)),
        first_share=shares[0],
        second_share=shares[1],
    )


@cache
def _nan_facts() -> Facts:
    scene = scenario_params("nan")
    plan = Request(scene["policy"], scene["run"], scene["log2_scale"], FP16.name).plan("dynamic")
    # The scale at the step whose batch is the first with a NaN; all after it are skipped.
    *_, first = islice(Training(plan), plan.injection.step)
    scales = replace(read_policy(scene["policy"]), init_scale=first.scale).run("N" * 300).scales
    halved = list(takewhile(bool, scales))
    return _powers(start=halved[0], smallest=halved[-1]) | _numbers(steps=len(halved) - 1, end=scales[len(halved)])


@cache
def _autocast_facts() -> Facts:
    plan = read_run(SCENES["autocast"].get("run", "")).plan(FP16, autocast=True, scaler=None)
    start = read_policy(SCENES["autocast"].get("policy", DEFAULT_POLICY)).init_scale
    # An output's gradient is a difference of two probabilities, divided by the number of places.
    most = Fraction(1, plan.divisor)
    return _powers(
        places=plan.divisor,
        most=most,
        lost=FP16.survival.value,
        fp32_lost=FP32.survival.value,
        scale=start,
        scaled=most * Fraction(start),
    )


def _predictions(*misconceptions: str) -> tuple[Prediction, ...]:
    """Predictions by what each reveals; the right one reveals nothing."""
    return tuple(Prediction(letter, each) for letter, each in zip("abcd", misconceptions, strict=False))


#: All of them, in the order of the course.
SCENARIOS = (
    Scenario(
        "window",
        _predictions("too-far-apart", "bigger-is-safer", _RIGHT, "subnormal-is-lost"),
        ("tie", "none"),
        _window_facts,
        goal=_safe_powers("window"),
    ),
    Scenario(
        "tie",
        _predictions("underflow-at-min", _RIGHT, "rounding-is-down", "half-goes-up"),
        ("late", "coarse"),
        _tie_facts,
    ),
    Scenario(
        "late",
        _predictions("late-still-helps", "underflow-loses-bits", "bigger-is-safer", _RIGHT),
        ("inf", "half"),
        _late_facts,
    ),
    Scenario("half", _predictions(_RIGHT, "smallest-is-a-floor", "survived-is-safe"), ("none", "swamp"), _half_facts),
    Scenario(
        "inf",
        _predictions("largest-is-a-ceiling", "powers-always-fit", _RIGHT, "overflow-loses-one"),
        ("half", "dyn"),
        _inf_facts,
    ),
    Scenario(
        "none",
        _predictions(_RIGHT, "scale-always-exists", "bigger-is-safer", "only-overflow-counts"),
        ("bf16", "outlier"),
        _none_facts,
        goal=_safe_powers("none"),
    ),
    Scenario(
        "below1",
        _predictions("must-exceed-one", "unscaled-is-safe", "bigger-is-safer", _RIGHT),
        ("none", "coarse"),
        _below1_facts,
        goal=_safe_powers("below1"),
        homework=True,
    ),
    Scenario(
        "bf16",
        _predictions("range-is-precision", _RIGHT, "range-is-free", "same-size-same-range"),
        ("dyn", "fp8"),
        _bf16_facts,
    ),
    Scenario(
        "fp8",
        _predictions("bigger-is-safer", "fewer-bits-only-blur", _RIGHT, "few-bits-never-work"),
        ("below1", "outlier"),
        _fp8_facts,
        goal=_safe_powers("fp8"),
        homework=True,
    ),
    Scenario(
        "clip",
        _predictions("order-does-not-matter", "mistakes-show", "clipping-undoes-scale", _RIGHT),
        ("accum", "same"),
        _clip_facts,
        homework=True,
    ),
    Scenario(
        "accum",
        _predictions(_RIGHT, "moving-scale-cancels", "first-scale-counts"),
        ("mean", "clip"),
        _accum_facts,
        homework=True,
    ),
    Scenario(
        "dyn",
        _predictions("scaler-starts-right", _RIGHT, "scaler-finds-best", "one-skip-is-enough"),
        ("nan", "autocast"),
        _dyn_facts,
        about="dynamic",
    ),
    Scenario(
        "coarse",
        _predictions("nonzero-is-right", "precision-is-constant", _RIGHT, "rounding-is-down"),
        ("swamp", "tie"),
        _coarse_facts,
    ),
    Scenario(
        "swamp",
        _predictions(_RIGHT, "scale-fixes-weights", "scale-is-learning-rate"),
        ("same", "bf16"),
        _swamp_facts,
        homework=True,
    ),
    Scenario("outlier", _predictions("most-decide", _RIGHT, "ends-move-together"), ("fp8", "dyn"), _outlier_facts),
    Scenario(
        "same",
        _predictions("scale-is-learning-rate", "larger-is-more-precise", "scale-changes-objective", _RIGHT),
        ("clip", "mean"),
        _same_facts,
    ),
    Scenario(
        "mean",
        _predictions("average-is-scaling", "scale-counts-tokens", _RIGHT, "surviving-is-enough"),
        ("accum", "same"),
        _mean_facts,
    ),
    Scenario(
        "nan",
        _predictions(_RIGHT, "nan-can-be-scaled", "scale-stops-at-one", "one-skip-is-enough"),
        ("autocast", "inf"),
        _nan_facts,
        about="dynamic",
    ),
    Scenario(
        "autocast",
        _predictions("autocast-is-scaling", _RIGHT, "either-is-enough", "only-fp32-works"),
        ("same", "bf16"),
        _autocast_facts,
    ),
)
