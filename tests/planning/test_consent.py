"""Consent: one word of one column, and nothing else."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.errors import MappingRefused, UsageError
from audiencekit.pipeline import prepare
from audiencekit.settings import load_settings
from tests.planning.withheld import SAYS_NOT, checked, sent_rows, write


def test_consent_is_one_word_and_nothing_else(tmp_path: Path, source: Path) -> None:
    """Blank is no; case and white space around it do not matter."""
    assert sent_rows(tmp_path, source, consent_column="marketing=YES ") == [1, 3]
    assert sent_rows(tmp_path, source, consent_column="column3=no") == [2]


@pytest.mark.parametrize("word", SAYS_NOT)
def test_another_spelling_is_no_consent(tmp_path: Path, word: str) -> None:
    """No meaning is guessed."""
    path = tmp_path / "list.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("email", "marketing"), ("ada@example.com", word), ("bob@example.com", "yes")])
    assert sent_rows(tmp_path, path, consent_column="marketing=yes") == [2]


@pytest.mark.parametrize("type_", [pa.bool_(), pa.dictionary(pa.int32(), pa.string()), pa.string()])
def test_consent_of_a_typed_column_is_its_text(tmp_path: Path, type_: Any) -> None:
    """True is the word true; null is no."""
    cells = pa.array([True, False, None]) if type_ == pa.bool_() else pa.array(["true", "false", None], type_)
    emails = [f"person{number}@example.com" for number in range(3)]
    pq.write_table(pa.table({"email": emails, "consent": cells}), tmp_path / "list.parquet")
    assert sent_rows(tmp_path, tmp_path / "list.parquet", consent_column="consent=true") == [1]


def test_consent_of_an_object_may_be_true(tmp_path: Path) -> None:
    """Or the word; null is none."""
    says = [True, "true", False, None, "no"]
    documents = [{"email": f"person{number}@example.com", "ok": word} for number, word in enumerate(says)]
    source = write(tmp_path / "list.ndjson", *map(json.dumps, documents))
    assert sent_rows(tmp_path, source, consent_column="ok=true") == [1, 2]


def test_cells_that_are_split_are_not_those_of_consent(tmp_path: Path) -> None:
    """`no|yes` is another word than yes, in every reader."""
    lines = write(tmp_path / "list.csv", "email,ok", "ada@example.com|eva@example.com,yes", "bob@example.com,no|yes")
    assert sent_rows(tmp_path, lines, consent_column="ok=yes", split_cells="|") == [1]
    documents = [
        {"email": "ada@example.com|eva@example.com", "ok": "yes"},
        {"email": "bob@example.com", "ok": "no|yes"},
    ]
    objects = write(tmp_path / "list.ndjson", *map(json.dumps, documents))
    assert sent_rows(tmp_path, objects, consent_column="ok=yes", split_cells="|") == [1]


def test_consent_of_several_files(tmp_path: Path) -> None:
    """Each has the column, wherever it stands."""
    one = write(tmp_path / "one.csv", "email,ok", "ada@example.com,yes", "bob@example.com,")
    other = write(tmp_path / "other.csv", "ok,email", "yes,cyd@example.com", "no,dan@example.com")
    out = tmp_path / "out"
    prepare([one, other], out=out, settings=load_settings({}, directory=tmp_path), consent_column="ok=yes")
    assert pq.read_table(out / "records.parquet").column("row").to_pylist() == [1, 3]


def test_deletes_need_no_consent(tmp_path: Path) -> None:
    """People to be taken out may go, and the plan says so."""
    source = write(
        tmp_path / "list.csv",
        "email,do,ok",
        "ada@example.com,delete,no",
        "bob@example.com,update,no",
        "c@example.com,update,yes",
    )
    listed = write(tmp_path / "optouts.csv", "email", "ada@example.com")
    plan = checked(tmp_path, source, operation_column="do", consent_column="ok=yes", suppress=[listed])
    assert (plan.rows.suppressed, plan.records) == (1, 2)
    assert any("whether they are suppressed or not" in note for note in plan.notes)


@pytest.mark.parametrize("given", ["marketing", "=yes", "marketing=", "marketing= ", " =yes"])
def test_consent_needs_a_name_and_a_word(tmp_path: Path, source: Path, given: str) -> None:
    """A blank word would make silence a yes."""
    with pytest.raises(UsageError, match="NAME=VALUE"):
        checked(tmp_path, source, consent_column=given)


def test_a_missing_consent_column_is_refused(tmp_path: Path, source: Path) -> None:
    """And so is one that carries identifiers."""
    with pytest.raises(MappingRefused, match="there is no column"):
        checked(tmp_path, source, consent_column="newsletter=yes")
    with pytest.raises(MappingRefused, match="more than one thing"):
        checked(tmp_path, source, consent_column="email=yes", columns={"email": "email"})


def test_a_source_without_consent_is_refused(tmp_path: Path, source: Path) -> None:
    """Unless it is expected."""
    plan = checked(tmp_path, source, consent_column="marketing=on")
    assert (plan.verdict, plan.exit_code, plan.rows.suppressed) == ("refused", 3, 4)
    assert "no record is left" in str(plan.refusals[0])
    assert "`consent_column=`" in plan.refusals[0].hint
    assert checked(tmp_path, source, consent_column="marketing=on", allow_empty=True).verdict == "empty"


def test_a_word_that_no_row_has_is_told(tmp_path: Path) -> None:
    """With the number of the others, and without one of them."""
    rows = [f"p{n}@example.com,{word}" for n, word in enumerate(["ja", "nein", "JA", "", "offen"])]
    path = write(tmp_path / "list.csv", "email,ok", *rows)
    told = "no row has the VALUE of `consent_column=` in column ok, which has 3 other values"
    plan = checked(tmp_path, path, consent_column="ok=yes", allow_empty=True)
    assert told in plan.notes
    (refusal,) = checked(tmp_path, path, consent_column="ok=yes").refusals
    assert told in str(refusal)
    assert not any("no row has" in note for note in checked(tmp_path, path, consent_column="ok=ja").notes)


def test_many_words_are_counted_up_to_a_bound(tmp_path: Path) -> None:
    """It is another column then; the word is found behind them."""
    path = write(tmp_path / "list.csv", "email,ok", *(f"p{n}@example.com,w{n}" for n in range(2_000)))
    plan = checked(tmp_path, path, consent_column="ok=yes", allow_empty=True)
    assert any("which has at least 1,000 other values" in note for note in plan.notes)
    assert checked(tmp_path, path, consent_column="ok=w1999").records == 1
