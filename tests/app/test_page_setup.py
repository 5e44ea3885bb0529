"""What a page is given once: scenarios whose answers are packed, and no text of them beside."""

import base64
import json

import pytest

from lossscale_app.catalogues import LANGUAGES, messages
from lossscale_app.messages import ENGLISH
from lossscale_app.page_setup import setup_json
from lossscale_app.scenarios import SCENARIOS, scenario_params

from .scenario_names import BY_ID, right

SETUP = json.loads(setup_json())
MADE = {made["id"]: made for made in SETUP["scenarios"]}
every_scenario = pytest.mark.parametrize("scenario", SCENARIOS, ids=BY_ID)


def unsealed(scenario):
    return json.loads(base64.b64decode(MADE[scenario.id]["sealed"]))


def test_the_scenarios_come_in_their_order():
    assert list(MADE) == list(BY_ID)


@every_scenario
def test_what_is_asked_is_there_for_all_to_see(scenario):
    made = {key: value for key, value in MADE[scenario.id].items() if key != "sealed"}
    assert made == {
        "id": scenario.id,
        "next": list(scenario.next),
        "homework": scenario.homework,
        "about": scenario.about,
        "view": scenario_params(scenario.id).get("view", "window"),
        "predictions": [each.id for each in scenario.predictions],
        "seeks": scenario.goal is not None,
    }


@every_scenario
def test_what_is_packed_is_the_answer(scenario):
    answer = unsealed(scenario)
    assert (answer["right"], answer["facts"]) == (right(scenario), scenario.facts())
    assert list(answer["said"]) == list(LANGUAGES)
    wrong = {each.id: each.misconception for each in scenario.predictions if each.misconception}
    for language, said in answer["said"].items():
        texts = messages(language)
        assert said == {
            **{part: texts[f"scenario-{scenario.id}-{part}"] for part in ("found", "reflect", "answer")},
            **{letter: texts[f"misconception-{name}"] for letter, name in wrong.items()},
        }


@every_scenario
def test_nothing_that_stands_unpacked_has_numbers_of_the_answer_in_it(scenario):
    parts = ("title", "question", *MADE[scenario.id]["predictions"])
    assert [part for part in parts if "{" in ENGLISH[f"scenario-{scenario.id}-{part}"]] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_is_either_in_the_page_or_packed(language):
    said = SETUP["languages"][language]["messages"]
    assert said.items() <= messages(language).items()
    packed = {text for scenario in SCENARIOS for text in unsealed(scenario)["said"][language].values()}
    assert {text for key, text in messages(language).items() if key not in said} == packed


@pytest.mark.parametrize("served", [True, False], ids=["live", "saved"])
def test_no_answer_stands_in_clear(served):
    text = setup_json(served=served)
    for name in ("right", "misconception", "facts", "goal", "found", "reflect"):
        assert f'"{name}":' not in text
    plain = json.dumps(json.loads(text), ensure_ascii=False)
    for scenario in SCENARIOS:
        for said in unsealed(scenario)["said"].values():
            assert [each for each in said.values() if each in plain] == []
