"""The explorer's params and messages: what is taken, what is refused, and what follows from it."""

import asyncio
import json
import re

from bokeh.document import Document
from bokeh.models import ImportedStyleSheet
import pytest

from lossscale_app import Explorer
from lossscale_app.catalogues import LANGUAGES
from lossscale_app.gradients import LOG2_SCALES, read_gradients, read_scale
from lossscale_app.lookups import formats_data, rows_json, scale_texts
from lossscale_app.presets import BEGINNING, PRESETS
from lossscale_app.settings import DEFAULT_POLICY
from lossscale_core import FORMATS

from .lookup_mirror import strict_json
from .loops import run


@pytest.fixture
def explorer():
    return Explorer()


def rows(explorer):
    return strict_json(explorer.rows)


def tracks(explorer):
    return strict_json(explorer.tracks)


def test_it_opens_with_the_beginning(explorer):
    assert explorer.gradients == list(BEGINNING.tokens)
    assert (explorer.log2_scale, explorer.format) == (BEGINNING.log2_scale, BEGINNING.format)
    assert (explorer.typed_scale, explorer.selected, explorer.theme) == ("", 0, "auto")
    assert explorer.scale == 1


def test_two_explorers_share_no_list():
    first, second = Explorer(), Explorer()
    first.gradients = ["3"]
    assert second.gradients == Explorer().gradients == list(BEGINNING.tokens)


def test_it_opens_with_what_it_is_given():
    explorer = Explorer(gradients=["1e-8", "-3"], log2_scale=7, format="e4m3", typed_scale="1000", selected=1)
    assert [row["token"] for row in rows(explorer)["gradients"]] == ["1e-8", "-3"]
    assert rows(explorer)["scale"]["text"] == "1000"
    assert (explorer.log2_scale, explorer.format, explorer.selected) == (7, "e4m3", 1)


@pytest.mark.parametrize(("k", "scale"), [(0, 1), (12, 4096), (-3, 0.125), (40, 2.0**40), (-40, 2.0**-40)])
def test_the_scale_is_a_power_of_two(explorer, k, scale):
    explorer.log2_scale = k
    assert explorer.scale == scale


def test_a_typed_scale_holds_until_it_is_taken_back(explorer):
    explorer.param.update(log2_scale=3, typed_scale="1000")
    assert explorer.scale == 1000
    explorer.typed_scale = ""
    assert explorer.scale == 8


BAD_PARAMS = {
    "a gradient that is no number": ("gradients", ["2^-26", "eight"], "“eight”"),
    "two numbers in one": ("gradients", ["1 2"], "“1 2”"),
    "a gradient too large": ("gradients", ["1e999"], "“1e999”"),
    "13 gradients": ("gradients", ["1"] * 13, "12 gradients.*13"),
    "no list": ("gradients", "2^-26", "str"),
    "numbers instead of text": ("gradients", [8.0], "float"),
    "no gradients at all": ("gradients", None, "None"),
    "k above": ("log2_scale", 41, "41"),
    "k below": ("log2_scale", -41, "-41"),
    "k between": ("log2_scale", 0.5, "float"),
    "k as text": ("log2_scale", "3", "str"),
    "a format that is none": ("format", "fp4", "fp4"),
    "the format of unscaling": ("format", "fp32", "fp32"),
    "a format by its label": ("format", "FP16", "FP16"),
    "a scale that is no number": ("typed_scale", "big", "“big”"),
    "a scale of 0": ("typed_scale", "0", "“0”"),
    "a negative scale": ("typed_scale", "-1", "“-1”"),
    "an infinite scale": ("typed_scale", "inf", "“inf”"),
    "a scale that is no text": ("typed_scale", 1000, "int"),
    "a selection below": ("selected", -1, "-1"),
    "a theme that is none": ("theme", "pink", "pink"),
}
every_bad_param = pytest.mark.parametrize(("name", "value", "message"), BAD_PARAMS.values(), ids=BAD_PARAMS)


@every_bad_param
def test_a_bad_param_is_refused_and_quoted(explorer, name, value, message):
    before = explorer.param.values()
    with pytest.raises((ValueError, TypeError), match=message):
        setattr(explorer, name, value)
    assert explorer.param.values() == before


@every_bad_param
def test_it_does_not_open_with_a_bad_param(name, value, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Explorer(**{name: value})


def test_what_never_changes_cannot_be_changed(explorer):
    with pytest.raises(TypeError):
        explorer.setup = "{}"


def test_rows_and_tracks_follow_the_gradients(explorer):
    for tokens in (["3", "1e-8"], [], ["0", "-inf", "nan"], ["1e30"], ["2^-26"] * 12):
        explorer.gradients = tokens
        assert explorer.rows == rows_json(read_gradients(tokens), None)
        keys = [row["key"] for row in rows(explorer)["gradients"]]
        assert set(keys) <= set(tracks(explorer)["tracks"])


def test_rows_and_tracks_follow_the_typed_scale(explorer):
    explorer.typed_scale = "1000"
    assert explorer.rows == rows_json(read_gradients(explorer.gradients), read_scale("1000"))
    (key,) = {row["key"] for row in rows(explorer)["gradients"]}
    assert key + rows(explorer)["scale"]["key"] in tracks(explorer)["tracks"]
    explorer.typed_scale = ""
    assert rows(explorer)["scale"] is None


def test_rows_and_tracks_change_together_where_gradients_and_scale_do(explorer):
    seen = []
    explorer.param.watch(lambda *events: seen.append({event.name for event in events}), ["rows", "tracks"])
    explorer.param.update(gradients=["3"], typed_scale="7")
    assert seen == [{"rows", "tracks"}]


@pytest.mark.parametrize(("name", "value"), [("log2_scale", 5), ("format", "bf16"), ("selected", 1), ("theme", "dark")])
def test_what_only_looks_up_changes_no_tables(explorer, name, value):
    """The browser does that alone."""
    before = (explorer.rows, explorer.tracks)
    seen = []
    explorer.param.watch(seen.append, ["rows", "tracks"])
    setattr(explorer, name, value)
    assert (explorer.rows, explorer.tracks) == before
    assert seen == []


def test_every_preset_can_be_shown_without_asking(explorer):
    explorer.gradients = ["3"]
    known = tracks(explorer)
    for preset in strict_json(explorer.setup)["presets"]:
        keys = [gradient["key"] for gradient in preset["gradients"]]
        assert set(keys) <= set(known["tracks"])
        assert {f"{small} {large}" for small in keys for large in keys} <= set(known["pairs"])


def test_the_setup_holds_what_the_browser_needs_once(explorer):
    setup = strict_json(explorer.setup)
    assert list(setup["languages"]) == list(LANGUAGES)
    assert setup["formats"] == formats_data()
    assert setup["scaleTexts"] == scale_texts()
    assert [preset["id"] for preset in setup["presets"]] == [preset.id for preset in PRESETS]
    for preset, made in zip(PRESETS, setup["presets"], strict=True):
        assert [gradient["token"] for gradient in made["gradients"]] == list(preset.tokens)
        assert (made["format"], made["k"]) == (preset.format, preset.log2_scale)
    assert setup["beginning"] == setup["presets"][0]
    assert Explorer().setup == explorer.setup


@pytest.fixture
def answers(explorer, monkeypatch):
    """Send the explorer a message as the browser does; its one answer."""
    sent = []
    monkeypatch.setattr(Explorer, "_reply", lambda self, data: sent.append(data))

    def send(data):
        sent.clear()
        run(explorer._handle_msg(data))
        (answer,) = sent
        return strict_json(json.dumps(answer))

    return send


@pytest.fixture
def tell(answers):
    """Send a message whose answer is a problem."""

    def send(data):
        answer = answers(data)
        assert set(answer) == {"answer", "problem"}
        return answer["problem"]

    return send


@pytest.mark.parametrize(
    ("entries", "scale", "tokens"),
    [
        (["2^-26", "8"], "", ["2^-26", "8"]),
        (["1e-8", "2^-3, -4; 0x1p3\n5"], "1000", ["1e-8", "2^-3", "-4", "0x1p3", "5"]),
        ([" 7 "], "0.1", ["7"]),
        ([], "", []),
        (["0", "-0", "nan", "-inf"], "", ["0", "-0", "nan", "-inf"]),
        (["1"] * 12, "", ["1"] * 12),
    ],
)
def test_what_was_typed_is_read(explorer, answers, entries, scale, tokens):
    before = explorer.param.values()
    answer = answers({"ask": 7, "gradients": entries, "scale": scale})
    assert answer == {"answer": 7, **tables_of(tokens, scale)}
    assert [row["token"] for row in strict_json(answer["rows"])["gradients"]] == tokens
    assert explorer.param.values() == before


def tables_of(tokens, scale=""):
    """What an explorer of the same list has."""
    other = Explorer(gradients=tokens, typed_scale=scale)
    return {"rows": other.rows, "tracks": other.tracks}


class Odd:
    """Something that no message holds."""


def deep(levels):
    nested = []
    for _ in range(levels):
        nested = [nested]
    return nested


BAD_MESSAGES = {
    "a word": {"gradients": ["8", "eight"], "scale": ""},
    "an empty entry": {"gradients": ["8", ""], "scale": ""},
    "separators alone": {"gradients": [",;"], "scale": ""},
    "13 gradients": {"gradients": ["1"] * 13, "scale": ""},
    "13 gradients in one entry": {"gradients": ["1 " * 13], "scale": ""},
    "very many entries": {"gradients": ["1"] * 20_000, "scale": ""},
    "very many numbers in one entry": {"gradients": ["1," * 20_000], "scale": ""},
    "a very long number": {"gradients": ["1" * 1_000_000], "scale": ""},
    "a bad scale": {"gradients": ["8"], "scale": "0"},
    "a scale of white space": {"gradients": ["8"], "scale": "  "},
    "two scales": {"gradients": ["8"], "scale": "1 2"},
    "a very long scale": {"gradients": ["8"], "scale": "9" * 1_000_000},
    "markup": {"gradients": ["<img src=x onerror=alert(1)>"], "scale": ""},
    "control characters": {"gradients": ["\x00\x1b[31m\u202e"], "scale": ""},
    "half a character": {"gradients": ["\ud800"], "scale": ""},
    "nothing": None,
    "an empty object": {},
    "a list": ["8"],
    "a text": "8",
    "bytes": b"8",
    "a number": 8,
    "NaN": float("nan"),
    "an object of Python": Odd(),
    "no scale": {"gradients": ["8"]},
    "no gradients": {"scale": "8"},
    "gradients as text": {"gradients": "8", "scale": ""},
    "gradients as an object": {"gradients": {"0": "8"}, "scale": ""},
    "gradients as nothing": {"gradients": None, "scale": ""},
    "numbers instead of text": {"gradients": [8, 2.0**-26], "scale": ""},
    "an entry that is nothing": {"gradients": ["8", None], "scale": ""},
    "nested lists": {"gradients": [["8"]], "scale": ""},
    "deeply nested lists": {"gradients": deep(2000), "scale": ""},
    "a scale that is a number": {"gradients": ["8"], "scale": 1000},
    "a scale that is nothing": {"gradients": ["8"], "scale": None},
    "a scale that is a list": {"gradients": ["8"], "scale": ["8"]},
    "a scale that is an object": {"gradients": ["8"], "scale": {"token": "8"}},
    "a link that is none": {"link": None},
    "a link as a list": {"link": ["?v=1"]},
    "a code of nothing": {"qr": None},
    "a code of a list": {"qr": ["?v=1"]},
    "a code of what no code can hold": {"qr": "x" * 3500},
    "a code of far too much": {"qr": "x" * 1_000_000},
    "a code of half a character": {"qr": "\ud800"},
}


@pytest.mark.parametrize("message", BAD_MESSAGES.values(), ids=BAD_MESSAGES)
def test_a_bad_message_changes_nothing_and_is_answered_with_a_sentence(explorer, tell, message):
    before = explorer.param.values()
    problem = tell(message)
    assert explorer.param.values() == before
    assert 20 < len(problem) < 300
    assert problem[0].isupper() or problem[0] == "“"
    assert problem.endswith(".")
    assert problem.isprintable()


def test_a_problem_quotes_what_was_typed(tell):
    assert "“eight”" in tell({"gradients": ["8", "eight"], "scale": ""})
    assert "“-5”" in tell({"gradients": ["8"], "scale": "-5"})


@pytest.mark.parametrize("number", [None, "7", 7.5, [7]])
def test_an_answer_carries_no_number_that_is_none(answers, number):
    assert answers({"ask": number, "gradients": ["8"], "scale": ""})["answer"] is None


def test_a_message_with_more_than_is_asked_for_is_read(answers):
    answer = answers({"ask": 1, "gradients": ["3"], "scale": "", "format": "fp4", "theme": "pink"})
    assert answer == {"answer": 1, **tables_of(["3"])}


def test_a_link_is_read_and_what_it_leaves_out_is_the_default(explorer, answers):
    explorer.param.update(gradients=["5"], typed_scale="7", log2_scale=3, theme="dark")
    before = explorer.param.values()
    read = {"log2_scale": 12, "format": "bf16", "selected": 0, "theme": "auto", "ignored": []}
    read |= {"view": "window", "data": "ssd", "losing": "0", "unscale": "fp32", "at": "loss", "example": "same"}
    read |= {"misplaced": [], "policy": DEFAULT_POLICY, "run": "", "scenario": "", "mode": "play", "language": ""}
    answer = answers({"ask": 3, "link": "?v=1&g=1e-8,p3&k=12&f=bf16"})
    assert answer == {"answer": 3, **tables_of(["1e-8", "2^3"]), **read}
    assert explorer.param.values() == before


@pytest.mark.parametrize(
    ("link", "ignored"),
    [("", 0), ("?", 0), ("?g=eight", 1), ("?k=41&k=x&zz=1", 3), ("?g=" + "1," * 12 + "1", 1), ("\x00=\ud800", 1)],
)
def test_a_link_with_parts_that_cannot_be_used(explorer, answers, link, ignored):
    answer = answers({"link": link})
    assert len(answer["ignored"]) == ignored
    tokens = [row["token"] for row in strict_json(answer["rows"])["gradients"]]
    assert tokens == list(BEGINNING.tokens)


def test_a_link_of_any_length_is_answered(answers):
    (ignored,) = answers({"link": "?g=" + "1," * 1_000_000})["ignored"]
    assert len(ignored) < 100


def test_a_link_does_not_change_how_the_page_is_embedded(explorer, answers):
    answer = answers({"link": "?e=1&hide=format&k=3"})
    assert not {"embed", "hide"} & set(answer)
    assert answer["log2_scale"] == 3


def test_a_link_is_drawn_as_a_code(answers):
    answer = answers({"qr": "https://example.org/?v=1&g=p-34,p10&k=8"})["qr"]
    assert answer["link"] == "https://example.org/?v=1&g=p-34,p10&k=8"
    assert re.fullmatch(r"[MmHhVvLlz\d., -]+", answer["path"])
    assert answer["size"] >= 29


def test_an_explorer_goes_on_after_a_bad_message(answers):
    assert answers(None)["problem"]
    assert "problem" not in answers({"gradients": ["5"], "scale": ""})


def test_other_sessions_go_on_while_tables_are_built(monkeypatch):
    """Building them is handed to a thread, so that the event loop turns meanwhile."""
    explorers = [Explorer(), Explorer()]
    order = []
    monkeypatch.setattr(Explorer, "_reply", lambda self, data: order.append("answer"))

    async def both():
        async def beat():
            order.append("beat")

        task = asyncio.create_task(explorers[0]._handle_msg({"gradients": ["1.2345678"], "scale": ""}))
        await asyncio.sleep(0)
        await beat()
        await task

    run(both())
    assert order == ["beat", "answer"]


def references(explorer):
    document = Document()
    document.add_root(explorer.get_root(document))
    return list(document.models)


def test_a_document_holds_no_style_sheet_of_another_host(explorer):
    models = references(explorer)
    assert [model for model in models if isinstance(model, ImportedStyleSheet)] == []
    assert all(model.stylesheets == [] for model in models if hasattr(model, "stylesheets"))
    (component,) = [model for model in models if hasattr(model, "esm")]
    assert component.css_classes == []
    assert component.importmap in (None, {})


def test_a_session_holds_few_models(explorer, record_property):
    models = references(explorer)
    record_property("models", len(models))
    print(f"models in one session: {len(models)}")
    assert len(models) <= 5


def test_bounds_and_choices_are_those_of_the_core():
    assert Explorer.param.log2_scale.bounds == (LOG2_SCALES[0], LOG2_SCALES[-1]) == (-40, 40)
    assert Explorer.param.format.objects == list(FORMATS)
