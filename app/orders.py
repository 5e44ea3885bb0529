"""The order view: small steps to take, and where people put their operations."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from lossscale_app.scenes import SCENES
from lossscale_core import FORMATS, InputError, StepExample, StepOrder
from lossscale_core.errors import quoted

#: Steps to be taken, by the name that links and messages have for them.
EXAMPLES: MappingProxyType[str, StepExample] = MappingProxyType(
    {
        "same": StepExample(((2.0**-12, 2.0**-3),), learning_rate=0.1),
        # The norm is 0.5.
        "clip": StepExample(((0.25, 0.25, 0.25, 0.25),), clip_at=1.0),
        "check": StepExample(((8.0, 2.0**-12),), clip="value", clip_at=100.0),
        "accum": StepExample(((1.0,), (1.0,)), reduction="sum"),
        "mean": StepExample(((4.0,), (0.0,)), tokens=(1, 3)),
        "late": StepExample(((2.0**-26,),)),
        "half": StepExample(((2.0**-26,),)),
        "swamp": StepExample(((2.0**-12,),), weights=(1.0,)),
    }
)

#: What a link's `o` can name, and the field and value of `StepOrder` that each stands for.
MISPLACED: MappingProxyType[str, tuple[str, str]] = MappingProxyType(
    {
        "average": ("average", "micro_batches"),
        "update": ("scale_update", "micro_batch"),
        "accumulate": ("accumulate", "stored"),
        "check": ("check", "after_clip"),
        "clip": ("clip", "before_unscale"),
        "weights": ("weights", "stored"),
    }
)

#: What a link's `at` and `u` can say, as `StepOrder` has it.
AT: MappingProxyType[str, str] = MappingProxyType({"loss": "loss", "late": "late"})
UNSCALE: MappingProxyType[str, str] = MappingProxyType({"fp32": "fp32", "fp16": "stored", "never": "never"})

#: The blocks of each example that can be put in a wrong place, which changes the step in FP16 at some scale.
IN_PLAY: MappingProxyType[str, tuple[str, ...]] = MappingProxyType(
    {
        "same": ("unscale", "weights"),
        "clip": ("unscale", "clip"),
        "check": ("unscale", "check", "clip"),
        "accum": ("update", "accumulate", "unscale"),
        "mean": ("average", "update", "unscale"),
        "late": ("at", "unscale", "weights"),
        "half": ("at", "unscale", "weights"),
        "swamp": ("unscale", "weights"),
    }
)

#: Where an example without a scenario opens.
_OPENINGS = {"check": {"log2_scale": 13}}


def opening(example: str) -> dict[str, Any]:
    """How an example opens.

    Args:
        example: its name.

    Returns:
        `k`, `at`, `unscale` and `misplaced`, as its scenario has them.
    """
    scene = next((scene for scene in SCENES.values() if scene.get("example") == example), _OPENINGS.get(example, {}))
    return {
        "k": scene.get("log2_scale", 0),
        "at": scene.get("at", "loss"),
        "unscale": scene.get("unscale", "fp32"),
        "misplaced": scene.get("misplaced", []),
    }


#: What is asked for: the example, `at`, `unscale` and `misplaced` as links have them, the storage format's name.
Arrangement = tuple[str, str, str, tuple[str, ...], str]


def read_arrangement(asked: dict[str, Any]) -> Arrangement:
    """Read what the page asks for.

    Args:
        asked: `example`, `at`, `unscale`, `misplaced` and `format`.

    Returns:
        The same, `misplaced` without repetitions and in the order of `MISPLACED`.

    Raises:
        InputError: something is missing, or there is no such name.
    """
    match asked:
        case {
            "example": str(example),
            "at": str(at),
            "unscale": str(unscale),
            "misplaced": list(names),
            "format": str(fmt),
        }:
            _known(example, EXAMPLES, "example")
            _known(fmt, FORMATS, "format")
            step_order(at, unscale, names)
            return example, at, unscale, tuple(name for name in MISPLACED if name in names), fmt
        case _:
            raise InputError("A step is asked for with an example, at, unscale, misplaced and a format.")


def step_order(at: str, unscale: str, misplaced: Sequence[Any]) -> StepOrder:
    """The order that a link's words stand for.

    Args:
        at: one of `AT`.
        unscale: one of `UNSCALE`.
        misplaced: names of `MISPLACED`.

    Returns:
        The order.

    Raises:
        InputError: there is no such word.
    """
    fields = {"scale": _known(at, AT, "place of the scale"), "unscale": _known(unscale, UNSCALE, "way to unscale")}
    fields |= [_known(name, MISPLACED, "block out of place") for name in misplaced]
    return StepOrder(**fields)


def _known(name: Any, among: Mapping[str, Any], what: str) -> Any:
    """What a name stands for."""
    if not isinstance(name, str) or name not in among:
        raise InputError(
            "{name} is no {what} that is known; known are {among}.",
            name=quoted(name),
            what=what,
            among=", ".join(among),
        )
    return among[name]
