"""The page: the project's own template around the explorer."""

from functools import cache
from urllib.parse import quote

import panel as pn

from lossscale_app.bundle import browser_text
from lossscale_app.explorer import Explorer
from lossscale_app.links import Link, read_link

TITLE = "Loss Scaling Explorer"
DESCRIPTION = "See which gradients survive FP16, BF16 and FP8 at which loss scale, and find the safe window."


def explorer_page(link: Link | None = None) -> pn.Template:
    """Build the page for one session.

    Args:
        link: the state to open with; by default that of the request's query, if there is a request.

    Returns:
        A Panel template, ready to be served.
    """
    opened = link or _requested()
    page = pn.Template(browser_text("page.html"))
    for name, value in page_variables().items():
        page.add_variable(name, value)
    page.add_panel("explorer", Explorer(**opened.params, ignored=list(opened.ignored)))
    return page


def page_variables() -> dict[str, str]:
    """Gather what the page's head says, served or saved."""
    return {"description": DESCRIPTION, "icon": _icon()}


def _requested() -> Link:
    pairs = [
        (name, value.decode("utf-8", "replace")) for name, all_of in pn.state.session_args.items() for value in all_of
    ]
    return read_link(pairs)


@cache
def _icon() -> str:
    """The window between two lost ends, as the address part of a data URL."""
    return quote(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
        '<rect width="32" height="32" rx="7" fill="#171a21"/>'
        '<path d="M3 16h8" stroke="#5aaee3" stroke-width="6"/><path d="M11 16h11" stroke="#36b98c" stroke-width="6"/>'
        '<path d="M22 16h7" stroke="#f0895a" stroke-width="6"/><circle cx="15" cy="16" r="5" fill="#fff"/></svg>'
    )
