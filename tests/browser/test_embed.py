"""Embedding: e=1 fits the boxes that hosts give it, takes nothing, and lives in the tightest sandbox."""

from collections.abc import Callable, Iterator
from urllib.request import urlopen

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
import pytest

from lossscale_app.links import DEFAULTS, read_link, write_link

from .hosts import NO_STORAGE, SANDBOX, Site, framed
from .launch import COMMAND, Server, serving
from .pages import ALL_K, ExplorerPage

pytest_plugins = ("browser.host_fixtures",)
pytestmark = pytest.mark.browser

SIZES = ((525, 450), (500, 360), (360, 216), (320, 480), (834, 504), (1200, 600))
LINKS = {
    "seed": "v=1&k=3",
    "outlier": "v=1&s=outlier",
    "twelve": "v=1&k=-40&g=" + ",".join(f"-p{exponent}" for exponent in range(-30, 18, 4)),
    "no window": "v=1&g=p-34,p10&k=8",
    "none": "v=1&g=none",
    "nan": "v=1&g=nan,-inf,0&f=e4m3",
}

# What must be within the box, what one must be able to hit, and what one must be able to read.
MEASURE = """
root => {
  const seen = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const inside = (element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
  };
  const page = document.scrollingElement;
  const needed = [
    ".slider-clip", ".bubble", ".outcome-title", ".stepper:nth-of-type(1)", ".stepper:nth-of-type(2)", ".open-full",
  ];
  const found = (part) => [...root.querySelectorAll(part)].some((element) => seen(element) && inside(element));
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const small = [];
  while (texts.nextNode()) {
    const { parentElement: holder, data } = texts.currentNode;
    if (!data.trim() || holder.closest("style, .unseen, dialog") || !seen(holder)) continue;
    if (parseFloat(getComputedStyle(holder).fontSize) < 14) small.push(data);
  }
  const targets = [...root.querySelectorAll("button, a, input, select, [role=slider]")].filter(seen);
  const name = (element) => element.className.baseVal ?? element.className;
  const narrow = ({ width, height }) => width < 24 || height < 24;
  return {
    scrolls: [page.scrollWidth > page.clientWidth, page.scrollHeight > page.clientHeight],
    missing: needed.filter((part) => !found(part)),
    small,
    narrow: targets.filter((element) => narrow(element.getBoundingClientRect())).map(name),
    cut: targets.filter((element) => name(element) !== "scale-slider" && !inside(element)).map(name),
  };
}
"""
FITS = {"scrolls": [False, False], "missing": [], "small": [], "narrow": [], "cut": []}


@pytest.fixture(scope="module")
def boxes(browser, server: Server, site: Site) -> Iterator[dict[str, ExplorerPage]]:
    """A live and a saved embedded page, which go from one address and size to the next."""
    context = browser.new_context(viewport={"width": 525, "height": 450}, reduced_motion="reduce")
    context.set_default_timeout(10_000)
    addresses = {"live": f"{server.url}/?v=1&e=1", "saved": f"{site.saved_url()}#v=1&e=1"}
    kept = {name: ExplorerPage(context.new_page(), Server(url, None, None)).open() for name, url in addresses.items()}
    yield kept
    problems = [problem for explorer in kept.values() for problem in explorer.watch.problems()]
    context.close()
    assert not problems


@pytest.mark.parametrize("name", ["seed", "outlier", "twelve"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_opens_in_its_box(
    boxes: dict[str, ExplorerPage], site: Site, theme: str, size: tuple[int, int], name: str
) -> None:
    explorer = boxes["saved"]
    explorer.page.set_viewport_size({"width": size[0], "height": size[1]})
    show(explorer, f"{site.saved_url()}#{LINKS[name]}&e=1&th={theme}")
    assert explorer.root.evaluate(MEASURE) == FITS
    assert explorer.page.evaluate("document.activeElement === document.body && scrollY === 0")


#: The live form is drawn by the same code.
FORMS = [*(("saved", name) for name in LINKS), ("live", "seed"), ("live", "outlier")]


@pytest.mark.parametrize(("form", "name"), FORMS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_one_box_after_another(
    boxes: dict[str, ExplorerPage], server: Server, site: Site, theme: str, form: str, name: str
) -> None:
    explorer = boxes[form]
    show(explorer, address_of(form, f"{LINKS[name]}&e=1&th={theme}", server, site))
    measured = {}
    for size in SIZES:
        explorer.page.set_viewport_size({"width": size[0], "height": size[1]})
        explorer.settle()
        measured[size] = explorer.root.evaluate(MEASURE)
    assert measured == dict.fromkeys(SIZES, FITS)


@pytest.mark.parametrize("form", ["live", "saved"])
def test_a_distribution_opens_in_its_box(boxes: dict[str, ExplorerPage], server: Server, site: Site, form: str) -> None:
    """On the live page it comes only after the page has opened."""
    explorer = boxes[form]
    for name, size in zip(("spike", "layers", "wide") * 2, SIZES, strict=True):
        explorer.page.set_viewport_size({"width": size[0], "height": size[1]})
        show(explorer, address_of(form, f"v=1&k=5&view=distribution&d={name}&e=1", server, site))
        expect(explorer.root.locator(f"[data-of={name}].outcome")).to_be_visible()
        explorer.settle()
        assert (size, explorer.root.evaluate(MEASURE)) == (size, FITS)


def address_of(form: str, link: str, server: Server, site: Site) -> str:
    return f"{server.url}/?{link}" if form == "live" else f"{site.saved_url()}#{link}"


def show(explorer: ExplorerPage, address: str) -> None:
    """Open an address anew, not as a step within the page."""
    explorer.page.goto("about:blank")
    explorer.page.goto(address)
    explorer.slider.wait_for()
    explorer.settle()


@pytest.mark.parametrize(("size", "theme"), [*zip(SIZES, ("light", "dark") * 3, strict=True)])
def test_it_is_accessible(boxes: dict[str, ExplorerPage], site: Site, theme: str, size: tuple[int, int]) -> None:
    explorer = boxes["saved"]
    explorer.page.set_viewport_size({"width": size[0], "height": size[1]})
    for link in (LINKS["seed"], LINKS["outlier"]):
        show(explorer, f"{site.saved_url()}#{link}&e=1&th={theme}")
        assert Axe().run(explorer.page).response["violations"] == []


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
def test_it_fits_at_every_scale(boxes: dict[str, ExplorerPage], site: Site, size: tuple[int, int]) -> None:
    """The sentences differ in length."""
    explorer = boxes["saved"]
    explorer.page.set_viewport_size({"width": size[0], "height": size[1]})
    for link in ("seed", "outlier"):
        show(explorer, f"{site.saved_url()}#{LINKS[link]}&e=1")
        measured = explorer.at_each(f"(root) => ({MEASURE})(root)")
        assert {k: each for k, each in zip(ALL_K, measured, strict=True) if each != FITS} == {}


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
def test_a_resized_box_is_filled_anew(boxes: dict[str, ExplorerPage], site: Site, size: tuple[int, int]) -> None:
    explorer = boxes["saved"]
    show(explorer, f"{site.saved_url()}#{LINKS['seed']}&e=1")
    for start in ((1200, 600), (320, 216)):
        for width, height in (start, size):
            explorer.page.set_viewport_size({"width": width, "height": height})
            explorer.settle()
        explorer.page.wait_for_function("innerWidth === " + str(size[0]))
        explorer.settle()
        assert explorer.root.evaluate(MEASURE) == FITS


@pytest.mark.parametrize("form", ["live", "saved"])
def test_a_bad_link_still_fits(boxes: dict[str, ExplorerPage], server: Server, site: Site, form: str) -> None:
    explorer = boxes[form]
    explorer.page.set_viewport_size({"width": 525, "height": 450})
    show(explorer, address_of(form, "v=1&k=77&e=1", server, site))
    expect(explorer.notice).to_have_text("A part of the link was ignored: k=77")
    assert explorer.root.evaluate(MEASURE) == FITS


@pytest.mark.parametrize("form", ["live", "saved"])
def test_the_stepper_steps(boxes: dict[str, ExplorerPage], server: Server, site: Site, form: str) -> None:
    explorer = boxes[form]
    explorer.page.set_viewport_size({"width": 360, "height": 216})
    show(explorer, address_of(form, "v=1&k=38&e=1", server, site))
    up = explorer.root.get_by_role("button", name="Scale one octave up")
    down = explorer.root.get_by_role("button", name="Scale one octave down")
    seen = []
    for button in (up, up, up, down):
        button.click()
        seen.append(explorer.root.locator(".scale-line").get_attribute("data-log2"))
    assert seen == ["39", "40", "40", "39"]
    expect(explorer.root.locator(".stepper-value")).to_have_text("S = 2³⁹")
    expect(explorer.root.locator(".outcome-title")).to_have_text("▲ 8 overflows")


@pytest.mark.parametrize("form", ["live", "saved"])
def test_open_full_is_the_state_with_chrome(
    boxes: dict[str, ExplorerPage], server: Server, site: Site, form: str
) -> None:
    explorer = boxes[form]
    link = "v=1&g=p-34,p10&k=8&f=bf16&th=dark&e=1&hide=outcome"
    show(explorer, address_of(form, link, server, site))
    explorer.slider.focus()
    explorer.press("ArrowRight")
    state = write_link({**DEFAULTS, **read_link(link).params, "log2_scale": 9, "embed": False})
    assert "e=1" not in state
    full = explorer.root.get_by_role("link", name="Open full")
    start = f"{server.url}/" if form == "live" else site.saved_url()
    expect(full).to_have_attribute("href", start + (state if form == "live" else state.replace("?", "#")))
    with explorer.page.context.expect_page() as opened:
        full.click()
    page = opened.value
    page.locator(".bar-top").wait_for()
    expect(page.locator(".scale-line")).to_have_attribute("data-log2", "9")
    page.close()


# In somebody's page


@pytest.fixture(params=["live", "saved"])
def embedded(request: pytest.FixtureRequest, server: Server, site: Site) -> str:
    return f"{server.url}/?v=1&k=3&e=1" if request.param == "live" else f"{site.saved_url()}#v=1&k=3&e=1"


def test_loading_takes_neither_focus_nor_scroll(
    open_host: Callable[..., Page], server: Server, site: Site, embedded: str
) -> None:
    body = (
        '<input id="mine" autofocus><p style="height: 1500px">Text</p>'
        f'<iframe src="{embedded}" title="x" loading="lazy" style="width: 100%; height: 450px"></iframe>'
        '<p style="height: 3000px">More</p>'
    )
    page = open_host(site.host("below", body), server.url)
    page.evaluate("scrollTo(0, 400)")  # near enough for a lazy frame to load
    page.locator("iframe").content_frame.locator(".scale-slider").wait_for()
    page.wait_for_timeout(500)
    assert page.evaluate("scrollY") == 400
    assert page.evaluate("document.activeElement.id") == "mine"
    page.keyboard.type("abc")
    page.keyboard.press("Escape")
    expect(page.locator("#mine")).to_have_value("abc")
    assert page.locator("iframe").content_frame.locator(".scale-line").get_attribute("data-log2") == "3"


def test_keys_act_while_the_focus_is_within_and_escape_gives_it_back(
    open_host: Callable[..., Page], server: Server, site: Site, embedded: str
) -> None:
    body = f'<iframe src="{embedded}" title="x" style="width: 100%; height: 450px"></iframe><p style="height: 3000px">'
    page = open_host(site.host("keys", body), server.url)
    explorer = framed(page)
    line = explorer.root.locator(".scale-line")
    for key in ("ArrowRight", "End", "+", "Control+z", "Escape"):
        page.keyboard.press(key)
    expect(line).to_have_attribute("data-log2", "3")
    explorer.slider.focus()
    page.keyboard.press("ArrowRight")
    expect(line).to_have_attribute("data-log2", "4")
    page.keyboard.press("Escape")
    assert explorer.page.evaluate("document.activeElement === document.body")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    expect(line).to_have_attribute("data-log2", "4")


@pytest.mark.parametrize("form", ["live", "saved"])
@pytest.mark.parametrize("link", ["v=1&k=3&e=1", "v=1&k=3"], ids=["embedded", "whole"])
def test_it_lives_in_the_tightest_sandbox(
    open_host: Callable[..., Page], open_server: Server, site: Site, form: str, link: str
) -> None:
    address = f"{open_server.url}/?{link}" if form == "live" else f"{site.saved_url()}#{link}"
    frame = f'<iframe sandbox="{SANDBOX}" src="{address}" title="x" style="width: 100%; height: 700px"></iframe>'
    page = open_host(site.host(f"sandbox-{form}", frame), open_server.url, script=NO_STORAGE)
    explorer = framed(page)
    assert explorer.page.evaluate("origin") == "null"
    explorer.slider.focus()
    page.keyboard.press("ArrowRight")
    expect(explorer.root.locator(".scale-line")).to_have_attribute("data-log2", "4")
    if form == "live" and "e=1" not in link:  # the server can be asked
        explorer.type_gradients("1.1e-8")
        expect(explorer.boxes).to_have_count(3)
    page.wait_for_timeout(700)
    page.keyboard.press("Control+z")
    assert page.context.cookies() == []


def test_the_server_sets_no_cookie(open_host: Callable[..., Page], server: Server, site: Site) -> None:
    frame = f'<iframe src="{server.url}/?v=1&e=1" title="x" style="width: 100%; height: 450px"></iframe>'
    page = open_host(site.host("cookies", frame), server.url, script=NO_STORAGE)
    explorer = framed(page)
    explorer.slider.focus()
    page.keyboard.press("ArrowRight")
    expect(explorer.root.locator(".scale-line")).to_have_attribute("data-log2", "1")
    assert page.context.cookies() == []


# Who may frame the live page


@pytest.fixture(scope="module")
def framed_by(site: Site) -> Iterator[Server]:
    with serving((*COMMAND, "--allow-framing-by", site.origin)) as server:
        yield server


def policy(server: Server) -> str:
    with urlopen(f"{server.url}/?v=1&e=1", timeout=30) as answer:
        return answer.headers["Content-Security-Policy"]


def test_any_host_may_frame_the_page(open_host: Callable[..., Page], server: Server, site: Site) -> None:
    assert "frame-ancestors" not in policy(server)
    site.host("any", f'<iframe src="{server.url}/?v=1&e=1" title="x"></iframe>')
    for origin in (site.origin, site.other_origin):
        page = open_host(f"{origin}/any.html", server.url)
        page.locator("iframe").content_frame.locator(".scale-slider").wait_for()


def test_only_named_hosts_may_frame_the_page(browser, framed_by: Server, site: Site) -> None:
    assert f"frame-ancestors {site.origin}" in policy(framed_by).split("; ")
    site.host("some", f'<iframe src="{framed_by.url}/?v=1&e=1" title="x"></iframe>')
    page = browser.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.goto(f"{site.origin}/some.html")
    page.locator("iframe").content_frame.locator(".scale-slider").wait_for()
    assert complaints == []
    page.goto(f"{site.other_origin}/some.html")
    page.wait_for_timeout(1000)
    assert page.locator("iframe").content_frame.locator(".lossscale").count() == 0
    assert any("frame-ancestors" in text for text in complaints)
    page.close()
