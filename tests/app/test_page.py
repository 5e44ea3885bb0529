"""The page around the explorer."""

import re
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from bokeh.document import Document
from panel.io.state import set_curdoc
import pytest

import lossscale_app
from lossscale_app import Explorer, explorer_page
from lossscale_app.bundle import browser_text
from lossscale_app.links import Link
from lossscale_app.page import DESCRIPTION
from lossscale_core import FORMATS, InputError

from .markup import Elements

TEMPLATE = browser_text("page.html")


@pytest.fixture(scope="module")
def elements():
    return Elements(TEMPLATE)


def document_of(build=explorer_page):
    """The document of a session, made as a server makes it."""
    document = Document()
    with set_curdoc(document):
        build().server_doc(document)
    return document


def explorer_of(page):
    return next(part for part, _ in page._render_items.values() if isinstance(part, Explorer))


def test_the_page_has_a_language_a_viewport_and_a_place_for_its_title(elements):
    (html,) = elements.of("html")
    assert html["lang"] == "en"
    metas = {meta["name"]: meta["content"] for meta in elements.of("meta") if "name" in meta}
    assert "width=device-width" in metas["viewport"]
    # A page that forbids zooming shuts people out.
    assert not re.search("user-scalable|maximum-scale", metas["viewport"])
    assert metas["description"] == "{{ description }}"
    assert "<title>{{ title }}</title>" in TEMPLATE


def test_the_page_has_one_main_part_and_one_heading(elements):
    assert len(elements.of("main")) == 1
    assert len(elements.of("h1")) == 1
    assert sum("data-lossscale-page" in attributes for _, attributes in elements.found) == 1


def test_no_id_is_given_twice(elements):
    ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_the_template_names_no_host():
    assert not re.search(r"(https?:)?//[\w-]+\.\w", TEMPLATE)


def test_a_session_has_one_root():
    document = document_of()
    assert len(document.roots) == 1
    assert document.template_variables["description"] == DESCRIPTION


@pytest.mark.parametrize("fmt", FORMATS.values(), ids=FORMATS)
def test_the_description_names_the_formats(fmt):
    assert (fmt.label if fmt.bits == 16 else "FP8") in DESCRIPTION


def test_the_icon_is_a_drawing_of_its_own():
    icon = document_of().template_variables["icon"]
    assert re.fullmatch(r"[\w%./~-]+", icon)
    drawing = ET.fromstring(unquote(icon))  # noqa: S314 - our own text
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert not {"script", "image", "use"} & {element.tag.split("}")[1] for element in drawing.iter()}


def test_the_page_opens_with_the_params_it_is_given():
    explorer = explorer_of(explorer_page(Link({"gradients": ["1e-8"], "format": "bf16", "log2_scale": 3})))
    assert (explorer.gradients, explorer.format, explorer.log2_scale) == (["1e-8"], "bf16", 3)


def test_a_page_is_one_session():
    first, second = explorer_of(explorer_page()), explorer_of(explorer_page())
    assert first is not second
    first.log2_scale = 5
    assert second.log2_scale == 0


def test_a_bad_param_is_refused():
    with pytest.raises(InputError, match="“eight”"):
        explorer_page(Link({"gradients": ["eight"]}))


def test_the_package_offers_the_page_and_the_explorer():
    assert lossscale_app.explorer_page is explorer_page
    assert lossscale_app.Explorer is Explorer
    assert {"Explorer", "explorer_page"} <= set(lossscale_app.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = lossscale_app.nothing
