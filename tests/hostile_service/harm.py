"""The answers that mean harm, as orders of faults, and the exit codes that commands may end with."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from audiencekit.emulator.faults.replies import HOSTILE_IDS

_UNAVAILABLE, _REFUSED = (69, 75), (3, 75)
_WAITS: Final = (
    *((6, {"reset": reset}) for reset in ("far_future", "past", "negative", "text", "huge", 1e8)),
    *((10, {"retry_after": after}) for after in (1e8, -1e8, "nan", "1e400", {"date": 1e8})),
)
AUDIENCES, LISTS = "*/custom_audiences", "*/do_not_reach_lists"
# Ids that are paths: out of the state directory, and farther.
FARTHER_ASTRAY, ASTRAY = HOSTILE_IDS[:2]
_COUNTS: Final = ("negative", "floats", "booleans", "strings", "huge", "both_short", "both_long")


@dataclass(frozen=True)
class Harm:
    """One such answer, to every call; with `late` only to those that make something or send people."""

    fault: int
    settings: dict[str, Any]
    codes: tuple[int, ...]
    late: bool = False

    def __str__(self) -> str:
        told = [str(value) for name, value in self.settings.items() if name not in ("where", "bytes", "depth", "match")]
        return "-".join([str(self.fault), *told, *["late"] * self.late])

    @property
    def is_wait(self) -> bool:
        """Whether it is a wait that the service asks for: it is read alike in every answer."""
        return self.fault in (6, 10)

    @property
    def order(self) -> dict[str, Any]:
        match = {"match": {"method": "POST"}} if self.late else {}
        return {"fault": self.fault, "times": None, **self.settings, **match}


def seed_of(first: str) -> int:
    """A seed with which this is the first of the hostile ids."""
    return next(seed for seed in itertools.count() if random.Random(seed).choice(HOSTILE_IDS) == first)


def _harms(*, late: bool) -> Iterator[Harm]:
    yield Harm(37, {"kind": "shown"}, (0, 75), late)
    yield Harm(37, {"kind": "all"}, (0, *_UNAVAILABLE), late)
    yield Harm(37, {"kind": "echo"}, _REFUSED, late)
    yield Harm(16, {"kind": "hostile_ids"}, (0, *_UNAVAILABLE), late)
    yield Harm(16, {"kind": "deep", "depth": 200_000}, _UNAVAILABLE, late)
    yield Harm(38, {"kind": "gzip"}, _UNAVAILABLE, late)
    yield Harm(38, {"kind": "endless"}, _UNAVAILABLE, late)
    yield Harm(31, {"kind": "huge_headers", "bytes": 50_000_000}, _UNAVAILABLE, late)
    yield Harm(15, {"kind": "truncated"}, _UNAVAILABLE, late)
    yield Harm(39, {"kind": "ids"}, (0, 2, 3, *_UNAVAILABLE), late)  # 2: no such audience
    yield Harm(39, {"kind": "shape"}, (0, *_UNAVAILABLE), late)
    yield Harm(30, {"status": 307}, _REFUSED, late)
    # A wait is read alike in every answer.
    for fault, settings in (_WAITS[0], _WAITS[-1]) if late else _WAITS:
        yield Harm(fault, settings, _UNAVAILABLE, late)


HARMS: Final = (
    *_harms(late=False),
    *_harms(late=True),
    *(
        Harm(16, {"kind": "hostile_ids", "seed": seed_of(ASTRAY), "match": {"path": path}}, (0, *_UNAVAILABLE))
        for path in (AUDIENCES, LISTS)
    ),
    *(Harm(17, {"kind": kind}, (0, 75), late=True) for kind in _COUNTS),
    *(
        Harm(16, {"kind": kind, "where": "before_apply"}, (0, 3, *_UNAVAILABLE))
        for kind in ("endless_pages", "circular_pages", "same_page")
    ),
    # Answers to no request; a machine that is busy reads both at once.
    *(Harm(41, {"kind": kind}, (0, *_UNAVAILABLE)) for kind in ("twice", "unasked")),
    Harm(41, {"kind": "packet"}, _UNAVAILABLE),
    Harm(41, {"kind": "late"}, _UNAVAILABLE),
)
