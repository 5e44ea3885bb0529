"""The Loss Scaling Explorer: a page over `lossscale_core`, its server and its command line."""

from typing import Any

__all__ = ["Explorer", "explorer_page"]


def __getattr__(name: str) -> Any:
    # Panel takes a second to load, which the command line's `window` does not need.
    if name == "Explorer":
        from lossscale_app.explorer import Explorer

        return Explorer
    if name == "explorer_page":
        from lossscale_app.page import explorer_page

        return explorer_page
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
