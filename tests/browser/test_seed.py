"""What the first list is there to show: 2^-26 and 8 in FP16 live together for 2 < S < 8190."""

import pytest

from .pages import SEED, ExplorerPage

pytestmark = pytest.mark.browser


def test_the_page_opens_with_a_lost_gradient(explorer: ExplorerPage) -> None:
    state = explorer.state()
    assert [row.cells.gradient for row in state.rows] == SEED
    assert (state.slider, state.format) == (0, "fp16")
    assert (state.mood, state.title) == ("underflow", "✕ 2⁻²⁶ is lost")
    assert state.lines == ["S = 2⁰ is too small: it must exceed 2."]
    assert state.journey.values.error == "−100%"


def test_two_is_not_enough(explorer: ExplorerPage) -> None:
    explorer.go(1)
    state = explorer.state()
    assert (state.mood, state.title) == ("underflow", "✕ 2⁻²⁶ is lost")
    assert state.rows[0].cells.stored == "0"


@pytest.mark.parametrize("k", range(2, 13))
def test_both_survive(explorer: ExplorerPage, k: int) -> None:
    explorer.go(k)
    state = explorer.state()
    assert state.title == "✓ Both gradients survive"
    assert state.mood == ("normal" if k == 12 else "subnormal")
    assert [row.cells.error for row in state.rows] == ["0 (exact)", "0 (exact)"]


def test_8192_is_too_much(explorer: ExplorerPage) -> None:
    explorer.go(13)
    state = explorer.state()
    assert (state.mood, state.title) == ("overflow", "▲ 8 overflows")
    assert state.lines == [
        "One overflow makes the optimizer skip the whole step.",
        "S = 2¹³ is too large: it must stay below 8190.",
    ]
    assert state.rows[1].cells.stored == "∞"


def test_the_caption_names_the_window(explorer: ExplorerPage) -> None:
    assert explorer.state().caption == ["safe window 2 < S < 8190", "powers of two: 2² … 2¹² · full precision: 2¹²"]


def test_full_precision_only_at_4096(explorer: ExplorerPage) -> None:
    full = [state.slider for state in explorer.sweep() if "Stored at full precision." in state.lines]
    assert full == [12]


def test_the_way_there_by_hand(explorer: ExplorerPage) -> None:
    explorer.slider.focus()
    titles = []
    for _ in range(14):
        titles.append(explorer.state().title)
        explorer.press("ArrowRight")
    assert titles == ["✕ 2⁻²⁶ is lost"] * 2 + ["✓ Both gradients survive"] * 11 + ["▲ 8 overflows"]
