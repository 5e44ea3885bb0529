"""The page: the project's own template around the explorer."""

from functools import cache
from typing import Any
from urllib.parse import quote

import panel as pn

from lossscale_app.bundle import browser_text
from lossscale_app.explorer import Explorer

TITLE = "Loss Scaling Explorer"
DESCRIPTION = "See which gradients survive FP16, BF16 and FP8 at which loss scale, and find the safe window."


def explorer_page(**params: Any) -> pn.Template:
    """Build the page for one session.

    Args:
        **params: params of `Explorer` to open it with.

    Returns:
        A Panel template, ready to be served.
    """
    page = pn.Template(browser_text("page.html"))
    page.title = TITLE
    page.add_variable("description", DESCRIPTION)
    page.add_variable("icon", _icon())
    page.add_panel("explorer", Explorer(**params))
    return page


@cache
def _icon() -> str:
    """The window between two lost ends, as the address part of a data URL."""
    return quote(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
        '<rect width="32" height="32" rx="7" fill="#171a21"/>'
        '<path d="M3 16h8" stroke="#5aaee3" stroke-width="6"/><path d="M11 16h11" stroke="#36b98c" stroke-width="6"/>'
        '<path d="M22 16h7" stroke="#f0895a" stroke-width="6"/><circle cx="15" cy="16" r="5" fill="#fff"/></svg>'
    )
