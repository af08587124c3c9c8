"""Contact lists: the seed decides every byte, and they are as dirty as they say."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import phonenumbers
import pytest
from email_validator import EmailNotValidError, validate_email

from benchmarks.contacts import write_contacts
from benchmarks.draws import Draws
from benchmarks.dry_upload import run_dry
from benchmarks.emails import PLACEHOLDERS
from benchmarks.exports import (
    FIRST_ADDRESSES,
    FIRST_DIRTY_ADDRESSES,
    FIRST_NUMBERS,
    REGIONS,
    USUAL_NUMBERS,
    Exports,
    Spellings,
)
from benchmarks.mixes import EVERY_SPELLING, EXPORTS
from benchmarks.phone_numbers import COUNTRIES, PhoneNumbers
from benchmarks.trials import ROOT
from benchmarks.values.dirt import DIRTY_ADDRESSES
from benchmarks.values.spellings import EMAIL_SPELLINGS, PHONE_SPELLINGS

pytestmark = pytest.mark.slow

EXPORTED = 20_000


@pytest.fixture(autouse=True)
def _few_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists that are measured have more cells that differ in more than their digits."""
    monkeypatch.setattr("benchmarks.exports._FORMS_OF_NUMBERS", 1)
    monkeypatch.setattr("benchmarks.exports._FORMS_OF_ADDRESSES", 20)


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def contacts(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """10,000 rows of seed 1."""
    path = tmp_path_factory.mktemp("contacts") / "list.csv"
    write_contacts(path, rows=10_000, seed=1)
    return _read(path)


def _has_clean_email(row: dict[str, str]) -> bool:
    email = row["email"]
    try:
        valid = validate_email(email, check_deliverability=False).normalized
    except EmailNotValidError:
        return False
    return valid == email == email.lower() and email not in PLACEHOLDERS


def _has_clean_number(row: dict[str, str]) -> bool:
    try:
        number = phonenumbers.parse(row["phone"], row["country"])
    except phonenumbers.NumberParseException:
        return False
    return row["phone"] == row["phone"].strip() and phonenumbers.is_valid_number(number)


def test_the_seed_alone_decides_the_file(tmp_path: Path) -> None:
    """In an interpreter with another hash seed, too; a longer list begins with the shorter, and goes on otherwise."""
    paths = {name: tmp_path / f"{name}.csv" for name in ("here", "there", "other", "longer")}
    command = [sys.executable, "-m", "benchmarks.contacts", "--rows", "500", str(paths["there"])]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": "1"})
    write_contacts(paths["here"], rows=500)
    write_contacts(paths["other"], rows=500, seed=2)
    write_contacts(paths["longer"], rows=40_000)
    here, there, other, longer = (path.read_bytes() for path in paths.values())
    assert here == there != other
    assert longer.startswith(here)
    lines = longer.splitlines()
    assert len(lines) == 40_001
    assert len(set(lines)) > 37_000  # no chunk repeats another


def test_a_fifth_of_the_rows_is_dirty_and_people_have_one_address(contacts: list[dict[str, str]]) -> None:
    """A row is clean when its address is as it is hashed and its number is valid as it stands; some stand twice."""
    clean = [row for row in contacts if _has_clean_email(row) and _has_clean_number(row)]
    assert 0.79 <= len(clean) / len(contacts) <= 0.81
    people = {tuple(row.values()) for row in clean}
    assert 0.015 <= 1 - len(people) / len(clean) <= 0.05
    assert len({row["email"] for row in clean}) == len(people)
    assert all(row["email"].endswith(".example") for row in clean)  # reserved: they belong to no person


def test_addresses_are_spread_as_in_real_lists(contacts: list[dict[str, str]]) -> None:
    """One in a hundred is internationalised, ten domains have half of them, and all countries are about as frequent."""
    domains = Counter(row["email"].strip().lower().partition("@")[2] for row in contacts)
    assert 0.45 <= sum(count for _, count in domains.most_common(10)) / len(contacts) <= 0.7
    assert len(domains) > 1_500
    parts = [row["email"].partition("@")[::2] for row in contacts if not row["email"].isascii()]
    assert 0.007 <= len(parts) / len(contacts) <= 0.013
    assert all(any(not pair[place].isascii() for pair in parts) for place in (0, 1))
    countries = Counter(row["country"] for row in contacts)
    assert countries.keys() == set(COUNTRIES)
    assert all(0.05 <= count / len(contacts) <= 0.075 for count in countries.values())


def test_clean_numbers_are_valid_in_three_forms() -> None:
    """At least 98 % in each country; E.164, international and national, a third each, hardly one twice."""
    numbers, countries = (column.to_pylist() for column in PhoneNumbers().clean(Draws(1, 0, 8_000)))
    valid, found = Counter[str](), set()
    for text, country in zip(numbers, countries, strict=True):
        number = phonenumbers.parse(text, country)
        valid[country] += phonenumbers.is_valid_number(number)
        found.add((number.country_code, number.national_number))
    assert all(count >= 0.98 * countries.count(country) for country, count in valid.items())
    assert len(found) > 7_900
    for count in (sum(not text.startswith("+") for text in numbers), sum(text[1:].isdigit() for text in numbers)):
        assert 2_400 <= count <= 2_950


def test_a_list_of_one_column_has_no_blank_lines(tmp_path: Path) -> None:
    """An empty cell that is alone in its row is quoted: a blank line would be no row."""
    path = tmp_path / "list.csv"
    write_contacts(path, rows=5_000, columns=("email",))
    rows = _read(path)
    assert len(rows) == path.read_text().count("\n") - 1 == 5_000
    assert {"email": ""} in rows


@pytest.mark.parametrize("mix", [EXPORTS, EVERY_SPELLING])
def test_exports_have_every_region_and_many_spellings(mix: str, tmp_path: Path) -> None:
    """Hardly a value stands twice, a plan does not refuse the file, and more than half of its rows are people."""
    path = tmp_path / "list.csv"
    write_contacts(path, rows=EXPORTED, seed=1, mix=mix)
    rows = _read(path)
    assert {row["country"] for row in rows} == {*REGIONS, ""}
    phones, emails = ([row[name] for row in rows] for name in ("phone", "email"))
    for part in ("tel:", '="', "\u200b", " ext. ", "\uff11"):
        assert any(part in text for text in phones), part
    for part in ("@xn--", "Ada Birk <", ".test", "\u0e01", "\U0001f600"):
        assert any(part in text for text in emails), part
    assert len({text for text in emails if "@" in text}) > EXPORTED * 0.8
    figures = run_dry(path)
    assert figures["rows"] == EXPORTED
    assert figures["records"] > EXPORTED / 2


def test_one_mix_keeps_to_the_spellings_of_its_aims() -> None:
    """Others do not come into it, and none of its own is lost."""
    assert PHONE_SPELLINGS.keys() > FIRST_NUMBERS
    assert EMAIL_SPELLINGS.keys() > FIRST_ADDRESSES
    assert DIRTY_ADDRESSES.keys() > FIRST_DIRTY_ADDRESSES
    numbers, every_number = (
        set(Exports(every_spelling=every).cells(Draws(1, 1, 3_000))["phone"].to_pylist()) for every in (False, True)
    )
    assert not any(text.startswith("p:") for text in numbers)
    assert any(text.startswith("p:") for text in every_number)


def test_spellings_are_as_often_as_is_said() -> None:
    """15 % dirt, one in a hundred of each other spelling, a tenth of that of those that refuse a file."""
    clean = {name: name for name in PHONE_SPELLINGS}
    spellings = Spellings(clean, {"missing": "missing", "cut": "cut"}, USUAL_NUMBERS, ("decimal places",))
    counts = Counter(spellings.made_by[number] for number in spellings.draw(Draws(1, 1, 100_000)).tolist())
    assert counts["missing"] + counts["cut"] == pytest.approx(15_000, rel=0.05)
    assert counts["full width"] == pytest.approx(1_000, rel=0.2)
    assert counts["decimal places"] == pytest.approx(100, rel=0.4)
    assert counts["E.164"] == pytest.approx(counts["RFC 3966"], rel=0.1)
