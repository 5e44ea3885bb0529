"""The elements of a page, read without a browser."""

from html.parser import HTMLParser


class Elements(HTMLParser):
    """The start tags of a page, with their attributes."""

    def __init__(self, text: str):
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of each element of a kind."""
        return [attributes for name, attributes in self.found if name == tag]
