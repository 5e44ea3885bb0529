"""What a page without a server has to show of the views that need Python: recorded runs.

They take some twenty seconds to make, so they are kept beside the code; `python -m lossscale_app.recordings`
makes them anew.
"""

from functools import cache
import gzip
from importlib.resources import files
import json
from pathlib import Path
from typing import Any

from lossscale_app.links import DEFAULTS
from lossscale_app.overlays import overlay
from lossscale_app.runs import Request, recorded
from lossscale_app.scenes import TRAINING_TRIES

#: Static scales for which there is a run of the settings that the view opens with.
_STATIC = (0, 8, 16, 24, 32, 40)

#: As the browser has it when it opens.
_PATTERN = "NFFFFFFNFFFFFFFFNNFFFFFFFFFFFFFF"
_POLICIES = (
    *dict.fromkeys(params.get("policy", DEFAULTS["policy"]) for params in ({}, *TRAINING_TRIES.values())),
    "deepspeed_zero",
    "megatron",
)


_FILE = "recorded_runs.json.gz"


@cache
def recorded_runs() -> dict[str, Any]:
    """Read the runs that the view offers to try, and those that it opens with.

    Returns:
        The columns of each run by its key.
    """
    packed = files("lossscale_app").joinpath(_FILE).read_bytes()
    runs: dict[str, Any] = json.loads(gzip.decompress(packed))
    return runs


def make_runs() -> dict[str, Any]:
    """Make them.

    Returns:
        The columns of each run by its key.
    """
    runs: dict[str, Any] = {}
    for params in ({}, *TRAINING_TRIES.values()):
        state = {**DEFAULTS, **params}
        runs |= recorded(Request(state["policy"], state["run"], state["log2_scale"], state["format"]))
    for k in _STATIC:
        runs |= recorded(Request(DEFAULTS["policy"], "", k, DEFAULTS["format"]), ("static",))
    return runs


def recorded_overlay() -> dict[str, Any]:
    """Let a few scalers run over the pattern that the view opens with.

    Returns:
        The pattern, and the traces.
    """
    return {"pattern": _PATTERN, "traces": overlay(_PATTERN, _POLICIES)}


def main() -> None:
    """Make the runs and keep them beside the code."""
    text = json.dumps(make_runs(), separators=(",", ":"))
    Path(__file__).with_name(_FILE).write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
