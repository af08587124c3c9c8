"""The names of the audiences that this machine has seen, kept so that runs and the shell can name them.

It is a help and no truth: what cannot be read or written is not known. An audience that another program has renamed has
its old name here until it is looked at again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from audiencekit.destinations.accountdocument import AccountDocument
from audiencekit.errors import AudiencekitError, UsageError
from audiencekit.serviceids import is_service_id

FILE: Final = "audiences.json"
_FORM: Final = "audiencekit-audiences/1"
_MOST_NAMED: Final = 5  # audiences that a hint names


class KnownAudiences:
    """Of one account, by its id, in the state directory `state_dir`."""

    def __init__(self, state_dir: Path, account_id: str | None) -> None:
        self._document, self._account_id = AccountDocument(state_dir, FILE, _FORM), account_id or ""

    def names(self) -> dict[str, str]:
        """{id: name}; empty where nothing is known."""
        with contextlib.suppress(AudiencekitError, OSError):
            return _plain(self._document.read().get(self._account_id, {}))
        return {}

    def note(self, names: Mapping[str, str], *, gone: Iterable[str] = ()) -> None:
        """Keep these, without those that are `gone`."""
        with contextlib.suppress(AudiencekitError, OSError):
            before = _plain(self._document.read().get(self._account_id, {}))
            left = {one: name for one, name in {**before, **names}.items() if one not in set(gone)}
            if left != before and self._account_id:
                self._document.replace(self._account_id, left)

    def find(self, given: str) -> str:
        """The id of the audience that `given` names: an id, or the name of just one that is known.

        Raises UsageError, with the ids that can be meant.
        """
        if is_service_id(given):
            return given
        return the_one(given, self.names())


def the_one(given: str, names: Mapping[str, str]) -> str:
    """The id of the only audience of `names` that is called `given`. Raises UsageError, with the ids to choose from."""
    same = [one for one, name in names.items() if name == given]
    if len(same) == 1:
        return same[0]
    if same:
        raise UsageError(f"{len(same)} audiences are called {given!r}", hint=f"give an id: {', '.join(sorted(same))}")
    start = given.casefold()
    near = sorted(f"{one} {name!r}" for one, name in names.items() if name.casefold().startswith(start))[:_MOST_NAMED]
    hint = f"give an id, perhaps: {', '.join(near)}" if near else "`audiencekit audiences list` shows ids and names"
    raise UsageError(f"no audience is called {given!r}", hint=hint)


def _plain(names: Mapping[str, object]) -> dict[str, str]:
    return {one: name for one, name in names.items() if is_service_id(one) and isinstance(name, str)}
