"""Comparing all that the page shows with what the core says."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
import math
from types import SimpleNamespace

from lossscale_core import FP16, Format
from lossscale_core.exact import log2

from . import expected
from .expected import Expected, from_core, from_numpy, is_right, spelled, tells
from .pages import place

SEED = ("2^-26", "8")
AWKWARD = ("1.75*2^-24", "-3", "0", "-0", "nan", "inf", "1e-8", "65519.99", "2^-25", "1e-45")
#: Of one kind each, of which some are beyond the octaves that the page keeps ready.
EDGES = ("5e-324", "1e300", "-2^-48", "2^24", "65520", "464", "61440", "3*2^-25", "2^-133", "1e-40", "-0.1", "1.5")
LISTS = {"seed": SEED, "awkward": AWKWARD, "edges": EDGES, "nothing to lose": ("0", "-0"), "no finite": ("nan", "-inf")}


def check(state: SimpleNamespace, tokens: Sequence[str], k: int, fmt: Format) -> None:
    """Compare all that the page shows of typed gradients, names and sentences included."""
    values = expected.values_of(tokens)
    boxes = [spelled(token) for token in tokens]
    names = [expected.grouped(name) for name in boxes]
    rows = check_numbers(state, values, k, fmt)
    outcomes = [row.outcome for row in rows]

    assert [row.cells.gradient for row in state.rows] == names
    assert [row.name for row in state.landing] == [f"g = {name}" for name in names]
    assert state.boxes == boxes
    assert state.mood == expected.mood(outcomes)
    assert state.title == expected.title(names, outcomes)
    assert expected.reason_is_right(state.lines, values, k, fmt)
    assert expected.caption_is_right(state.caption, names, values, fmt)
    check_precision(state, rows, names, values, fmt)


def check_numbers(state: SimpleNamespace, values: Sequence[float], k: int, fmt: Format) -> list[Expected]:
    """Compare every number, position and outcome; returns what was expected of each gradient."""
    rows = [from_core(value, Fraction(2) ** k, fmt) for value in values]
    check_scale(state, k, fmt)
    assert len(state.rows) == len(state.landing) == len(state.crossings) == len(state.bars) == len(values)
    for index, (value, row) in enumerate(zip(values, rows, strict=True)):
        if fmt == FP16:
            assert same(row, from_numpy(value, k))
        check_cells(state.rows[index].cells, row)
        assert state.rows[index].outcome == row.outcome
        check_landing(state.landing[index], state.landing_ticks, row)
        check_bar(state, index, value, k, row, fmt)
    check_journey(state, values, rows, k, fmt)
    return rows


def same(row: Expected, other: Expected) -> bool:
    """Whether two sources expect the same after the cast, to the sign of a zero; any NaN is like any other."""
    return repr(replace(row, scaled=other.scaled)) == repr(other)


def check_scale(state: SimpleNamespace, k: int, fmt: Format) -> None:
    """Slider, bubble, line and table caption are at the scale."""
    assert state.slider == k
    assert state.line.log2 == k
    ends = state.ticks[0].x, state.ticks[-1].x
    at = place(state.ticks, k)
    # Beyond the axis the line waits at its end, which may lie after the last tick by less than a step.
    step = (ends[1] - ends[0]) / (len(state.ticks) - 1)
    if ends[0] <= at <= ends[1]:
        assert round(state.line.x - at, 6) == 0
    else:
        assert 0 <= (ends[0] - state.line.x if at < ends[0] else state.line.x - ends[1]) < step
    equation = state.bubble.strip("◂▸ ")
    assert equation.startswith(f"S = {expected.power(k)} ")
    assert is_right(equation.removeprefix("S = "), Fraction(2) ** k)
    assert state.table_caption == f"Stored in {fmt.label} at {equation}, unscaled in FP32"


def check_cells(cells: SimpleNamespace, row: Expected) -> None:
    """A table row tells the numbers."""
    assert tells(cells.scaled, row.scaled)
    assert tells(cells.stored, row.stored)
    assert tells(cells.recovered, row.recovered)
    assert cells.bits == row.bits
    assert cells.error == row.error
    assert cells.outcome == f"{expected.SIGNS[row.outcome]} {expected.WORDS[row.outcome]}"


def check_landing(mark: SimpleNamespace, ticks: list[SimpleNamespace], row: Expected) -> None:
    """The mark is what is stored, where it is stored."""
    alive = row.outcome in ("subnormal", "normal")
    finite = row.outcome not in ("zero", "nonfinite")
    assert mark.outcome == row.outcome
    assert tells(mark.stored, row.stored)
    assert mark.log2 == (math.log2(abs(row.stored)) if alive else None)
    assert mark.scaled_log2 == (log2(abs(Fraction(row.scaled))) if finite else None)
    if alive:
        assert round(mark.x - place(ticks, mark.log2), 6) == 0
    elif row.outcome in ("zero", "underflow"):
        assert mark.x < ticks[0].x
    else:
        assert mark.x > ticks[-1].x
    words = {
        "zero": "stays 0",
        "underflow": "rounds to 0",
        "overflow": "overflows",
        "nonfinite": "not finite",
    }
    assert mark.kept == words.get(row.outcome) or (alive and tells(mark.kept.removeprefix("kept as "), row.stored))


def check_bar(state: SimpleNamespace, index: int, value: float, k: int, row: Expected, fmt: Format) -> None:
    """The bar changes its colour where the outcome changes, and the mark on it says the outcome here."""
    crossing, bar = state.crossings[index], state.bars[index]
    assert (crossing.outcome, crossing.x) == (row.outcome, state.line.x)
    if row.outcome in ("zero", "nonfinite"):
        assert [part.outcome for part in bar] == [row.outcome]
        return
    first, last = state.ticks[0], state.ticks[-1]
    cuts = {"subnormal": fmt.survival, "normal": fmt.full_precision, "overflow": fmt.overflow}
    for part in bar[1:]:
        end = log2(cuts[part.outcome].value / abs(Fraction(value)))
        assert round(getattr(part, "from") - place(state.ticks, end), 6) == 0
    if first.log2 <= k <= last.log2:
        assert row.outcome in [
            part.outcome
            for part in bar
            if round(getattr(part, "from") - crossing.x, 6) <= 0 <= round(part.to - crossing.x, 6)
        ]


def check_journey(state: SimpleNamespace, values: Sequence[float], rows: list[Expected], k: int, fmt: Format) -> None:
    """The journey tells the same of the selected gradient, and what became of it without scaling."""
    journey = state.journey
    cells = state.rows[journey.selected].cells
    row, alone = rows[journey.selected], from_core(values[journey.selected], Fraction(1), fmt)
    assert vars(journey.values) == {name: getattr(cells, name) for name in ("scaled", "stored", "recovered", "error")}
    assert journey.bits == row.bits
    assert journey.label == f"stored in {fmt.label}: {expected.SIGNS[row.outcome]} {expected.WORDS[row.outcome]}"
    if k == 0 or alone.outcome in ("zero", "nonfinite"):
        assert journey.without == ""
    elif alone.outcome == "underflow":
        assert journey.without.startswith("Without scaling it is 0, and 0 × ")
    elif alone.outcome == "overflow":
        assert journey.without == "Without scaling it overflows."
    else:
        stored = journey.without.removeprefix("Without scaling it is stored as ").removesuffix(".")
        assert tells(stored, alone.stored)


def check_precision(
    state: SimpleNamespace, rows: list[Expected], names: Sequence[str], values: Sequence[float], fmt: Format
) -> None:
    """Where all survive, the card says how many bits the worst has left, and what full precision takes."""
    lines = [line for line in state.lines if "full precision" in line.lower() or "kept" in line]
    if expected.mood([row.outcome for row in rows]) == "normal":
        assert lines == ["Stored at full precision."]
    elif expected.mood([row.outcome for row in rows]) == "subnormal":
        kept, name = min((row.kept_bits, name) for row, name in zip(rows, names, strict=True) if row.kept_bits)
        assert lines[0] == f"{name} is kept with {kept} of {fmt.significant_bits} bits."
        assert lines[1] == expected.full_precision(values, fmt)
    else:
        assert lines == []
