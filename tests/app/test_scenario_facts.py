"""The scenarios' numbers, compared with fractions, numpy's float16 and ml_dtypes, never with the core."""

from fractions import Fraction
from itertools import pairwise
import math
import re

import ml_dtypes
import numpy as np

from lossscale_app.links import DEFAULTS
from lossscale_app.recordings import recorded_runs
from lossscale_app.scenarios import scenario_params
from lossscale_app.scenes import SCENES
from lossscale_app.settings import read_policy, read_run
from lossscale_core import parse_number

from .scenario_names import BY_ID, every_scenario, filled, right, text, tokens

SLIDER = range(-40, 41)


# A fact is a text; the number it stands for is read here in its own way.


def number(fact):
    """The exact number of a text, and how far it may be off as a share of itself."""
    found = re.fullmatch(r"(≈?)(-?[\d.]+)(?:\*2\^(-?\d+)|\^(-?\d+)|e(-?\d+))?", fact)
    assert found, fact
    rounded, digits, times, power, ten = found.groups()
    value = Fraction(digits)
    if power:
        assert abs(value) == 2
        value = (1 if value > 0 else -1) * Fraction(2) ** int(power)
    value *= Fraction(2) ** int(times or 0) * Fraction(10) ** int(ten or 0)
    return value, Fraction(1, 2000) if rounded else Fraction(0)


def check(name, **expected):
    """Compare all facts of a scenario."""
    facts = BY_ID[name].facts()
    assert set(facts) == set(expected)
    for key, true in expected.items():
        if isinstance(true, str):
            assert facts[key] == true
        else:
            value, tolerance = number(facts[key])
            assert abs(value - Fraction(true)) <= tolerance * abs(Fraction(true)), key


def values(name):
    return [parse_number(token) for token in tokens(name)]


def half(value):
    """Rounded to FP16, once: numpy rounds float64 directly."""
    with np.errstate(all="ignore"):
        return float(np.float16(np.float64(value)))


def narrow(kind):
    """Rounded to a format of ml_dtypes, from a float32 that is the value itself."""

    def rounded(value):
        assert math.isnan(value) or float(np.float32(value)) == value
        with np.errstate(all="ignore"):
            return float(np.float32(value).astype(kind))

    return rounded


bfloat = narrow(ml_dtypes.bfloat16)
e5m2 = narrow(ml_dtypes.float8_e5m2)
e4m3 = narrow(ml_dtypes.float8_e4m3fn)


def survive(gradients, scale, store=half):
    stored = [store(gradient * scale) for gradient in gradients]
    return all(value != 0 and math.isfinite(value) for value in stored)


def safe(gradients, store=half, powers=SLIDER):
    return [k for k in powers if survive(gradients, 2.0**k, store)]


def normal(gradients, scale):
    return all(2.0**-14 <= half(gradient * scale) < math.inf for gradient in gradients)


def is_end(gradients, end, inner, store=half, kind=np.float64):
    """Whether a scale is outside the window, and its neighbour on a side is inside."""
    end = kind(end)
    return not survive(gradients, float(end), store) and survive(
        gradients, float(np.nextafter(end, kind(inner))), store
    )


def test_window():
    gradients = values("window")
    assert gradients == [2.0**-26, 8.0]
    powers = safe(gradients)
    assert powers == list(range(2, 13))
    assert is_end(gradients, 2, inner=math.inf)
    assert is_end(gradients, 8190, inner=0)
    assert [k for k in SLIDER if normal(gradients, 2.0**k)] == [12]
    assert half(2.0**-26 * 2) == 0
    assert half(8 * 2.0**13) == math.inf
    assert half(2.0**-25) == 0 < half(np.nextafter(2.0**-25, 1))
    assert half(np.nextafter(65520, 0)) < half(65520) == math.inf
    check(
        "window",
        small=gradients[0],
        large=gradients[1],
        lost=Fraction(1, 2**25),
        limit=65520,
        above=2,
        below=Fraction(65520, 8),
        first=4,
        last=4096,
        under=2,
        over=8192,
        full=4096,
    )


def test_tie():
    tie, hair, triple = values("tie")
    assert (tie, hair, triple) == (2.0**-25, (1 + 2.0**-10) * 2.0**-25, 3 * 2.0**-25)
    smallest = float(np.finfo(np.float16).smallest_subnormal)
    assert tie == smallest / 2
    assert triple == (smallest + 2 * smallest) / 2
    bits = [int(np.float16(each).view(np.uint16)) & 1 for each in (0, smallest, 2 * smallest)]
    assert bits == [0, 1, 0]
    assert "The bits of 0 end in 0, those of {smallest} in 1, those of {third} in 0" in text("tie", "answer")
    stored = [half(value) for value in (tie, hair, triple)]
    assert stored == [0, smallest, 2 * smallest]
    check(
        "tie",
        tie="2^-25",
        triple="3*2^-25",
        first=stored[0],
        second=stored[1],
        third=stored[2],
        smallest=Fraction(1, 2**24),
    )
    assert scenario_params("tie")["log2_scale"] == 0


def test_late():
    assert (SCENES["late"]["log2_scale"], SCENES["late"]["at"]) == (12, "late")
    gradient, factor = 2.0**-26, 4096.0
    stored, scaled = half(gradient), half(gradient * factor)
    assert [half(stored * 2.0**k) for k in SLIDER] == [0] * len(SLIDER)
    check(
        "late",
        scale=factor,
        gradient=gradient,
        stored=stored,
        late=half(stored * factor),
        scaled=scaled,
        recovered=float(np.float32(scaled) / np.float32(factor)),
    )
    assert float(np.float32(scaled) / np.float32(factor)) == gradient


def test_half():
    assert (SCENES["half"]["log2_scale"], SCENES["half"]["unscale"]) == (12, "fp16")
    gradient, factor = 2.0**-26, 4096.0
    stored = half(gradient * factor)
    assert survive([gradient], factor)
    check(
        "half",
        scale=factor,
        gradient=gradient,
        stored=stored,
        half=float(np.float16(stored) / np.float16(factor)),
        recovered=float(np.float32(stored) / np.float32(factor)),
        lost=Fraction(1, 2**25),
        deepest=float(np.finfo(np.float32).smallest_subnormal),
    )
    assert float(np.float32(stored) / np.float32(factor)) == gradient


def test_inf():
    (gradient,) = values("inf")
    params = scenario_params("inf")
    assert (gradient, params["log2_scale"], params["format"]) == (8.0, 13, "fp16")
    assert safe([gradient])[-1] == 12
    assert half(gradient * 2.0**13) == math.inf
    assert half(65520) == math.inf
    assert "Overflow starts at 65520" in filled("inf", "found")
    check(
        "inf",
        last=2**12,
        scale=2**13,
        large=8,
        product=8 * 2**13,
        kept=half(gradient * 2.0**12),
        limit=65520,
        near="65519.9",
        largest=half(65519.9),
    )
    assert half(65519.9) == float(np.finfo(np.float16).max) == 65504


def test_none():
    gradients = values("none")
    assert gradients == [2.0**-34, 2.0**10]
    assert safe(gradients) == []
    first, last = safe(gradients[:1])[0], safe(gradients[1:])[-1]
    assert is_end(gradients[:1], 512, inner=math.inf)
    assert is_end(gradients[1:], 65520 / 1024, inner=0)
    assert BY_ID["none"].goal == ()
    ratio, span = Fraction(2) ** 44, Fraction(65520) * 2**25
    assert ratio > span
    check(
        "none",
        small=gradients[0],
        large=gradients[1],
        above=512,
        below=Fraction(65520, 1024),
        first=2**first,
        last=2**last,
        ratio=ratio,
        span=span,
    )


def test_below1():
    gradients = values("below1")
    assert gradients == [2.0**-20, 2.0**18]
    assert safe(gradients) == [-4, -3]
    assert is_end(gradients, 2.0**-5, inner=math.inf)
    assert is_end(gradients, 65520 / 2**18, inner=0)
    assert half(gradients[1]) == math.inf
    assert text("below1", right(BY_ID["below1"])) == "Some below 1"
    check(
        "below1",
        small=gradients[0],
        large=gradients[1],
        lowest=half(gradients[0] / 16),
        lost=Fraction(1, 2**25),
        limit=65520,
        above=Fraction(1, 32),
        below=Fraction(65520, 2**18),
        first=Fraction(1, 16),
        last=Fraction(1, 8),
    )
    assert half(gradients[0] / 16) == gradients[0] / 16


def test_bf16():
    gradients = values("bf16")
    assert gradients == [2.0**-26, 8.0]
    assert scenario_params("bf16")["format"] == "bf16"
    assert [bfloat(gradient) for gradient in gradients] == gradients
    fine = 1 + 2.0**-9
    assert half(fine) == fine
    info, info16 = ml_dtypes.finfo(ml_dtypes.bfloat16), np.finfo(np.float16)
    # What is written out by hand: sign, exponent and mantissa fill all bits.
    assert 1 + 8 + info.nmant == info.bits == 1 + 5 + info16.nmant == 16
    assert (2.0**info.maxexp, 2.0**info16.maxexp) == (2.0**2**7, 2.0**2**4)
    check(
        "bf16",
        small=gradients[0],
        large=gradients[1],
        fine=Fraction(513, 512),
        coarse=bfloat(fine),
        width=16,
        largest=float(info.max),
        fp16_largest=float(info16.max),
        bits=int(info.nmant) + 1,
        fp16_bits=int(info16.nmant) + 1,
        exponent=8,
        fp16_exponent=5,
    )
    assert bfloat(fine) == 1


def test_fp8():
    gradients = values("fp8")
    assert gradients == [2.0**-26, 8.0]
    assert scenario_params("fp8")["format"] == "e5m2"
    assert safe(gradients, e5m2) == [10, 11, 12]
    assert safe(gradients, e4m3) == []
    assert is_end(gradients, 512, math.inf, e5m2, np.float32)
    assert is_end(gradients, 7680, 0, e5m2, np.float32)
    assert is_end(gradients[:1], 65536, math.inf, e4m3, np.float32)
    # The upper end in E4M3 belongs to what survives: S ≤ 58.
    assert survive(gradients[1:], 58.0, e4m3)
    assert not survive(gradients[1:], float(np.nextafter(np.float32(58), np.float32(99))), e4m3)
    powers = safe(gradients)
    check(
        "fp8",
        small=gradients[0],
        large=gradients[1],
        smallest=float(ml_dtypes.finfo(ml_dtypes.float8_e5m2).smallest_subnormal),
        fp16_smallest=float(np.finfo(np.float16).smallest_subnormal),
        first=2**10,
        last=2**12,
        fp16_first=2 ** powers[0],
        fp16_last=2 ** powers[-1],
        above=512,
        below=7680,
        fp16_above=2,
        fp16_below=8190,
        e4m3_above=65536,
        e4m3_below=58,
    )


def test_clip():
    assert (SCENES["clip"]["log2_scale"], SCENES["clip"]["example"]) == (10, "clip")
    gradient, factor, limit = np.full(4, 0.25, np.float32), np.float32(1024), np.float32(1)
    scaled = gradient.astype(np.float16).astype(np.float32) * factor
    assert np.isfinite(scaled.astype(np.float16)).all()
    norm_scaled, norm = np.linalg.norm(scaled), np.linalg.norm(gradient)
    step = scaled * (limit / norm_scaled) / factor
    assert norm < limit < norm_scaled
    check(
        "clip",
        scale=1024,
        scaled=float(norm_scaled),
        norm=float(norm),
        limit=1,
        effective=Fraction(1, 1024),
        factor=float(norm / np.linalg.norm(step)),
    )
    # The limit of 1 does before unscaling what one of 2^-10 does after it.
    assert np.array_equal(step, gradient * (np.float32(2.0**-10) / norm))
    assert norm / np.linalg.norm(step) == 512


def test_accum():
    assert SCENES["accum"]["log2_scale"] == 12
    first, second = 4096.0, 2048.0
    parts = [half(1 * first), half(1 * second)]
    check(
        "accum",
        first=first,
        second=second,
        first_part=parts[0],
        second_part=parts[1],
        sum=sum(parts),
        wrong=Fraction(sum(parts)) / Fraction(second),
        fixed=2 * half(first),
        right=Fraction(2 * half(first)) / Fraction(first),
    )
    assert sum(parts) / second == 3
    # The scale that the course has in mind would overflow here.
    assert half(1 * 2.0**16) == math.inf


def test_dyn():
    """A scaler in six lines of its own."""
    policy = read_policy(SCENES["dyn"]["policy"])
    assert (policy.init_scale, policy.growth_interval) == (2.0**16, 20)
    assert (policy.growth_factor, policy.backoff_factor, policy.hysteresis, policy.growth_delay) == (2, 0.5, 1, 0)
    scale, good, scales, skipped = 2.0**16, 0, [], []
    for _ in range(500):
        scales.append(scale)
        skipped.append(half(8 * scale) == math.inf)
        good = 0 if skipped[-1] else good + 1
        scale = scale / 2 if skipped[-1] else scale * 2 if good == 20 else scale
        good %= 20
    begins = skipped.index(False)
    later = [step for step in range(begins, 500) if skipped[step]]
    assert {scales[step] for step in later} == {2.0**13}
    assert {two - one for one, two in pairwise(later)} == {21}
    assert set(scales[begins:]) == {2.0**12, 2.0**13}
    check(
        "dyn",
        start=scales[0],
        settled=scales[begins],
        over=scales[later[0]],
        largest=8,
        skipped=begins,
        interval=20,
        period=later[1] - later[0],
    )
    assert begins == 4
    assert text("dyn", right(BY_ID["dyn"])) == f"{begins} at first, later more"


def test_coarse():
    (gradient,) = values("coarse")
    assert gradient == 1.75 * 2.0**-24
    back = {k: half(gradient * 2.0**k) / 2.0**k for k in SLIDER if k >= 0}
    exact = [k for k, value in back.items() if value == gradient]
    assert exact == list(range(exact[0], exact[-1] + 1))
    assert back[0] == back[1] == 2 * 2.0**-24
    # 3.5 steps: a tie between 3 and 4.
    assert gradient * 2 / 2.0**-24 == 3.5
    error = Fraction(2) / Fraction(7, 4) - 1
    assert f"{100 * float(error):+.2f}%" == "+14.29%"
    assert back[40] == math.inf
    check(
        "coarse",
        gradient="1.75*2^-24",
        next_scale=2,
        exact=2 ** exact[0],
        last=2 ** exact[-1],
        distance=Fraction(1, 2**24),
        stored=back[0],
        times=gradient * 2 ** exact[0] / 2.0**-24,
        bits=11,
        error="+14.29%",
        next_error="+14.29%",
    )
    assert exact[0] == 2


def test_swamp():
    update, weight = 2.0**-12, np.float16(1)
    stepped = []
    for k in SLIDER:
        arrived = half(update * 2.0**k) / 2.0**k
        if arrived in (0, math.inf):
            continue
        assert arrived == update
        stepped.append(half(float(weight) - arrived))
    assert set(stepped) == {1.0}
    below = float(np.nextafter(weight, np.float16(0)))
    assert 1 - update == (1 + below) / 2
    check(
        "swamp",
        scale=2 ** SCENES["swamp"]["log2_scale"],
        weight=1,
        update=update,
        after=stepped[0],
        kept=1 - float(np.float32(1) - np.float32(update)),
        gap=1 - Fraction(below),
    )
    # In FP16 the weight would not rise either.
    assert half(1 + update) == 1


def test_outlier():
    gradients = values("outlier")
    rest, outlier = gradients[:-1], gradients[-1]
    assert (min(rest), max(rest), outlier) == (2.0**-30, 2.0**-20, 2.0**10)
    assert safe(gradients) == []
    powers = safe(rest)
    assert is_end(gradients, 32, inner=math.inf)
    assert is_end(gradients, 65520 / 1024, inner=0)
    assert is_end(rest, 32, inner=math.inf)
    assert is_end(rest, 65520 * 2.0**20, inner=0)
    assert survive(gradients, 48.0)
    check(
        "outlier",
        rest_first=2 ** powers[0],
        rest_last=2 ** powers[-1],
        above=32,
        below=Fraction(65520, 1024),
        rest_below=65520 * 2**20,
        inside=48,
    )
    assert (powers[0], powers[-1]) == (6, 35)


def test_same():
    gradients, rate = [2.0**-12, 2.0**-3], np.float32(0.1)
    powers = safe(gradients)
    updates = {
        tuple(float(rate * (np.float32(half(g * 2.0**k)) / np.float32(2.0**k))) for g in gradients) for k in powers
    }
    assert len(updates) == 1
    assert {0, 12} <= set(powers)
    (update,) = updates
    check(
        "same",
        first=Fraction(2) ** powers[0],
        last=Fraction(2) ** powers[-1],
        small=gradients[0],
        large=gradients[1],
        small_update=update[0],
        large_update=update[1],
        rate=Fraction(1, 10),
    )


def test_mean():
    token_gradients = [[4.0], [0.0, 0.0, 0.0]]
    every = [gradient for batch in token_gradients for gradient in batch]
    means = sum(sum(batch) / len(batch) for batch in token_gradients) / 2
    token_mean = sum(every) / len(every)
    for share, true in ((Fraction(1, 2), means), (Fraction(1, 4), token_mean)):
        for k in safe([4.0 * float(share)]):
            assert half(4.0 * float(share) * 2.0**k) / 2.0**k == true
    check(
        "mean",
        means=means,
        token_mean=token_mean,
        equal=Fraction(1, 2),
        first_share=Fraction(1, 4),
        second_share=Fraction(3, 4),
    )
    assert (means, token_mean) == (2, 1)


def test_nan():
    assert "inject.nan" in SCENES["nan"]["run"]
    assert "inject_lasting.true" in SCENES["nan"]["run"]
    policy = read_policy(SCENES["nan"]["policy"])
    assert (policy.backoff_factor, policy.min_scale, policy.hysteresis, policy.dtype) == (0.5, None, 1, "float32")
    # Before the first NaN the run is that of the scaler's scenario, whose scale follows its skipped steps.
    recorded = recorded_runs()[f"dynamic fp16 {SCENES['nan']['policy']} {SCENES['nan']['run']}"]
    first = int(re.search(r"inject_at\.(\d+)", SCENES["nan"]["run"])[1])
    start = [2.0**log2 for step, log2, _ in recorded["scales"] if step <= first][-1]
    scales = [np.float32(start)]
    while scales[-1]:
        scales.append(scales[-1] / np.float32(2))
    check("nan", start=start, smallest=float(scales[-2]), steps=len(scales) - 2, end=float(scales[-1]))
    assert float(scales[-2]) == 2.0**-149
    assert all(math.isnan(half(math.nan * 2.0**k)) for k in SLIDER)


def test_autocast():
    settings = read_run(SCENES["autocast"].get("run", ""))
    assert settings.reduction == "mean"
    places = settings.positions * settings.batch * settings.micro_batches
    # The gradient of a mean of cross-entropies is (probability - 1 or 0) / places: at most 1 / places.
    check(
        "autocast",
        places=places,
        most=Fraction(1, places),
        lost=Fraction(1, 2**25),
        fp32_lost=Fraction(1, 2**150),
        scale=2**16,
        scaled=Fraction(2**16, places),
    )
    assert np.float32(np.float64(2.0**-150)) == 0 < np.float32(np.nextafter(2.0**-150, 1))
    assert read_policy(DEFAULTS["policy"]).init_scale == 2.0**16


def test_every_scenario_has_its_numbers_checked():
    assert {f"test_{name}" for name in BY_ID} <= set(globals())


# Goals.

STORES = {"fp16": half, "bf16": bfloat, "e5m2": e5m2, "e4m3": e4m3}


@every_scenario
def test_a_goal_is_every_power_of_two_at_which_all_survive(scenario):
    if scenario.goal is None:
        assert scenario.id not in ("window", "none", "below1", "fp8")
        return
    params = scenario_params(scenario.id)
    gradients = [parse_number(token) for token in params["gradients"]]
    assert list(scenario.goal) == safe(gradients, STORES[params["format"]])
    assert params["log2_scale"] not in scenario.goal
