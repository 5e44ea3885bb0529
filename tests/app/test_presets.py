"""The lists worth trying: each is well formed, and lets its reader find what it is there for."""

import pytest

from lossscale_app.gradients import LOG2_SCALES, MAX_GRADIENTS
from lossscale_app.lookups import gradient_data
from lossscale_app.messages import ENGLISH
from lossscale_app.presets import BEGINNING, PRESETS
from lossscale_core import FORMATS, classify, safe_window

BY_ID = {preset.id: preset for preset in PRESETS}
every_preset = pytest.mark.parametrize("preset", PRESETS, ids=BY_ID)


def values(name):
    return [gradient.value for gradient in BY_ID[name].gradients]


def outcomes(name, k, fmt=None):
    return [outcome.name for outcome in classify(values(name), 2.0**k, FORMATS[fmt or BY_ID[name].format])]


def windows(name, fmt=None):
    exact = safe_window(values(name), FORMATS[fmt or BY_ID[name].format])
    return exact.survive.log2_powers, exact.full_precision.log2_powers


def test_no_two_presets_have_one_name():
    assert len(BY_ID) == len(PRESETS)


@every_preset
def test_a_preset_is_well_formed(preset):
    assert preset.format in FORMATS
    assert preset.log2_scale in LOG2_SCALES
    assert 1 <= len(preset.tokens) <= MAX_GRADIENTS
    assert [gradient.token for gradient in preset.gradients] == list(preset.tokens)
    assert f"try-{preset.id}" in ENGLISH


@every_preset
def test_every_gradient_of_a_preset_can_be_dragged(preset):
    for gradient in preset.gradients:
        assert gradient_data(gradient)["octave"] in gradient.octaves


def test_the_page_opens_with_the_first_preset():
    assert PRESETS[0] is BEGINNING
    assert (BEGINNING.tokens, BEGINNING.format, BEGINNING.log2_scale) == (("2^-26", "8"), "fp16", 0)


def test_window_has_eleven_powers_of_two_of_which_one_keeps_full_precision():
    assert windows("window") == ((2, 12), (12, 12))
    assert [outcomes("window", k)[0] for k in (0, 1, 2)] == ["UNDERFLOW", "UNDERFLOW", "SUBNORMAL"]
    assert outcomes("window", 13)[1] == "OVERFLOW"


def test_tie_loses_the_tie_and_keeps_a_hair_more():
    assert outcomes("tie", 0) == ["UNDERFLOW", "SUBNORMAL", "SUBNORMAL"]


def test_coarse_is_nonzero_at_once_and_full_precision_only_later():
    assert outcomes("coarse", 0) == ["SUBNORMAL"]
    assert windows("coarse")[0][0] < 0 < windows("coarse")[1][0]


def test_below1_needs_a_scale_below_one():
    assert windows("below1")[0] == (-4, -3)


def test_none_has_no_window():
    assert windows("none") == (None, None)


def test_outlier_is_what_leaves_no_window():
    assert windows("outlier") == (None, None)
    rest = safe_window(values("outlier")[:-1], FORMATS["fp16"])
    assert rest.survive.log2_powers == (6, 35)
    assert BY_ID["outlier"].log2_scale == 6


def test_bf16_needs_no_scale():
    assert outcomes("bf16", 0) == ["NORMAL", "NORMAL"]


def test_fp8_has_three_powers_in_e5m2_and_none_in_e4m3():
    assert windows("fp8")[0] == (10, 12)
    assert windows("fp8", "e4m3")[0] is None
