"""Several loss scalers over each other on one pattern of overflows."""

from collections.abc import Sequence
from typing import Any

from lossscale_app.runs import scale_entry
from lossscale_app.settings import read_policy
from lossscale_core import Action, InputError
from lossscale_core.errors import quoted
from lossscale_core.patterns import read_pattern

#: As many as can be told apart in one chart, and steps that fit into it.
MOST_POLICIES = 6
MOST_STEPS = 2000


def overlay(pattern: str, policies: Sequence[str]) -> list[dict[str, Any]]:
    """Let loss scalers run over one pattern.

    Args:
        pattern: F for a finite step and N for one with an inf or NaN, as `read_pattern` reads it.
        policies: the scalers, as links have them.

    Returns:
        For each scaler its text, where its scale changes (before the steps of `scale_entry`), how many steps
        it went on for, which is fewer than the pattern has where it ends training, and the steps skipped.

    Raises:
        InputError: the pattern or a scaler cannot be read, or there are too many.
    """
    letters = read_pattern(pattern)
    if not letters:
        raise InputError("A pattern has at least one letter: F for a finite step, N for one with an inf or NaN.")
    if len(letters) > MOST_STEPS:
        raise InputError(
            "A pattern has at most {most_steps} steps here, and this one has {letters}.",
            most_steps=MOST_STEPS,
            letters=len(letters),
        )
    if len(policies) > MOST_POLICIES:
        raise InputError(
            "At most {most_policies} scalers go over each other, and {policies} are chosen.",
            most_policies=MOST_POLICIES,
            policies=quoted(len(policies)),
        )
    return [_trace(letters, str(policy)) for policy in policies]


def _trace(letters: str, text: str) -> dict[str, Any]:
    trace = read_policy(text).run(letters)
    scales = enumerate(trace.scales, 1)
    changed = [(step, scale) for step, scale in scales if step == 1 or scale != trace.scales[step - 2]]
    return {
        "policy": text,
        "scales": [scale_entry(step, scale) for step, scale in changed],
        "steps": len(trace.actions),
        "pattern": letters[: len(trace.actions)],
        "raised": trace.actions[-1:] == (Action.RAISE,),
    }
