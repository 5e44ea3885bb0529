"""Languages: nothing is left untranslated, every placeholder is kept, and the catalogues fit the code."""

import gettext
import io
from pathlib import Path
import re
import string
import subprocess
import sys

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
import numpy as np
import pytest

from lossscale_app.catalogues import LANGUAGES, messages, translated
from lossscale_app.gradients import read_gradients
from lossscale_app.messages import ENGLISH
from lossscale_app.overlays import overlay
from lossscale_app.settings import read_policy, read_run
from lossscale_app.uploads import Uploads, check_name
from lossscale_core import FP16, InputError, ScalerPolicy, StepExample, TrainingPlan, cast, parse_number, safe_window
from lossscale_core.errors import Sentence

ROOT = Path(__file__).parents[2]
LOCALES = ROOT / "app" / "locales"
OTHERS = [language for language in LANGUAGES if language != "en"]
#: As `babel.cfg` says that it is extracted.
KEYWORDS = ["InputError", "Sentence", "RefusedError:2", "refuse:2", "pgettext:1c,2", "npgettext:1c,2,3"]


def catalogue(file, **options):
    with file.open("rb") as text:
        return read_po(text, **options)


def entries(found):
    return {(message.context, message.id) for message in found if message.id}


def po(language):
    return LOCALES / language / "LC_MESSAGES" / "lossscale.po"


def fields(text):
    """The placeholders of a text, each as often as it is there."""
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


def test_the_template_has_all_that_is_said(tmp_path):
    target = tmp_path / "lossscale.pot"
    options = [part for keyword in KEYWORDS for part in ("-k", keyword)]
    command = [sys.executable, "-m", "babel.messages.frontend", "-q", "extract", "-F", "babel.cfg", *options]
    subprocess.run([*command, "-o", str(target), "."], cwd=ROOT, check=True, capture_output=True, timeout=120)
    said = entries(catalogue(target))
    assert {key for key, _ in said if key} == set(ENGLISH)
    assert said == entries(catalogue(LOCALES / "lossscale.pot"))


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_is_complete(language):
    found = catalogue(po(language), locale=language)
    assert entries(found) == entries(catalogue(LOCALES / "lossscale.pot"))
    assert [message.id for message in found if message.fuzzy and message.id] == []
    forms = {message.id: message.string for message in found if message.id}
    assert [id_ for id_, said in forms.items() if not (all(said) if isinstance(said, tuple) else said)] == []
    assert found.num_plurals == 3
    assert not found.obsolete


@pytest.mark.parametrize("language", OTHERS)
def test_every_placeholder_is_kept(language):
    for message in catalogue(po(language), locale=language):
        if not message.id:
            continue
        english = message.id if isinstance(message.id, tuple) else (message.id,)
        said = message.string if isinstance(message.string, tuple) else (message.string,)
        for form in said:
            # English may leave the number out of its singular.
            assert fields(form) in [fields(each) for each in english], (message.context, form)
            assert form == form.strip() or english[0] != english[0].strip(), form


@pytest.mark.parametrize("language", OTHERS)
def test_what_is_compiled_is_what_is_written(language):
    compiled = io.BytesIO()
    write_mo(compiled, catalogue(po(language), locale=language))
    made, kept = (gettext.GNUTranslations(io.BytesIO(each)) for each in (compiled.getvalue(), mo(language)))
    assert made._catalog == kept._catalog


def mo(language):
    return po(language).with_suffix(".mo").read_bytes()


def test_english_is_as_it_stands():
    assert messages("en") == ENGLISH


@pytest.mark.parametrize("language", OTHERS)
def test_every_message_is_there_in_its_forms(language):
    said = messages(language)
    assert list(said) == list(ENGLISH)
    for key, english in ENGLISH.items():
        assert isinstance(said[key], str) == isinstance(english, str), key
    plural = {key: forms for key, forms in said.items() if not isinstance(forms, str)}
    assert {tuple(forms) for forms in plural.values()} == {("one", "few", "many", "other")}


def test_polish_plurals():
    forms = messages("pl")["overflowsCount"]
    rule = gettext.GNUTranslations(io.BytesIO(mo("pl"))).plural
    assert [rule(n) for n in (0, 1, 2, 4, 5, 11, 12, 14, 21, 22, 25, 102, 112)] == [
        2,
        0,
        1,
        1,
        2,
        2,
        2,
        2,
        2,
        1,
        2,
        1,
        2,
    ]
    assert len({forms["one"], forms["few"], forms["many"]}) == 3
    assert forms["other"] == forms["many"]


def test_no_english_is_left_in_polish():
    said = messages("pl")
    words = {key: re.sub(r"\{.*?\}", "", str(text)) for key, text in ENGLISH.items()}
    same = {key for key, text in ENGLISH.items() if said[key] == text and re.search(r"[a-z]{4}", words[key])}
    assert {key for key in same if not key.startswith("scaler-")} == SAME


#: Words that Polish has too, and the name of the page.
SAME = {
    "minus",
    "gradientName",
    "column-gradient",
    "tensor-name",
    "outcome-zero",
    "documentTitle",
    "documentTitleCovered",
}


REFUSED = {
    "number": lambda: parse_number("two"),
    "large": lambda: parse_number("1e999"),
    "list": lambda: read_gradients(["1"] * 13),
    "scale": lambda: safe_window([1.0], FP16) and ScalerPolicy(init_scale=-1),
    "rule in a rule": lambda: ScalerPolicy(growth_factor=1),
    "limit": lambda: ScalerPolicy(min_scale=8, max_scale=4),
    "choice": lambda: ScalerPolicy(at_min="x"),
    "preset": lambda: read_policy("nobody"),
    "setting": lambda: read_run("step.3"),
    "count": lambda: TrainingPlan(steps=0),
    "table": lambda: StepExample(((1, 2), (3,))),
    "type": lambda: cast(np.array([1j]), FP16),
    "pattern": lambda: overlay("FFX", ["pytorch"]),
    "upload": lambda: check_name("grads.exe"),
    "long upload": lambda: Uploads(limit=8).check_size("grads.npy", 9),
}


@pytest.mark.parametrize("refused", REFUSED.values(), ids=REFUSED)
def test_errors_are_said_in_polish(refused):
    with pytest.raises(InputError) as error:
        refused()
    english, polish = str(error.value), translated(error.value, "pl")
    assert translated(error.value, "en") == english
    assert polish != english
    # What was written is quoted in both.
    assert re.findall("„(.*?)”", polish) == re.findall("“(.*?)”", english)
    assert not re.search(r"\b(the|must|is not|and|whole|number)\b", re.sub("„.*?”", "", polish))


@pytest.mark.parametrize(
    ("size", "grouped"), [(999, "999"), (9999, "9999"), (10_000, "10 000"), (1_234_567, "1 234 567")]
)
def test_polish_sets_thousands_apart_from_five_digits_on(size, grouped):
    with pytest.raises(InputError) as error:
        Uploads(limit=size).check_size("grads.npy", size + 1)
    assert f" najwyżej {grouped} bajtów" in translated(error.value, "pl").replace("\u00a0", " ")
    assert f" at most {size:,} bytes" in translated(error.value, "en")


def test_what_no_catalogue_has_is_said_in_english():
    assert translated(Sentence("{a} and {b}", a=1, b=Sentence("no number {n}", n=2)), "pl") == "1 and no number 2"
