"""A fault as it was ordered, and the situation in which it may strike."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from audiencekit.emulator.envelope import Answer


class Place(StrEnum):
    """Where in the life of a request a fault strikes, in the order in which a request comes by."""

    CONNECT = "connect"
    HEADERS = "headers"
    BODY = "body"
    BEFORE_APPLY = "before_apply"
    LATE_APPLY = "late_apply"
    AFTER_APPLY = "after_apply"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One order: what, where, for which calls and how often. `settings` holds every setting of its kind."""

    number: int
    place: Place
    method: str | None = None
    path: str | None = None  # exact, or with * for any text
    nth: int | None = None  # the first matching call that is struck, from 1; None with `share`
    share: float | None = None  # the probability with which each matching call is struck
    times: int | None = 1  # None for ever
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)

    def concerns(self, method: str, path: str) -> bool:
        """Return whether a call is one of those that may be struck."""
        return self.method in (None, method) and (self.path is None or fnmatchcase(path, self.path))

    def document(self) -> dict[str, Any]:
        """Return the order as JSON, its defaults written out."""
        match = {name: text for name, text in (("method", self.method), ("path", self.path)) if text is not None}
        often = {"nth": self.nth} if self.share is None else {"p": self.share}
        return {
            "fault": self.number,
            "where": self.place.value,
            **({"match": match} if match else {}),
            **often,
            "times": self.times,
            "seed": self.seed,
            **self.settings,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """The facts of a call when it comes to a place. `now` is the time that the emulator claims.

    `served` counts the earlier requests of its connection; `answer` is None until the call was applied.
    """

    place: Place
    method: str = ""
    path: str = ""
    ids: Mapping[str, str] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)
    answer: Answer | None = None
    now: float = 0.0
    served: int = 0


@dataclass(frozen=True, slots=True)
class Strike:
    """A fault that strikes now."""

    fault: Fault
    situation: Situation
    chance: random.Random

    def __getitem__(self, name: str) -> Any:
        return self.fault.settings[name]
