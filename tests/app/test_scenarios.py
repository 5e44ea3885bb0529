"""The scenarios as data: complete, each a state that a link opens, and reached one from another."""

from collections import Counter
from itertools import pairwise
import json

import pytest

from lossscale_app.explorer import Explorer
from lossscale_app.links import DEFAULTS, KEYS, read_link, write_link
from lossscale_app.scenarios import SCENARIOS, scenario_params, scenarios_data
from lossscale_core import InputError

from .scenario_names import BY_ID, every_scenario, right

IDS = (
    *("window", "tie", "late", "half", "inf", "none", "below1", "bf16", "fp8", "clip", "accum", "dyn", "coarse"),
    *("swamp", "outlier", "same", "mean", "nan", "autocast"),
)
CLASS = ("window", "tie", "late", "inf", "half", "none", "bf16", "dyn")
HOMEWORK = ("fp8", "clip", "accum", "below1", "swamp")


def test_there_are_nineteen_in_the_order_of_the_link_vocabulary():
    assert tuple(BY_ID) == IDS
    assert next(key for key in KEYS if key.name == "s").choices == ("", *IDS)


@every_scenario
def test_exactly_one_of_three_or_four_predictions_is_right(scenario):
    assert [each.id for each in scenario.predictions] == list("abcd"[: len(scenario.predictions)])
    assert len(scenario.predictions) in (3, 4)
    revealed = [each.misconception for each in scenario.predictions]
    assert revealed.count("") == 1
    assert len(set(revealed)) == len(revealed)


def test_the_place_of_the_right_prediction_cannot_be_guessed():
    places = [right(scenario) for scenario in SCENARIOS]
    assert min(Counter(places)[letter] for letter in "abcd") >= 4
    assert all(one != other for one, other in pairwise(places))


@every_scenario
def test_what_to_try_next_exists_and_is_something_else(scenario):
    assert len(scenario.next) in (1, 2)
    assert set(scenario.next) <= set(IDS) - {scenario.id}
    assert len(set(scenario.next)) == len(scenario.next)


def test_whoever_goes_on_from_the_first_can_reach_them_all():
    reached, new = set(), {"window"}
    while new:
        reached |= new
        new = {name for each in new for name in BY_ID[each].next} - reached
    assert reached == set(IDS)


def test_a_class_can_follow_what_comes_next():
    assert [(one, other) for one, other in pairwise(CLASS) if other not in BY_ID[one].next] == []


def test_homework_is_what_the_course_gives_as_homework():
    assert {scenario.id for scenario in SCENARIOS if scenario.homework} == set(HOMEWORK)


@every_scenario
def test_a_scenario_is_a_state_that_a_link_opens(scenario):
    read = read_link(f"?v=1&s={scenario.id}")
    assert read.ignored == ()
    params = scenario_params(scenario.id)
    assert {name: value for name, value in read.params.items() if name != "scenario"} == params != {}
    link = write_link({**DEFAULTS, **params})
    again = read_link(link)
    assert again.ignored == ()
    assert write_link({**DEFAULTS, **again.params}) == link
    explorer = Explorer(**params)
    assert {name: getattr(explorer, name) for name in params} == params


def test_what_is_changed_in_a_state_stays_out_of_the_scenario():
    for name in ("window", "clip"):
        scenario_params(name).clear()
        assert scenario_params(name)


def test_an_unknown_scenario_is_named():
    with pytest.raises(InputError, match="“nothing”"):
        scenario_params("nothing")


@every_scenario
def test_a_link_to_a_prediction_is_short(scenario):
    link = f"?v=1&s={scenario.id}&m=predict"
    assert len(link) <= 120
    assert read_link(link).ignored == ()


def test_the_browser_gets_all_of_it_as_json():
    data = scenarios_data()
    assert json.loads(json.dumps(data)) == data
    for made, scenario in zip(data, SCENARIOS, strict=True):
        assert list(made) == ["id", "predictions", "next", "facts", "goal", "homework", "about", "view"]
        assert [each["id"] for each in made["predictions"] if each["right"]] == [right(scenario)]
        assert made["facts"] == scenario.facts()
    views = {made["id"]: made["view"] for made in data}
    orders = {"late", "half", "clip", "accum", "same", "mean", "swamp"}
    trainings = {"dyn", "nan", "autocast"}
    assert {name for name, view in views.items() if view == "order"} == orders
    assert {name for name, view in views.items() if view == "training"} == trainings
    assert {name for name, view in views.items() if view == "window"} == set(IDS) - orders - trainings


def test_what_is_handed_out_is_a_copy():
    scenarios_data()[0]["facts"].clear()
    assert scenarios_data()[0]["facts"]
