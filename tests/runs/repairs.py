"""Random lists with rejected rows, and their repair in the list itself or in the opened file."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from audiencekit.emulator import Emulator
from audiencekit.emulator.endpoints.audience_members import EMAIL, PHONE_NUMBER, make_key, make_key_set

COLUMNS: Final = ("email", "phone", "name")
_FIRST_PHONE: Final = 2_340_000
_MOST_ROWS: Final = 24
PEOPLE: Final = _MOST_ROWS + 2  # of a list at most
_BAD: Final = ("not an address", "x at example.com", "n/a", "@", "12")


@dataclass(frozen=True)
class Cell:
    """An identifier: its text in the list, and its valid form, None where the text is none."""

    text: str = ""
    valid: str | None = None

    @property
    def is_rejected(self) -> bool:
        return bool(self.text) and self.valid is None


@dataclass(frozen=True)
class Row:
    """A person of a list, whose right identifiers are known: those of the number."""

    number: int
    email: Cell
    phone: Cell

    @property
    def is_rejected(self) -> bool:
        """Whether a cell is, or there is nothing at all."""
        return self.email.is_rejected or self.phone.is_rejected or not self.key_set

    @property
    def key_set(self) -> bytes:
        """The identifiers that the service has of the row; empty without any."""
        keys = [
            make_key(tag, sha256(cell.valid.encode()).hexdigest())
            for tag, cell in ((EMAIL, self.email), (PHONE_NUMBER, self.phone))
            if cell.valid is not None
        ]
        return make_key_set(keys)


def _email(number: int) -> Cell:
    return Cell(f"Person{number}@Example.com", f"person{number}@example.com")


def _phone(number: int) -> Cell:
    return Cell(f"+1 201 {_FIRST_PHONE + number}", f"+1201{_FIRST_PHONE + number}")


def draw(chance: random.Random, *, first: int = 0) -> list[Row]:
    """A list with at least one sound and one rejected row, of people from number `first` on."""

    def cell(right: Cell) -> Cell:
        return chance.choice([right, right, right, Cell(), Cell(chance.choice(_BAD))])

    numbers = range(first + 2, first + 2 + chance.randint(1, _MOST_ROWS))
    drawn = [Row(number, cell(_email(number)), cell(_phone(number))) for number in numbers]
    return [Row(first, _email(first), Cell()), *drawn, Row(first + 1, Cell("missing"), Cell())]


def repaired(rows: Sequence[Row], chance: random.Random, *, share: float = 0.6) -> list[Row]:
    """The same rows; some rejected ones have one right identifier more, both, or other nonsense."""

    def again(row: Row) -> Row:
        if not row.is_rejected or chance.random() > share:
            return row
        email, phone = row.email, row.phone
        if chance.random() < 0.7 and email.valid is None:
            email = _email(row.number)
        if chance.random() < 0.7 and phone.valid is None:
            phone = _phone(row.number)
        if email.is_rejected and chance.random() < 0.3:
            email = Cell("other nonsense")
        return replace(row, email=email, phone=phone)

    return [again(row) for row in rows]


def write_list(path: Path, rows: Sequence[Row]) -> None:
    """The list as CSV."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows((row.email.text, row.phone.text, f"n{row.number}") for row in rows)


def write_opened(path: Path, opened: Sequence[dict[str, Any]], rows: Sequence[Row]) -> None:
    """The opened file with the cells of the repaired `rows`."""
    lines = [
        line | {"email": rows[line["row"] - 1].email.text, "phone": rows[line["row"] - 1].phone.text} for line in opened
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def due(before: Sequence[Row], now: Sequence[Row]) -> list[bytes]:
    """The key sets of the rows that were rejected, and have an identifier now that they had not."""
    pairs = zip(before, now, strict=True)
    return [new.key_set for old, new in pairs if old.is_rejected and new.key_set and new.key_set != old.key_set]


def people(emulator: Emulator) -> set[bytes]:
    """The key sets that the service has."""
    audience = emulator.store.find_audience(emulator.audience_id)
    assert audience is not None
    return {key_set for key_set, _ in audience.members.members(emulator.clock.now())}
