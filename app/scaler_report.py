"""How a loss scaler moves over given steps, as JSON and as text, and the options that change its policy."""

import argparse
from collections.abc import Callable
from dataclasses import fields, replace
import json
import re
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from lossscale_app.training_messages import TRAINING_MESSAGES
from lossscale_core import SCALER_PRESETS, Action, InputError, ScalerPolicy, decimal_text, parse_number, power_text
from lossscale_core.errors import quoted

_FIELDS = frozenset(field.name for field in fields(ScalerPolicy))

#: The columns of the table that hold words.
_WORDS = (1, 2)


def add_policy_options(parser: argparse._ActionsContainer) -> None:
    """Add an option for every field of a policy, which holds nothing where it is not given.

    Args:
        parser: the parser, or a group of it.
    """
    for name, kind in get_type_hints(ScalerPolicy).items():
        option = f"--{name.replace('_', '-')}"
        if kind is bool:
            action = argparse.BooleanOptionalAction
            parser.add_argument(option, action=action, default=argparse.SUPPRESS, help=_help(name))
        else:
            reader, metavar = _reading(kind)
            parser.add_argument(option, type=reader, metavar=metavar, default=argparse.SUPPRESS, help=_help(name))


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
    return replace(preset, **{name: value for name, value in vars(options).items() if name in _FIELDS})


def scaler_json(policy: ScalerPolicy, pattern: str) -> str:
    """Describe for a program how a scaler moves.

    Args:
        policy: the scaler.
        pattern: a letter a step, F or N.

    Returns:
        JSON of the `scales`, of which the first is before all steps and the last after them, and of the
        `actions`. An infinite scale is written 1e999, which JSON allows and readers take for infinity.

    Raises:
        InputError: the pattern has another letter.
    """
    trace = policy.run(pattern)
    text = json.dumps({"scales": trace.scales, "actions": trace.actions})
    return text.replace("Infinity", "1e999")


def scaler_text(policy: ScalerPolicy, pattern: str) -> str:
    """Describe for a person how a scaler moves.

    Args:
        policy: the scaler.
        pattern: a letter a step, F or N.

    Returns:
        A table with a line a step: its number, its letter, what is done, and the scale after it. Line 0 has the
        first scale.

    Raises:
        InputError: the pattern has another letter.
    """
    trace = policy.run(pattern)
    texts = {scale: _scale_text(scale) for scale in set(trace.scales)}
    first, *later = trace.scales
    steps = enumerate(zip(pattern, trace.actions, later, strict=False), 1)
    rows = [(str(number), letter, action.value, texts[scale]) for number, (letter, action, scale) in steps]
    lines = _table([("step", "", "action", "scale after"), ("0", "", "", texts[first]), *rows])
    if trace.actions[-1:] == (Action.RAISE,):
        lines.append(f"Training ends with an error in step {len(rows)} of {len(pattern)}.")
    return "\n".join(lines)


def _help(name: str) -> str:
    """What a field means, as the page says it."""
    return str(TRAINING_MESSAGES[f"field-{name}"])


def _reading(kind: Any) -> tuple[Callable[[str], Any], str]:
    """How the option of a field of a type is read, and what stands for its value in the help."""
    members = get_args(kind)
    if get_origin(kind) is Literal:
        return _number if isinstance(members[0], int) else str, f"{{{','.join(map(str, members))}}}"
    if NoneType in members:
        return _number_or_none, "NUMBER|none"
    return _number, "COUNT" if kind is int else "NUMBER"


def _number(text: str) -> float | int:
    """A number, whole where it is written so, for it to be quoted as it was written."""
    try:
        number = parse_number(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return int(text) if re.fullmatch(r"\s*[+-]?[0-9]+\s*", text) else number


def _number_or_none(text: str) -> float | int | None:
    return None if text.strip().lower() == "none" else _number(text)


def _scale_text(scale: float) -> str:
    """A scale in decimal where that is short, else as a power of two or rounded."""
    decimal = decimal_text(scale, digits=9)
    return power_text(scale) or decimal if decimal.startswith("≈") else decimal


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    """Columns two spaces apart, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    template = "  ".join(f"{{:{'<' if index in _WORDS else '>'}{width}}}" for index, width in enumerate(widths))
    return [template.format(*row) for row in rows]
