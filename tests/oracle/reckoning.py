"""The oracle: what must be on a list after a source was delivered, against what the service applied.

Small on purpose, and a stranger to both sides: nothing here is imported from the program. A person is a key set, the
set of (field, value) pairs of a row; an Update sets it, a Delete takes away every key set that shares a key.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FIELDS = ("email", "phone_number", "device_id", "handle", "platform_id", "partner_user_id")
RENAMED = {"twitter_id": "platform_id"}

KeySet = frozenset[tuple[str, str]]
Times = tuple[str | None, str | None]  # effective_at, expires_at; None is anything


@dataclass
class Members:
    """Key sets with their times."""

    times: dict[KeySet, Times] = field(default_factory=dict, repr=False)

    def apply(self, operation_type: str, keys: KeySet, times: Times) -> None:
        """One operation on one person."""
        if operation_type == "Update":
            self.times[keys] = times
        elif operation_type == "Delete":
            for held in [held for held in self.times if held & keys]:
                del self.times[held]
        else:
            raise ValueError("an operation is Update or Delete")


@dataclass(frozen=True)
class Verdict:
    """How many people are missing, are there unasked, or are there for another time than was meant."""

    lost: int
    unexpected: int
    changed: int

    @property
    def exact(self) -> bool:
        """Nothing of all that."""
        return not (self.lost or self.unexpected or self.changed)


def read_expected(path: Path, *, expires_at: str | None = None, skip_rows: Iterable[int] = ()) -> Members:
    """The members after every row of a CSV file of hashes, in row order, on a list that was empty.

    Its columns are named as the fields; `operation`, `effective_at` and `expires_at` are optional, and `expires_at`
    stands for a missing one. Cells hold several values with a space between. `skip_rows`, from 1, are those that the
    service refused.
    """
    members, skipped = Members(), set(skip_rows)
    with path.open(newline="", encoding="utf-8") as lines:
        for number, row in enumerate(csv.DictReader(lines), 1):
            keys = frozenset((name, text) for name in FIELDS for text in (row.get(name) or "").split())
            if keys and number not in skipped:
                times = (row.get("effective_at") or None, row.get("expires_at") or expires_at)
                members.apply((row.get("operation") or "update").capitalize(), keys, times)
    return members


def read_applied(log: Iterable[str | bytes], list_id: str) -> Members:
    """The members after every operation on a list that the lines of `/__log` tell of, in the order of `seq`."""
    members, last = Members(), 0
    for line in log:
        entry: Mapping[str, Any] = json.loads(line)
        if entry["seq"] <= last:
            raise ValueError("the log is not in order")
        last = entry["seq"]
        if entry["list_id"] == list_id:
            for user in entry["users"]:
                members.apply(entry["operation_type"], _keys(user), (entry["effective_at"], entry["expires_at"]))
    return members


def _keys(user: Mapping[str, list[str]]) -> KeySet:
    return frozenset((RENAMED.get(name, name), text) for name, texts in user.items() for text in texts)


def compare(expected: Members, applied: Members) -> Verdict:
    """Lost, unexpected, changed: all nothing when a delivery was exact."""
    both = expected.times.keys() & applied.times.keys()
    return Verdict(
        lost=len(expected.times.keys() - both),
        unexpected=len(applied.times.keys() - both),
        changed=sum(not _same(expected.times[keys], applied.times[keys]) for keys in both),
    )


def _same(expected: Times, applied: Times) -> bool:
    return all(wanted in (None, given) for wanted, given in zip(expected, applied, strict=True))
