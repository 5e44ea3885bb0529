"""The browser's part as one ES module: the files of `browser/` joined in the order they need.

Panel and a saved page both load a component from one text, so the modules share one scope here
and their imports of each other are left out.
"""

from functools import cache
from importlib.resources import files
import json
import re

_ORDER = (
    "dom.js",
    "words.js",
    "lookup.js",
    "axis.js",
    "marks.js",
    "octaves.js",
    "slider.js",
    "windowchart.js",
    "gradientlist.js",
    "landingchart.js",
    "outcome.js",
    "journey.js",
    "table.js",
    "choices.js",
    "store.js",
    "explorer.js",
)
_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)


def browser_text(name: str) -> str:
    """Read a file of the browser's part.

    Args:
        name: its name in `browser/`.
    """
    return files("lossscale_app").joinpath("browser", name).read_text("utf-8")


@cache
def module_text() -> str:
    """Join the browser's modules, and the style sheet as the constant STYLE, into one module."""
    parts = [f"const STYLE = {json.dumps(browser_text('explorer.css'))};\n"]
    parts += [_EXPORT.sub("", _IMPORT.sub("", browser_text(name))) for name in _ORDER]
    return "\n".join(parts)
