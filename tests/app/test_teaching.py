"""The pages for lecturers: every scenario with its link and question, as the page has them."""

from itertools import pairwise
from pathlib import Path
import re

import pytest

from lossscale_app.catalogues import messages
from lossscale_app.links import read_link
from lossscale_app.scenarios import SCENARIOS

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(("language", "name"), [("en", "teaching.md"), ("pl", "nauczanie.md")])
def test_the_table_has_every_scenario(language, name):
    text, said = (DOCS / name).read_text("utf-8"), messages(language)
    for number, scenario in enumerate(SCENARIOS, 1):
        link = f"?v=1&s={scenario.id}&m=predict"
        title, question = (said[f"scenario-{scenario.id}-{part}"] for part in ("title", "question"))
        assert f"| {number} | {title} | `{link}` | {question} |" in text
        assert read_link(link).ignored == ()


def test_the_plan_takes_fifty_minutes():
    text = (DOCS / "teaching.md").read_text("utf-8")
    spans = [(int(start), int(end)) for start, end in re.findall(r"^\| (\d+)–(\d+) \|", text, re.MULTILINE)]
    assert (spans[0][0], spans[-1][1]) == (0, 50)
    assert all(before[1] == after[0] for before, after in pairwise(spans))
