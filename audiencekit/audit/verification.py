"""Whether an audit log is as it was written: every line signed, in its place, behind the one before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from audiencekit.audit.chain import FORM, Head, Keys, first_hash, hash_of, is_torn, parse_line


@dataclass(frozen=True, slots=True)
class VerifiedLog:
    """The result: the head of what is right, after how many entries the file begins, and the first fault, in words.

    `entries` are those in the file. `mended` counts tails that were taken away after a kill, and `is_torn` says that
    the last line is such a tail now. `fault` is empty for a log that is right.
    """

    head: Head | None
    after: int
    entries: int
    mended: int
    is_torn: bool
    fault: str

    def to_json(self) -> dict[str, Any]:
        """Return all of it."""
        return {
            "verified": not self.fault,
            "log": self.head.log if self.head else None,
            "entries": self.entries,
            "begins_after": self.after,
            "head": None if self.head is None else {"entries": self.head.number, "hash": self.head.hash},
            "mended": self.mended,
            "torn": self.is_torn,
            "fault": self.fault,
        }


def verify_log(lines: Iterable[bytes], keys: Keys, heads: Sequence[Head] = ()) -> VerifiedLog:
    """Return the result for the lines of a log, of which each kept head of `heads` was the end at its time.

    A log whose end was cut off is right without them: it is as it was at an earlier time.
    """
    walk = _Walk(keys)
    hashes: dict[int, str] = {}
    wanted = {head.number for head in heads}
    for number, line in enumerate(lines, start=1):
        walk.add(number, line)
        if walk.fault:
            break
        if walk.head is not None and walk.head.number in wanted:
            hashes.setdefault(walk.head.number, walk.head.hash)
    fault = walk.fault or walk.late or next(filter(None, (_fault_of(head, walk, hashes) for head in heads)), "")
    entries = 0 if walk.head is None else walk.head.number - walk.after
    return VerifiedLog(walk.head, walk.after, entries, walk.mended, walk.is_torn, fault)


def _fault_of(head: Head, walk: _Walk, hashes: dict[int, str]) -> str:
    """Return the fault that a kept head shows in a log whose lines are right; empty for none."""
    if walk.head is None or head.log != walk.head.log:
        return "the head that was kept is that of another log"
    if head.number > walk.head.number:
        missing = head.number - walk.head.number
        return f"the end of the log was cut off: at least {missing:,} entries are missing, which the kept head tells of"
    if head.number < walk.after:
        return (
            f"the kept head is that of entry {head.number:,}, and the log begins after entry {walk.after:,}, where a"
            " retention has cut it: the two cannot be compared"
        )
    if hashes.get(head.number) != head.hash:
        return f"entry {head.number:,} is not the one that the kept head tells of: the log was written anew"
    return ""


class _Walk:
    """A walk over the lines, up to the first that is wrong."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._place = 0  # of the last key that has signed
        self.head: Head | None = None
        self.after = self.mended = 0
        self.is_torn = False
        self.fault = ""

    @property
    def late(self) -> str:
        """The fault of a file that ends too early."""
        return "" if self.head is not None else "the log has no first line"

    def add(self, number: int, line: bytes) -> None:
        """Look at the next line."""
        if self.is_torn:
            self.fault = f"line {number - 1:,} is not whole, and another one follows"
        elif is_torn(line):
            self.is_torn = True
        else:
            self.fault = self._fault(number, line)

    def _fault(self, number: int, line: bytes) -> str:
        facts = parse_line(line)
        if facts is None:
            return f"line {number:,} is no line of an audit log, or was changed"
        place = self._keys.place(facts.get("key"))
        if place is None:
            return f"line {number:,} was signed by a key that is not known here, or its signer was changed"
        if not self._keys.has_signed(line, facts["key"]):
            return f"line {number:,} was changed: its signature does not fit"
        if place < self._place:
            return f"line {number:,} was signed by an earlier key than the line before"
        is_first = self.head is None
        fault = self._open(facts) if is_first else self._follow(number, facts, line)
        # An opening that a retention has written is signed later than the entries behind it.
        self._place = self._place if is_first else place
        return fault

    def _open(self, facts: dict[str, Any]) -> str:
        log, after, before = facts.get("log"), facts.get("after"), facts.get("hash")
        if facts.get("format") != FORM or not isinstance(log, str) or not isinstance(after, int):
            return "the first line is not the opening of a log: the beginning was cut off, or its lines were moved"
        if not isinstance(before, str) or (after == 0) != (before == first_hash(log)):
            return "the first line does not open this log"
        self.head, self.after = Head(log, after, before), after
        return ""

    def _follow(self, number: int, facts: dict[str, Any], line: bytes) -> str:
        assert self.head is not None  # noqa: S101
        if facts.get("number") != self.head.number + 1 or facts.get("previous") != self.head.hash:
            return f"line {number:,} does not follow the line before: lines were moved, added or taken out"
        self.head = Head(self.head.log, facts["number"], hash_of(line))
        self.mended += "mended" in facts
        return ""
