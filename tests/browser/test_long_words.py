"""A language of long words: every message doubled, and nothing cut or over something else."""

from base64 import b64decode, b64encode
from collections.abc import Iterator
import json
import re

from playwright.sync_api import Browser
import pytest

from .hosts import Site
from .launch import Server
from .pages import SEEN, ExplorerPage
from .saved_views import VIEWS, show, unfold
from .test_layout import misplaced

pytest_plugins = ("browser.host_fixtures",)
pytestmark = pytest.mark.browser


def doubled(message: str | dict[str, str]) -> str | dict[str, str]:
    """A message of twice its length; what is filled in is filled in once."""
    if isinstance(message, dict):
        return {form: doubled(said) for form, said in message.items()}
    again = " ".join(re.sub(r"\{\w+\}", "", message).split())
    return f"[{message} {again}]"


def lengthened(page: str) -> str:
    """A saved page whose English has doubled messages."""
    head, mark, rest = page.partition('id="lossscale-state">')
    state, end, tail = rest.partition("</script>")
    model = json.loads(state)
    setup = json.loads(model["setup"])
    english = setup["languages"]["en"]
    english["messages"] = {key: doubled(said) for key, said in english["messages"].items()}
    for scenario in setup["scenarios"]:
        answer = json.loads(b64decode(scenario["sealed"]))
        answer["said"]["en"] = {key: doubled(said) for key, said in answer["said"]["en"].items()}
        scenario["sealed"] = b64encode(json.dumps(answer).encode()).decode()
    model["setup"] = json.dumps(setup)
    return head + mark + json.dumps(model).replace("<", "\\u003c") + end + tail


@pytest.fixture(scope="module")
def long(browser: Browser, site: Site) -> Iterator[ExplorerPage]:
    address = site.write("long.html", lengthened(site.saved().read_text("utf-8")))
    path = site.folder / address.rpartition("/")[2]
    context = browser.new_context(locale="en-GB")
    page = ExplorerPage(context.new_page(), Server(path.as_uri(), None, None))
    page.page.goto(path.as_uri())
    page.root.locator(".scale-slider").wait_for()
    yield page
    problems = page.watch.problems()
    context.close()
    assert not problems


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)], ids=str)
def test_long_words_are_not_cut(long: ExplorerPage, size: tuple[int, int]) -> None:
    long.page.set_viewport_size({"width": size[0], "height": size[1]})
    states = {
        **VIEWS,
        "lecture": "s=window&m=present",
        "none": "view=window&g=p-26,p17",
        "distribution 20": "view=distribution&k=22",
    }
    for name, link in states.items():
        show(long, link)
        unfold(long)
        assert "[" in long.root.locator("h2").first.text_content()
        assert (name, outside(long)) == (name, [])
    show(long, "s=window&m=present")
    for _ in range(3):
        long.root.locator("[data-act=forward]").click()
        long.settle()
        assert outside(long) == []
    show(long, "s=window&m=predict")
    long.root.locator("[data-act=skip]").click()
    long.root.locator("[data-act=explain]").click()
    unfold(long)
    assert outside(long) == []


def outside(long: ExplorerPage) -> list[str]:
    """What is cut, sticks out or lies over something else; of a line that is set closer its box counts."""
    closer = long.root.locator("text[textLength]").evaluate_all(
        """all => all.filter((each) => {
            const box = each.getBoundingClientRect(), around = each.ownerSVGElement.getBoundingClientRect();
            return box.left >= around.left && box.right <= around.right;
        }).map((each) => each.textContent)"""
    )
    clipped = long.root.evaluate(
        f"""root => [...root.querySelectorAll("*")].filter(({SEEN})).filter((box) => !box.closest("svg"))
            .filter((box) => /hidden|clip/.test(getComputedStyle(box).overflowX) && box.textContent.trim())
            .filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.outerHTML)"""
    )
    touching = long.root.evaluate(
        """root => [...root.querySelectorAll(".bar-top, .lesson-bar, .lesson-row, .block, .entries")].flatMap((bar) => {
            const boxes = [...bar.querySelectorAll("label, button, select, summary, input[type=text]")]
                .filter((each) => each.checkVisibility())
                .map((each) => [each.textContent || each.id, each.getBoundingClientRect()]);
            const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
                && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
            return boxes.flatMap(([one, a], index) => boxes.slice(index + 1)
                .filter(([, b]) => meet(a, b)).map(([two]) => `${one} over ${two}`));
        })"""
    )
    return [each for each in misplaced(long) if each not in closer] + clipped + touching
