"""The sizes of audiences that the service gave to this machine, one for each day, for the history on a page.

A size is the number of users of the audience who were active in the last 90 days. The sizes are optional, like the
names (`known_audiences`): a size that cannot be read or written is simply not known.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

from audiencekit.destinations.known_audiences import AccountDocument
from audiencekit.errors import AudiencekitError
from audiencekit.service_words import is_service_id

FILE: Final = "audience-sizes.json"
_FORM: Final = "audiencekit-audience-sizes/1"
MAX_DAYS: Final = 800  # of one audience; older ones go
_DATE: Final = len("2026-01-01")


class AudienceSizes:
    """The sizes for one account, by its id, in the state directory `state_dir`."""

    def __init__(self, state_dir: Path, account_id: str | None) -> None:
        self._document, self._account_id = AccountDocument(state_dir, FILE, _FORM), account_id or ""

    def of(self, audience_id: str) -> dict[str, int]:
        """Return {time: size}, oldest first; the last size of each day. Empty if nothing is known."""
        with contextlib.suppress(AudiencekitError, OSError):
            return _plain(self._document.read().get(self._account_id, {}).get(audience_id))
        return {}

    def audiences(self) -> list[str]:
        """Return the ids of the audiences with a known size."""
        with contextlib.suppress(AudiencekitError, OSError):
            return [one for one in self._document.read().get(self._account_id, {}) if is_service_id(one)]
        return []

    @staticmethod
    def accounts(state_dir: Path) -> list[str]:
        """Return the ids of the accounts with a known size of an audience."""
        with contextlib.suppress(AudiencekitError, OSError):
            return [one for one in AccountDocument(state_dir, FILE, _FORM).read() if is_service_id(one)]
        return []

    def note(self, audience_id: str, size: object, seen_at: str) -> None:
        """Store the size that the service gave at `seen_at` (UTC, as in reports); ignore anything but a number."""
        if type(size) is not int or not self._account_id:
            return
        with contextlib.suppress(AudiencekitError, OSError):
            own = self._document.read().get(self._account_id, {})
            days = {
                moment: known
                for moment, known in _plain(own.get(audience_id)).items()
                if moment[:_DATE] != seen_at[:_DATE]
            }
            kept = dict(sorted({**days, seen_at: size}.items())[-MAX_DAYS:])
            self._document.replace(self._account_id, {**own, audience_id: kept})


def _plain(sizes: object) -> dict[str, int]:
    found = sizes.items() if isinstance(sizes, dict) else ()
    return {moment: size for moment, size in found if isinstance(moment, str) and type(size) is int}
