"""Snippets that embed the page where courses live. The browser fills in `{src}` and `{title}`."""

_FRAME = (
    '<iframe src="{src}" title="{title}" loading="lazy" allow="clipboard-write; fullscreen"'
    ' style="width: 100%; height: 470px; max-height: 100vh; border: 0"></iframe>'
)
_INDENTED = _FRAME.replace(' style="', '\n           style="')

#: Snippets by the name of the place.
SNIPPETS = {
    "HTML": _FRAME,
    "MyST": "```{raw} html\n" + _FRAME + "\n```",
    "Quarto": "```{=html}\n" + _FRAME + "\n```",
    "Sphinx": ".. raw:: html\n\n   " + _INDENTED,
    "Moodle": "<!-- In the editor's HTML view -->\n" + _FRAME,
    "Canvas": (
        "<!-- In the HTML editor; the frame asks Canvas for its height -->\n"
        '<p><iframe src="{src}" title="{title}" loading="lazy"'
        ' width="100%" height="470" style="border: 0"></iframe></p>'
    ),
    "reveal.js": (
        "<section>\n"
        '  <iframe data-src="{src}" title="{title}" loading="lazy"\n'
        '          style="width: 100%; height: 75vh; border: 0"></iframe>\n'
        "</section>"
    ),
}
