"""QR codes of links, drawn here and not by a service."""

import io
from typing import Any

import segno

from lossscale_core import InputError


def qr_data(link: str) -> dict[str, Any]:
    """Draw a link as a QR code.

    Args:
        link: the text to encode.

    Raises:
        InputError: it is too long for a QR code, or no text.

    Returns:
        `path`, an SVG path of strokes one module wide, and `size`, the code's width in modules
        with its quiet zone.
    """
    try:
        code = segno.make(link, error="l", boost_error=False, micro=False)
    except ValueError as error:
        raise InputError("This link is too long for a QR code.") from error
    drawing = io.BytesIO()
    code.save(drawing, kind="svg", xmldecl=False, svgns=False, omitsize=True)
    _, _, from_path = drawing.getvalue().decode().partition(' d="')
    return {"path": from_path.partition('"')[0], "size": code.symbol_size()[0]}
