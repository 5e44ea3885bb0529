"""What the order view shows of a step, for every notch of the slider: the browser looks it up."""

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
import json
import math
from typing import Any

from lossscale_app.gradients import LOG2_SCALES
from lossscale_app.lookups import long_text
from lossscale_app.order_verdicts import Reference, verdict
from lossscale_app.orders import AT, EXAMPLES, IN_PLAY, MISPLACED, UNSCALE, Arrangement, opening, step_order
from lossscale_core import FORMATS, FP16, Stage, StageName, StepExample, StepReport, take_step


@lru_cache(maxsize=256)
def order_json(example: str, at: str, unscale: str, misplaced: tuple[str, ...], fmt_name: str) -> str:
    """Take an example's step in an order, at every scale of the slider.

    Args:
        example: one of `EXAMPLES`.
        at: where the scale is applied, as links have it.
        unscale: what is unscaled in, as links have it.
        misplaced: what else is out of place: names of `MISPLACED`.
        fmt_name: the storage format's link name.

    Returns:
        JSON. `texts` and `values` are the numbers that it speaks of by their place there; those of the update
        in FP32, with all in its place, are the `reference`. What changes with the scale is a list of lists that
        begin with k, each of which holds up to the next: `stages` have such `steps` of numbers, or null where
        a step that was skipped left the stage out, and of what else a stage tells; `results` are the verdict,
        the update's ratio to the reference, its log2, the factor that the update is too small or large by, how
        many weights lost theirs, and the update. `same` lists the first and last k of each stretch of scales
        at which the update is the reference, bit for bit.

    """
    step, fmt = EXAMPLES[example], FORMATS[fmt_name]
    order, reference = step_order(at, unscale, misplaced), Reference.of(step)
    reports = [take_step(step, order, 2.0**k, fmt) for k in LOG2_SCALES]
    verdicts = [verdict(report, reference, order, fmt) for report in reports]
    numbers = _Numbers()
    data = {
        "reference": numbers.places(reference.update),
        "stages": [
            {"name": name, "steps": _steps(_at_stage(report, name, numbers) for report in reports)}
            for name in max((tuple(stage.name for stage in report.stages) for report in reports), key=len)
        ],
        "results": _steps(
            [each.id, each.ratio_text, each.log2, each.factor_text, each.lost, numbers.places(report.update)]
            for report, each in zip(reports, verdicts, strict=True)
        ),
        "same": _stretches(each.id == "right" for each in verdicts),
    }
    return json.dumps({**data, **numbers.lists()}, separators=(",", ":"), allow_nan=False)


class _Numbers:
    """Numbers as people and as programs read them, each held once."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._values: list[float] = []

    def places(self, values: Iterable[float]) -> list[int]:
        return [self._place(value) for value in values]

    def _place(self, value: float) -> int:
        # Equal numbers can differ in their sign, and NaN is equal to none.
        place = self._places.setdefault(repr(value), len(self._values))
        if place == len(self._values):
            self._values.append(value)
        return place

    def lists(self) -> dict[str, list[Any]]:
        return {
            "texts": [long_text(value) for value in self._values],
            "values": [value if math.isfinite(value) else None for value in self._values],
        }


def _at_stage(report: StepReport, name: StageName, numbers: _Numbers) -> list[Any]:
    """The numbers of a stage, micro-batches x weights, and what else it tells."""
    stage = next((stage for stage in report.stages if stage.name == name), None)
    if stage is None:
        return [None]
    return [[numbers.places(row) for row in stage.values], *_more(stage, numbers)]


def _more(stage: Stage, numbers: _Numbers) -> Iterator[Any]:
    if stage.scales:
        yield [round(math.log2(scale)) for scale in stage.scales]
    if stage.norm is not None and stage.factor is not None:
        yield numbers.places([stage.norm, stage.factor])
    if stage.found_inf is not None:
        yield stage.found_inf


def _steps(rows: Iterable[list[Any]]) -> list[list[Any]]:
    """Rows for every k as those that differ from the one before, each after its k."""
    steps: list[list[Any]] = []
    for k, row in zip(LOG2_SCALES, rows, strict=True):
        if not steps or steps[-1][1:] != row:
            steps.append([k, *row])
    return steps


def _stretches(flags: Iterable[bool]) -> list[list[int]]:
    stretches: list[list[int]] = []
    for k, flag in zip(LOG2_SCALES, flags, strict=True):
        if flag and stretches and stretches[-1][1] == k - 1:
            stretches[-1][1] = k
        elif flag:
            stretches.append([k, k])
    return stretches


@cache
def recorded_orders() -> dict[str, str]:
    """The tables that a saved page holds: each example in the right order in every format; in FP16 also as it opens,
    and with each single mistake.

    Returns:
        `order_json` by the names it was asked with, with spaces between, and `misplaced` with plus signs.
    """
    right = [(example, "loss", "fp32", (), fmt) for example in EXAMPLES for fmt in FORMATS]
    return {_key(arrangement): order_json(*arrangement) for arrangement in [*right, *_mistakes()]}


def _mistakes() -> Iterator[Arrangement]:
    for example, blocks in IN_PLAY.items():
        opens = opening(example)
        yield example, opens["at"], opens["unscale"], tuple(opens["misplaced"]), FP16.name
        for at in AT if "at" in blocks else ():
            yield example, at, "fp32", (), FP16.name
        for unscale in UNSCALE:
            yield example, "loss", unscale, (), FP16.name
        for name in MISPLACED:
            if name in blocks:
                yield example, "loss", "fp32", (name,), FP16.name


def _key(arrangement: Arrangement) -> str:
    example, at, unscale, misplaced, fmt = arrangement
    return " ".join((example, at, unscale, "+".join(misplaced), fmt))


def orders_data() -> dict[str, Any]:
    """Tell what the browser must know of the examples, and of the blocks that can be out of place."""
    return {
        "examples": {name: _example_data(name, step) for name, step in EXAMPLES.items()},
        "misplaced": dict(MISPLACED),
    }


def _example_data(name: str, step: StepExample) -> dict[str, Any]:
    batches = len(step.gradients)
    averages = step.reduction == "mean" and batches > 1
    tokens = step.tokens or (1,) * batches
    return {
        "gradients": [[long_text(value) for value in row] for row in step.gradients],
        "weights": [long_text(weight) for weight in step.weights],
        "tokens": list(step.tokens),
        "shares": [f"{count}/{sum(tokens)}" for count in tokens] if averages else [],
        "sharesAlike": [f"1/{batches}"] * batches if averages else [],
        "summed": step.reduction == "sum",
        "rate": f"{step.learning_rate:g}",
        "clip": None if step.clip_at is None else {"by": step.clip, "limit": f"{step.clip_at:g}"},
        "inPlay": list(IN_PLAY[name]),
        "opens": opening(name),
        "code": repr(step),
    }
