"""Queries of the data API, whose refusals are problems (specification part 0, sections 2.2 and 4.8)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from audiencekit.emulator.envelope import RefusalError, refuse_problem
from audiencekit.emulator.signatures import Pair

_WORD: Final = re.compile(r"[a-z0-9_.]+", re.ASCII)


def invalid(detail: str) -> RefusalError:
    """400: the request cannot be read."""
    kind = "https://api.x.com/2/problems/invalid-request"
    return refuse_problem(400, "Invalid Request", detail, kind)


class Query:
    """The query of a call, read one parameter at a time. Every fault raises RefusalError (400)."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._unread: dict[str, str] = {}
        for raw_name, raw_text in pairs:
            name, text = raw_name.decode("utf-8", "replace"), raw_text.decode("utf-8", "replace")
            if name in self._unread:
                raise invalid(f"The query parameter [{name}] is given more than once")
            self._unread[name] = text

    def text(self, name: str) -> str | None:
        """Return a parameter as it came; None when it is not given."""
        return self._unread.pop(name, None)

    def words(self, name: str, removed: Collection[str] = ()) -> list[str]:
        """Return a comma-separated list that has none of `removed`; empty when it is not given."""
        given = self.text(name)
        if given is None:
            return []
        listed = given.split(",")
        for word in listed:
            if not _WORD.fullmatch(word) or word in removed:
                raise invalid(f"The query parameter [{name}] has a value that is none of its own")
        return listed

    def finish(self) -> None:
        """Refuse parameters that were not read."""
        for name in self._unread:
            raise invalid(f"The query parameter [{name}] is not one of this endpoint")
