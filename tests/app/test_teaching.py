"""The pages for lecturers: every scenario with its link and question, as the page has them."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
import re

import pytest

from lossscale_app.catalogues import messages
from lossscale_app.links import read_link
from lossscale_app.scenarios import SCENARIOS

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"en": "teaching.md", "pl": "nauczanie.md"}
both = pytest.mark.parametrize(("language", "name"), PAGES.items(), ids=PAGES)


@both
def test_the_table_has_every_scenario(language, name):
    text, said = (DOCS / name).read_text("utf-8"), messages(language)
    for number, scenario in enumerate(SCENARIOS, 1):
        link = f"?v=1&s={scenario.id}&m=predict"
        title, question = (said[f"scenario-{scenario.id}-{part}"] for part in ("title", "question"))
        assert f"| {number} | {title} | `{link}` | {question} |" in text
        assert read_link(link).ignored == ()


@both
def test_the_plan_takes_fifty_minutes(language, name):
    text, said = (DOCS / name).read_text("utf-8"), messages(language)
    spans = [(int(start), int(end)) for start, end in re.findall(r"^\| (\d+)–(\d+) \|", text, re.MULTILINE)]
    assert (spans[0][0], spans[-1][1]) == (0, 50)
    assert all(before[1] == after[0] for before, after in pairwise(spans))
    planned = re.findall(r"^\| \d+–\d+ \| ([^|]+) \|", text, re.MULTILINE)
    titles = {said[f"scenario-{scenario.id}-title"] for scenario in SCENARIOS}
    assert len(planned) == len(spans) == len(set(planned))
    assert set(planned) <= titles
    # What is not in the plan is for home, if it is for home at all.
    (home,) = re.findall(r"^(?:At home|Do domu): ((?:.|\n)+?)\. ", text, re.MULTILINE)
    at_home = {said[f"scenario-{scenario.id}-title"] for scenario in SCENARIOS if scenario.homework}
    assert {title for title in titles if title in " ".join(home.split())} == at_home - set(planned)


@both
def test_the_menu_is_told_as_it_is(language, name):
    text, said = (DOCS / name).read_text("utf-8"), messages(language)
    assert f"**{said['display']} → {said['theme-projector']}**" in text
    assert f"**{said['fullScreen']}**" in " ".join(text.split())
    assert f"*{said['printSheet']}*" in text


def test_both_languages_name_the_same_links_and_numbers():
    for pattern in (r"`[^`]+`", r"\d+–\d+", r"\b448\b|2\^\d+|\b8x8\b"):
        english, polish = (Counter(re.findall(pattern, (DOCS / name).read_text("utf-8"))) for name in PAGES.values())
        assert english == polish
