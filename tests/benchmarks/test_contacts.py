"""Contact lists: the seed decides every byte, and they are as dirty as they say."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import phonenumbers
import pytest
from email_validator import EmailNotValidError, validate_email

from benchmarks.contacts import write_contacts
from benchmarks.phone_numbers import COUNTRIES

PLACEHOLDER_EMAILS = {"test@test.com", "noemail@noemail.com"}


@pytest.fixture(scope="module")
def contacts(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """10,000 rows of seed 1."""
    path = tmp_path_factory.mktemp("contacts") / "list.csv"
    write_contacts(path, rows=10_000, seed=1)
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _has_clean_email(row: dict[str, str]) -> bool:
    email = row["email"]
    try:
        valid = validate_email(email, check_deliverability=False).normalized
    except EmailNotValidError:
        return False
    return valid == email == email.lower() and email not in PLACEHOLDER_EMAILS


def _has_clean_number(row: dict[str, str]) -> bool:
    try:
        number = phonenumbers.parse(row["phone"], row["country"])
    except phonenumbers.NumberParseException:
        return False
    return row["phone"] == row["phone"].strip() and phonenumbers.is_valid_number(number)


def _bytes(path: Path, *, rows: int = 3_000, seed: int = 1) -> bytes:
    write_contacts(path, rows=rows, seed=seed)
    return path.read_bytes()


def test_one_seed_is_one_file(tmp_path: Path) -> None:
    """The same seed gives the same bytes, another seed others."""
    first, again, other = tmp_path / "1.csv", tmp_path / "2.csv", tmp_path / "3.csv"
    assert _bytes(first) == _bytes(again)
    assert _bytes(first) != _bytes(other, seed=2)


def test_a_longer_list_begins_with_the_shorter(tmp_path: Path) -> None:
    """So that sizes can be compared; the lists here end on both sides of a chunk."""
    shorter, longer = _bytes(tmp_path / "1.csv", rows=3_000), _bytes(tmp_path / "2.csv", rows=40_000)
    assert longer.startswith(shorter)
    assert longer.count(b"\n") == 40_001


def test_the_hash_seed_does_not_matter(tmp_path: Path) -> None:
    """An interpreter with another hash seed writes the same file."""
    command = [sys.executable, "-m", "benchmarks.contacts", "--rows", "500", str(tmp_path / "there.csv")]
    root = Path(__file__).resolve().parents[2]
    subprocess.run(command, check=True, cwd=root, env={**os.environ, "PYTHONHASHSEED": "1"})
    assert (tmp_path / "there.csv").read_bytes() == _bytes(tmp_path / "here.csv", rows=500)


def test_a_fifth_of_the_rows_is_dirty(contacts: list[dict[str, str]]) -> None:
    """A row is clean when its address is as it is hashed and its number is valid as it stands."""
    dirty = sum(not (_has_clean_email(row) and _has_clean_number(row)) for row in contacts)
    assert 0.19 <= dirty / len(contacts) <= 0.21


def test_a_person_has_one_address_and_one_row_in_25_is_a_repeat(contacts: list[dict[str, str]]) -> None:
    """Of rows that are alike in all columns; an address in rows with other numbers would be a shared value."""
    clean = [row for row in contacts if _has_clean_email(row) and _has_clean_number(row)]
    people = {tuple(row.values()) for row in clean}
    assert 0.015 <= 1 - len(people) / len(clean) <= 0.05  # of some the other row stands below
    assert len({row["email"] for row in clean}) == len(people)


def test_one_address_in_a_hundred_is_internationalised(contacts: list[dict[str, str]]) -> None:
    """In its name or in its domain."""
    addresses = [row["email"] for row in contacts if not row["email"].isascii()]
    assert 0.007 <= len(addresses) / len(contacts) <= 0.013
    assert any(not address.partition("@")[0].isascii() for address in addresses)
    assert any(not address.partition("@")[2].isascii() for address in addresses)


def test_every_country_is_there(contacts: list[dict[str, str]]) -> None:
    """Sixteen of them, about equally often."""
    countries = [row["country"] for row in contacts]
    assert set(countries) == set(COUNTRIES)
    assert len(COUNTRIES) == 16
    assert all(0.05 <= countries.count(country) / len(countries) <= 0.075 for country in COUNTRIES)


def test_few_domains_hold_most_people_and_many_the_rest(contacts: list[dict[str, str]]) -> None:
    """A long tail: the ten most frequent domains have half of the addresses, thousands of others share the rest."""
    counts: dict[str, int] = {}
    for row in contacts:
        domain = row["email"].strip().lower().partition("@")[2]
        counts[domain] = counts.get(domain, 0) + 1
    assert 0.45 <= sum(sorted(counts.values())[-10:]) / sum(counts.values()) <= 0.7
    assert len(counts) > 1_500


def test_a_clean_address_belongs_to_no_person(contacts: list[dict[str, str]]) -> None:
    """Every domain ends in the reserved `.example`."""
    clean = [row["email"] for row in contacts[:2_000] if _has_clean_email(row)]
    assert len(clean) > 1_600
    assert all(email.endswith(".example") for email in clean)


def test_a_list_of_one_column_has_no_blank_lines(tmp_path: Path) -> None:
    """An empty cell that is alone in its row is quoted: a blank line would be no row."""
    path = tmp_path / "list.csv"
    write_contacts(path, rows=5_000, columns=("email",))
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["email"]
    assert len(rows) == 5_001
    assert [""] in rows
    assert all(len(row) == 1 for row in rows)
