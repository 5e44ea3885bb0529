"""What the order view is given: its numbers against numpy's own casts, its verdicts, what a saved page holds."""

from functools import cached_property
from itertools import combinations
import json
import math

from core.steps import step_by_numpy
import ml_dtypes
import numpy as np
import pytest

from lossscale_app.explorer import Explorer
from lossscale_app.links import read_link
from lossscale_app.lookups import long_text
from lossscale_app.messages import ENGLISH
from lossscale_app.order_tables import order_json, orders_data, recorded_orders
from lossscale_app.order_verdicts import VERDICTS
from lossscale_app.orders import AT, EXAMPLES, IN_PLAY, MISPLACED, UNSCALE, step_order
from lossscale_app.page_setup import setup_json
from lossscale_app.scenes import SCENES
from lossscale_core import FORMATS, InputError, StepExample, StepOrder

from .lookup_mirror import strict_json
from .loops import run

SCALES = range(-40, 41)
SINGLE = [
    ("late", "fp32", ()),
    ("loss", "fp16", ()),
    ("loss", "never", ()),
    *(("loss", "fp32", (m,)) for m in MISPLACED),
]
RIGHT = ("loss", "fp32", ())
ALL_WRONG = ("late", "never", tuple(MISPLACED))
CASTS = {
    "fp16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "e5m2": ml_dtypes.float8_e5m2,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "fp32": np.float32,
}


class Table:
    """A table as the browser reads it."""

    def __init__(self, example, at, unscale, misplaced, fmt):
        self.data = strict_json(order_json(example, at, unscale, tuple(misplaced), fmt))

    @cached_property
    def _stages(self):
        return {stage["name"]: spread(stage["steps"]) for stage in self.data["stages"]}

    @cached_property
    def _results(self):
        return spread(self.data["results"])

    def number(self, place):
        value, text = self.data["values"][place], self.data["texts"][place]
        return float(text) if value is None else value

    def numbers(self, places):
        return [self.number(place) for place in places]

    def stages(self, k):
        found = {name: steps[k][0] for name, steps in self._stages.items()}
        return {name: [self.numbers(row) for row in rows] for name, rows in found.items() if rows is not None}

    def more(self, name, k):
        return self._stages[name][k][1]

    def result(self, k):
        return dict(zip(("verdict", "ratio", "log2", "factor", "lost", "update"), self._results[k], strict=True))

    def update(self, k):
        return self.numbers(self.result(k)["update"])


def spread(steps):
    """What holds at each k."""
    rows, known = {}, {k: row for k, *row in steps}
    for k in SCALES:
        rows[k] = known.get(k, rows.get(k - 1))
    return rows


#: What a link's words stand for.
WRONG = {
    "average": ("average", "micro_batches"),
    "update": ("scale_update", "micro_batch"),
    "accumulate": ("accumulate", "stored"),
    "check": ("check", "after_clip"),
    "clip": ("clip", "before_unscale"),
    "weights": ("weights", "stored"),
}


def by_numpy(example: StepExample, at, unscale, misplaced, fmt, k):
    """The step in numpy and ml_dtypes alone, which for these numbers round once."""
    unscale = "stored" if unscale == "fp16" else unscale
    order = StepOrder(scale=at, unscale=unscale, **dict(WRONG[name] for name in misplaced))
    with np.errstate(all="ignore"):
        stages, skipped, update, _ = step_by_numpy(example, order, 2.0**k, CASTS[fmt])
    return {name: values.tolist() for name, values in stages}, skipped, update.tolist()


def orders_of(example):
    """The right order, every single mistake, and all at once."""
    return [RIGHT, *SINGLE, ALL_WRONG]


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_number_is_that_of_numpys_casts(name, fmt):
    true = by_numpy(EXAMPLES[name], *RIGHT, "fp32", 0)[2]
    for order in orders_of(name):
        table = Table(name, *order, fmt)
        assert table.numbers(table.data["reference"]) == true
        right = []
        with np.errstate(all="ignore"):
            for k in SCALES:
                stages, skipped, update = by_numpy(EXAMPLES[name], *order, fmt, k)
                assert (order, k, str(table.stages(k))) == (order, k, str(stages))
                assert (order, k, table.update(k)) == (order, k, update)
                assert (table.result(k)["verdict"] == "skipped") == skipped
                right += [k] if update == true and not skipped else []
        assert [k for first, last in table.data["same"] for k in range(first, last + 1)] == right


#: The example, where everything is, k: and the verdict, the ratio, the factor.
JUDGED = [
    (("late", "late", "fp32", ()), 12, "lost", "0", "0"),
    (("half", "loss", "fp16", ()), 12, "lost", "0", "0"),
    (("half", "loss", "fp32", ()), 12, "right", "1", "1"),
    (("half", "loss", "fp32", ("weights",)), 12, "swallowed", "0", "0"),
    (("clip", "loss", "fp32", ("clip",)), 10, "small", "1/512", "512"),
    (("clip", "loss", "fp32", ("clip",)), 1, "right", "1", "1"),
    (("clip", "loss", "fp32", ("clip",)), 18, "skipped", "0", "0"),
    (("check", "loss", "fp32", ("check",)), 13, "hiddenLarge", "≈12.50", "≈12.50"),
    (("check", "loss", "fp32", ("check", "clip")), 13, "hiddenSmall", "≈0.001526", "≈655.2"),
    (("check", "loss", "fp32", ("check", "clip", "weights")), 32, "swallowed", "0", "0"),
    (("check", "loss", "fp32", ("clip",)), 5, "turned", "≈0.3906", "≈2.560"),
    (("check", "loss", "fp32", ()), -20, "partly", "≈1.000", "≈1.000"),
    (("check", "loss", "never", ()), -26, "partlyWrong", "≈1.490e-8", "≈6.711e7"),
    (("accum", "loss", "fp32", ("update",)), 12, "large", "1.5", "1.5"),
    (("accum", "loss", "fp32", ("accumulate",)), 15, "skipped", "0", "0"),
    (("accum", "loss", "never", ("weights",)), 15, "nonfinite", "nan", "nan"),
    (("mean", "loss", "fp32", ("average",)), 8, "average", "2", "2"),
    (("mean", "loss", "fp32", ("update",)), 8, "large", "2", "2"),
    (("mean", "loss", "fp32", ()), 8, "right", "1", "1"),
    (("same", "loss", "never", ()), 5, "large", "32", "32"),
    (("same", "loss", "never", ()), -12, "small", "1/4096", "4096"),
    (("same", "loss", "never", ()), 0, "right", "1", "1"),
    (("same", "loss", "fp32", ("weights",)), 0, "near", "≈0.9998", "≈1.000"),
    (("swamp", "loss", "never", ()), 14, "large", "16384", "16384"),
    (("swamp", "loss", "never", ()), -12, "small", "1/4096", "4096"),
    (("swamp", "loss", "fp32", ("weights",)), 8, "swallowed", "0", "0"),
]


@pytest.mark.parametrize(("arrangement", "k", "verdict", "ratio", "factor"), JUDGED)
def test_verdicts(arrangement, k, verdict, ratio, factor):
    result = Table(*arrangement, "fp16").result(k)
    assert (result["verdict"], result["ratio"], result["factor"]) == (verdict, ratio, factor)
    assert (result["log2"] is None) == (ratio in ("0", "nan"))


def test_every_verdict_is_reached_and_has_a_sentence():
    assert {verdict for _, _, verdict, _, _ in JUDGED} == set(VERDICTS)
    assert sorted(key for key in ENGLISH if key.startswith("verdict-")) == sorted(
        f"verdict-{each}" for each in VERDICTS
    )


def in_pairs(name):
    """Any two blocks out of place that matter in an example."""
    choices = [("at", "late"), ("unscale", "fp16"), ("unscale", "never"), *(("misplaced", each) for each in MISPLACED)]
    played = [(what, how) for what, how in choices if (how if what == "misplaced" else what) in IN_PLAY[name]]
    for two in combinations(played, 2):
        (what, _), (other, _) = two
        if what != other or what == "misplaced":
            chosen = {key: value for key, value in two if key != "misplaced"}
            wrong = tuple(value for key, value in two if key == "misplaced")
            yield chosen.get("at", "loss"), chosen.get("unscale", "fp32"), wrong


#: By how much rounding changes an update, in FP16 weights' last place and among subnormals.
ROUNDED = 1 / 512

#: What a verdict says, of the lengths' ratio and of each weight's.
SAID = {
    "right": lambda length, ratios: set(ratios) == {1},
    "near": lambda length, ratios: all(abs(ratio - 1) <= ROUNDED for ratio in ratios),
    "lost": lambda length, ratios: set(ratios) == {0},
    "swallowed": lambda length, ratios: set(ratios) == {0},
    "partly": lambda length, ratios: 0 in ratios and all(abs(ratio - 1) <= ROUNDED for ratio in ratios if ratio),
    "partlyWrong": lambda length, ratios: 0 in ratios and any(ratio != 1 for ratio in ratios if ratio),
    "small": lambda length, ratios: length < 1,
    "large": lambda length, ratios: length > 1,
    "hiddenSmall": lambda length, ratios: 0 < length < 1,
    "hiddenLarge": lambda length, ratios: length > 1,
    "turned": lambda length, ratios: len(set(ratios)) > 1,
    "average": lambda length, ratios: length != 1,
    "nonfinite": lambda length, ratios: not all(map(math.isfinite, ratios)),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_said_of_two_mistakes_at_once_is_true(name):
    for order in in_pairs(name):
        table = Table(name, *order, "fp16")
        true = table.numbers(table.data["reference"])
        for k in SCALES:
            verdict, update = table.result(k)["verdict"], table.update(k)
            if verdict == "skipped":
                continue
            ratios = [made / right for made, right in zip(update, true, strict=True)]
            said = SAID[verdict](math.hypot(*update) / math.hypot(*true), ratios)
            assert (order, k, verdict, update, said) == (order, k, verdict, update, True)


@pytest.mark.parametrize(
    ("name", "same"), [("same", [[-12, 18]]), ("clip", [[-22, 17]]), ("late", [[2, 40]]), ("check", [[-12, 12]])]
)
def test_the_right_order_takes_the_same_step_at_every_scale_inside(name, same):
    assert Table(name, *RIGHT, "fp16").data["same"] == same


def test_weights_without_an_update_are_counted():
    result = Table("same", *RIGHT, "fp16").result(-15)
    assert (result["verdict"], result["lost"]) == ("partly", 1)
    assert Table("same", *RIGHT, "fp16").result(-40)["lost"] == 2


def test_stages_tell_their_scales_norms_and_findings():
    table = Table("clip", "loss", "fp32", ("clip",), "fp16")
    assert table.more("scaled", 10) == table.more("unscaled", 10) == [10]
    assert table.numbers(table.more("clipped", 10)) == [512, 2**-9]
    assert (table.more("checked", 10), table.more("checked", 18)) == (False, True)
    assert table.stages(18).keys() == table.stages(10).keys() - {"clipped"}
    assert Table("accum", "loss", "fp32", ("update",), "fp16").more("scaled", 16) == [16, 15]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_blocks_in_play_are_those_that_change_the_step(name):
    right = Table(name, *RIGHT, "fp16")
    changing = set()
    for order in SINGLE:
        wrong = Table(name, *order, "fp16")
        if any(wrong.update(k) != right.update(k) for k in SCALES):
            at, unscale, misplaced = order
            changing |= {*misplaced, *(["at"] if at != "loss" else []), *(["unscale"] if unscale != "fp32" else [])}
    assert set(IN_PLAY[name]) == changing


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_table_is_small_and_says_its_numbers(name, fmt):
    for order in orders_of(name):
        text = order_json(name, *order, fmt)
        assert len(text) < 40_000
        data = strict_json(text)
        assert all(long_text(v) == t for v, t in zip(data["values"], data["texts"], strict=True) if v is not None)
        assert {t for v, t in zip(data["values"], data["texts"], strict=True) if v is None} <= {"inf", "-inf", "nan"}


# What a page holds


def test_a_saved_page_holds_what_the_view_offers():
    recorded = recorded_orders()
    for name, blocks in IN_PLAY.items():
        assert {f"{name} loss fp32  {fmt}" for fmt in FORMATS} <= recorded.keys()
        assert {f"{name} loss {unscale}  fp16" for unscale in UNSCALE} <= recorded.keys()
        assert {f"{name} loss fp32 {each} fp16" for each in MISPLACED if each in blocks} <= recorded.keys()
        assert (f"{name} late fp32  fp16" in recorded) == ("at" in blocks)
    for scene in SCENES.values():
        if scene["view"] == "order":
            words = scene["example"], scene.get("at", "loss"), scene.get("unscale", "fp32"), "", "fp16"
            assert " ".join(words) in recorded
    for key, text in recorded.items():
        example, at, unscale, misplaced, fmt = key.split(" ")
        assert text == order_json(example, at, unscale, tuple(filter(None, misplaced.split("+"))), fmt)
    # As it stands in the page, a text within a text within a text.
    assert len(json.dumps(json.dumps(recorded))) < 600_000


def test_only_a_page_without_a_server_holds_tables():
    assert json.loads(setup_json(served=False))["recorded"]["steps"] == recorded_orders()
    assert json.loads(setup_json())["recorded"] == {}


def test_examples_are_described_as_they_are():
    data = orders_data()
    assert data["misplaced"] == dict(MISPLACED)
    assert data["examples"].keys() == EXAMPLES.keys()
    for name, described in data["examples"].items():
        assert eval(described["code"], {"StepExample": StepExample}) == EXAMPLES[name]  # noqa: S307
        assert f"example-{name}" in ENGLISH
        if name in SCENES:
            scene = read_link(f"?v=1&s={name}").params
            opens = described["opens"]
            assert opens["k"] == scene.get("log2_scale", 0)
            assert (opens["at"], opens["unscale"]) == (scene.get("at", "loss"), scene.get("unscale", "fp32"))
    assert data["examples"]["mean"]["shares"] == ["1/4", "3/4"]
    assert data["examples"]["mean"]["sharesAlike"] == ["1/2", "1/2"]
    assert data["examples"]["accum"]["shares"] == []
    assert [name for name, described in data["examples"].items() if described["summed"]] == ["accum"]
    assert data["examples"]["clip"]["clip"] == {"by": "norm", "limit": "1"}
    assert data["examples"]["same"]["rate"] == "0.1"


# What is asked


ASKED = {"example": "clip", "at": "loss", "unscale": "fp32", "misplaced": [], "format": "fp16"}


def answered(**changes):
    return run(Explorer()._answer({"ask": 1, "steps": {**ASKED, **changes}}))


def test_a_step_is_answered():
    answer = answered(misplaced=["clip", "check", "clip"], format="e5m2")
    assert answer == {"steps": order_json("clip", "loss", "fp32", ("check", "clip"), "e5m2")}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"example": "<b>"}, "“<b>” is no example that is known"),
        ({"at": "never"}, "“never” is no place of the scale"),
        ({"unscale": "bf16"}, "“bf16” is no way to unscale"),
        ({"misplaced": ["clip", "at"]}, "“at” is no block out of place"),
        ({"misplaced": [["clip"]]}, "no block out of place"),
        ({"format": "fp32"}, "“fp32” is no format"),
        ({"misplaced": "clip"}, "A step is asked for with"),
        ({"example": None}, "A step is asked for with"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(changes, sentence):
    with pytest.raises(InputError, match=sentence):
        answered(**changes)


def test_the_words_of_links_are_those_of_the_core():
    assert step_order("loss", "fp32", ()).misplaced == ()
    for at, unscale, misplaced in SINGLE:
        assert len(step_order(at, unscale, misplaced).misplaced) == 1
    assert len(step_order(*ALL_WRONG).misplaced) == len(MISPLACED) + 2
    assert list(AT) == ["loss", "late"]
