"""States are told apart without their colours: in grey, and by readers who lack one kind of cone."""

from collections.abc import Iterator
from itertools import combinations, pairwise

import numpy as np
from playwright.sync_api import Browser
import pytest

from .hosts import Site
from .pages import ExplorerPage
from .pixels import screenshot
from .saved_views import OUTCOMES, saved_address, saved_views, show

pytest_plugins = ("browser.host_fixtures",)
pytestmark = pytest.mark.browser

_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
# Dichromacy (severity 1.0) in linear RGB: G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, "A Physiologically-based
# Model for Simulation of Color Vision Deficiency", IEEE TVCG 15(6), 2009, and its table of precomputed matrices.
SIGHTS = {
    "grey": np.tile(_LUMINANCE, (3, 1)),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
THEMES = ("light", "dark", "projector")
#: A patch of an area, in pixels: two tiles of a hatch.
SIDE = 16
#: From where two areas differ: in lightness as the contrast of their means, or in texture as a share of the mean.
LIGHTER, ROUGHER = 1.5, 0.05

#: Charts, how to get there, and the areas that are to be told apart; what lies over them is left out.
OUTCOME_AREAS = ("underflow", "subnormal", "normal", "overflow")
CHARTS = {
    "window-chart": (OUTCOMES, {name: f".segment.{name}" for name in (*OUTCOME_AREAS, "nonfinite")}),
    "curve-chart": ("view=distribution&k=8", {name: f".segment.{name}" for name in OUTCOME_AREAS}),
    "histogram": ("view=distribution&d=wide&k=9", {name: f".band-area.{name}" for name in OUTCOME_AREAS}),
    "trace-chart": (
        "s=dyn",
        {"underflow": ".band-area.underflow", "window": ".band.safe", "overflow": ".band-area.overflow"},
    ),
    "trace-chart, where no scale helps": (
        "s=nan",
        {"underflow": ".band-area.underflow", "window": ".band.safe", "nonfinite": ".band-area.nonfinite"},
    ),
}
_BARE = """.lossscale .chart :is(text, .plate, .scale-line, .crossing, .mark, .octave-bar, .share-line, .run-line,
  .step-cursor, .gradient-box, .bubble, .window-caption, .axis) { visibility: hidden !important; }"""
_FLAT = ".lossscale .chart :is([fill^=url], .band-hatch) { visibility: hidden !important; }"


@pytest.fixture(scope="module")
def page(browser: Browser, site: Site) -> Iterator[ExplorerPage]:
    with saved_views(browser, saved_address(site)) as explorer:
        yield explorer


def seen(colours: np.ndarray, sight: str) -> np.ndarray:
    """How light colours are to somebody."""
    channels = colours / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return np.clip(linear @ SIGHTS[sight].T, 0, 1) @ _LUMINANCE


def texture(light: np.ndarray) -> np.ndarray:
    """How much a patch changes along both diagonals, down and across, as a share of how light it is."""
    along = [(light[3:, 3:], light[:-3, :-3]), (light[3:, :-3], light[:-3, 3:])]
    steps = [*along, (light[4:], light[:-4]), (light[:, 4:], light[:, :-4])]
    return np.array([np.abs(one - other).mean() for one, other in steps]) / (light.mean() + 0.05)


def differ(one: np.ndarray, other: np.ndarray) -> bool:
    brighter, darker = max(one.mean(), other.mean()), min(one.mean(), other.mean())
    return (brighter + 0.05) / (darker + 0.05) >= LIGHTER or np.abs(texture(one) - texture(other)).max() >= ROUGHER


def patches(page: ExplorerPage, chart: str, areas: dict[str, str]) -> dict[str, np.ndarray]:
    """A piece of each area, from where there is nothing else."""
    around = page.root.locator(f".{chart}")
    around.scroll_into_view_if_needed()
    clip = around.bounding_box()
    shown = screenshot(page.page, clip=clip)
    style = page.page.add_style_tag(content=_FLAT)
    flat = screenshot(page.page, clip=clip)
    style.evaluate("style => style.remove()")
    found = {}
    for name, selector in areas.items():
        fill = around.locator(selector).first.evaluate("part => getComputedStyle(part).fill")
        paint = np.array([float(number) for number in fill[4:-1].split(",")])
        inside = np.abs(flat - paint).max(axis=-1) < 3
        fits = np.lib.stride_tricks.sliding_window_view(inside, (SIDE, SIDE)).all(axis=(2, 3))
        places = np.argwhere(fits)
        assert len(places), f"no {name} in the {chart}"
        top, left = places[len(places) // 2]
        found[name] = shown[top : top + SIDE, left : left + SIDE]
    return found


@pytest.mark.parametrize("chart", CHARTS)
def test_areas_are_told_apart_without_colour(page: ExplorerPage, chart: str) -> None:
    link, areas = CHARTS[chart]
    for theme in THEMES:
        show(page, link, f"&th={theme}")
        style = page.page.add_style_tag(content=_BARE)
        found = patches(page, chart.partition(",")[0], areas)
        style.evaluate("style => style.remove()")
        alike = [
            (theme, sight, one, other)
            for sight in SIGHTS
            for one, other in combinations(found, 2)
            if not differ(seen(found[one], sight), seen(found[other], sight))
        ]
        assert alike == []


def test_no_window_is_as_dark_as_nothing_beside_it(page: ExplorerPage) -> None:
    for theme in THEMES:
        show(page, "s=dyn", f"&th={theme}")
        paints = page.root.evaluate(
            """(root) => [".band-area.none", ".band.safe", ".band-area.overflow", ".band-area.underflow"]
                .map((part) => getComputedStyle(root.querySelector(`.trace-chart ${part}`)).fill)"""
        )
        none, *others = [np.array([float(number) for number in paint[4:-1].split(",")]) for paint in paints]
        for sight in SIGHTS:
            for other in others:
                one, two = sorted(float(seen(colour, sight)) + 0.05 for colour in (none, other))
                assert two / one >= LIGHTER, (theme, sight, other)


def test_marks_of_skipped_steps_have_shapes_of_their_own(page: ExplorerPage) -> None:
    """Those of the static run are hollow, also where one lies beside the other."""
    for theme in THEMES:
        show(page, "s=nan", f"&th={theme}")
        chart = page.root.locator(".trace-chart")
        chart.scroll_into_view_if_needed()
        # Both runs skip the last step; the scale of the dynamic one is 0 by then.
        x, static, floor = chart.evaluate(
            """(chart) => {
                const last = [...chart.querySelectorAll(".axis text")].find((text) => text.textContent === "300");
                const [line, cursor] = [".run-line.static", ".step-cursor"].map((part) => chart.querySelector(part));
                return [last.getAttribute("x"), line.getAttribute("y1"), cursor.getAttribute("y2")].map(Number);
            }"""
        )
        for name, y, hollow in (("static", static, True), ("dynamic", floor, False)):
            style = page.page.add_style_tag(
                content=f".lossscale .trace-chart svg > :not(.skips.{name}) {{ visibility: hidden !important; }}"
            )
            picture = seen(screenshot(page.page, clip=chart.bounding_box()), "grey")
            style.evaluate("style => style.remove()")
            painted = np.abs(picture - picture[2, 2]) > 0.1
            assert painted[round(y) - 14 : round(y) + 14, round(x)].any(), (theme, name)
            assert painted[round(y) + 1, round(x)] == (not hollow), (theme, name)


def test_more_that_is_lost_is_never_as_light_as_less(page: ExplorerPage) -> None:
    for theme in THEMES:
        show(page, "s=dyn", f"&th={theme}")
        paints = page.root.evaluate(
            """(root) => [getComputedStyle(root.querySelector(".lost-ground")).fill,
                ...[...root.querySelectorAll(".lost-legend i")].map((i) => getComputedStyle(i).backgroundColor)]"""
        )
        assert len(paints) == 6
        colours = np.array([[float(number) for number in paint[4:-1].split(",")] for paint in paints])
        for sight in SIGHTS:
            light = seen(colours, sight) + 0.05
            steps = [after / before for before, after in pairwise(light)]
            darker = theme != "dark"
            assert all((1 / step if darker else step) >= 1.15 for step in steps), (theme, sight, steps)


#: At which scale the order that clips too early does what.
VERDICTS = {"lost": -30, "right": 0, "wrong": 12, "skipped": 20}


def test_marks_of_a_step_have_shapes_of_their_own(page: ExplorerPage) -> None:
    for theme in THEMES:
        show(page, "s=clip&o=clip", f"&th={theme}")
        style = page.page.add_style_tag(
            content=".lossscale .order-chart svg > :not(.order-here) { visibility: hidden !important; }"
            ".lossscale .order-chart :is(.window-caption, .bubble) { visibility: hidden !important; }"
        )
        shapes = {}
        for name, k in VERDICTS.items():
            page.go(k)
            x, y = page.centre(page.root.locator(".order-here"))
            picture = screenshot(page.page, clip={"x": round(x) - 20, "y": round(y) - 20, "width": 40, "height": 40})
            ground = picture[0, 0]
            # By how light it is alone.
            shapes[name] = np.abs(seen(picture, "grey") - seen(ground, "grey")) > 0.15
        style.evaluate("style => style.remove()")
        for one, other in combinations(shapes, 2):
            both, either = (shapes[one] & shapes[other]).sum(), (shapes[one] | shapes[other]).sum()
            assert shapes[one].sum() > 40, (theme, one)
            assert both / either < 0.8, (theme, one, other)
