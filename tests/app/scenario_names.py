"""The scenarios by their names, for tests of their data, their words and their numbers."""

import pytest

from lossscale_app.presets import PRESETS
from lossscale_app.scenario_messages import SCENARIO_MESSAGES
from lossscale_app.scenarios import SCENARIOS

BY_ID = {scenario.id: scenario for scenario in SCENARIOS}
every_scenario = pytest.mark.parametrize("scenario", SCENARIOS, ids=BY_ID)

#: What is asked, before anything is seen; and what is told afterwards.
BEFORE = ("title", "question", "a", "b", "c", "d")
AFTER = ("found", "reflect", "answer")


def right(scenario):
    """The letter of the right prediction."""
    return next(each.id for each in scenario.predictions if not each.misconception)


def text(name, part):
    return SCENARIO_MESSAGES[f"scenario-{name}-{part}"]


def filled(name, part):
    return text(name, part).format(**BY_ID[name].facts())


def tokens(name):
    return next(preset.tokens for preset in PRESETS if preset.id == name)
