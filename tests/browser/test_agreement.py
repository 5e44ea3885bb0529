"""The page shows at every scale, in every format, what the core says; in FP16 also what numpy says."""

from collections.abc import Sequence
from fractions import Fraction
import math

import numpy as np
import pytest

from lossscale_core import E4M3, FORMATS, FP16, Format, decimal_text

from . import expected
from .agreement import LISTS, SEED, check, check_numbers
from .expected import from_core
from .pages import ALL_K, ExplorerPage

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("tokens", LISTS.values(), ids=LISTS)
def test_at_every_scale_in_every_format(explorer: ExplorerPage, tokens: Sequence[str]) -> None:
    if tokens != SEED:
        explorer.put(*tokens)
    for fmt in FORMATS.values():
        explorer.format(fmt.label)
        for k, state in zip(ALL_K, explorer.sweep(), strict=True):
            check(state, tokens, k, fmt)


@pytest.mark.parametrize("fmt", [FP16, E4M3], ids=["fp16", "e4m3"])
def test_by_the_keyboard(explorer: ExplorerPage, fmt: Format) -> None:
    explorer.format(fmt.label)
    explorer.slider.focus()
    for k in range(14):
        check(explorer.state(), SEED, k, fmt)
        explorer.press("ArrowRight")


@pytest.mark.parametrize("tokens", LISTS.values(), ids=LISTS)
def test_what_is_read_aloud(explorer: ExplorerPage, tokens: Sequence[str]) -> None:
    if tokens != SEED:
        explorer.put(*tokens)
    values, names = expected.values_of(tokens), [expected.spoken(token) for token in tokens]
    for k, state in zip(ALL_K, explorer.sweep(), strict=True):
        title = expected.title(names, [from_core(value, Fraction(2) ** k, FP16).outcome for value in values])
        words = title[2:] if title[0] in "✓✕▲■" else title
        number = expected.spoken(decimal_text(Fraction(2) ** k, exact_digits=13))
        scale = f"scale {expected.spoken(f'2^{k}')}, {number}"
        assert state.value_text == f"{scale}; {words[0].lower()}{words[1:]}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_any_floats(explorer: ExplorerPage, seed: int) -> None:
    words = np.random.default_rng(seed).integers(0, 1 << 64, 12, np.uint64)
    near_formats = words[:8] & ~np.uint64(0x7FF << 52) | np.arange(990, 1030, 5, np.uint64) << np.uint64(52)
    values = np.concatenate([near_formats, words[8:]]).view(np.float64).tolist()
    tokens = [value.hex() if math.isfinite(value) else str(value) for value in values]
    explorer.put(*tokens)
    for fmt in FORMATS.values():
        explorer.format(fmt.label)
        for k, state in zip(ALL_K, explorer.sweep(), strict=True):
            check_numbers(state, values, k, fmt)
