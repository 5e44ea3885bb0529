"""The document around the explorer, what it asks of the network, and its state in Python."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
import re
from urllib.parse import urlsplit

from playwright.sync_api import Browser, expect
import pytest

from lossscale_core import FORMATS, FP16

from .agreement import check, check_numbers
from .hosts import Site
from .launch import serving
from .pages import ExplorerPage, open_page
from .saved_views import saved_address, saved_views, show, unfold

pytest_plugins = ("browser.host_fixtures",)
pytestmark = pytest.mark.browser

#: A large number without groups, two signs for one, and what could be left alone at the end of a line.
_UNLIKE = r"(?<![\w.,⁻])(?![01]+\b)\d{5,}(?!\w)|= ≈.*|\d [%]"


def test_the_document(explorer: ExplorerPage) -> None:
    page = explorer.page
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.locator("h1").all_inner_texts() == ["Loss Scaling Explorer"]
    assert page.locator("main").count() == 1
    assert page.locator("meta[name=viewport]").get_attribute("content") == "width=device-width, initial-scale=1"
    assert page.locator("meta[name=description]").get_attribute("content")
    assert page.locator("link[rel=icon]").get_attribute("href").startswith("data:")
    assert page.evaluate("document.doctype.name") == "html"


def test_the_title_tells_the_state(explorer: ExplorerPage) -> None:
    assert "Loss Scaling Explorer" in explorer.page.title()
    explorer.slider.focus()
    explorer.press("PageUp")
    expect(explorer.page).to_have_title("S = 2⁴ = 16: ✓ Both gradients survive · Loss Scaling Explorer")


def test_the_content_is_text_of_the_document(explorer: ExplorerPage) -> None:
    explorer.go(3)
    text = explorer.page.evaluate("document.body.innerText")
    for part in (
        "For which scales does each gradient survive?",
        "Where does each scaled gradient land in FP16?",
        "safe window 2 < S < 8190",
        "Both gradients survive",
        "S = 2³ is inside the safe window.",
        "2⁻²⁶ is kept with 2 of 11 bits.",
        "0 00000 0000000010",
        "Three near 2⁻²⁵: which becomes 0?",
        "What this leaves out",
    ):
        assert part in text


def test_numbers_are_written_alike_in_every_view(browser: Browser, site: Site) -> None:
    long = "view=window&g=65536,8&k=16"
    views = (
        long,
        f"{long}&f=e4m3",
        "s=tie",
        "s=coarse",
        "s=inf&m=predict",
        "view=distribution&k=17",
        "s=dyn",
        "s=clip&o=clip",
    )
    with saved_views(browser, saved_address(site)) as explorer:
        for language, group in (("en", ","), ("pl", "\u00a0")):
            for link in views:
                show(explorer, link, f"&lang={language}")
                unfold(explorer)
                texts = explorer.root.locator(".columns, .lesson-bar").all_inner_texts()
                wrong = [found for text in texts for found in re.findall(_UNLIKE, text)]
                assert (language, link, wrong) == (language, link, [])
                if link == long:
                    assert all(number.replace(",", group) in texts[-1] for number in ("g = 65,536", "524,288"))
                    # A box holds what can be read again.
                    assert explorer.boxes.first.input_value() == "65536"


def test_headings_do_not_skip_a_level(explorer: ExplorerPage) -> None:
    levels = explorer.page.evaluate(
        """[...document.querySelectorAll("h1, h2, h3, h4")].filter((heading) => heading.checkVisibility())
            .map((heading) => Number(heading.tagName[1]))"""
    )
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_only_its_own_server_is_asked(open_explorer) -> None:
    explorer = open_explorer()
    explorer.format("E4M3")
    explorer.go(5)
    explorer.page.wait_for_timeout(500)
    hosts = {urlsplit(url).netloc for url in explorer.watch.requests if not url.startswith(("blob:", "data:"))}
    assert hosts == {explorer.watch.host}
    assert len(explorer.watch.requests) > 3
    assert explorer.page.evaluate("document.cookie") == ""
    assert explorer.page.evaluate("localStorage.length + sessionStorage.length") == 0


def test_it_takes_no_focus_on_opening(open_explorer) -> None:
    explorer = open_explorer()
    assert explorer.page.evaluate("document.activeElement === document.body && scrollY === 0")


def test_a_question_is_answered_in_another_session_too(open_explorer) -> None:
    first, second = open_explorer(), open_explorer()
    first.type_gradients("1e-8")
    first.wait_for_rows(3)
    assert len(second.state().rows) == 2
    second.type_gradients("5; 6")
    second.wait_for_rows(4)
    assert first.state().boxes == ["2⁻²⁶", "8", "1e−8"]
    assert second.state().boxes == ["2⁻²⁶", "8", "5", "6"]


@pytest.fixture(scope="module")
def bound(browser: Browser) -> Iterator[ExplorerPage]:
    with serving([str(Path(__file__).with_name("bound_app.py"))]) as server:
        explorer = open_page(browser, server)
        yield explorer
        problems = explorer.watch.problems()
        explorer.page.context.close()
    assert not problems


def test_python_follows_once_the_thumb_rests(bound: ExplorerPage) -> None:
    told = bound.page.locator(".told")
    expect(told).to_contain_text("k = 0, g = ['1e-8', '0.01'], format = fp16")
    y = bound.centre(bound.slider)[1]
    bound.page.mouse.move(bound.viewport_x(0), y)
    bound.page.mouse.down()
    bound.page.mouse.move(bound.viewport_x(5), y, steps=10)
    bound.page.wait_for_timeout(800)
    expect(told).to_contain_text("k = 0,")
    bound.page.mouse.move(bound.viewport_x(9), y, steps=10)
    bound.page.mouse.up()
    expect(told).to_contain_text("k = 9,")
    check(bound.state(), ["1e-8", "0.01"], 9, FP16)
    bound.format("BF16")
    expect(told).to_contain_text("format = bf16")
    bound.handles.first.focus()
    bound.press("ArrowRight")
    expect(told).to_contain_text("'0x1.5798ee2308c3ap-26', '0.01'")


def test_the_page_follows_python(bound: ExplorerPage) -> None:
    bound.page.get_by_role("button", name="Set from Python").click()
    expect(bound.page.locator(".told")).to_contain_text("k = 7, g = ['2^-25', '3'], format = e5m2")
    expect(bound.root.locator(".bubble")).to_have_text("S = 2⁷ = 128")
    expect(bound.root.locator("tbody th")).to_have_text(["2⁻²⁵", "3"])
    check(bound.state(), ["2^-25", "3"], 7, FORMATS["e5m2"])
    for k, state in zip((-40, 0, 12, 40), bound.sweep((-40, 0, 12, 40)), strict=True):
        check_numbers(state, [2.0**-25, 3.0], k, FORMATS["e5m2"])
