"""What a page is given: the tables of its state, and once what never changes in a session."""

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
import json
import re
from typing import Any

from lossscale_app.catalogues import LANGUAGES, messages
from lossscale_app.datasets import DATASETS, LOSING
from lossscale_app.distributions import dataset_json
from lossscale_app.gradients import Gradient, read_gradients, read_scale
from lossscale_app.links import DEFAULTS, KEYS
from lossscale_app.lookups import formats_data, gradient_data, rows_json, scale_texts, tracks_json
from lossscale_app.order_tables import orders_data, recorded_orders
from lossscale_app.presets import BEGINNING, PRESETS
from lossscale_app.recordings import recorded_overlay, recorded_runs
from lossscale_app.scenarios import scenarios_data
from lossscale_app.scenes import SCENES, TRAINING_TRIES
from lossscale_app.settings import policy_fields, preset_values, run_fields
from lossscale_app.snippets import SNIPPETS

#: What the browser's codec needs of a key of the link vocabulary.
_KEY_PARTS = ("name", "kind", "choices", "bounds", "default", "param")

#: Messages that answer a scenario's question.
_ANSWER = re.compile(r"misconception-.*|scenario-.*-(found|reflect|answer)")

#: What of a scenario is no part of its answer.
_ASKED = ("id", "next", "homework", "about", "view")


def state_tables(tokens: Sequence[str], typed_scale: str) -> tuple[str, str]:
    """Look up a list of gradients and a typed scale.

    Args:
        tokens: the gradients, as written.
        typed_scale: the scale, as written; may be empty.

    Returns:
        The params `rows` and `tracks`.

    Raises:
        InputError: one of them cannot be read.
    """
    gradients, scale = read_gradients(tokens), read_scale(typed_scale) if typed_scale else None
    return rows_json(gradients, scale), tracks_json(gradients, _known_gradients(), scale)


@cache
def _known_gradients() -> list[Gradient]:
    """Gradients whose tables every page has: those of the presets, powers of two, zero, inf and NaN."""
    tokens = ("1", "0", "inf", "nan")
    return [*(gradient for preset in PRESETS for gradient in preset.gradients), *read_gradients(tokens)]


def _language(language: str, name: str) -> dict[str, Any]:
    """What a language is called and says, without the answers to the scenarios' questions."""
    said = {key: text for key, text in messages(language).items() if not _ANSWER.fullmatch(key)}
    return {"name": name, "messages": said}


def _scenario(data: dict[str, Any]) -> dict[str, Any]:
    """A scenario whose answer is packed: no text that a page shows or finds before it is asked for."""
    predictions = data["predictions"]
    return {
        **{name: data[name] for name in _ASKED},
        "predictions": [each["id"] for each in predictions],
        "seeks": data["goal"] is not None,
        "sealed": b64encode(json.dumps(_answer(data)).encode()).decode(),
    }


def _answer(data: dict[str, Any]) -> dict[str, Any]:
    """The answer of a scenario: the right prediction, and what is said in each language, with the numbers of it."""
    (right,) = (each["id"] for each in data["predictions"] if each["right"])
    keys = {part: f"scenario-{data['id']}-{part}" for part in ("found", "reflect", "answer")}
    wrong = {each["id"]: f"misconception-{each['misconception']}" for each in data["predictions"] if not each["right"]}
    said = {}
    for language in LANGUAGES:
        texts = messages(language)
        said[language] = {name: texts[key] for name, key in (keys | wrong).items()}
    return {"right": right, "facts": data["facts"], "said": said}


def _recorded() -> dict[str, Any]:
    """What Python would be asked for, where there is none."""
    return {"runs": recorded_runs(), "overlay": recorded_overlay(), "steps": recorded_orders()}


@cache
def setup_json(live_address: str = "", *, served: bool = True, opened: bool = False) -> str:
    """Gather what the browser needs once: words, formats, scales, presets, the link vocabulary.

    Args:
        live_address: where the live app is, for a page that is saved.
        served: whether there is a server behind the page; without one it holds all distributions.
        opened: whether the server was started with a file of gradients.
    """
    presets = [
        {
            "id": preset.id,
            "gradients": [gradient_data(gradient) for gradient in preset.gradients],
            "format": preset.format,
            "k": preset.log2_scale,
        }
        for preset in PRESETS
    ]
    keys = [{name: getattr(key, name) for name in _KEY_PARTS} for key in KEYS]
    return json.dumps(
        {
            "languages": {each: _language(each, name) for each, name in LANGUAGES.items()},
            "scenarios": [_scenario(data) for data in scenarios_data()],
            "formats": formats_data(),
            "scaleTexts": scale_texts(),
            "presets": presets,
            "beginning": presets[PRESETS.index(BEGINNING)],
            "linkKeys": keys,
            "datasets": [dataset.id for dataset in DATASETS],
            "losing": list(LOSING),
            "scenes": {name: {**DEFAULTS, **scene} for name, scene in SCENES.items()},
            "trainingTries": {name: {**DEFAULTS, **params} for name, params in TRAINING_TRIES.items()},
            "settings": {"policy": policy_fields(), "presets": preset_values(), "run": run_fields()},
            "orders": orders_data(),
            "opened": opened,
            "distributions": {} if served else {dataset.id: dataset_json(dataset.id) for dataset in DATASETS},
            "recorded": {} if served else _recorded(),
            "snippets": SNIPPETS,
            "live": {"asks": served, "address": live_address, "download": "download" if served else ""},
        }
    )
