"""5,000 people whose consent and identifiers are spelt in many ways: none is sent who should not be."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Final

import pytest

from tests.planning.withheld import FORMATS, SAYS_NOT, sent_rows
from tests.shortened import shortened

CASES: Final = 5_000
ROWS_AT_A_TIME: Final = 500
SAYS_YES: Final = ("yes", "Yes", " YES ", "yes\t", "yEs", "\u00a0yes")


@pytest.mark.parametrize("seed", shortened(range(CASES // ROWS_AT_A_TIME), 5))
def test_suppressed_people_are_never_sent(tmp_path: Path, seed: int) -> None:
    """Spellings of consent and of identifiers, joins of lists in every format, against sets in memory."""
    draw = random.Random(seed)
    emails = [f"person{number}@example.com" for number in range(120)]
    phones = [f"+1201555{number:04}" for number in range(120)]
    rows = [_draw_row(draw, emails, phones) for _ in range(ROWS_AT_A_TIME)]
    suppressed: set[str] = set()
    lists = []
    for number in range(draw.randrange(4)):
        people = [(draw.choice([*emails, ""]), draw.choice([*phones, ""])) for _ in range(draw.randint(1, 8))]
        people = [person for person in people if any(person)] or [(emails[0], "")]
        lists.append(draw.choice(FORMATS)(tmp_path / f"list{number}", people))
        suppressed |= {key for person in people for key in person if key}
    refused = {key for keys, says in rows if says not in SAYS_YES for key in keys}
    path = tmp_path / "source.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("email", "phone", "opt in"))
        writer.writerows((*_spell(draw, keys), says) for keys, says in rows)
    expected = _expected(rows, suppressed | refused)
    sent = sent_rows(
        tmp_path, path, suppress=lists, consent_column="opt in=yes", allow_empty=True, country="US",
        columns={"email": "email", "phone_number": "phone"}, shared_values="keep",
    )  # fmt: skip
    assert [row for row in sent if set(rows[row - 1][0]) & (suppressed | refused)] == []
    assert sent == expected


def _draw_row(draw: random.Random, emails: list[str], phones: list[str]) -> tuple[tuple[str, ...], str]:
    """The keys of one person, and what is said of the consent."""
    keys = {0: (draw.choice(emails),), 1: (draw.choice(phones),), 2: (draw.choice(emails), draw.choice(phones))}
    return keys[draw.randrange(3)], draw.choice(SAYS_YES if draw.random() < 0.9 else SAYS_NOT)


def _spell(draw: random.Random, keys: tuple[str, ...]) -> tuple[str, str]:
    email = next((key for key in keys if "@" in key), "")
    phone = next((key for key in keys if "@" not in key), "")
    national = f"({phone[2:5]}) {phone[5:8]}-{phone[8:]}" if phone else ""
    return draw.choice((email, email.upper(), f"  {email.title()} ")), draw.choice((phone, national))


def _expected(rows: list[tuple[tuple[str, ...], str]], withheld: set[str]) -> list[int]:
    seen: set[frozenset[str]] = set()
    expected = []
    for number, (keys, _) in enumerate(rows, start=1):
        if not set(keys) & withheld and frozenset(keys) not in seen:
            expected.append(number)
        seen.add(frozenset(keys))
    return expected
