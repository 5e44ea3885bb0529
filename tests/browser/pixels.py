"""Contrast as it is painted: colours of texts and marks against the pixels behind them."""

from io import BytesIO

import numpy as np
from PIL import Image  # comes with bokeh
from playwright.sync_api import Page

_PARTS = """
(root, selector) => [...root.querySelectorAll(selector)]
  .map((part) => ({ part, box: part.getBoundingClientRect() }))
  .filter(({ part, box }) => box.width && part.checkVisibility({ visibilityProperty: true }))
  .map(({ part, box }) => ({
    name: `${part.getAttribute("class")} “${part.textContent}”`,
    paints: [getComputedStyle(part).fill, getComputedStyle(part).stroke].filter((paint) => paint !== "none"),
    box: [box.left + scrollX, box.top + scrollY, box.right + scrollX, box.bottom + scrollY],
  }))
"""


def contrasts(page: Page, root: str, texts: str, lines: str, marks: str) -> tuple[dict[str, float], dict[str, float]]:
    """The worst contrasts of drawn things against what is painted behind them.

    Args:
        page: the page.
        root: what they lie in.
        texts: selector of the texts; behind them lies everything else.
        lines: selector of what is thin; behind it lie neither texts nor marks.
        marks: selector of what is thick, of which only whole pixels count, and of fill and edge the
            one that stands out more; behind it lie neither texts nor lines.

    Returns:
        The contrasts of the texts, and those of the lines and marks, by what they are.
    """
    shown = screenshot(page)
    textless = _screenshot_without(page, f"{root} :is({texts})")
    bare = _screenshot_without(page, f"{root} :is({texts}, {lines}, {marks})")

    def worst(selector: str, behind: np.ndarray, *, thick: bool) -> dict[str, float]:
        found: dict[str, float] = {}
        for part in page.locator(root).evaluate(_PARTS, selector):
            left, top, right, bottom = (round(side) for side in part["box"])
            area = np.s_[max(0, top - 2) : bottom + 2, max(0, left - 2) : right + 2]
            ratios = [_worst(_colour(paint), shown[area], behind[area], thick) for paint in part["paints"]]
            found[part["name"]] = min(max(ratios), found.get(part["name"], 21))
        return found

    return worst(texts, textless, thick=False), worst(lines, bare, thick=False) | worst(marks, bare, thick=True)


def _screenshot_without(page: Page, selector: str) -> np.ndarray:
    invisible = "fill: transparent !important; stroke: transparent !important;"
    style = page.add_style_tag(content=f"{selector} {{ {invisible} }}")
    picture = screenshot(page)
    style.evaluate("style => style.remove()")
    return picture


def _worst(paint: np.ndarray, shown: np.ndarray, behind: np.ndarray, thick: bool) -> float:
    """The lowest contrast of a paint to the pixels that it changed; of a thick one only those it covers wholly."""
    changed = np.abs(shown - behind).max(axis=-1) > 24
    if thick:
        changed &= np.abs(shown - paint).max(axis=-1) < 12
    return float(contrast(paint, behind[changed]).min()) if changed.any() else 0.0


def screenshot(page: Page, **options: object) -> np.ndarray:
    """The page, by default the whole of it, as an array of colours."""
    picture = page.screenshot(**(options or {"full_page": True}))
    return np.asarray(Image.open(BytesIO(picture)).convert("RGB"), float)


def _colour(css: str) -> np.ndarray:
    """The channels of a computed colour."""
    return np.array([float(number) for number in css[css.index("(") + 1 : -1].split(",")[:3]])


def contrast(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The contrast ratio of WCAG."""
    brighter, darker = np.maximum(_luminance(one), _luminance(other)), np.minimum(_luminance(one), _luminance(other))
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(colours: np.ndarray) -> np.ndarray:
    channels = colours / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]
