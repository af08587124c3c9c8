"""How suppression sources are read; one that cannot be relied on refuses the run."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from audiencekit.errors import AudiencekitError, MappingRefused, PlanRefused, SourceRefused, UsageError
from audiencekit.pipeline import prepare
from audiencekit.settings import load_settings
from tests.planning.withheld import as_parquet, checked, sent_rows, write


def test_the_columns_of_a_list_can_be_named(tmp_path: Path, source: Path) -> None:
    """In the lists that have them; other kinds and other lists are recognised as before."""
    odd = write(tmp_path / "odd.csv", "Kennung;phone", "ADA@example.com;+12015550104", "zoe@example.com;")
    other = write(tmp_path / "other.csv", "email", "cyd@example.com")
    plan = checked(tmp_path, source, suppress=[odd, other], suppress_columns={"email": "kennung"})
    assert plan.rows.suppressed == 3
    assert [read["columns"] for read in plan.suppression] == [
        {"email": ["Kennung"], "phone_number": ["phone"]}, {"email": ["email"]},
    ]  # fmt: skip


def test_a_named_column_takes_the_place_of_those_recognised_for_its_kind(tmp_path: Path, source: Path) -> None:
    """As where the address of the list's keeper stands beside each entry."""
    listed = write(tmp_path / "optouts.csv", "email,Kennung", "ada@example.com,bob@example.com", "x@example.com,")
    given: dict[str, Any] = {"suppress": listed, "columns": {"email": "email"}, "max_rejected_share": 1}
    assert sent_rows(tmp_path, source, **given) == [3]
    assert sent_rows(tmp_path, source, **given, suppress_columns=[("email", "email")]) == [2, 3]
    plan = checked(tmp_path, source, **given, suppress_columns=[("email", "email")])
    (warning,) = (each for each in plan.warnings if each.code == "left_out")
    assert warning.message.startswith(
        "suppression source optouts.csv: column column2 holds the kind email, too, and is"
    )


def test_a_column_of_a_list_is_not_passed_over_for_its_cells(tmp_path: Path, source: Path) -> None:
    """Its people would be missed: rows of other things refuse the list, and what is evident is read."""
    listed = write(tmp_path / "optouts.csv", "email,phone", "ada@example.com,none yet", "zoe@example.com,call later")
    with pytest.raises(PlanRefused, match="2 of 2 rows have a value that cannot be read"):
        checked(tmp_path, source, suppress=listed)
    swapped = write(tmp_path / "swapped.csv", "email,phone", "zoe@example.com,bob@example.com", ",ada@example.com")
    assert checked(tmp_path, source, suppress=swapped).rows.suppressed == 2


def test_a_column_that_no_list_has_is_refused(tmp_path: Path, source: Path) -> None:
    """With the names of those that there are."""
    listed = write(tmp_path / "optouts.csv", "email,plan", "ada@example.com,gold")
    with pytest.raises(MappingRefused, match="suppression source: none has a column 'kontakt'") as caught:
        checked(tmp_path, source, suppress=listed, suppress_columns={"email": "kontakt"})
    assert "optouts.csv" in caught.value.hint
    assert "the columns are: email, column2" in caught.value.hint


def test_how_lists_are_written_can_be_said(tmp_path: Path, source: Path) -> None:
    """Encoding, delimiter, header, several values in a cell: for the text among them."""
    path = tmp_path / "optouts.txt"
    path.write_bytes("ada@example.com+x@example.com^M\xfcller\ncyd@example.com^B\xe4r\n".encode("cp1252"))
    table = as_parquet(tmp_path / "more", [("", "+12015550104")])
    plan = checked(
        tmp_path, source, suppress=[path, table], suppress_encoding="cp1252", suppress_delimiter="^",
        suppress_header=False, suppress_split_cells="+", suppress_columns=[("email", "column1")],
    )  # fmt: skip
    assert plan.rows.suppressed == 3
    with pytest.raises(UsageError, match="suppression source: `suppress_delimiter=` is for delimited text"):
        checked(tmp_path, source, suppress=table, suppress_delimiter=";")


def test_an_option_of_suppression_lists_needs_one(tmp_path: Path, source: Path) -> None:
    """An option that nothing heeds is a mistake; so is a share beyond 1."""
    with pytest.raises(UsageError, match="`suppress_columns=`: there is no suppression source"):
        checked(tmp_path, source, suppress_columns={"email": "email"})
    with pytest.raises(UsageError, match="suppression source: `suppress_delimiter=` must be one"):
        checked(tmp_path, source, suppress=source, suppress_delimiter=";;")
    with pytest.raises(UsageError, match="`suppress_max_rejected_share=`"):
        checked(tmp_path, source, suppress=source, suppress_max_rejected_share=1.5)


def test_a_prepared_list_says_what_its_columns_are(tmp_path: Path, source: Path) -> None:
    """Whatever is said of the others."""
    settings = load_settings({}, directory=tmp_path)
    prepare(write(tmp_path / "o.csv", "email", "ada@example.com"), out=tmp_path / "prepared", settings=settings)
    odd = write(tmp_path / "odd.csv", "Kennung", "cyd@example.com")
    lists = [tmp_path / "prepared" / "records.parquet", odd]
    assert checked(tmp_path, source, suppress=lists, suppress_columns={"email": "Kennung"}).rows.suppressed == 2


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        ("email\n", PlanRefused, "0 of 0 rows hold no usable identifier"),
        ("email\nnull\nn/a\n", PlanRefused, "2 of 2 rows hold no usable identifier"),
        ('email\nada@example.com\nnull\n""\n', PlanRefused, "1 of 3 rows has a value that cannot be read"),
        ("colour,size\nred,1\nblue,2\n", MappingRefused, "no column with identifiers"),
        ('email\nada@example.com\n"bob@example.com\n', SourceRefused, "suppression source: optouts.csv"),
        (None, AudiencekitError, "suppression source: optouts.csv"),
    ],
)
def test_a_list_that_cannot_be_relied_on_refuses_the_run(
    tmp_path: Path, source: Path, content: str | None, error: type[AudiencekitError], words: str
) -> None:
    """People missed by such a file could be sent."""
    listed = tmp_path / "optouts.csv"
    if content is not None:
        listed.write_text(content)
    with pytest.raises(error, match=words):
        checked(tmp_path, source, suppress=listed)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("null,", ", column email: placeholder"),
        ("eva@example,", ", column email: invalid_syntax"),
        ("eva@example.com;dan@example.com,", ", column email: "),
        ("eva@example.com,+1201", ", column phone: "),
        ("eva@example.com,201 555 0104", ", column phone: no_country"),
        (f"{hashlib.md5(b'eva').hexdigest()},", ", column email: "),
    ],
)
def test_a_row_that_cannot_be_read_refuses_the_run(tmp_path: Path, source: Path, row: str, reason: str) -> None:
    """The people it means could be sent; beside an identifier, too. A share of such rows can be accepted."""
    people = [f"person{number}@example.com," for number in range(8)]
    listed = write(tmp_path / "optouts.csv", "email,phone", "ada@example.com,", *people, row)
    with pytest.raises(PlanRefused, match="1 of 10 rows has a value that cannot be read") as caught:
        checked(tmp_path, source, suppress=listed)
    assert f"(row 10{reason}" in str(caught.value)
    assert "`suppress_max_rejected_share=`" in caught.value.hint
    with pytest.raises(PlanRefused):
        checked(tmp_path, source, suppress=listed, suppress_max_rejected_share=0.09)
    accepted = {"suppress": listed, "suppress_max_rejected_share": 0.1}
    plan = checked(tmp_path, source, **accepted, ignore="marketing")
    assert (plan.rows.suppressed, plan.verdict) == (1, "ready")
    (read,) = plan.suppression
    assert read == {
        "name": "optouts.csv", "columns": {"email": ["email"], "phone_number": ["phone"]}, "rows": 10, "unread": 1,
        "placeholders": 0, "notes": (), "warnings": (),
    }  # fmt: skip
    assert any("1 of 10 rows could not be read" in note for note in plan.notes)


@pytest.mark.parametrize("row", ["eva@example.com,", "eva@example.com,n/a", "null,+12015550104", "eva@example.com,0"])
def test_blank_cells_beside_an_identifier_are_no_obstacle(tmp_path: Path, source: Path, row: str) -> None:
    """They mean no person."""
    listed = write(tmp_path / "optouts.csv", "email,phone", "ada@example.com,+12015550101", row)
    assert checked(tmp_path, source, suppress=listed).suppression[0]["unread"] == 0


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (("n/a,n/a",), 1),
        (("n/a,none", "#N/A,null"), 2),
        (("n/a,",), None),
        (("n/a,eva",), None),
        (("n/a,n/a", "eva@example,n/a"), None),
    ],
)
def test_a_row_of_placeholders_alone_names_no_person(
    tmp_path: Path, source: Path, rows: tuple[str, ...], found: int | None
) -> None:
    """It passes with a note, as in exports of bounced addresses; a blank or wrong cell among them refuses the run."""
    listed = write(tmp_path / "optouts.csv", "email,phone", "ada@example.com,+12015550101", *rows)
    if found is None:
        with pytest.raises(PlanRefused, match="cannot be read"):
            checked(tmp_path, source, suppress=listed)
        return
    plan = checked(tmp_path, source, suppress=listed, ignore="marketing")
    assert (plan.suppression[0]["placeholders"], plan.suppression[0]["unread"], plan.verdict) == (found, 0, "ready")
    assert any(f"{found} of {1 + found} rows have placeholders only" in note for note in plan.notes)


def test_a_row_of_blank_cells_names_no_person(tmp_path: Path, source: Path) -> None:
    """As a blank row of a sheet: spreadsheet programs write them below a list."""
    listed = write(tmp_path / "optouts.csv", "email,phone", "ada@example.com,+12015550101", ",", " ,")
    plan = checked(tmp_path, source, suppress=listed, ignore="marketing")
    assert (plan.suppression[0]["unread"], plan.rows.suppressed, plan.verdict) == (0, 1, "ready")


def test_findings_of_the_pass_over_a_list_are_told(tmp_path: Path, source: Path) -> None:
    """A person whose identifier stands under a key that comes too late is not kept out."""
    phone = {"phone": "+12015550104"}
    lines = [
        json.dumps({"email": f"zoe{number}@example.com"} | (phone if number > 1_400 else {})) for number in range(1_500)
    ]
    plan = checked(tmp_path, source, suppress=write(tmp_path / "optouts.ndjson", *lines))
    (told,) = plan.suppression[0]["notes"]
    assert "has a key that the first 1,000 lines do not have" in told
    assert f"suppression source optouts.ndjson: {told}" in plan.notes


def test_a_frame_is_no_suppression_source(tmp_path: Path, source: Path) -> None:
    """It could not be read again when the run is resumed; an empty list is none at all."""
    frame = pytest.importorskip("pandas").DataFrame({"email": ["zoe@example.com"]})
    with pytest.raises(UsageError, match="such as a data frame"):
        checked(tmp_path, source, suppress=frame)
    assert checked(tmp_path, source, suppress=[]).suppression == ()


def test_other_peoples_columns_count_where_people_are_taken_out(tmp_path: Path) -> None:
    """In suppression lists and Deletes each address counts, and no consent is asked; put in is the person's own."""
    names = ("Email", "opted_out_email", "Coach Email")
    rows = [",".join([*(f"{name[:2].lower()}{row}@example.com" for name in names), "no"]) for row in range(3)]
    mixed = write(tmp_path / "mixed.csv", ",".join((*names, "marketing_consent")), *rows)
    with pytest.raises(MappingRefused, match="people refuse in column marketing_consent"):
        checked(tmp_path, mixed)
    assert checked(tmp_path, mixed, ignore="marketing_consent").columns == {"email": ["Email"]}
    deleted = checked(tmp_path, mixed, operation="delete")
    assert deleted.identifiers["email"]["valid"] == 9
    assert deleted.warnings == ()
    people = write(
        tmp_path / "all.csv", "Email", "op0@example.com", "co1@example.com", "em2@example.com", "x@example.com"
    )
    plan = checked(tmp_path, people, suppress=mixed)
    assert (plan.rows.suppressed, plan.records) == (3, 1)
