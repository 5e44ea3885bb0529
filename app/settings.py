"""Settings of a training run and of its scaler as short texts, which links and forms carry.

A text is a list of words with commas between: for a scaler a preset's name, then `field.value` for each field
that differs from it; for a run only the latter.
"""

from dataclasses import dataclass, fields, replace
import re
from typing import Any, Literal, get_args, get_origin, get_type_hints

from lossscale_app.written import Written, quoting, read_written, restating, shown, values
from lossscale_core import FP16, SCALER_PRESETS, Format, Injection, InputError, ScalerPolicy, TrainingPlan
from lossscale_core.checks import check_choice
from lossscale_core.errors import quoted
from lossscale_core.refusals import Field

#: The scaler that the page opens with: PyTorch's, which grows as often as a short run lets one see.
DEFAULT_POLICY = "pytorch,growth_interval.10"

_VALUE = re.compile(r"[0-9A-Za-z._-]+")

#: What the browser reads, too: decimal, or a power of two such as p-3.
_NUMBER = re.compile(r"-?[0-9.]+([eE]-?[0-9]+)?|2\^-?[0-9]+")

#: A power of two in a link, which a form shows as 2^n.
_POWER = re.compile(r"p(-?[0-9]+)")

#: Signs of comparison have no place in a link.
_SIGNS = {"==": "eq", ">=": "ge"}
_SIGNS_OF_LINKS = {word: sign for sign, word in _SIGNS.items()}

#: The most images that all steps of one run may see.
_MOST_IMAGES = 1_500_000

#: What the fields of `Injection` are called among the settings.
_DAMAGE = {"kind": "inject", "step": "inject_at", "lasting": "inject_lasting"}


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

    def __post_init__(self) -> None:
        check_choice("inject", self.inject, ("none", "inf", "nan"))
        # What no damage is done with must be right all the same, for it to be done next.
        self._injection("inf")

    def plan(self, fmt: Format, *, autocast: bool, scaler: ScalerPolicy | None) -> TrainingPlan:
        """The run that the settings ask for.

        Args:
            fmt: the narrow format.
            autocast: whether it is used.
            scaler: how the loss is scaled, if it is.

        Raises:
            InputError: a field holds what no run can work with.
        """
        injection = None if self.inject == "none" else self._injection(self.inject)
        settings = {field.name: getattr(self, field.name) for field in fields(self)}
        chosen = {name: value for name, value in settings.items() if not name.startswith("inject")}
        with restating(_setting):
            return TrainingPlan(autocast=autocast, format=fmt, scaler=scaler, injection=injection, **chosen)

    def _injection(self, kind: Literal["inf", "nan"]) -> Injection:
        with restating(_setting):
            return Injection(kind, self.inject_at, self.inject_lasting)


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
    written = _written(changes, ScalerPolicy)
    with quoting(written):
        return replace(SCALER_PRESETS[preset], **values(written))


def read_run(text: str) -> RunSettings:
    """Read the settings of a run.

    Args:
        text: what differs from the defaults.

    Returns:
        The settings.

    Raises:
        InputError: a field is not known or holds what no run can work with.
    """
    written = _written(text, RunSettings)
    # Who asks for damage asks for it at a step, also at the one that the form has.
    with quoting(written, chosen=["inject_at"]):
        settings = RunSettings(**values(written))
        plan = settings.plan(FP16, autocast=True, scaler=None)
    if plan.steps * plan.images > _MOST_IMAGES:
        factors = {name: shown(getattr(plan, name)) for name in ("steps", "batch", "micro_batches")}
        factors |= {name: each.text for name, each in written.items() if name in factors}
        raise InputError(
            "steps × batch × micro_batches must be at most {most_images:,} here: {micro_batches} is more.",
            most_images=_MOST_IMAGES,
            micro_batches=quoted(" × ".join(factors.values())),
        )
    return settings


def policy_fields() -> list[dict[str, Any]]:
    """Describe the fields of a scaler's policy for a form: name, kind and choices."""
    return _described(ScalerPolicy)


def run_fields() -> list[dict[str, Any]]:
    """Describe the settings of a run for a form: name, kind, choices and default."""
    defaults = RunSettings()
    return [{**each, "default": _linked(getattr(defaults, each["name"]))} for each in _described(RunSettings)]


def preset_values() -> dict[str, dict[str, str]]:
    """The fields of every preset, as they are written in a form."""
    names = [field.name for field in fields(ScalerPolicy)]
    return {
        preset: {name: _linked(getattr(policy, name)) for name in names} for preset, policy in SCALER_PRESETS.items()
    }


def _setting(field: Field) -> Field:
    """A field of a plan, or of its damage, as a setting of the run."""
    return field._replace(name=_DAMAGE.get(field.name, field.name))


def _written(text: str, settings: type) -> dict[str, Written]:
    """What the words of a text set."""
    kinds = get_type_hints(settings)
    written = {}
    for word in filter(None, text.split(",")):
        name, _, value = word.partition(".")
        if name not in kinds:
            raise InputError(
                "{word} is no setting that is known; known are {hints}.", word=quoted(word), hints=", ".join(kinds)
            )
        if not _VALUE.fullmatch(value):
            raise InputError(
                "{name} must be one number or word in plain letters and digits: {value} is not.",
                name=name,
                value=quoted(value),
            )
        written[name] = _read(value, kinds[name])
    return written


def _read(text: str, kind: Any) -> Written:
    power = _POWER.fullmatch(text)
    typed = f"2^{power[1]}" if power else _SIGNS_OF_LINKS.get(text, text)
    written = read_written(typed, kind)
    if type(written.value) in (int, float) and not _NUMBER.fullmatch(typed):
        return Written(typed, typed)
    return written


def _described(kind: type) -> list[dict[str, Any]]:
    described = []
    for name, hint in get_type_hints(kind).items():
        members = get_args(hint)
        if hint is bool:
            choices = ["true", "false"]
        elif get_origin(hint) is Literal:
            choices = [_linked(member) for member in members]
        else:
            choices = []
        described.append({"name": name, "choices": choices})
    return described


def _linked(value: Any) -> str:
    return _SIGNS.get(value, shown(value))
