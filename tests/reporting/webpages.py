"""The numbers of a page, as a program reads them."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any


class PageNumbers(HTMLParser):
    """Each cell with a place in the JSON document; addresses that the page would load; and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.cells: dict[str, str] = {}
        self.loaded: list[str] = []
        self.text = ""
        self._key: str | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._key = given.get("data-key")
        self.loaded += [
            value for name in ("src", "href", "xlink:href") if (value := given.get(name)) and value[0] != "#"
        ]
        self.loaded += [tag] if tag in ("script", "iframe", "object", "embed", "link") else []

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._key is not None:
            self.cells[self._key] = data
            self._key = None


def number_at(document: Any, key: str) -> str:
    """The number of a JSON document at `key`, as a page writes it."""
    for name in key.split("."):
        document = document[int(name) if isinstance(document, list | tuple) else name]
    return f"{document:,}"
