"""One line of the activity stream -> an event. The specification does not show its form (part 0, section 6)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from audiencekit.api.documents import Document, read_document
from audiencekit.errors import MalformedAnswer


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a person: `document` is all that the service says of it, which is personal data."""

    document: Document = field(repr=False)

    @property
    def event_type(self) -> str | None:
        """Such as `profile.update.bio`; None where the service does not say."""
        return self._text(self._data.get("event_type"))

    @property
    def user_id(self) -> str | None:
        """The person that it happened to; None where the service does not say."""
        given = self._data.get("filter")
        return self._text(given.get("user_id")) if isinstance(given, dict) else None

    @property
    def created_at(self) -> str | None:
        """The time, as the service writes it; None where it does not."""
        return self._text(self._data.get("created_at"))

    @property
    def payload(self) -> Any:
        """The content of the event, as the service gave it."""
        return self._data.get("payload")

    @property
    def _data(self) -> Document:
        data = self.document.get("data")
        return data if isinstance(data, dict) else self.document

    @staticmethod
    def _text(given: object) -> str | None:
        return given if isinstance(given, str) else None


def read_event(line: bytes, *, status: int) -> Event:
    """The event of a line. Raises MalformedAnswer for a line that is no JSON object."""
    document = read_document(line)
    if document is None:
        raise MalformedAnswer("a line of the stream is not one JSON object", status=status)
    return Event(document)
