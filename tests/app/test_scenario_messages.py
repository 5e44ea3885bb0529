"""What the scenarios say: worded so that a class can think before it sees, and told in the facts' own numbers."""

import re

import pytest

from lossscale_app.messages import ENGLISH
from lossscale_app.orders import EXAMPLES
from lossscale_app.scenario_messages import SCENARIO_MESSAGES
from lossscale_app.scenarios import SCENARIOS

from .scenario_names import AFTER, BEFORE, BY_ID, every_scenario, filled, right, text, tokens

every_message = pytest.mark.parametrize("key", SCENARIO_MESSAGES)
_BRACES = re.compile(r"\{(\w+)\}")


def wanted_keys():
    for scenario in SCENARIOS:
        letters = [each.id for each in scenario.predictions]
        yield from (f"scenario-{scenario.id}-{part}" for part in ("title", "question", *letters, *AFTER))
        yield from (f"misconception-{each.misconception}" for each in scenario.predictions if each.misconception)


def test_every_message_is_there_and_every_misconception_used_and_explained():
    assert set(SCENARIO_MESSAGES) == set(wanted_keys())
    assert {key: ENGLISH[key] for key in SCENARIO_MESSAGES} == dict(SCENARIO_MESSAGES)


def test_the_misconceptions_of_the_course_are_among_them():
    wanted = "bigger-is-safer scale-fixes-weights underflow-at-min rounding-is-down nonzero-is-right"
    wanted += " overflow-loses-one range-is-precision"
    assert {f"misconception-{name}" for name in wanted.split()} <= set(SCENARIO_MESSAGES)


def test_no_two_misconceptions_are_explained_alike():
    explained = [text for key, text in SCENARIO_MESSAGES.items() if key.startswith("misconception-")]
    assert len(set(explained)) == len(explained)


@every_scenario
def test_braces_are_facts_and_facts_are_told(scenario):
    told = {part: set(_BRACES.findall(text(scenario.id, part))) for part in AFTER}
    facts = set(scenario.facts())
    assert {part: names - facts for part, names in told.items() if names - facts} == {}
    assert facts == set().union(*told.values())


@every_scenario
def test_nothing_that_is_read_before_gives_the_answer_away(scenario):
    for part in BEFORE:
        assert not _BRACES.search(SCENARIO_MESSAGES.get(f"scenario-{scenario.id}-{part}", ""))


@every_scenario
def test_title_question_and_reflection_have_their_form(scenario):
    title = text(scenario.id, "title")
    assert 1 <= len(title.split()) <= 5
    assert not title.endswith(".")
    assert text(scenario.id, "question").endswith("?")
    assert 1 <= len(sentences(text(scenario.id, "question"))) <= 2
    reflect = text(scenario.id, "reflect")
    assert reflect.count("?") == 1
    assert reflect.endswith("?")
    assert "Why" in reflect


@every_scenario
def test_what_is_told_is_short(scenario):
    for part in ("found", "answer"):
        assert 2 <= len(sentences(filled(scenario.id, part))) <= 4
        assert text(scenario.id, part).endswith(".")


@every_scenario
def test_predictions_are_short_and_alike_in_form(scenario):
    predictions = [text(scenario.id, each.id) for each in scenario.predictions]
    assert len(set(predictions)) == len(predictions)
    assert max(map(len, predictions)) <= 48
    assert not any(prediction.endswith((".", "?")) for prediction in predictions)
    longest = sorted(len(prediction.split()) for prediction in predictions)
    assert longest[-1] - longest[0] <= 6


def test_a_misconception_is_one_sentence():
    for key, message in SCENARIO_MESSAGES.items():
        if key.startswith("misconception-"):
            assert len(sentences(message)) == 1
            assert message.endswith(".")
            assert not _BRACES.search(message)


def sentences(message):
    return re.split(r"(?<=[.?!]) ", message)


@every_message
def test_no_sentence_is_long(key):
    for sentence in sentences(SCENARIO_MESSAGES[key]):
        assert len(re.findall(r"[\w{}⁰-⁹⁻²³.·/]*[\w{][\w{}⁰-⁹⁻²³.·/-]*", sentence)) <= 25, sentence


#: Other spellings of the words that the page uses, and what is not written in a text that will be translated.
OTHER_SPELLINGS = (
    *(r"loss-scale", r"lossscale", r"scaling factor", r"safe scale window", r"safe-window", r"scale window"),
    *(r"sub-normal", r"denormal", r"under-flow", r"over-flow", r"un-?scal(?!ed|e\b|ing)", r"non-zero", r"non-finite"),
    *(r"microbatch", r"micro batch", r"power-of-two", r"powers of 2\b", r"power of 2\b", r"half precision"),
    *(r"optimiser", r"neighbor\b", r"color", r"auto-cast", r"full precision window", r"\bzeroe?s?\b", r"infinit\w+"),
    *(r"saw tooth", r"sawtooth", r"halfs", r"bit-for-bit", r"n't\b", r"\bit's\b", r"e\.g\.", r"i\.e\.", r"etc\b"),
)
#: Words with a capital, or in capitals, that must have just that.
CAPITALS = ("FP16", "FP32", "BF16", "FP8", "E5M2", "E4M3", "NaN", "SGD")


@every_message
def test_words_are_spelled_in_one_way(key):
    message = _BRACES.sub("#", SCENARIO_MESSAGES[key])
    for spelling in OTHER_SPELLINGS:
        assert not re.search(spelling, message, re.IGNORECASE), spelling
    for word in CAPITALS:
        assert set(re.findall(rf"\b{word}s?\b", message, re.IGNORECASE)) <= {word}
    assert set(re.findall(r"\binf\b", message, re.IGNORECASE)) <= {"inf"}
    assert not re.search(r"[\"'^*]|\.\.\.|\d-\d|--| - |\d ?x ?\d", message)
    assert not re.search(r"[-][0-9⁰-⁹]", message)


@every_message
def test_numbers_of_answers_are_facts(key):
    """Outside the braces there are only the formats' names, and the bits and the number that 0 and 1 are."""
    if key.startswith("misconception-") or key.rsplit("-", 1)[1] in AFTER:
        rest = re.sub(r"FP16|FP32|BF16|FP8|E5M2|E4M3", "", _BRACES.sub("", SCENARIO_MESSAGES[key]))
        assert set(re.findall(r"[\d⁰-⁹²³.]*[\d⁰-⁹²³]", rest)) <= {"0", "1"}


def pretty(fact):
    """A fact as the page shows it."""
    digits = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return re.sub(r"\^(-?\d+)", lambda found: found[1].translate(digits), fact).replace("*", "·").replace("-", "−")


_TYPED = re.compile(r"[\d.]*\d(?:·2)?[⁻⁰-⁹¹²³]*")
#: Numbers of a question that are not among those of its answer.
ONLY_ASKED = {
    "accum": {"1"},  # the gradients
    "mean": {"1", "3", "4", "0"},  # the tokens and the gradients
    "same": {"2¹²", "1"},  # two scales of many
    "outlier": {"2⁻³⁰", "2⁻²⁰", "2¹⁰"},  # the gradients
}


@every_scenario
def test_the_numbers_of_question_and_right_prediction_are_those_of_the_answer(scenario):
    known = {pretty(fact) for fact in scenario.facts().values()} | ONLY_ASKED.get(scenario.id, set()) | {"0", "1"}
    for part in ("question", right(scenario)):
        bare = re.sub(r"FP16|FP32|BF16|FP8|E5M2|E4M3", "", text(scenario.id, part))
        if (scenario.id, part) != ("coarse", "c"):  # 14%, which is rounded
            assert set(_TYPED.findall(bare)) <= known


def test_what_is_only_asked_is_what_the_scenario_has():
    assert EXAMPLES["accum"].gradients == ((1.0,), (1.0,))
    assert (EXAMPLES["mean"].tokens, EXAMPLES["mean"].gradients) == ((1, 3), ((4.0,), (0.0,)))
    assert EXAMPLES["same"].gradients == ((2.0**-12, 2.0**-3),)
    smallest, *_, largest, outlier = tokens("outlier")
    assert (smallest, largest, outlier) == ("2^-30", "2^-20", "2^10")
    assert "14%" in text("coarse", right(BY_ID["coarse"]))
    assert round(100 * (2 / 1.75 - 1)) == 14
    assert round(100 * (1.75 - 1) / 1.75) == 43
