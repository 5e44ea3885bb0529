"""States of the training and the order view that are worth opening: what a scenario sets beside the gradients.

Each is what the scenario's question asks about, so that what is seen answers it: the mistake, not the right order.
A scene that shows a training run is recorded in every saved page.
"""

from types import MappingProxyType
from typing import Any

_DYNAMIC = {"view": "training", "policy": "pytorch,growth_interval.20", "log2_scale": 12}
_ORDER = {"view": "order"}

#: The explorer's params by the scenario's name.
SCENES: MappingProxyType[str, dict[str, Any]] = MappingProxyType(
    {
        # The largest gradients of this run are near 8 at first: 2^16 to 2^13 overflow, 2^12 does not.
        "dyn": {**_DYNAMIC, "run": "seed.1,positions.1,reduction.sum"},
        "nan": {**_DYNAMIC, "run": "seed.1,positions.1,reduction.sum,inject.nan,inject_at.40,inject_lasting.true"},
        "autocast": {"view": "training", "log2_scale": 24},
        "late": {**_ORDER, "example": "late", "log2_scale": 12, "at": "late"},
        "half": {**_ORDER, "example": "half", "log2_scale": 12, "unscale": "fp16"},
        "clip": {**_ORDER, "example": "clip", "log2_scale": 10, "misplaced": ["clip"]},
        "accum": {**_ORDER, "example": "accum", "log2_scale": 12, "misplaced": ["update"]},
        "same": {**_ORDER, "example": "same"},
        "mean": {**_ORDER, "example": "mean", "log2_scale": 8, "misplaced": ["average"]},
        "swamp": {**_ORDER, "example": "swamp", "log2_scale": 8, "misplaced": ["weights"]},
    }
)

#: Runs to try, by name: those of the scenarios, and plain classification, which needs no scaling.
TRAINING_TRIES: MappingProxyType[str, dict[str, Any]] = MappingProxyType(
    {
        **{name: SCENES[name] for name in ("autocast", "dyn", "nan")},
        "plain": {"view": "training", "run": "positions.1"},
    }
)
