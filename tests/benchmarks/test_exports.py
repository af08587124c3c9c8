"""Exports at their worst: every region and every spelling, as often as it says, and a plan takes them."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.contacts import write_contacts
from benchmarks.draws import Draws
from benchmarks.dry_upload import run_dry
from benchmarks.exports import REGIONS, USUAL_NUMBERS, Spellings
from benchmarks.mixes import EXPORTS
from benchmarks.values.spellings import PHONE_SPELLINGS

ROWS = 20_000


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A list of seed 1."""
    path = tmp_path_factory.mktemp("exports") / "list.csv"
    write_contacts(path, rows=ROWS, seed=1, mix=EXPORTS)
    return path


def test_every_region_and_many_spellings_are_there(exports: Path) -> None:
    """Marks, digits of other scripts, formulas, domains of letters; nearly no value comes twice but missing ones."""
    with exports.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == ROWS
    assert {row["country"] for row in rows} == {*REGIONS, ""}
    phones, emails = ([row[name] for row in rows] for name in ("phone", "email"))
    for part in ("tel:", '="', "\u200b", " ext. ", "\uff11"):
        assert any(part in text for text in phones), part
    for part in ("@xn--", "Ada Birk <", ".test", "\u0e01", "\U0001f600"):
        assert any(part in text for text in emails), part
    assert len(Counter(text for text in emails if "@" in text)) > ROWS * 0.8


def test_a_plan_takes_the_list(exports: Path) -> None:
    """A file of so many faults is not refused as a whole, and more than half of its rows are people."""
    figures = run_dry(exports)
    assert figures["rows"] == ROWS
    assert figures["records"] > ROWS / 2


def test_spellings_are_as_often_as_is_said() -> None:
    """15 % dirt, one in a hundred of each other spelling, a tenth of that of those that refuse a file."""
    clean = {name: name for name in PHONE_SPELLINGS}
    spellings = Spellings(clean, {"missing": "missing", "cut": "cut"}, USUAL_NUMBERS, ("decimal places",))
    counts = Counter(spellings.made_by[number] for number in spellings.draw(Draws(1, 1, 100_000)).tolist())
    assert counts["missing"] + counts["cut"] == pytest.approx(15_000, rel=0.05)
    assert counts["full width"] == pytest.approx(1_000, rel=0.2)
    assert counts["decimal places"] == pytest.approx(100, rel=0.4)
    assert counts["E.164"] == pytest.approx(counts["RFC 3966"], rel=0.1)
