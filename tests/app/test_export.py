"""Saving: one file that needs nothing else, or a small site."""

import gzip
from html import escape, unescape
from html.parser import HTMLParser
import json
import re

import pytest

from lossscale_app.catalogues import LANGUAGES, messages
from lossscale_app.export import export
from lossscale_app.links import SCENARIO_NAMES, read_link
from lossscale_app.saved_page import saved_page
from lossscale_core import InputError


class References(HTMLParser):
    """Whatever a browser would fetch, and the state inside."""

    def __init__(self):
        super().__init__()
        self.fetched, self.state, self.tag = [], "", None

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tag = values.get("id", tag)
        for name in ("src", "href", "srcset", "data", "poster", "action"):
            if name in values and not (tag == "a" or values[name].startswith("data:")):
                self.fetched.append((tag, values[name]))

    def handle_data(self, data):
        if self.tag == "lossscale-state":
            self.state += data


def parsed(page):
    references = References()
    references.feed(page)
    return references


def test_a_file_fetches_nothing_and_is_small(tmp_path):
    (file,) = export(str(tmp_path / "demo.html"), "?v=1&g=1e-8,0.3&k=5")
    text = file.read_text("utf-8")
    assert parsed(text).fetched == []
    assert "@import" not in text
    assert "url(#" in text
    assert "url(http" not in text
    assert len(text.encode()) <= 3.5e6
    assert len(gzip.compress(text.encode())) <= 1e6


def test_the_state_is_baked_in():
    state = json.loads(parsed(saved_page(read_link("?v=1&g=1e-8,0.3&k=5&f=e4m3&th=dark&e=1"))).state)
    assert (state["gradients"], state["log2_scale"], state["format"]) == (["1e-8", "0.3"], 5, "e4m3")
    assert (state["theme"], state["embed"]) == ("dark", True)
    assert [each["token"] for each in json.loads(state["rows"])["gradients"]] == ["1e-8", "0.3"]


@pytest.mark.parametrize("address", ["https://explorer.example.org/", '"></script><script>alert(1)</script>'])
def test_the_live_address_is_data_and_not_markup(address):
    page = saved_page(read_link(""), address)
    state = json.loads(parsed(page).state)
    assert json.loads(state["setup"])["live"]["address"] == address
    assert "<script>alert" not in page


def test_what_was_ignored_is_inert_text():
    link = read_link("?foo=</script><script>alert(1)</script>")
    page = saved_page(link)
    assert "<script>alert" not in page
    assert json.loads(parsed(page).state)["ignored"] == ["foo=</script><script>alert(1)</script>"]


def test_a_site_is_the_explorer_and_an_index_of_its_scenarios(tmp_path):
    files = export(str(tmp_path / "site"))
    names = {file.name for file in files}
    assert names == {"index.html", "explorer.html"}
    index = (tmp_path / "site" / "index.html").read_text("utf-8")
    links = [unescape(link) for link in re.findall('href="(explorer[^"]*)"', index)]
    asked = [f"explorer.html#v=1&s={name}&m=predict&lang=" for name in SCENARIO_NAMES]
    assert set(links) == {f"{link}{code}" for link in [*asked, "explorer.html#v=1&lang="] for code in LANGUAGES}
    assert all(read_link(link.split("#")[1]).ignored == () for link in links)
    for code in LANGUAGES:
        assert f'<section lang="{code}">' in index
        assert escape(str(messages(code)["scenario-below1-title"])) in index


@pytest.mark.parametrize("link", ["?v=1&k=99", "?foo=1", "?g=abc"])
def test_a_bad_link_is_refused_and_quoted(tmp_path, link):
    with pytest.raises(InputError, match=link.split("&")[-1].lstrip("?")):
        export(str(tmp_path / "demo.html"), link)
    assert list(tmp_path.iterdir()) == []


def test_a_link_needs_a_file(tmp_path):
    with pytest.raises(InputError, match=r"ends in \.html"):
        export(str(tmp_path / "site"), "?v=1&k=3")


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        export(str(tmp_path / "missing" / "demo.html"))
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        export(str(tmp_path / "file"))
