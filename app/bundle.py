"""The browser's part as one ES module: the files of `browser/` in the order they need each other.

Panel and a saved page both load the component from one text. Each file keeps a scope of its own:
its imports become look-ups in the files before it, its exports what it returns.
"""

from functools import cache
from importlib.resources import files
import json
import re

_ORDER = (
    "dom",
    "words",
    "measure",
    "lookup",
    "link",
    "axis",
    "marks",
    "octaves",
    "slider",
    "distributions",
    "scalechart",
    "windowchart",
    "gradientlist",
    "landingchart",
    "outcome",
    "journey",
    "table",
    "choices",
    "recordedmark",
    "curvechart",
    "histogram",
    "keptcard",
    "datacard",
    "tensortable",
    "octavetable",
    "numpy",
    "countfiles",
    "distributionview",
    "windowview",
    "runs",
    "runmaker",
    "stepchart",
    "windowareas",
    "losschart",
    "tracechart",
    "lostmap",
    "stepslider",
    "safechart",
    "runtable",
    "autocastcard",
    "settingsform",
    "runcard",
    "scalercard",
    "overlaycard",
    "steptable",
    "runfiles",
    "tryruns",
    "trainingview",
    "ordertables",
    "orderblocks",
    "blockline",
    "orderchart",
    "ordercard",
    "ordertries",
    "ordernumbers",
    "orderfiles",
    "orderview",
    "lessons",
    "lessoncard",
    "lessonbar",
    "readersplace",
    "displaymenu",
    "shared",
    "store",
    "timeline",
    "snapshot",
    "sheetpicture",
    "printsheet",
    "classroom",
    "exports",
    "share",
    "frame",
    "page",
    "explorer",
)
#: The style sheets, in the order in which later ones add to earlier ones.
STYLES = ("explorer.css", "training.css", "order.css", "lesson.css", "projector.css")
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|function|class) (\w+))", re.MULTILINE)


def browser_text(name: str) -> str:
    """Read a file of the browser's part.

    Args:
        name: its name in `browser/`.
    """
    return files("lossscale_app").joinpath("browser", name).read_text("utf-8")


@cache
def module_text() -> str:
    """Join the browser's files, and the style sheets as the constant STYLE, into one module.

    Returns:
        A module whose default export has the component's `render`.
    """
    style = f"const STYLE = {json.dumps(''.join(map(browser_text, STYLES)))};\n"
    return style + "\n".join(_scoped(name) for name in _ORDER) + "\nexport default explorer;\n"


def _scoped(name: str) -> str:
    text = browser_text(f"{name}.js")
    exports = ", ".join(_EXPORT.findall(text))
    body = _EXPORT.sub("", _IMPORT.sub(r"const \1 = \2;", text))
    return f"const {name} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();"
