"""The end of a live run through each fault: the errors that the client may see, and the exit code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from audiencekit.delivery.faults import FAULTS, RetryClass


class At(StrEnum):
    """A place in a run."""

    FIRST = "first request"
    MIDDLE = "middle"
    LAST = "last request"
    ONLY = "only request"
    TWICE = "twice running"
    TOO_OFTEN = "more often than one request is tried"


@dataclass(frozen=True)
class Case:
    """One fault. `exit_code` is that of the first process; `codes` where a place leads to another one.

    `spared` are the places where our client gives the fault no occasion. `over` is how the client gets to the service.
    `is_silent` says that it is only its patience that tells the client of the fault.
    """

    fault: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    exit_code: int = 0
    codes: Mapping[str, int] = field(default_factory=dict)
    spared: frozenset[At] = frozenset()
    over: str = "http"
    is_lasting: bool = False
    is_silent: bool = False

    def __str__(self) -> str:
        return str(self.fault)

    def code(self, at: At) -> int:
        """The exit code of the process that meets the fault there."""
        return self.codes.get(at, self.exit_code)

    @property
    def order(self) -> dict[str, Any]:
        """The order of one strike at the next call."""
        needs_path = self.settings.get("where") != "connect" and self.fault not in (12, 32, 35)
        match = {"match": {"method": "POST", "path": "*/users"}} if needs_path else {}
        return {"fault": self.fault, **match, **self.settings}

    @property
    def answers(self) -> tuple[RetryClass, ...]:
        """The classes of which the errors may be."""
        return FAULTS[self.fault - 1].answers


_EVERYWHERE: Final = frozenset(At)
# Nothing is known to be on the list yet: the run ends as refused for good, and not as one that is half done.
_REFUSED: Final = {At.FIRST: 3, At.ONLY: 3}
# Doubted for good after three re-sends; or, with a deadline each time, longer than an outage is waited for.
_TOO_OFTEN: Final = {At.TOO_OFTEN: 75}
CASES: Final = (
    Case(1, {"delay_seconds": 0.05}),
    Case(2, {"delay_seconds": 5.0}, is_silent=True),
    Case(3, {"delay_seconds": 0.1, "meanwhile": "reset"}),
    Case(3, {"delay_seconds": 0.1, "meanwhile": "status", "status": 503}),
    Case(3, {"delay_seconds": 0.1, "meanwhile": "status", "status": 500, "body": "json"}),
    Case(4, {"reset": 2}),
    Case(5, {"reset": 30, "account_reset": 2}),
    Case(6, {"reset": "past"}),
    Case(7, {"reset": 1, "times": 9}),
    Case(8, {"status": 502, "body": "html"}),
    Case(9, {"status": 504, "body": "empty"}),
    Case(10, {"retry_after": 1}),
    Case(11, {"status": 423}),
    Case(12, {"kind": "reset"}),
    Case(13, {"where": "after_apply"}),
    Case(14, {"where": "headers"}, spared=_EVERYWHERE),  # no connection is kept
    Case(15, {"kind": "chunk"}),
    Case(16, {"kind": "html"}, codes=_TOO_OFTEN),
    Case(17, {"kind": "both_short"}),
    Case(18, {"kind": "errors"}, codes=_TOO_OFTEN),
    Case(19, {"status": 413, "most_operations": 3}, is_lasting=True),
    Case(20, {"bad": [0]}),
    Case(21, is_lasting=True, spared=_EVERYWHERE),
    Case(22, exit_code=77, is_lasting=True),
    Case(23, {"skew_seconds": 600}, is_lasting=True),
    Case(24, {"kind": "signature"}, exit_code=77, is_lasting=True),
    Case(25, {"kind": "deleted"}, exit_code=75, codes=_REFUSED, is_lasting=True),
    Case(26, {"delay_seconds": 0.02}),
    Case(27, {"delay_seconds": 0.02}),
    Case(28, is_silent=True),
    Case(29, {"bytes_per_second": 20.0}, codes=_TOO_OFTEN, is_silent=True),
    Case(30, {"status": 307}, exit_code=75, codes=_REFUSED),
    Case(31, {"kind": "huge_headers"}),
    Case(32, {"kind": "expired"}, exit_code=75, codes=_REFUSED, over="https", is_lasting=True),
    Case(35, {"kind": "auth"}, over="proxy", spared=_EVERYWHERE, is_lasting=True),
    Case(36, is_lasting=True, spared=_EVERYWHERE),
    Case(37, {"kind": "all"}, is_lasting=True),
    Case(38, {"kind": "gzip"}),
    Case(38, {"kind": "endless"}),
    Case(39, {"kind": "shape"}),
    *(Case(41, {"kind": kind, "delay_seconds": 0.005}) for kind in ("twice", "late", "unasked", "packet")),
)
# The client's own disk and process: tests/crashes. Lists, which an upload does not ask for, and bodies that do not fit
# into a socket: tests/api.
OUTSIDE: Final = frozenset({33, 34, 40, 42})
