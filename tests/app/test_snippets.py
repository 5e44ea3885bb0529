"""Every snippet frames the page with a title, lazily, and in a size that gives way."""

from html.parser import HTMLParser

import pytest

from lossscale_app.snippets import SNIPPETS


class Frames(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        if tag == "iframe":
            self.found.append(dict(attributes))


@pytest.mark.parametrize("place", SNIPPETS)
def test_a_snippet_is_one_good_frame(place):
    frames = Frames()
    frames.feed(SNIPPETS[place].replace("{src}", "https://example.org/?v=1&amp;e=1").replace("{title}", "Explorer"))
    (frame,) = frames.found
    assert (frame.get("src") or frame.get("data-src")) == "https://example.org/?v=1&e=1"
    assert frame["title"] == "Explorer"
    assert frame["loading"] == "lazy"
    assert "100%" in frame.get("width", "") + frame.get("style", "")


def test_the_places_courses_live_in():
    assert list(SNIPPETS) == ["HTML", "MyST", "Quarto", "Sphinx", "Moodle", "Canvas", "reveal.js"]


def test_raw_blocks_are_those_of_their_languages():
    assert SNIPPETS["MyST"].startswith("```{raw} html\n")
    assert SNIPPETS["Quarto"].startswith("```{=html}\n")
    assert SNIPPETS["Sphinx"].startswith(".. raw:: html\n\n   <iframe")
    assert all(line.startswith("   ") for line in SNIPPETS["Sphinx"].splitlines()[2:])
