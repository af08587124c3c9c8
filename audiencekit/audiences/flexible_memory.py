"""The flexible audiences that this machine has created: the service does not show what they are made of."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from audiencekit.audiences.flexible import Document, FlexibleAudience, leaves, read_audience, to_definition
from audiencekit.audiences.flexible_creation import Creation
from audiencekit.destinations.known_audiences import AccountDocument
from audiencekit.errors import AudiencekitError

FILE: Final = "flexible-audiences.json"
_FORM: Final = "audiencekit-flexible-audiences/1"


class KnownFlexible:
    """The definitions of one account, by the id of the audience, in the state directory `state_dir`.

    They are a help and no truth: what cannot be read or written is not known.
    """

    def __init__(self, state_dir: Path, account_id: str | None) -> None:
        self._document, self._account_id = AccountDocument(state_dir, FILE, _FORM), account_id or ""

    def all(self) -> dict[str, FlexibleAudience]:
        """Return {id: audience}, with the ids of the audiences that each is made of; empty if nothing is known."""
        found = {audience_id: read_audience(definition) for audience_id, definition in self._read().items()}
        return {audience_id: audience for audience_id, audience in found.items() if audience is not None}

    def note(self, document: Document, created: Iterable[Creation]) -> None:
        """Store the audiences of `document`, whose names were looked up, under the ids of `created`."""
        pairs = zip(created, document.audiences, strict=True)
        new = {creation.id: to_definition(audience) for creation, audience in pairs if creation.id}
        with contextlib.suppress(AudiencekitError, OSError):
            if self._account_id:
                self._document.replace(self._account_id, {**self._read(), **new})

    def above(self, audience_id: str) -> dict[str, FlexibleAudience]:
        """Return those that are made of the audience, directly or through other flexible audiences."""
        known, below, found = self.all(), {audience_id}, dict[str, FlexibleAudience]()
        while more := {
            one: audience
            for one, audience in known.items()
            if one not in found and any(leaf.audience in below for leaf in leaves(audience.root))
        }:
            found |= more
            below |= more.keys()
        return found

    def _read(self) -> dict[str, Any]:
        with contextlib.suppress(AudiencekitError, OSError):
            return self._document.read().get(self._account_id, {})
        return {}
