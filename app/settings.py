"""Settings of a training run and of its scaler as short texts, which links and forms carry.

A text is a list of words with commas between: for a scaler a preset's name, then `field.value` for each field
that differs from it; for a run only the latter.
"""

from dataclasses import dataclass, fields, replace
import re
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from lossscale_core import (
    FP16,
    SCALER_PRESETS,
    Format,
    Injection,
    InputError,
    ScalerPolicy,
    TrainingPlan,
    parse_number,
)
from lossscale_core.errors import quoted

#: The scaler that the page opens with: PyTorch's, which grows as often as a short run lets one see.
DEFAULT_POLICY = "pytorch,growth_interval.10"

_VALUE = re.compile(r"[0-9A-Za-z._-]+")

#: What the browser reads, too: decimal, or a power of two such as p-3.
_NUMBER = re.compile(r"-?[0-9.]+([eE]-?[0-9]+)?|p-?[0-9]+")

#: Signs of comparison have no place in a link.
_WRITTEN = {"==": "eq", ">=": "ge"}

#: Whole numbers below are written without a point.
_EXACT = 2**53

#: The most images that all steps of one run may see.
_MOST_IMAGES = 1_500_000


@dataclass(frozen=True)
class RunSettings:
    """What a reader can set of a run; see `TrainingPlan`, whose defaults these are.

    Attributes:
        inject: "inf" or "nan", damage done on purpose; "none" for none.
        inject_at: the step at which it is done.
        inject_lasting: whether it is done at every later step too.
    """

    seed: int = 0
    steps: int = 300
    batch: int = 128
    micro_batches: int = 1
    positions: int = 2**15
    reduction: Literal["mean", "sum"] = "mean"
    optimizer: Literal["adam", "sgd"] = "adam"
    learning_rate: float = 0.003
    max_norm: float | None = None
    inject: Literal["none", "inf", "nan"] = "none"
    inject_at: int = 50
    inject_lasting: bool = False

    def plan(self, fmt: Format, *, autocast: bool, scaler: ScalerPolicy | None) -> TrainingPlan:
        """The run that the settings ask for.

        Args:
            fmt: the narrow format.
            autocast: whether it is used.
            scaler: how the loss is scaled, if it is.

        Raises:
            InputError: a field holds what no run can work with.
        """
        injection = None if self.inject == "none" else Injection(self.inject, self.inject_at, self.inject_lasting)
        settings = {field.name: getattr(self, field.name) for field in fields(self)}
        chosen = {name: value for name, value in settings.items() if not name.startswith("inject")}
        plan = TrainingPlan(autocast=autocast, format=fmt, scaler=scaler, injection=injection, **chosen)
        if plan.steps * plan.images > _MOST_IMAGES:
            raise InputError(
                "steps × batch × micro_batches must be at most {most_images:,} here: {micro_batches} is more.",
                most_images=_MOST_IMAGES,
                micro_batches=quoted(f"{plan.steps} × {plan.batch} × {plan.micro_batches}"),
            )
        return plan


def read_policy(text: str) -> ScalerPolicy:
    """Read a scaler.

    Args:
        text: a preset's name and what differs from it.

    Returns:
        The policy.

    Raises:
        InputError: no preset has that name, or a field holds what no scaler can work with.
    """
    preset, _, changes = text.partition(",")
    if preset not in SCALER_PRESETS:
        raise InputError(
            "{preset} is no scaler that is known; known are {scaler_presets}.",
            preset=quoted(preset),
            scaler_presets=", ".join(SCALER_PRESETS),
        )
    return replace(SCALER_PRESETS[preset], **_changes(changes, ScalerPolicy))


def read_run(text: str) -> RunSettings:
    """Read the settings of a run.

    Args:
        text: what differs from the defaults.

    Returns:
        The settings.

    Raises:
        InputError: a field is not known or holds what no run can work with.
    """
    changes = _changes(text, RunSettings)
    settings = RunSettings(**changes)
    if settings.inject not in ("none", "inf", "nan"):
        raise InputError("inject must be none, inf or nan: {inject} is not.", inject=quoted(settings.inject))
    if not isinstance(settings.inject_lasting, bool):
        raise InputError(
            "inject_lasting must be true or false: {inject_lasting} is not.",
            inject_lasting=quoted(settings.inject_lasting),
        )
    Injection("inf", settings.inject_at)
    settings.plan(FP16, autocast=True, scaler=None)
    return settings


def policy_fields() -> list[dict[str, Any]]:
    """Describe the fields of a scaler's policy for a form: name, kind and choices."""
    return _described(ScalerPolicy)


def run_fields() -> list[dict[str, Any]]:
    """Describe the settings of a run for a form: name, kind, choices and default."""
    defaults = RunSettings()
    return [{**each, "default": _written(getattr(defaults, each["name"]))} for each in _described(RunSettings)]


def preset_values() -> dict[str, dict[str, str]]:
    """The fields of every preset, as they are written in a form."""
    names = [field.name for field in fields(ScalerPolicy)]
    return {
        preset: {name: _written(getattr(policy, name)) for name in names} for preset, policy in SCALER_PRESETS.items()
    }


def _changes(text: str, kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    changes = {}
    for word in filter(None, text.split(",")):
        name, _, value = word.partition(".")
        if name not in hints:
            raise InputError(
                "{word} is no setting that is known; known are {hints}.", word=quoted(word), hints=", ".join(hints)
            )
        if not _VALUE.fullmatch(value):
            raise InputError(
                "{name} must be one number or word in plain letters and digits: {value} is not.",
                name=name,
                value=quoted(value),
            )
        changes[name] = _value(value, hints[name])
    return changes


def _value(text: str, hint: Any) -> Any:
    """A value as its field takes it; what cannot be read stays a text, which the field refuses with its rule."""
    members = get_args(hint)
    if hint is bool:
        return {"true": True, "false": False}.get(text, text)
    if get_origin(hint) is Literal:
        return next((member for member in members if _written(member) == text), text)
    if NoneType in members and text == "none":
        return None
    if not _NUMBER.fullmatch(text):
        return text
    try:
        number = parse_number(text.replace("p", "2^", 1))
    except InputError:
        return text
    return int(number) if number.is_integer() and abs(number) < _EXACT else number


def _described(kind: type) -> list[dict[str, Any]]:
    described = []
    for name, hint in get_type_hints(kind).items():
        members = get_args(hint)
        if hint is bool:
            choices = ["true", "false"]
        elif get_origin(hint) is Literal:
            choices = [_written(member) for member in members]
        else:
            choices = []
        described.append({"name": name, "choices": choices})
    return described


def _written(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < _EXACT else repr(value).replace("+", "")
    return _WRITTEN.get(value, str(value))
