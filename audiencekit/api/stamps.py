"""The stamp of a sync in the description of its audience: who changed the audience last.

The description is the one field of an audience that can be written and read back and has no meaning for the service
(specification part 2, sections 2 and 4.3). A stamp follows the text that people wrote there, and nothing else is
changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from audiencekit.api.answers import Answer

# `[audiencekit sync 1a2b-1f3a9c0b7d2e6a41]`: of which audience, so that a copied description stamps no other.
_STAMP: Final = re.compile(
    r"\[audiencekit sync (?P<audience>[0-9A-Za-z]+)-(?P<token>[0-9a-f]{16})(?:, (?P<since>upload|removal))?\]"
)


# Changes by an upload after a sync: it only put people in, or it took people out.
UPLOAD, REMOVAL = "upload", "removal"


@dataclass(frozen=True, slots=True)
class Stamp:
    """The random `token` of one step of a sync, and what an upload did `since`: UPLOAD, REMOVAL, or nothing."""

    audience_id: str
    token: str
    since: str = ""

    def __str__(self) -> str:
        return f"[audiencekit sync {self.audience_id}-{self.token}{self.since and f', {self.since}'}]"

    def followed_by(self, what: str) -> Stamp:
        """Return the stamp after an upload of this kind; a REMOVAL stays, whatever comes after it."""
        return self if self.since == REMOVAL else replace(self, since=what)


def find_stamp(description: str, audience_id: str) -> Stamp | None:
    """Return the last stamp of this audience in `description`."""
    found = [match for match in _STAMP.finditer(description) if match["audience"] == audience_id]
    return Stamp(audience_id, found[-1]["token"], found[-1]["since"] or "") if found else None


def with_stamp(description: str, stamp: Stamp) -> str:
    """Return `description` with `stamp` in place of the last one of its audience, or appended."""
    found = [match for match in _STAMP.finditer(description) if match["audience"] == stamp.audience_id]
    if found:
        start, end = found[-1].span()
        return f"{description[:start]}{stamp}{description[end:]}"
    return f"{description} {stamp}" if description else str(stamp)


def description_of(answer: Answer) -> str | None:
    """Return the description of an audience, "" without one; None when the service does not show this field."""
    shown = answer.data.get("description", False)
    if shown is None:
        return ""
    return shown if isinstance(shown, str) else None
