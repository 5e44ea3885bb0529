"""Saving pages: one file, or a small site that any static host can serve."""

from pathlib import Path
from typing import Any

import jinja2

from lossscale_app.bundle import browser_text
from lossscale_app.catalogues import LANGUAGES, messages
from lossscale_app.links import Link, read_link
from lossscale_app.page import TITLE
from lossscale_app.saved_page import saved_page
from lossscale_app.scenarios import SCENARIOS
from lossscale_core import InputError
from lossscale_core.errors import quoted


def export(target: str, link: str = "", live_address: str = "") -> list[Path]:
    """Save the page.

    Args:
        target: a file that ends in .html, or a directory, which is made if it is missing.
        link: the state to open with; only for a file.
        live_address: where the live app is, offered for what needs Python.

    Returns:
        The files that were written.

    Raises:
        InputError: the target cannot be written, or the link has parts that cannot be used.
    """
    opened = read_link(link)
    if opened.ignored:
        raise InputError(
            "The link has parts that cannot be used: {ignored}.", ignored=quoted(", ".join(opened.ignored))
        )
    path = Path(target)
    try:
        if path.suffix.lower() in (".html", ".htm"):
            return [_write(path, saved_page(opened, live_address))]
        if link:
            raise InputError(
                "A link goes with a file that ends in .html, and {target} is a directory.", target=quoted(target)
            )
        path.mkdir(parents=True, exist_ok=True)
        return _export_site(path, live_address)
    except OSError as error:
        raise InputError(
            "{target} cannot be written: {error}.", target=quoted(target), error=error.strerror or error
        ) from error


def _export_site(directory: Path, live_address: str) -> list[Path]:
    """The explorer, and a start page that lists its scenarios in every language."""
    index = jinja2.Environment(autoescape=True).from_string(browser_text("index.html"))
    start = index.render(title=TITLE, languages=[_contents(language) for language in LANGUAGES])
    explorer = saved_page(Link(), live_address)
    return [_write(directory / "index.html", start), _write(directory / "explorer.html", explorer)]


def _contents(language: str) -> dict[str, Any]:
    """What the start page says in a language."""
    said = messages(language)
    scenarios = [
        (said[f"scenario-{scenario.id}-title"], said[f"scenario-{scenario.id}-question"], scenario.id)
        for scenario in SCENARIOS
    ]
    names = ("title", "subtitle", "siteOpen", "siteScenarios")
    return {"code": language, "scenarios": scenarios, **{name: said[name] for name in names}}


def _write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path
