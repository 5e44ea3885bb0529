"""The page as one file: no server behind it, no request from it, the state and all look-ups inside."""

from html import escape
import json
from typing import Any

import jinja2

from lossscale_app.bundle import browser_text, module_text
from lossscale_app.links import DEFAULTS, Link
from lossscale_app.page import TITLE, page_variables
from lossscale_app.page_setup import setup_json, state_tables

# What the component's proxy is under Panel, as a plain object: it knows the state, and no one answers it.
_SCRIPT = """
<script type="application/json" id="lossscale-state">{state}</script>
<script type="module">
{module}
const model = JSON.parse(document.getElementById("lossscale-state").textContent);
explorer.render({{ model: {{ ...model, saved: true, document: null, on() {{}} }}, el: document.body }});
</script>
"""


def saved_page(link: Link, live_address: str = "") -> str:
    """Build the page as one HTML file.

    Args:
        link: the state to open with.
        live_address: where the live app is, offered for what needs Python; may be unknown.

    Returns:
        The text of the file.
    """
    params = {**DEFAULTS, **link.params}
    rows, tracks = state_tables(params["gradients"], params["typed_scale"])
    state = {
        **params,
        "rows": rows,
        "tracks": tracks,
        "setup": setup_json(live_address, served=False),
        "ignored": list(link.ignored),
    }
    module = module_text().rpartition("export default")[0]
    script = _SCRIPT.format(state=_inline_json(state), module=module.replace("</", "<\\/"))
    template = jinja2.Environment(autoescape=False).from_string(browser_text("page.html"))  # noqa: S701 - escaped here
    variables = {"title": escape(TITLE), "plot_script": script, **page_variables()}
    return template.render(variables)


def _inline_json(data: dict[str, Any]) -> str:
    """JSON that can stand in a script element, whatever is in it."""
    return json.dumps(data, ensure_ascii=True).replace("<", "\\u003c")
