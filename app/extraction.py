"""For Babel: the messages of the page's dictionaries, each in a context of its own, which is its key.

`babel.cfg` names it; Babel's own extractor finds the sentences of errors.
"""

import ast
from collections.abc import Iterator, Sequence
from typing import IO, Any

Found = tuple[int, str, tuple[str, ...], list[str]]


def extract_messages(
    fileobj: IO[bytes], keywords: Sequence[str], comment_tags: Sequence[str], options: dict[str, Any]
) -> Iterator[Found]:
    """Find the entries of dictionaries of messages in a Python file.

    Args:
        fileobj: the file.
        keywords: not used, nor are the others: the interface is Babel's.
        comment_tags: as above.
        options: as above.

    Yields:
        The line, `pgettext` or `npgettext`, the key with the text or with its singular and plural, and no comments.
    """
    for node in ast.walk(ast.parse(fileobj.read())):
        if isinstance(node, ast.Dict):
            yield from filter(None, map(_entry, node.keys, node.values))


def _entry(key: ast.expr | None, value: ast.expr) -> Found | None:
    text = _constant(value)
    if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
        return None
    if text is not None:
        return (key.lineno, "pgettext", (key.value, text), []) if key.value not in ("one", "other") else None
    if isinstance(value, ast.Dict):
        forms = {name.value: _constant(form) for name, form in zip(value.keys, value.values, strict=True)}
        return key.lineno, "npgettext", (key.value, str(forms["one"]), str(forms["other"])), []
    return None


def _constant(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
