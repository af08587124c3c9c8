"""Hide small counts on a page, so that they cannot be computed from the counts that are shown.

A count below FLOOR may point at single people. Sums would reveal it, such as the rows of the list or the values of a
kind. So the other counts are rounded, to tens or more, until each small count could have another value: until moving a
row or a value from one count to another changes nothing that the page shows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Final, TypeAlias

from audiencekit.identifiers.kinds import Reason

FLOOR: Final = 10  # people; a smaller cell of a table may point at one of them

Document: TypeAlias = Mapping[str, Any]
Counts: TypeAlias = Mapping[str, int]  # by their places in the document
Move: TypeAlias = Mapping[str, int]  # a change of counts that keeps all sums that hold between them

PEOPLE: Final = "people"  # rows, each person once; no place in the document
REACHED: Final = "reached"  # of them, those who are, or would be, at the service
BROKEN: Final = "broken"  # rejected rows that have values, none of which can be used
# A row has one of these; all others are of values.
REASONS_OF_ROWS: Final = frozenset(
    {
        *(Reason.RAGGED, Reason.ENCODING, Reason.TOO_LARGE),
        *(Reason.UNKNOWN_OPERATION, Reason.NO_IDENTIFIER, Reason.REFUSED_BY_SERVICE),
    }
)
_AGAIN: Final = frozenset({"duplicate", "superseded"})  # rows of people who are in the list already
_NOUNS: Final = "people|person|digests?|rows?|records?|values?|numbers?|addresses|address|members?"
_SMALL: Final = re.compile(
    rf"(?<![\d.,])[1-{FLOOR - 1}] (?:(?P<of>of (?:them|[\d,]+ [a-z]+))|(?P<noun>{_NOUNS}))\b"
    r"(?: (?P<verb>is|has|was)\b)?"
)
# Counts behind a word: `(no_country 3, placeholder 2)`, `the most by 7`.
_SMALL_BEHIND: Final = re.compile(rf"((?:(?<=\()|(?<=[:,] ))[A-Za-z_]+|the most by) [1-{FLOOR - 1}](?=[,:;)]|$)")
_PLURAL: Final = {"person": "people", "is": "are", "has": "have", "was": "were", "address": "addresses"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a table: its text, and its place in the JSON document; None if it is derived."""

    text: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """Counts as a page shows them: exact, or to a whole number of `step`s. Those `fixed` by other counts are exact."""

    step: int
    fixed: frozenset[str] = frozenset()

    def text(self, key: str, number: int) -> str:
        """Return the count, "about" the count, or that it is below a number."""
        least = max(FLOOR, self.step)
        if key in self.fixed or not number:
            return f"{number:,}"
        if number < least:
            return f"fewer than {least:,}"
        return f"{number:,}" if self.step == 1 else f"about {self.rounded(key, number):,}"

    def rounded(self, key: str, number: int) -> int:
        """Return the count for a picture or a share; 0 for one that is not shown."""
        if key in self.fixed:
            return number
        return 0 if number < max(FLOOR, self.step) else (number + self.step // 2) // self.step * self.step

    def cell(self, key: str, number: int) -> Cell:
        """Return the count for a table; only an exact one has its place in the document."""
        text = self.text(key, number)
        return Cell(text, key if text == f"{number:,}" and "." in key else None)


TENS: Final = Shown(FLOOR)  # counts that are to be compared with those of other days


def shown_counts(
    counts: Counts, moves: Sequence[Move], *, printed: Collection[int] = (), step: int = 1
) -> Shown | None:
    """Return the finest way to show the counts that hides the small ones, from `step` on; None if there is none.

    `printed` are numbers in the texts of the page.
    """
    fixed = frozenset(counts.keys() - {key for move in moves for key in move})
    small = [key for key, number in counts.items() if 0 < number < FLOOR and key not in fixed]
    most = 100 * max([FLOOR, *counts.values()])
    while step < most:
        shown = Shown(step, fixed)
        hidden: set[str] = set()
        for move in moves:
            if _is_unseen(move, 1, counts, shown, printed) or _is_unseen(move, -1, counts, shown, printed):
                hidden.update(move)
        if hidden.issuperset(small):
            return shown
        step *= 10
    return None


def _is_unseen(move: Move, sign: int, counts: Counts, shown: Shown, printed: Collection[int]) -> bool:
    """Whether the page would be the same after the move."""
    return all(
        counts[key] not in printed and shown.text(key, counts[key]) == shown.text(key, counts[key] + sign * change)
        for key, change in move.items()
    )


# --- The counts of a report or a plan, and the moves between them ---


def shown_document(document: Document, *, is_floored: bool, step: int = 1) -> Shown | None:
    """Return how to show the counts of a report or a plan: all exact unless `is_floored`; None if none may be shown.

    The counts of rows and of changes stay exact as well, unless one of them is small, or `step` is above 1.
    """
    counts = list_counts(document) | row_counts(document)
    if not is_floored:
        return Shown(1, frozenset(counts))
    moves: list[Move] = list_moves(document)
    if step > 1 or any(0 < number < FLOOR for number in row_counts(document).values()):
        moves += _people_moved(document)
    known = [{key: change for key, change in move.items() if key in counts} for move in moves]
    return shown_counts(counts, known, printed=printed_numbers(document), step=step)


def row_counts(document: Document) -> dict[str, int]:
    """Return the known counts of rows, people and changes, by their places in the document."""
    rows = {name: number for name, number in document["rows"].items() if number is not None}
    changes = {name: number for name, number in (document.get("changes") or {}).items() if type(number) is int}
    counts = {f"rows.{name}": number for name, number in rows.items()}
    counts |= {f"changes.{name}": number for name, number in changes.items()}
    if "read" in rows:
        counts[PEOPLE] = rows["read"] - sum(rows.get(name, 0) for name in _AGAIN)
    if "rejected" in rows:
        of_rows = sum(number for cause, number in document["rejections"].items() if cause in REASONS_OF_ROWS)
        counts[BROKEN] = max(rows["rejected"] - of_rows, 0)
    if arrived(document) <= rows.keys():
        counts[REACHED] = sum(rows[name] for name in arrived(document))
    return counts


def arrived(document: Document) -> set[str]:
    """Return the outcomes of rows that are, or would be, at the service."""
    return {"sent", *({"unchanged"} & document["rows"].keys()), *(() if "state" in document else {"pending"})}


def list_counts(document: Document) -> dict[str, int]:
    """Return the counts of values and of rows by kind, by their places in the document."""
    counts = {f"rejections.{cause}": number for cause, number in document["rejections"].items()}
    for kind, numbers in document["identifiers"].items():
        counts |= {f"identifiers.{kind}.{name}": numbers[name] for name in ("present", "valid", "rejected")}
    counts |= {f"combinations.{place}.rows": each["rows"] for place, each in enumerate(_combined(document))}
    return counts


def list_moves(document: Document) -> list[Move]:
    """Return the moves to hide: a row with other kinds, a value more or less, a value with another cause of loss."""
    return [*_rows_moved(document), *_values_moved(document)]


def _rows_moved(document: Document) -> Iterator[Move]:
    for (place, one), (other_place, other) in combinations(enumerate(_combined(document)), 2):
        move = {f"combinations.{place}.rows": 1, f"combinations.{other_place}.rows": -1}
        changes = {kind: (kind in one["kinds"]) - (kind in other["kinds"]) for kind in document["identifiers"]}
        changes = {kind: change for kind, change in changes.items() if change}
        valid = {f"identifiers.{kind}.valid": change for kind, change in changes.items()}
        yield {**move, **valid, **{f"identifiers.{kind}.present": change for kind, change in changes.items()}}
        if len(changes) == 1:  # the value may be there all the same, and be lost
            ((kind, change),) = changes.items()
            for cause in _causes(document, of_rows=False):
                yield {**move, **valid, f"identifiers.{kind}.rejected": -change, cause: -change}


def _values_moved(document: Document) -> Iterator[Move]:
    causes = _causes(document, of_rows=False)
    for kind, numbers in document["identifiers"].items():
        if numbers["rejected"]:
            lost = {f"identifiers.{kind}.rejected": 1, f"identifiers.{kind}.present": 1}
            yield from ({**lost, cause: 1} for cause in causes)
        if not _combined(document):
            yield {f"identifiers.{kind}.valid": 1, f"identifiers.{kind}.present": 1}
    for group in (causes, _causes(document, of_rows=True)):
        yield from ({one: 1, other: -1} for one, other in combinations(group, 2))
    for cause, value in product(_causes(document, of_rows=True), _lost_values(document)):
        yield {**value, cause: -1, BROKEN: 1}  # a row with such a value instead


def _people_moved(document: Document) -> Iterator[Move]:
    """Return the moves of single people: one with another outcome, one more, one who is rejected."""
    outcomes = [name for name in document["rows"] if name != "read" and document["rows"][name] is not None]
    placed = {name: _counted(document, name) for name in outcomes}
    usable = [name for name in outcomes if name != "rejected"]
    for one, other in combinations(usable, 2):
        yield _sum(placed[one], placed[other], sign=-1)
    for outcome, values in product(usable, _usable_values(document)):
        yield _sum(_sum(placed[outcome], values), {"rows.read": 1})
    if "rejected" in outcomes:
        broken = [
            *({**lost, BROKEN: 1} for lost in _lost_values(document)),
            *({cause: 1} for cause in _causes(document, of_rows=True)),
        ]
        yield from (_sum(_sum(placed["rejected"], lost), {"rows.read": 1}) for lost in broken)
        for outcome, values, lost in product(usable, _usable_values(document), broken):
            yield _sum(_sum(placed["rejected"], lost), _sum(placed[outcome], values), sign=-1)
        if Reason.REFUSED_BY_SERVICE in document["rejections"]:  # such a row has its identifiers
            yield _sum({**placed["rejected"], f"rejections.{Reason.REFUSED_BY_SERVICE}": 1}, placed["sent"], sign=-1)
    if document.get("changes"):
        yield {"changes.removals": 1, "changes.members": 1}
        yield {"changes.returned": 1}
        if "unchanged" in outcomes:
            yield {"rows.sent": 1, "changes.renewals": 1, "rows.unchanged": -1, "changes.unchanged": -1}


def _counted(document: Document, outcome: str) -> dict[str, int]:
    """Return the counts of which a row with this outcome is a part, but for that of all rows."""
    found = {f"rows.{outcome}": 1}
    found |= {} if outcome in _AGAIN else {PEOPLE: 1}
    found |= {REACHED: 1} if outcome in arrived(document) else {}
    if document.get("changes"):
        renews = document.get("operation") == "renew"
        if outcome == "unchanged" or (renews and outcome == "sent"):
            name = "unchanged" if outcome == "unchanged" else "renewals"
            found |= {f"changes.{name}": 1, "changes.members": 1, "changes.members_after": 1}
        elif outcome == "sent":
            found |= {"changes.additions": 1, "changes.members_after": 1}
    return found


def _usable_values(document: Document) -> list[Move]:
    """Return the values of a person with an identifier, for each combination of kinds."""
    kinds = [(f"combinations.{place}.rows", each["kinds"]) for place, each in enumerate(_combined(document))]
    if not kinds:
        kinds = [("", [kind]) for kind in document["identifiers"]] or [("", [])]
    values = ("present", "valid")
    return [
        ({key: 1} if key else {}) | {f"identifiers.{kind}.{name}": 1 for kind in of for name in values}
        for key, of in kinds
    ]


def _lost_values(document: Document) -> list[Move]:
    """Return one lost value, for each kind and cause."""
    kinds = [kind for kind, numbers in document["identifiers"].items() if numbers["rejected"]]
    return [
        {f"identifiers.{kind}.rejected": 1, f"identifiers.{kind}.present": 1, cause: 1}
        for kind, cause in product(kinds, _causes(document, of_rows=False))
    ]


def _sum(one: Move, other: Move, *, sign: int = 1) -> dict[str, int]:
    found = Counter(one)
    for key, number in other.items():
        found[key] += sign * number
    return {key: number for key, number in found.items() if number}


def _causes(document: Document, *, of_rows: bool) -> list[str]:
    causes = [cause for cause in document["rejections"] if cause != Reason.REFUSED_BY_SERVICE]
    return [f"rejections.{cause}" for cause in causes if (cause in REASONS_OF_ROWS) == of_rows]


def _combined(document: Document) -> Sequence[Mapping[str, Any]]:
    return document.get("combinations") or ()


# --- Texts ---


def printed_numbers(document: Document) -> frozenset[int]:
    """Return the numbers in the texts about a list."""
    texts = [*document["notes"], *(each["message"] for each in document["problems"])]
    return frozenset(int(each.replace(",", "")) for text in texts for each in re.findall(r"\d[\d,]*\b", masked(text)))


def masked(text: str) -> str:
    """Return a text without the small counts in it."""
    return _SMALL_BEHIND.sub(rf"\g<1> fewer than {FLOOR}", _SMALL.sub(_mask, text))


def _mask(found: re.Match[str]) -> str:
    noun, verb = found["of"] or found["noun"], found["verb"]
    plural = _PLURAL.get(noun, noun if noun.endswith("s") or found["of"] or noun == "people" else f"{noun}s")
    return f"fewer than {FLOOR} {plural}" + (f" {_PLURAL[verb]}" if verb else "")


# --- Counts without a page: in a notification, an event of Airflow, a trace ---


class FlooredCounts:
    """The counts of a report as they may be told: rounded together, so that none can be computed from others."""

    def __init__(self, report: Mapping[str, Any]) -> None:
        self.rows: dict[str, int | None] | None = None
        self.step: int | None = None
        self._report = report
        self._shown: Shown | None = None
        if "rejections" in report and "identifiers" in report:
            self._shown = shown_document(report, is_floored=True, step=FLOOR)
        if self._shown is not None:
            self.step = self._shown.step
            self.rows = {name: self._told(f"rows.{name}", number) for name, number in report["rows"].items()}

    def people(self, count: int | None) -> int | None:
        """Return how many people the audience has, or an erasure names."""
        if "asked" in self._report:
            return in_tens(int(self._report["asked"]))
        return None if self._shown is None else self._told("changes.members_after", count)

    def _told(self, key: str, count: int | None) -> int | None:
        shown = self._shown
        if count is None or shown is None or 0 < count < max(FLOOR, shown.step):
            return None
        return TENS.rounded("", count) if key in shown.fixed else shown.rounded(key, count)


def in_tens(count: int | None) -> int | None:
    """Return the count in tens; None for one that is unknown or below FLOOR, and not zero."""
    return None if count is None or 0 < count < FLOOR else TENS.rounded("", count)
