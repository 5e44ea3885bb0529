"""One optimizer step under loss scaling, with every number on the way from the gradients to the weights."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
import math

import numpy as np

from lossscale_core.arrays import Floats
from lossscale_core.checks import refuse
from lossscale_core.exact import exact_scale, sticky_float
from lossscale_core.formats import FP16, FP32, Format
from lossscale_core.rounding import cast
from lossscale_core.update_orders import StepExample, StepOrder
from lossscale_core.update_reports import Row, Stage, StageName, StepReport, Table, euclidean_norm

#: An exact number: a float only where it is infinite, NaN or a zero, which has a sign.
Exact = Fraction | float

_RIGHT_ORDER = StepOrder()


def take_step(
    example: StepExample, order: StepOrder = _RIGHT_ORDER, scale: float = 1.0, fmt: Format = FP16
) -> StepReport:
    """Take one step of gradient descent under loss scaling.

    Each operation rounds once: the scaled gradient to the storage format, from its exact value; the sum
    after each addition; the quotient by the scale; the clip and the step in float32. A step that is
    skipped leaves out a clip that was still to come.

    Args:
        example: the gradients, the weights, and the settings of the optimizer.
        order: where each operation is put.
        scale: the loss scale S, finite and above 0.
        fmt: the format that gradients are stored in, and weights too if the order says so; no wider than FP32.

    Returns:
        All stages, and the update beside the true one.

    Raises:
        InputError: S is not finite and above 0, or another argument is not what it must be.

    Example:
        >>> report = take_step(StepExample(((2**-26,),)), StepOrder(unscale="stored"), scale=4096.0)
        >>> [stage.values[0][0] for stage in report.stages[2:5]]
        [6.103515625e-05, 6.103515625e-05, 0.0]
        >>> report.ratio, take_step(StepExample(((2**-26,),)), scale=4096.0).ratio
        (0.0, 1.0)
    """
    _check_arguments(example, order, fmt)
    scales = _scales(exact_scale(scale), order, len(example.gradients))
    with np.errstate(all="ignore"):
        stages = _backward(example, order, scales, fmt)
        stages.append(_accumulated(stages[-1].values, order, fmt))
        for name in _sequence(example, order):
            skipped = any(stage.found_inf for stage in stages)
            values = stages[-1].values[0]
            if name is StageName.UNSCALED:
                stages.append(_unscaled(values, order, scales[-1], fmt))
            elif name is StageName.CHECKED:
                stages.append(Stage(name, (values,), found_inf=not np.isfinite(values).all()))
            elif not skipped:
                stages.append(_clip_stage(values, example))
        return _report(example, order, fmt, stages)


def _check_arguments(example: StepExample, order: StepOrder, fmt: Format) -> None:
    if not isinstance(example, StepExample):
        refuse("example", "a StepExample", example)
    if not isinstance(order, StepOrder):
        refuse("order", "a StepOrder", order)
    if not isinstance(fmt, Format) or fmt.bits > FP32.bits:
        refuse("fmt", "a format no wider than FP32", fmt)


def _sequence(example: StepExample, order: StepOrder) -> list[StageName]:
    """What is done between the sum over micro-batches and the step, in its order."""
    unscale = [] if order.unscale == "never" else [StageName.UNSCALED]
    if example.clip_at is None:
        return [*unscale, StageName.CHECKED]
    clip = [StageName.CHECKED, StageName.CLIPPED]
    if order.check == "after_clip":
        clip.reverse()
    return [*unscale, *clip] if order.clip == "after_unscale" else [*clip, *unscale]


def _scales(scale: Fraction, order: StepOrder, micro_batches: int) -> list[Fraction]:
    later = scale if order.scale_update == "step" else scale / 2
    return [scale] + [later] * (micro_batches - 1)


def _shares(example: StepExample, order: StepOrder) -> list[Fraction]:
    """What part of the loss of the step the loss of each micro-batch is."""
    alike = (1,) * len(example.gradients)
    if example.reduction == "sum":
        return [Fraction(1) for _ in alike]
    tokens = example.tokens if example.tokens and order.average == "tokens" else alike
    total = sum(map(int, tokens))
    return [Fraction(int(count), total) for count in tokens]


def _backward(example: StepExample, order: StepOrder, scales: list[Fraction], fmt: Format) -> list[Stage]:
    """The stages up to the gradients that the backward passes leave behind."""
    gradients = _products(example.gradients, _shares(example, order))
    first, factors = Stage(StageName.GRADIENT, _floats(gradients)), tuple(map(_float, scales))
    if order.scale == "late":
        stored = _stored(gradients, fmt)
        scaled = _stored(_products(stored, scales), fmt)
        return [first, Stage(StageName.STORED, stored), Stage(StageName.SCALED, scaled, factors)]
    products = _products(gradients, scales)
    scaled, stored = _floats(products), _stored(products, fmt)
    return [first, Stage(StageName.SCALED, scaled, factors), Stage(StageName.STORED, stored)]


def _accumulated(values: Table, order: StepOrder, fmt: Format) -> Stage:
    total, *others = np.array(values, np.float32)
    for other in others:
        total = total + other
        # float32 has the digits that make rounding a sum of narrower numbers twice the same as once.
        total = cast(total, fmt).astype(np.float32) if order.accumulate == "stored" else total
    return Stage(StageName.ACCUMULATED, (_row(total),))


def _unscaled(values: Row, order: StepOrder, scale: Fraction, fmt: Format) -> Stage:
    quotients = _products([values], [1 / scale])
    return Stage(StageName.UNSCALED, _stored(quotients, fmt if order.unscale == "stored" else FP32), (_float(scale),))


def _clip_stage(values: Row, example: StepExample) -> Stage:
    clipped, norm, factor = _clipped(np.array(values, np.float32), example)
    return Stage(StageName.CLIPPED, (_row(clipped),), norm=norm, factor=factor)


def _clipped(values: Floats, example: StepExample) -> tuple[Floats, float | None, float | None]:
    """Values after the clip, in their own type, and the norm and the factor where the norm is clipped."""
    if example.clip_at is None:
        return values, None, None
    limit = float(example.clip_at)
    if example.clip == "value":
        return np.clip(values, -limit, limit), None, None
    norm = euclidean_norm(values.tolist())
    factor = values.dtype.type(1.0 if norm <= limit else limit / norm)
    return values * factor, norm, float(factor)


def _report(example: StepExample, order: StepOrder, fmt: Format, stages: list[Stage]) -> StepReport:
    """Take the step itself, and compare."""
    skipped = any(stage.found_inf for stage in stages)
    kept_in = fmt if order.weights == "stored" else FP32
    weights = example.weights or (0.0,) * len(example.gradients[0])
    before = cast([float(weight) for weight in weights], kept_in).astype(np.float32)
    moved = before - np.float32(example.learning_rate) * np.array(stages[-1].values[0], np.float32)
    after = before if skipped else cast(moved, kept_in).astype(np.float32)
    # An infinite weight less itself is not 0.
    update = np.zeros(before.shape) if skipped else before.astype(np.float64) - after
    stages = [*stages, Stage(StageName.UPDATED, (_row(after),))]
    return StepReport(tuple(stages), skipped, _row(update), _true_update(example))


def _true_update(example: StepExample) -> Row:
    shares = _shares(example, _RIGHT_ORDER)
    columns = zip(*example.gradients, strict=True)
    gradient = np.array([_float(_weighted_sum(column, shares)) for column in columns])
    return _row(float(example.learning_rate) * _clipped(gradient, example)[0])


def _weighted_sum(values: Sequence[float], weights: list[Fraction]) -> Exact:
    nonfinite = [float(value) for value in values if not math.isfinite(value)]
    if nonfinite:
        return sum(nonfinite)
    return sum((Fraction(float(value)) * weight for value, weight in zip(values, weights, strict=True)), Fraction())


def _products(table: Iterable[Iterable[Exact]], factors: Iterable[Fraction]) -> list[list[Exact]]:
    """Each row times its factor, exactly."""
    return [[_product(value, factor) for value in row] for row, factor in zip(table, factors, strict=True)]


def _product(value: Exact, factor: Fraction) -> Exact:
    if isinstance(value, Fraction):
        return value * factor
    return Fraction(float(value)) * factor if value and math.isfinite(value) else float(value)


def _stored(table: Iterable[Iterable[Exact]], fmt: Format) -> Table:
    """The numbers after rounding them, once, to a format."""
    return tuple(_row(cast([_sticky(value) for value in row], fmt)) for row in table)


def _floats(table: Iterable[Iterable[Exact]]) -> Table:
    return tuple(tuple(map(_float, row)) for row in table)


def _sticky(value: Exact) -> float:
    return sticky_float(value) if isinstance(value, Fraction) else value


def _float(value: Exact) -> float:
    """The nearest float64, inf where there is none."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _row(values: Floats) -> Row:
    return tuple(values.tolist())
