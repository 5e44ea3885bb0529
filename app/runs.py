"""The training view: real runs side by side, as columns that the browser draws, sent while they are made."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
import math
from threading import Lock
from typing import Any
from zlib import crc32

from lossscale_app.gradients import LOG2_SCALES
from lossscale_app.settings import read_policy, read_run
from lossscale_core import (
    FORMATS,
    SCALER_PRESETS,
    Action,
    InputError,
    StepRecord,
    Training,
    TrainingPlan,
    decimal_text,
    number_text,
    power_text,
)

#: The runs that are shown side by side: what each is called, whether it runs under autocast, and its scaler.
RUNS = ("fp32", "fp32_scaled", "unscaled", "static", "dynamic")

#: The last steps, over which the loss of a run is averaged.
_LAST = 30

#: Steps that a run makes before the next one has its turn.
_TURN = 5

#: The slider's first and last k.
_ENDS = (LOG2_SCALES[0], LOG2_SCALES[-1])

_LETTERS = {Action.STEP: "S", Action.SKIP: "K", Action.RAISE: "R"}

Tell = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Request:
    """Runs that are asked for.

    Attributes:
        policy: the scaler of the dynamic runs, as a link has it.
        run: the settings, as a link has them.
        log2_scale: k of the static scale 2**k.
        format: the narrow format's link name.
    """

    policy: str
    run: str
    log2_scale: int
    format: str

    def plan(self, name: str) -> TrainingPlan:
        """The plan of one of `RUNS`.

        Raises:
            InputError: a setting holds what no run can work with.
        """
        scaler = {"static": self._static, "fp32_scaled": self._dynamic, "dynamic": self._dynamic}.get(name)
        settings = read_run(self.run)
        return settings.plan(FORMATS[self.format], autocast=not name.startswith("fp32"), scaler=scaler and scaler())

    def key(self, name: str) -> str:
        """What tells a run from all others; the browser makes the same of the page's state."""
        narrow = "" if name.startswith("fp32") else self.format
        scaler = {"static": str(self.log2_scale), "fp32_scaled": self.policy, "dynamic": self.policy}.get(name, "")
        return " ".join((name, narrow, scaler, self.run))

    def _dynamic(self) -> Any:
        return read_policy(self.policy)

    def _static(self) -> Any:
        return replace(SCALER_PRESETS["static"], init_scale=2.0**self.log2_scale)


def read_request(data: dict[str, Any]) -> tuple[Request, list[str]]:
    """Read what the page asks to be trained.

    Args:
        data: `policy`, `run`, `k`, `format` and the `runs` to be made.

    Returns:
        The request, and the names of the runs.

    Raises:
        InputError: it cannot be trained.
    """
    match data:
        case {"policy": str(policy), "run": str(run), "k": int(k), "format": str(fmt), "runs": list(names)} if (
            fmt in FORMATS and k in LOG2_SCALES and all(name in RUNS for name in names)
        ):
            request = Request(policy, run, k, fmt)
            for name in names:
                request.plan(name)
            return request, names
    raise InputError("The page asks for runs that it does not know.")


def train(request: Request, names: list[str], tell: Tell) -> None:
    """Make runs, all a few steps at a time, and tell of their steps as they are made.

    A run that was made before is told at once.

    Args:
        request: the settings.
        names: which of `RUNS`.
        tell: called with the columns of some steps of a run, in order; what it raises ends the work.
    """
    going = {name: _columns(request.plan(name)) for name in names}
    while going:
        for name, columns in list(going.items()):
            part = next(columns, None)
            if part is None:
                del going[name]
            else:
                tell({"run": name, **part})


def recorded(request: Request, names: tuple[str, ...] = RUNS) -> dict[str, dict[str, Any]]:
    """Make whole runs for a page without a server.

    Args:
        request: the settings.
        names: which of `RUNS`.

    Returns:
        All columns of each run, by its `Request.key`.
    """
    return {request.key(name): _whole(request.plan(name)) for name in names}


class _Kept:
    """The latest finished runs: the page opens with the same ones for everybody."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._parts: dict[TrainingPlan, dict[str, Any]] = {}

    def get(self, plan: TrainingPlan) -> dict[str, Any] | None:
        with self._lock:
            part = self._parts.pop(plan, None)
            if part is not None:
                self._parts[plan] = part
            return part

    def keep(self, plan: TrainingPlan, part: dict[str, Any]) -> None:
        with self._lock:
            self._parts[plan] = part
            while len(self._parts) > self._most:
                del self._parts[next(iter(self._parts))]


_KEPT = _Kept(64)


def _columns(plan: TrainingPlan) -> Iterator[dict[str, Any]]:
    """The steps of a run by their columns, a few at a time, and what came of it with the last ones."""
    kept = _KEPT.get(plan)
    if kept is not None:
        yield kept
        return
    training = Training(plan)
    records: list[StepRecord] = []
    told = 0
    for record in training:
        records.append(record)
        if len(records) - told == _TURN and record.step < plan.steps and record.ending is None:
            yield _part(records, told, narrow=plan.autocast)
            told = len(records)
    whole = _finished(plan, training, records)
    yield {**_part(records, told, narrow=plan.autocast), "end": whole["end"]}


def _whole(plan: TrainingPlan) -> dict[str, Any]:
    """All columns of a run."""
    kept = _KEPT.get(plan)
    if kept is not None:
        return kept
    training = Training(plan)
    return _finished(plan, training, list(training))


def _finished(plan: TrainingPlan, training: Training, records: list[StepRecord]) -> dict[str, Any]:
    """All columns of a run that was made, which is kept."""
    whole = {**_part(records, 0, narrow=plan.autocast), "end": _end(records, training)}
    _KEPT.keep(plan, whole)
    return whole


def _part(records: list[StepRecord], start: int, *, narrow: bool) -> dict[str, Any]:
    """The columns of the steps from one on; in FP32 nothing is lost, and there are no windows."""
    rows = records[start:]
    scaled = [row for place, row in enumerate(rows) if place == 0 or row.scale != rows[place - 1].scale]
    part = {
        "first": start + 1,
        "loss": [_loss(row.loss) for row in rows],
        "did": "".join(_LETTERS[row.action] for row in rows),
        "scales": [scale_entry(row.step, row.scale) for row in scaled],
    }
    if not narrow:
        return part
    return part | {
        "lost": [[_percent(share) for share in column] for column in zip(*(row.lost for row in rows), strict=True)],
        "lostOfAll": [_percent(row.lost_of_all) for row in rows],
        "windows": [_window(row) for row in rows],
    }


def _end(records: list[StepRecord], training: Training) -> dict[str, Any]:
    """What came of a run; `weights` tells whether another one came to the same, bit for bit."""
    last = records[-1]
    # One bad batch says nothing about what has been learned, unless training ends with it.
    losses = [row.loss for row in records[-_LAST:] if math.isfinite(row.loss) or last.ending]
    loss = sum(losses) / len(losses) if losses else math.nan
    skipped = sum(row.action is not Action.STEP for row in records)
    return {
        "steps": len(records),
        "loss": _loss(loss),
        "accuracy": _percent(training.accuracy()),
        "lost": _percent(sum(row.lost_of_all for row in records) / len(records)),
        "skipped": skipped,
        "ending": last.ending.name.lower() if last.ending else "",
        "weights": crc32(b"".join(array.tobytes() for array in training.parameters)),
        "safe": _safe_steps(records),
    }


def _safe_steps(records: list[StepRecord]) -> list[int]:
    """For every k of the slider, in how many of the steps 2**k is in the window."""
    counts = [0] * len(LOG2_SCALES)
    for row in records:
        powers = row.window and row.window.log2_powers
        if powers:
            first, last = (bound if bound is not None else edge for bound, edge in zip(powers, _ENDS, strict=True))
            for k in range(max(first, _ENDS[0]), min(last, _ENDS[1]) + 1):
                counts[k - _ENDS[0]] += 1
    return counts


def _window(row: StepRecord) -> list[float | str | None] | None:
    """Where a step's window lies, for the browser; None where no scale helps.

    First log2 of its ends, to draw it, None for an end that nothing asks for; then its first and last power of two
    or, where none fits, its ends as texts. Ends that contradict each other have nothing between them.
    """
    window = row.window
    if window is None:
        return None
    ends = [round(math.log2(end), 2) if 0 < end < math.inf else None for end in (window.lower, window.upper)]
    if window.empty:
        return ends
    return [*ends, *(window.log2_powers or map(_number_text, (window.lower, window.upper)))]


def _loss(loss: float) -> float | None:
    return float(f"{loss:.4g}") if math.isfinite(loss) else None


def _percent(share: float) -> float:
    """Three digits of a share in percent: 0 and 100 stand for none and all only."""
    rounded = float(f"{100 * share:.3g}")
    return min(rounded, 99.9) if share < 1 else rounded


def scale_entry(step: int, scale: float) -> list[Any]:
    """A scale from a step on, for the browser: the step, log2 to draw it by, and its text."""
    return [step, round(math.log2(scale), 4) if 0 < scale < math.inf else None, _number_text(scale)]


@lru_cache(1024)
def _number_text(value: float | Fraction) -> str:
    """A power of two as such, else decimal."""
    return power_text(value) or (decimal_text(value) if math.isfinite(value) else number_text(value))
