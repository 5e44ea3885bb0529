"""How a loss scaler moves over given steps, as JSON and as text, and the options that change its policy."""

import argparse
from dataclasses import fields, replace
from functools import partial
import json
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from lossscale_app.training_messages import TRAINING_MESSAGES
from lossscale_app.written import Written, quoting, read_written, values
from lossscale_core import SCALER_PRESETS, Action, InputError, ScalerPolicy, decimal_text, power_text
from lossscale_core.errors import quoted
from lossscale_core.patterns import read_pattern

_FIELDS = frozenset(field.name for field in fields(ScalerPolicy))

#: The columns of the table that hold words.
_WORDS = (1, 2)


def add_policy_options(parser: argparse._ActionsContainer) -> None:
    """Add an option for every field of a policy, which holds nothing where it is not given.

    Args:
        parser: the parser, or a group of it.
    """
    for name, kind in get_type_hints(ScalerPolicy).items():
        reading: dict[str, Any] = {"type": partial(read_written, kind=kind), "metavar": _metavar(kind)}
        if kind is bool:
            reading = {"action": argparse.BooleanOptionalAction}
        parser.add_argument(_option(name), default=argparse.SUPPRESS, help=_help(name), **reading)


def scaler_policy(options: argparse.Namespace) -> ScalerPolicy:
    """The policy that a command line asks for.

    Args:
        options: has `preset`, and what was given of the options of `add_policy_options`.

    Returns:
        The preset, changed by the options.

    Raises:
        InputError: no preset has that name, or a field holds what no scaler can work with.
    """
    preset = SCALER_PRESETS.get(options.preset)
    if preset is None:
        raise InputError(
            "{preset} is no scaler that is known; known are {scaler_presets}.",
            preset=quoted(options.preset),
            scaler_presets=", ".join(SCALER_PRESETS),
        )
    given = {name: value for name, value in vars(options).items() if name in _FIELDS}
    # A switch is its own value.
    written = {name: value for name, value in given.items() if isinstance(value, Written)}
    with quoting(written, _option):
        return replace(preset, **{**given, **values(written)})


def scaler_json(policy: ScalerPolicy, pattern: str) -> str:
    """Describe for a program how a scaler moves.

    Args:
        policy: the scaler.
        pattern: a letter a step, F or N, as `read_pattern` reads it.

    Returns:
        JSON of the `scales`, of which the first is before all steps and the last after them, and of the
        `actions`. An infinite scale is written 1e999, which JSON allows and readers take for infinity.

    Raises:
        InputError: the pattern has something else in it.
    """
    trace = policy.run(pattern)
    text = json.dumps({"scales": trace.scales, "actions": trace.actions})
    return text.replace("Infinity", "1e999")


def scaler_text(policy: ScalerPolicy, pattern: str) -> str:
    """Describe for a person how a scaler moves.

    Args:
        policy: the scaler.
        pattern: a letter a step, F or N, as `read_pattern` reads it.

    Returns:
        A table with a line a step: its number, its letter, what is done, and the scale after it. Line 0 has the
        first scale.

    Raises:
        InputError: the pattern has something else in it.
    """
    letters = read_pattern(pattern)
    trace = policy.run(letters)
    texts = {scale: _scale_text(scale) for scale in set(trace.scales)}
    first, *later = trace.scales
    steps = enumerate(zip(letters, trace.actions, later, strict=False), 1)
    rows = [(str(number), letter, action.value, texts[scale]) for number, (letter, action, scale) in steps]
    lines = _table([("step", "", "action", "scale after"), ("0", "", "", texts[first]), *rows])
    if trace.actions[-1:] == (Action.RAISE,):
        lines.append(f"Training ends with an error in step {len(rows)} of {len(letters)}.")
    return "\n".join(lines)


def _help(name: str) -> str:
    """What a field means, as the page says it."""
    return str(TRAINING_MESSAGES[f"field-{name}"])


def _option(name: str) -> str:
    """What a field is called on a command line."""
    return f"--{name.replace('_', '-')}"


def _metavar(kind: Any) -> str:
    """What stands in the help for the value of a field of a type."""
    members = get_args(kind)
    if get_origin(kind) is Literal:
        return f"{{{','.join(map(str, members))}}}"
    if NoneType in members:
        return "NUMBER|none"
    return "COUNT" if kind is int else "NUMBER"


def _scale_text(scale: float) -> str:
    """A scale in decimal where that is short, else as a power of two or rounded."""
    decimal = decimal_text(scale, digits=9)
    return power_text(scale) or decimal if decimal.startswith("≈") else decimal


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    """Columns two spaces apart, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    template = "  ".join(f"{{:{'<' if index in _WORDS else '>'}{width}}}" for index, width in enumerate(widths))
    return [template.format(*row) for row in rows]
