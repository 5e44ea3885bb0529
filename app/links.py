"""The link vocabulary, version 1: every state of the page as a query string, and back.

The keys are data, which the browser's codec and the README's table share.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
import math
import re
from typing import Any
from urllib.parse import parse_qsl

from lossscale_app.catalogues import LANGUAGES
from lossscale_app.datasets import DATASETS, LOSING
from lossscale_app.gradients import LOG2_SCALES, MAX_GRADIENTS, read_gradients, read_scale
from lossscale_app.orders import EXAMPLES, MISPLACED
from lossscale_app.presets import BEGINNING
from lossscale_app.scenarios import scenario_params
from lossscale_app.settings import DEFAULT_POLICY, read_policy, read_run
from lossscale_core import FORMATS, InputError, parse_number

_LONGEST_LINK = 4000
_POWER = re.compile(r"(-?)2\^(-?\d+)")
_IDLE_ZEROS = re.compile(r"\.?0*$")
_PLAIN = re.compile(r"[0-9A-Za-z.-]+")


@dataclass(frozen=True)
class LinkKey:
    """One key of the vocabulary.

    Attributes:
        name: the key.
        meaning: what it sets.
        values: what it takes, for people.
        default: the value that is left out of a link.
        kind: how a value is read: `choice`, `integer`, `gradients`, `scale`, `names`, `policy` or `run`.
        choices: the values of a `choice`, the names of `names`.
        bounds: the bounds of an `integer`.
        param: the explorer's param it sets; None where it sets none.
    """

    name: str
    meaning: str
    values: str
    default: str
    kind: str
    choices: tuple[str, ...] = ()
    bounds: tuple[int, int] = (0, 0)
    param: str | None = None


def _choice(name: str, meaning: str, choices: Iterable[str], default: str, param: str | None = None) -> LinkKey:
    listed = tuple(choices)
    return LinkKey(name, meaning, " ".join(listed), default, "choice", listed, param=param)


def _integer(name: str, meaning: str, bounds: tuple[int, int], default: int, param: str) -> LinkKey:
    return LinkKey(name, meaning, f"integer {bounds[0]}..{bounds[1]}", str(default), "integer", (), bounds, param)


#: Parts of the page that `hide` can leave out.
CONTROLS = (
    "format",
    "theme",
    "reset",
    "share",
    "gradients",
    "scale",
    "outcome",
    "landing",
    "journey",
    "try",
    "numbers",
    "view",
    "data",
    "run",
    "scaler",
    "policies",
    "autocast",
    "steps",
    "example",
    "blocks",
)

#: The views there are.
VIEWS = ("window", "distribution", "training", "order")

#: Scenarios by the names that links have for them.
SCENARIO_NAMES = (
    *("window", "tie", "late", "half", "inf", "none", "below1", "bf16", "fp8", "clip", "accum", "dyn", "coarse"),
    *("swamp", "outlier", "same", "mean", "nan", "autocast"),
)

#: The vocabulary, in the order in which a link is written.
KEYS = (
    _choice("v", "version", ("1",), "1"),
    _choice("s", "scenario: sets everything below, later keys override", ("", *SCENARIO_NAMES), "", "scenario"),
    LinkKey(
        "g",
        "gradients",
        f"comma list, at most {MAX_GRADIENTS}: `p-26` (= 2^-26), `1e-8`, `-3`, `0x1.8p-24`; `none` for an empty list",
        "p-26,p3",
        "gradients",
        param="gradients",
    ),
    _integer("k", "log2 of the scale", (LOG2_SCALES[0], LOG2_SCALES[-1]), BEGINNING.log2_scale, "log2_scale"),
    LinkKey(
        "x",
        "a typed scale, which then holds instead of k",
        "number above 0, written as in g",
        "",
        "scale",
        param="typed_scale",
    ),
    _choice("f", "storage format", FORMATS, BEGINNING.format, "format"),
    _choice("u", "unscale in", ("fp32", "fp16", "never"), "fp32", "unscale"),
    _choice("at", "where the factor is applied", ("loss", "late"), "loss", "at"),
    _integer("j", "which gradient's journey is shown, from 1", (1, MAX_GRADIENTS), 1, "selected"),
    _choice("view", "which view", VIEWS, "window", "view"),
    _choice("d", "distribution that is shown", (dataset.id for dataset in DATASETS), DATASETS[0].id, "data"),
    _choice("l", "percent of the gradients that may be lost", LOSING, "0", "losing"),
    _choice("ex", "step that the order view takes", EXAMPLES, "same", "example"),
    LinkKey(
        "o",
        "what else the order view does in a wrong way",
        f"comma list of: {' '.join(MISPLACED)}",
        "",
        "names",
        tuple(MISPLACED),
        param="misplaced",
    ),
    LinkKey(
        "p",
        "loss scaler of the training view",
        "a preset of `lossscale scaler`, then `,field.value` for each field that differs",
        DEFAULT_POLICY,
        "policy",
        param="policy",
    ),
    LinkKey(
        "r",
        "settings of the training run",
        "comma list of `field.value`, such as `seed.1,positions.4096`",
        "",
        "run",
        param="run",
    ),
    _choice("m", "mode", ("play", "predict", "present"), "play", "mode"),
    _choice("e", "embed (no chrome)", ("0", "1"), "0", "embed"),
    LinkKey("hide", "controls not shown", f"comma list of: {' '.join(CONTROLS)}", "", "names", CONTROLS, param="hide"),
    _choice("th", "theme", ("auto", "light", "dark", "projector"), "auto", "theme"),
    _choice("lang", "language; the browser's if it is not given", ("", *LANGUAGES), "", "language"),
)

#: The explorer's params that a link sets, and what they are when it does not.
DEFAULTS: dict[str, Any] = {
    "scenario": "",
    "gradients": list(BEGINNING.tokens),
    "log2_scale": BEGINNING.log2_scale,
    "typed_scale": "",
    "format": BEGINNING.format,
    "selected": 0,
    "view": "window",
    "data": DATASETS[0].id,
    "losing": "0",
    "unscale": "fp32",
    "at": "loss",
    "example": "same",
    "misplaced": [],
    "policy": DEFAULT_POLICY,
    "run": "",
    "mode": "play",
    "theme": "auto",
    "language": "",
    "embed": False,
    "hide": [],
}

_KEY = {key.name: key for key in KEYS}


@dataclass(frozen=True)
class Link:
    """What a link says.

    Attributes:
        params: the explorer's params that it sets.
        ignored: each `key=value` that could not be used, as it was written.
    """

    params: dict[str, Any] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()


def read_link(link: str | Iterable[tuple[str, str]]) -> Link:
    """Read a link. Nothing in it is an error: what cannot be used is listed, and the rest is used.

    Args:
        link: a query string, with or without `?` or `#`, or its pairs of key and value.

    Returns:
        The params to set, and what was ignored.
    """
    if isinstance(link, str):
        if len(link) > _LONGEST_LINK:
            return Link(ignored=(link[:40] + "…",))
        link = parse_qsl(link.lstrip("?#"), keep_blank_values=True)
    pairs = list(link)
    if sum(len(name) + len(value) + 1 for name, value in pairs) > _LONGEST_LINK:
        return Link(ignored=(f"{pairs[0][0]}={pairs[0][1]}"[:40] + "…",))
    params: dict[str, Any] = {}
    ignored: list[str] = []
    for name, value in sorted(pairs, key=lambda pair: pair[0] != "s"):
        key = _KEY.get(name)
        try:
            if key is None:
                raise InputError("no such key")
            params |= _scenario_params(value) if key.name == "s" else _read(key, value)
        except InputError:
            ignored.append(f"{name}={value}")
    if params.get("selected", 0) >= max(1, len(params.get("gradients", BEGINNING.tokens))):
        ignored.append(f"j={params.pop('selected') + 1}")
    return Link(params, tuple(ignored))


def write_link(params: Mapping[str, Any]) -> str:
    """Write a state as a link: only what differs from the scenario, or else the default, in the vocabulary's order.

    Args:
        params: params of the explorer by name; those left out have their default.

    Returns:
        The query string, with its `?`.
    """
    beginning = {**DEFAULTS, **_scenario_params(params.get("scenario", "")), "scenario": ""}
    parts = ["v=1"]
    for key in KEYS:
        if key.param in params:
            value = _written(key, params[key.param])
            if value != _written(key, beginning[key.param]):
                parts.append(f"{key.name}={value}")
    return "?" + "&".join(parts)


def _scenario_params(name: str) -> dict[str, Any]:
    """The params of a scenario."""
    if name not in _KEY["s"].choices:
        raise InputError("no such scenario")
    return {"scenario": name, **scenario_params(name)} if name else {}


def _read(key: LinkKey, value: str) -> dict[str, Any]:
    """The params that a value of a key sets."""
    if key.kind == "choice" and value not in key.choices:
        raise InputError("not one of the choices")
    if key.param is None:
        return {}
    match key.kind:
        case "integer":
            if not re.fullmatch(r"-?[0-9]{1,3}", value) or not key.bounds[0] <= int(value) <= key.bounds[1]:
                raise InputError("not in bounds")
            return {key.param: int(value) - (key.name == "j")}
        case "gradients":
            return {key.param: _read_tokens(value)}
        case "scale":
            return {key.param: read_scale(_typed(value)).token}
        case "names":
            names = [name for name in value.split(",") if name]
            if not set(names) <= set(key.choices):
                raise InputError("no such control")
            return {key.param: sorted(set(names), key=key.choices.index)}
        case "policy" | "run":
            (read_policy if key.kind == "policy" else read_run)(value)
    return {key.param: value == "1" if key.name == "e" else value}


def _read_tokens(value: str) -> list[str]:
    tokens = [] if value == "none" else [_typed(token) for token in value.split(",")]
    read_gradients(tokens)
    return tokens


def _typed(token: str) -> str:
    """A token of a link as people type it: p-26 as 2^-26."""
    if not _PLAIN.fullmatch(token):
        raise InputError("not a number of the link vocabulary")
    return re.sub(r"^(-?)p(-?\d+)$", r"\g<1>2^\2", token)


def _written(key: LinkKey, value: Any) -> str:
    match key.kind:
        case "gradients":
            if list(map(parse_number, value)) == list(map(parse_number, BEGINNING.tokens)):
                return key.default
            return ",".join(map(link_token, value)) if value else "none"
        case "scale":
            return link_token(value) if value else ""
        case "names":
            return ",".join(value)
        case "integer":
            return str(value + (key.name == "j"))
        case "choice" if key.name == "d" and value not in key.choices:
            # A file of the reader's own has no name that others could open.
            return key.default
    return str(int(value)) if isinstance(value, bool) else str(value)


def link_token(token: str) -> str:
    """Write a number for a link: ASCII without `+ ^ %` or spaces, and the same value.

    Args:
        token: a number as `parse_number` reads it.
    """
    if power := _POWER.fullmatch(token):
        return f"{power[1]}p{power[2]}"
    if _PLAIN.fullmatch(token):
        return token
    value = parse_number(token)
    if not math.isfinite(value):
        return str(value)
    digits, exponent = value.hex().replace("+", "").split("p")
    return f"{_IDLE_ZEROS.sub('', digits)}p{exponent}"


def vocabulary_table() -> str:
    """Write the vocabulary as the Markdown table of the README."""
    rows = [
        f"| `{key.name}` | {key.meaning} | {key.values.strip()} | {f'`{key.default}`' if key.default else ''} |"
        for key in KEYS
    ]
    return "\n".join(["| key | meaning | values | default |", "|---|---|---|---|", *rows])
