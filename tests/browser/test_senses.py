"""Every sense and every hand: axe, the keyboard, touch, the accessibility tree, large text, quiet and stillness."""

from collections.abc import Iterator
from fractions import Fraction
import re

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect
import pytest

from lossscale_app.links import SCENARIO_NAMES
from lossscale_app.messages import ENGLISH
from lossscale_app.orders import EXAMPLES, step_order
from lossscale_app.recordings import recorded_runs
from lossscale_core import StepReport, take_step

from .hosts import Site
from .launch import Server
from .pages import FOCUSABLE, PHONE, ExplorerPage
from .saved_views import VIEWS, saved_address, saved_views, show, unfold
from .sizes import small_targets, small_texts
from .test_accessibility import AXE
from .test_layout import misplaced

pytest_plugins = ("browser.host_fixtures",)
pytestmark = pytest.mark.browser

THEMES = ("light", "dark", "projector")
STOPS = f"{FOCUSABLE}, summary"


@pytest.fixture(scope="module")
def desk(browser: Browser, site: Site) -> Iterator[ExplorerPage]:
    with saved_views(browser, saved_address(site)) as explorer:
        explorer.page.evaluate(Axe().axe_script)
        yield explorer


@pytest.fixture(scope="module")
def hand(browser: Browser, site: Site) -> Iterator[ExplorerPage]:
    with saved_views(browser, saved_address(site), viewport=PHONE, has_touch=True, is_mobile=True) as explorer:
        yield explorer


def violations(explorer: ExplorerPage) -> list[str]:
    found = explorer.page.evaluate("options => axe.run(options)", AXE)["violations"]
    return [f"{each['id']}: {node['html']}" for each in found for node in each["nodes"]]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("language", ["en", "pl"])
def test_axe_finds_nothing_in_any_view(desk: ExplorerPage, theme: str, language: str) -> None:
    for view, link in VIEWS.items():
        show(desk, link, f"&th={theme}&lang={language}")
        assert (view, violations(desk)) == (view, [])


@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_nothing_in_any_scenario(desk: ExplorerPage, theme: str) -> None:
    assert len(SCENARIO_NAMES) == 19
    modes, languages = ("play", "predict", "present"), ("en", "pl")
    for place, name in enumerate(SCENARIO_NAMES):
        # Each in every theme, and in both languages; each mode in a third of them, and another third in another theme.
        mode = modes[(place + THEMES.index(theme)) % len(modes)]
        language = languages[(place + THEMES.index(theme)) % len(languages)]
        show(desk, f"s={name}&m={mode}", f"&th={theme}&lang={language}")
        expect(desk.root.locator("#lse-scenario")).to_have_value(name)
        assert (name, mode, violations(desk)) == (name, mode, [])


# Quiet


@pytest.mark.parametrize("view", ["window", "distribution", "training", "order"])
def test_the_consequence_is_told_after_half_a_second_of_quiet(quiet: ExplorerPage, view: str) -> None:
    page = quiet.page
    page.evaluate("link => { location.hash = link; }", f"v=1&{VIEWS[view]}")
    page.clock.run_for(2000)
    told = "document.querySelector('.unseen[role=status]').textContent"
    before = page.evaluate(told)
    quiet.slider.focus()
    for _ in range(8):
        quiet.press("ArrowRight")
        page.clock.run_for(300)
        assert page.evaluate(told) == before
    page.clock.run_for(199)
    assert page.evaluate(told) == before
    page.clock.run_for(300)
    after = page.evaluate(told)
    assert after != before
    assert after == quiet.slider.get_attribute("aria-valuetext")


@pytest.fixture(scope="module")
def quiet(browser: Browser, site: Site) -> Iterator[ExplorerPage]:
    """A page whose clock the test winds."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
    explorer = ExplorerPage(context.new_page(), Server(saved_address(site), None, None))
    explorer.page.clock.install(time=0)
    explorer.open()
    explorer.page.clock.pause_at(3_600_000)
    yield explorer
    problems = explorer.watch.problems()
    context.close()
    assert not problems


# Stillness


def test_nothing_moves_for_who_asks_for_stillness(desk: ExplorerPage) -> None:
    moving = """root => [...root.querySelectorAll("*")].filter((part) => {
        const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(part);
        return /[1-9]/.test(transitionDuration) || animationName !== "none" || scrollBehavior !== "auto";
    }).map((part) => part.className)"""
    show(desk, VIEWS["window"])
    assert desk.root.evaluate(moving) != []
    desk.page.emulate_media(reduced_motion="reduce")
    for view, link in VIEWS.items():
        show(desk, link)
        assert (view, desk.root.evaluate(moving)) == (view, [])
        assert desk.page.evaluate("document.getAnimations().length") == 0
    desk.page.emulate_media(reduced_motion="no-preference")


# The keyboard


@pytest.mark.parametrize("view", ["distribution", "training", "order", "lesson"])
def test_tab_reaches_every_control_in_its_order(desk: ExplorerPage, view: str) -> None:
    show(desk, VIEWS[view])
    unfold(desk)
    controls = desk.root.evaluate(
        """(root, stops) => {
            const first = new Set();
            const all = [...root.querySelectorAll(stops)].filter((control) => control.checkVisibility())
                .filter(({ type, name, checked }) => type !== "radio" || checked
                    || (!root.querySelector(`[name="${name}"]:checked`) && !first.has(name) && first.add(name)));
            all.forEach((control, place) => { control.dataset.stop = place; });
            document.activeElement.blur();
            return all.length;
        }""",
        STOPS,
    )
    desk.page.evaluate("document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')")
    stops = []
    for _ in range(controls):
        desk.press("Tab")
        stops.append(
            desk.page.evaluate(
                """() => {
                    const control = document.activeElement;
                    const box = (control.closest("label") ?? control).getBoundingClientRect();
                    const seen = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
                    return [control.dataset.stop ?? control.outerHTML, seen];
                }"""
            )
        )
    assert stops == [[str(place), True] for place in range(controls)]
    desk.root.evaluate("root => root.querySelectorAll('[data-stop]').forEach((each) => { delete each.dataset.stop; })")


def test_the_training_view_by_keyboard(desk: ExplorerPage) -> None:
    show(desk, VIEWS["training"])
    step = desk.root.locator(".step-slider")
    step.focus()
    for key, value in (("End", "300"), ("ArrowLeft", "299"), ("Home", "1"), ("ArrowRight", "2"), ("PageUp", None)):
        desk.press(key)
        if value:
            assert step.input_value() == value
            expect(desk.root.locator(".step-card h2")).to_have_text(f"Step {value}")
    desk.root.locator(".choice.mapped :checked").focus()
    before = desk.root.locator(".lost-map").inner_html()
    desk.press("ArrowRight")
    expect(desk.root.locator(".choice.mapped [value=static]")).to_be_checked()
    desk.settle()
    assert desk.root.locator(".lost-map").inner_html() != before
    summary = desk.root.locator(".steps-card summary")
    summary.evaluate("summary => { summary.parentElement.open = false; summary.focus(); }")
    desk.press("Enter")
    expect(desk.root.locator(".steps-card tbody tr")).to_have_count(300)
    desk.press("Tab", "ArrowRight")
    expect(desk.root.locator(".choice.steps-run [value=fp32]")).to_be_checked()
    summary.focus()
    desk.press(" ")
    assert not desk.root.locator(".steps-card details").evaluate("details => details.open")
    box = desk.root.locator(".policies input").first
    box.focus()
    desk.press(" ")
    assert not box.is_checked()
    desk.root.locator(".run-card select").first.focus()
    tried = desk.root.get_by_role("button", name=ENGLISH["tryRuns-nan"])
    tried.focus()
    desk.press("Enter")
    expect(tried).to_have_attribute("aria-pressed", "true")
    expect(desk.slider).to_be_visible()


# Touch


def test_targets_are_large_enough_on_a_phone(hand: ExplorerPage) -> None:
    for view, link in VIEWS.items():
        show(hand, link)
        unfold(hand)
        assert (view, small_targets(hand), small_texts(hand)) == (view, [], [])


def test_the_training_view_by_touch(hand: ExplorerPage) -> None:
    show(hand, VIEWS["training"])
    hand.root.evaluate("root => root.querySelectorAll('details').forEach((each) => { each.open = false; })")
    step = hand.root.locator(".step-slider")
    step.scroll_into_view_if_needed()
    box = step.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    hand.page.touchscreen.tap(x, y)
    assert abs(int(step.input_value()) - 150) < 5
    hand.touch([(x, y), (x + 20, y), (x + 40, y), (x + 60, y)])
    assert int(step.input_value()) > 180
    chart = hand.root.locator(".loss-chart .picture")
    chart.tap(position={"x": chart.bounding_box()["width"] / 2, "y": 60})
    assert 90 < int(step.input_value()) < 180
    expect(hand.root.locator(".step-card h2")).to_have_text(f"Step {step.input_value()}")
    hand.root.locator(".choice.mapped").get_by_text("dynamic", exact=True).tap(force=True)
    expect(hand.root.locator(".choice.mapped [value=dynamic]")).to_be_checked()
    hand.root.locator(".steps-card summary").tap()
    expect(hand.root.locator(".steps-card tbody tr")).to_have_count(300)
    hand.root.locator(".run-card .more summary").tap()
    expect(hand.root.locator("#lse-run-batch")).to_be_visible()
    hand.root.get_by_role("button", name=ENGLISH["tryRuns-autocast"]).tap()
    expect(hand.root.get_by_role("button", name=ENGLISH["tryRuns-autocast"])).to_have_attribute("aria-pressed", "true")


def test_the_order_view_and_a_lesson_by_touch(hand: ExplorerPage) -> None:
    show(hand, "s=clip")
    title = hand.root.locator(".outcome-title")
    expect(title).to_have_text("◆ The step is 512 times too small, and nothing says so")
    hand.root.locator(".block-clip").get_by_text("after unscaling", exact=True).tap(force=True)
    expect(title).to_have_text("✓ The step is the true one, bit for bit")
    hand.root.locator(".block-clip").get_by_text("before unscaling", exact=True).tap(force=True)
    expect(title).to_have_text("◆ The step is 512 times too small, and nothing says so")
    hand.root.get_by_role("button", name=ENGLISH["putRight"]).tap()
    expect(title).to_have_text("✓ The step is the true one, bit for bit")
    hand.root.locator(".choice.view").get_by_text(ENGLISH["view-window"], exact=True).tap(force=True)
    expect(hand.window_chart).to_be_visible()
    show(hand, "s=window&m=predict")
    hand.root.locator(".prediction").nth(2).tap()
    hand.root.get_by_role("button", name=ENGLISH["lessonCommit"]).tap()
    expect(hand.window_chart).to_be_visible()


# Large text


@pytest.mark.parametrize("language", ["en", "pl"])
def test_twice_the_text_fits_into_320_pixels(desk: ExplorerPage, language: str) -> None:
    desk.page.set_viewport_size({"width": 320, "height": 800})
    devtools = desk.page.context.new_cdp_session(desk.page)
    for view, link in {**VIEWS, "lecture": "s=window&m=present"}.items():
        show(desk, link, f"&lang={language}")
        # Every navigation takes it back.
        devtools.send("Page.setFontSizes", {"fontSizes": {"standard": 32, "fixed": 26}})
        unfold(desk)
        assert desk.root.evaluate("root => parseFloat(getComputedStyle(root).fontSize)") >= 32
        assert (view, misplaced(desk), small_texts(desk)) == (view, [], [])
    devtools.send("Page.setFontSizes", {"fontSizes": {"standard": 16, "fixed": 13}})
    devtools.detach()
    desk.page.set_viewport_size(desk.size)


# The accessibility tree


def slider_in_tree(explorer: ExplorerPage, name: str) -> tuple[int, str]:
    """The value of the slider that the browser's tree has under a name, and the text that stands for it.

    Chromium's protocol keeps `aria-valuetext` to itself, so the text is read from the node that the tree points to.
    """
    devtools = explorer.page.context.new_cdp_session(explorer.page)
    root = devtools.send("DOM.getDocument")["root"]["nodeId"]
    asked = {"nodeId": root, "role": "slider", "accessibleName": name}
    (node,) = [node for node in devtools.send("Accessibility.queryAXTree", asked)["nodes"] if not node["ignored"]]
    element = devtools.send("DOM.describeNode", {"backendNodeId": node["backendDOMNodeId"]})["node"]["attributes"]
    devtools.detach()
    return node["value"]["value"], dict(zip(element[::2], element[1::2], strict=True))["aria-valuetext"]


def spoken(k: int) -> str:
    return f"2 to the {'minus ' if k < 0 else ''}{abs(k)}"


def verdict(report: StepReport) -> str:
    """How a step of the core's begins to be told."""
    if report.skipped:
        return "The step is skipped"
    if report.update == report.true_update:
        return "The step is the true one, bit for bit"
    if not any(report.update):
        return "The update is lost: 0 instead of"
    times = 1 / Fraction(report.ratio)
    return f"The step is {times} times too small, and nothing says so"


def test_the_tree_says_of_a_step_what_the_core_says(desk: ExplorerPage) -> None:
    show(desk, "s=clip&o=clip")
    for k in (-40, -24, -22, 0, 1, 2, 9, 10, 15, 17, 18, 40):
        desk.go(k)
        report = take_step(EXAMPLES["clip"], step_order("loss", "fp32", ["clip"]), 2.0**k)
        value, said = slider_in_tree(desk, "Loss scale S")
        assert value == k
        assert said.startswith(f"scale {spoken(k)}, ")
        assert said.split("; ", 1)[1].startswith(verdict(report)), k


def test_the_tree_says_of_the_runs_what_the_core_says(desk: ExplorerPage) -> None:
    show(desk, VIEWS["training"])
    run = recorded_runs()["dynamic fp16 pytorch,growth_interval.20 seed.1,positions.1,reduction.sum"]
    for k in (-40, -5, -4, 0, 12, 13, 40):
        desk.go(k)
        value, said = slider_in_tree(desk, "Loss scale S")
        assert value == k
        count = run["end"]["safe"][k + 40]
        assert said.startswith(f"scale {spoken(k)}, ")
        assert said.endswith(f"; inside the window in {count} of {run['end']['steps']} steps"), k
    for step in (1, 2, 30, 150, 300):
        desk.root.locator(".step-slider").evaluate(
            "(input, step) => { input.value = step; input.dispatchEvent(new Event('input')); }", step
        )
        value, said = slider_in_tree(desk, ENGLISH["stepName"])
        assert value == step
        scale = next(log2 for start, log2, _ in reversed(run["scales"]) if start <= step)
        assert said.startswith(f"step {step}; dynamic scaling: loss ")
        assert f", S = {spoken(round(scale))}, " in said
        assert ("skipped" in said) == (run["did"][step - 1] != "S")
        assert re.search("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻▲·]", said) is None
        loss = float(re.search(r"loss ([\d.]+)", said)[1])
        assert loss == pytest.approx(run["loss"][step - 1], rel=0.006)
