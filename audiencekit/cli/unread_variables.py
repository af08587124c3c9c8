"""Environment variables with the prefix AUDIENCEKIT_ that are not read. Their values are never shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Final

from audiencekit.settings import PREFIX, SECRET_NAMES, VARIABLES, is_read, own_prefix

_NEAR: Final = 0.75  # of the letters are the same, in the same order
_OF_ACCOUNT: Final = own_prefix("")[:-1]


def unread_variables(environment: Mapping[str, str]) -> Iterator[str]:
    """Return a note on each, with the nearest known name. They are no error: another program may have set them."""
    for variable in sorted(environment):
        if variable.upper().startswith(PREFIX) and not is_read(variable):
            near = _nearest(variable.upper())
            yield f"{variable} is not read: " + (f"perhaps {near} is meant" if near else "no setting has this name")


def _nearest(variable: str) -> str:
    name = variable.removeprefix(PREFIX)
    found = {PREFIX + known: _likeness(name, known) for known in VARIABLES}
    if variable.startswith(_OF_ACCOUNT):
        for secret in map(str.upper, SECRET_NAMES):  # behind the name of an account, which can be any
            parts = variable.rsplit("_", secret.count("_") + 1)
            tail = "_".join(parts[1:])
            found[f"{parts[0]}_{secret}"] = _likeness(tail, secret)
    best = max(found, key=found.__getitem__)
    return best if found[best] >= _NEAR else ""


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()
