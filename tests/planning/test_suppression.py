"""Suppression and consent: nobody is put in who should not be, whatever the list of them looks like."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.audiences.do_not_reach import do_not_reach_upload_async
from audiencekit.emulator import Emulator
from audiencekit.errors import AudiencekitError, MappingRefused, PlanRefused, SourceRefused, UsageError
from audiencekit.pipeline import check, prepare, upload_async
from audiencekit.reporting.plan import Plan
from audiencekit.settings import Settings, load_settings

CASES: Final = 5_000
ROWS_AT_A_TIME: Final = 250
SAYS_YES: Final = ("yes", "Yes", " YES ", "yes\t", "yEs", "\u00a0yes")
SAYS_NOT: Final = (
    "",
    "no",
    "y",
    "true",
    "1",
    "yes please",
    "ye s",
    "yes.",
    "ｙｅｓ",
    "null",
    "ja",
    '"yes"',
    "unknown",
    "-",
)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _check(tmp_path: Path, source: Path, **keywords: Any) -> Plan:
    return check(source, settings=load_settings({}, directory=tmp_path), **keywords)


def _sent_rows(tmp_path: Path, source: Path, **keywords: Any) -> list[int]:
    """The rows that would be sent."""
    out = tmp_path / "out"
    plan = prepare(source, out=out, settings=load_settings({}, directory=tmp_path), **keywords)
    if plan.refusals:
        raise plan.refusals[0]
    rows: list[int] = pq.read_table(out / "records.parquet").column("row").to_pylist()
    assert plan.rows.pending == len(rows) == plan.records
    return rows


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Four people: two with both kinds, one with each."""
    return _write(
        tmp_path / "list.csv",
        "email,phone,marketing",
        "ada@example.com,+12015550101,yes",
        "bob@example.com,+12015550102,no",
        "cyd@example.com,,Yes",
        ",+12015550104,",
    )


def _as_csv(path: Path, people: list[tuple[str, str]]) -> Path:
    return _write(path.with_suffix(".csv"), "email;phone", *(";".join(person) for person in people))


def _as_packed_hashes(path: Path, people: list[tuple[str, str]]) -> Path:
    cells = [",".join(_sha256(cell).upper() if cell else "" for cell in person) for person in people]
    path = path.with_suffix(".csv.gz")
    path.write_bytes(gzip.compress("\n".join(["email_sha256,phone_sha256", *cells]).encode()))
    return path


def _as_json_lines(path: Path, people: list[tuple[str, str]]) -> Path:
    return _write(path.with_suffix(".ndjson"), *(json.dumps({"phone": p, "mail": e.upper()}) for e, p in people))


def _as_parquet(path: Path, people: list[tuple[str, str]]) -> Path:
    table = pa.table(
        {"email": [e or None for e, _ in people], "phone_sha256": [_sha256(p) if p else None for _, p in people]}
    )
    pq.write_table(table, path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


FORMATS: Final = (_as_csv, _as_packed_hashes, _as_json_lines, _as_parquet)


@pytest.mark.parametrize("written", FORMATS)
def test_a_suppression_source_may_be_any_source(
    tmp_path: Path, source: Path, written: Callable[[Path, list[tuple[str, str]]], Path]
) -> None:
    """Raw or hashed, of another format; one shared key is enough."""
    people = [("ada@example.com", ""), ("", "+12015550104"), ("zoe@example.com", "+12015550199")]
    plan = _check(tmp_path, source, suppress=written(tmp_path / "optouts", people))
    assert (plan.rows.suppressed, plan.rows.pending, plan.rows.read, plan.verdict) == (2, 2, 4, "ready")


def test_several_sources_add_up(tmp_path: Path, source: Path) -> None:
    """Each with columns of its own."""
    one = _write(tmp_path / "one.csv", "email", "ada@example.com")
    other = _write(tmp_path / "other.tsv", "Handynummer\tname", "+12015550104\tCyd")
    assert _sent_rows(tmp_path, source, suppress=[one, other], columns={"email": "email", "phone_number": "phone"}) == [
        2,
        3,
    ]


def test_a_hashed_list_is_held_against_a_list_in_the_clear(tmp_path: Path) -> None:
    """Whichever way the phone numbers and device ids were written before they were hashed."""
    device = "AEBE52E7-03EE-455A-B3C4-E57283966239"
    source = _write(
        tmp_path / "hashed.csv",
        "phone,idfa",
        f"{_sha256('12015550101')},{_sha256('x')}",
        f"{_sha256('+12015550102')},",
        f",{_sha256(device)}",
        f",{_sha256(device.lower())}",
        f"{_sha256('+12015550199')},",
    )
    listed = _write(tmp_path / "optouts.csv", "phone,idfa", "(201) 555-0101,", "201-555-0102,", f",{device}")
    rows = _sent_rows(
        tmp_path, source, suppress=listed, hashed=["phone_number", "device_id"], country="US",
        columns={"phone_number": "phone", "device_id": "idfa"},
    )  # fmt: skip
    assert rows == [5]


def test_a_list_with_both_forms_is_read_in_both(tmp_path: Path, source: Path) -> None:
    """Rows whose value stands in the clear, and rows that have only the hash, even in one column."""
    listed = _write(
        tmp_path / "optouts.csv",
        "email,email_sha256",
        "ada@example.com,",
        f",{_sha256('cyd@example.com')}",
        f"{_sha256('bob@example.com')},",
    )
    assert _sent_rows(tmp_path, source, suppress=listed) == [4]


def test_possible_numbers_suppress_too(tmp_path: Path) -> None:
    """Also when the upload takes numbers that are not assigned."""
    source = _write(tmp_path / "list.csv", "phone", "+12001230101", "+12001230102", "+12015550103")
    listed = _write(tmp_path / "optouts.csv", "phone", "+1 (200) 123-0101")
    assert _sent_rows(tmp_path, source, suppress=listed, phone_validity="possible") == [2, 3]


def test_consent_is_one_word_and_nothing_else(tmp_path: Path, source: Path) -> None:
    """Blank is no; case and white space around it do not matter."""
    assert _sent_rows(tmp_path, source, consent_column="marketing=YES ") == [1, 3]
    assert _sent_rows(tmp_path, source, consent_column="column3=no") == [2]


@pytest.mark.parametrize("word", SAYS_NOT)
def test_another_spelling_is_no_consent(tmp_path: Path, word: str) -> None:
    """Nobody guesses what was meant."""
    path = tmp_path / "list.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("email", "marketing"), ("ada@example.com", word), ("bob@example.com", "yes")])
    assert _sent_rows(tmp_path, path, consent_column="marketing=yes") == [2]


@pytest.mark.parametrize("type_", [pa.bool_(), pa.dictionary(pa.int32(), pa.string()), pa.string()])
def test_consent_of_a_typed_column_is_its_text(tmp_path: Path, type_: Any) -> None:
    """True is the word true; null is no."""
    cells = pa.array([True, False, None]) if type_ == pa.bool_() else pa.array(["true", "false", None], type_)
    emails = [f"person{number}@example.com" for number in range(3)]
    pq.write_table(pa.table({"email": emails, "consent": cells}), tmp_path / "list.parquet")
    assert _sent_rows(tmp_path, tmp_path / "list.parquet", consent_column="consent=true") == [1]


def test_consent_of_an_object_may_be_true(tmp_path: Path) -> None:
    """Or the word; null is none."""
    says = [True, "true", False, None, "no"]
    documents = [{"email": f"person{number}@example.com", "ok": word} for number, word in enumerate(says)]
    source = _write(tmp_path / "list.ndjson", *map(json.dumps, documents))
    assert _sent_rows(tmp_path, source, consent_column="ok=true") == [1, 2]


def test_cells_that_are_split_are_not_those_of_consent(tmp_path: Path) -> None:
    """`no|yes` is another word than yes, in every reader."""
    lines = _write(tmp_path / "list.csv", "email,ok", "ada@example.com|eva@example.com,yes", "bob@example.com,no|yes")
    assert _sent_rows(tmp_path, lines, consent_column="ok=yes", split_cells="|") == [1]
    documents = [
        {"email": "ada@example.com|eva@example.com", "ok": "yes"},
        {"email": "bob@example.com", "ok": "no|yes"},
    ]
    objects = _write(tmp_path / "list.ndjson", *map(json.dumps, documents))
    assert _sent_rows(tmp_path, objects, consent_column="ok=yes", split_cells="|") == [1]


def test_consent_of_several_files(tmp_path: Path) -> None:
    """Each has the column, wherever it stands."""
    one = _write(tmp_path / "one.csv", "email,ok", "ada@example.com,yes", "bob@example.com,")
    other = _write(tmp_path / "other.csv", "ok,email", "yes,cyd@example.com", "no,dan@example.com")
    out = tmp_path / "out"
    prepare([one, other], out=out, settings=load_settings({}, directory=tmp_path), consent_column="ok=yes")
    assert pq.read_table(out / "records.parquet").column("row").to_pylist() == [1, 3]


def test_deletes_need_no_consent(tmp_path: Path) -> None:
    """Whoever is to go may go, and the plan says so."""
    source = _write(
        tmp_path / "list.csv",
        "email,do,ok",
        "ada@example.com,delete,no",
        "bob@example.com,update,no",
        "c@example.com,update,yes",
    )
    listed = _write(tmp_path / "optouts.csv", "email", "ada@example.com")
    plan = _check(tmp_path, source, operation_column="do", consent_column="ok=yes", suppress=[listed])
    assert (plan.rows.suppressed, plan.records) == (1, 2)
    assert any("whether they are suppressed or not" in note for note in plan.notes)


# --- fail closed ---


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        ("email\n", PlanRefused, "0 of 0 rows say nobody"),
        ("email\nnull\nn/a\n", PlanRefused, "2 of 2 rows say nobody"),
        ("email\nada@example.com\nnull\nn/a\n", PlanRefused, "2 of 3 rows cannot be read to their end"),
        ("colour,size\nred,1\nblue,2\n", MappingRefused, "no column with identifiers"),
        ('email\nada@example.com\n"bob@example.com\n', SourceRefused, "suppression source: optouts.csv"),
        (None, AudiencekitError, "suppression source: optouts.csv"),
    ],
)
def test_a_list_that_cannot_be_relied_on_refuses_the_run(
    tmp_path: Path, source: Path, content: str | None, error: type[AudiencekitError], words: str
) -> None:
    """Who was missed could be sent."""
    listed = tmp_path / "optouts.csv"
    if content is not None:
        listed.write_text(content)
    with pytest.raises(error, match=words):
        _check(tmp_path, source, suppress=listed)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (",", ": no_identifier"),
        ("null,", ", column email: placeholder"),
        ("eva@example,", ", column email: invalid_syntax"),
        ("eva@example.com;dan@example.com,", ", column email: "),
        ("eva@example.com,+1201", ", column phone: "),
        ("eva@example.com,201 555 0104", ", column phone: no_country"),
        (f"{hashlib.md5(b'eva').hexdigest()},", ", column email: "),
    ],
)
def test_a_row_that_cannot_be_read_refuses_the_run(tmp_path: Path, source: Path, row: str, reason: str) -> None:
    """Whoever it means could be sent; beside an identifier, too. A share of such rows can be accepted."""
    people = [f"person{number}@example.com," for number in range(8)]
    listed = _write(tmp_path / "optouts.csv", "email,phone", "ada@example.com,", *people, row)
    with pytest.raises(PlanRefused, match="1 of 10 rows cannot be read") as caught:
        _check(tmp_path, source, suppress=listed)
    assert f"(row 10{reason}" in str(caught.value)
    assert "--suppress-max-rejected-share" in caught.value.hint
    with pytest.raises(PlanRefused):
        _check(tmp_path, source, suppress=listed, suppress_max_rejected_share=0.09)
    plan = _check(tmp_path, source, suppress=listed, suppress_max_rejected_share=0.1)
    assert (plan.rows.suppressed, plan.verdict) == (1, "ready")
    (read,) = plan.suppression
    assert read == {
        "name": "optouts.csv", "columns": {"email": ["email"], "phone_number": ["phone"]}, "rows": 10, "unread": 1,
    }  # fmt: skip
    assert any("1 of 10 rows could not be read" in note for note in plan.notes)


@pytest.mark.parametrize("row", ["eva@example.com,", "eva@example.com,n/a", "null,+12015550104", "eva@example.com,0"])
def test_blank_cells_beside_an_identifier_are_no_obstacle(tmp_path: Path, source: Path, row: str) -> None:
    """Nobody is meant by them."""
    listed = _write(tmp_path / "optouts.csv", "email,phone", "ada@example.com,+12015550101", row)
    assert _check(tmp_path, source, suppress=listed).suppression[0]["unread"] == 0


# --- how lists are read ---


def test_the_columns_of_a_list_can_be_named(tmp_path: Path, source: Path) -> None:
    """In the lists that have them; other kinds and other lists are recognised as before."""
    odd = _write(tmp_path / "odd.csv", "Kennung;phone", "ADA@example.com;+12015550104", "zoe@example.com;")
    other = _write(tmp_path / "other.csv", "email", "cyd@example.com")
    plan = _check(tmp_path, source, suppress=[odd, other], suppress_columns={"email": "kennung"})
    assert plan.rows.suppressed == 3
    assert [read["columns"] for read in plan.suppression] == [
        {"email": ["Kennung"], "phone_number": ["phone"]}, {"email": ["email"]},
    ]  # fmt: skip


def test_a_named_column_takes_the_place_of_those_recognised_for_its_kind(tmp_path: Path, source: Path) -> None:
    """As where the address of whoever keeps the list stands beside each entry."""
    listed = _write(tmp_path / "optouts.csv", "email,Kennung", "ada@example.com,bob@example.com", "x@example.com,")
    given: dict[str, Any] = {"suppress": listed, "columns": {"email": "email"}, "max_rejected_share": 1}
    assert _sent_rows(tmp_path, source, **given) == [3]
    assert _sent_rows(tmp_path, source, **given, suppress_columns=[("email", "email")]) == [2, 3]


def test_a_column_of_a_list_is_not_passed_over_for_its_cells(tmp_path: Path, source: Path) -> None:
    """Whoever stands in it would be missed: rows of other things refuse the list, and what is evident is read."""
    listed = _write(tmp_path / "optouts.csv", "email,phone", "ada@example.com,none yet", "zoe@example.com,call later")
    with pytest.raises(PlanRefused, match="2 of 2 rows cannot be read"):
        _check(tmp_path, source, suppress=listed)
    swapped = _write(tmp_path / "swapped.csv", "email,phone", "zoe@example.com,bob@example.com", ",ada@example.com")
    assert _check(tmp_path, source, suppress=swapped).rows.suppressed == 2


def test_a_column_that_no_list_has_is_refused(tmp_path: Path, source: Path) -> None:
    """With the names of those that there are."""
    listed = _write(tmp_path / "optouts.csv", "email,plan", "ada@example.com,gold")
    with pytest.raises(MappingRefused, match="suppression source: none has a column 'kontakt'") as caught:
        _check(tmp_path, source, suppress=listed, suppress_columns={"email": "kontakt"})
    assert "optouts.csv" in caught.value.hint
    assert "the columns are: email, column2" in caught.value.hint


def test_how_lists_are_written_can_be_said(tmp_path: Path, source: Path) -> None:
    """Encoding, delimiter, header, several values in a cell: for the text among them."""
    path = tmp_path / "optouts.txt"
    path.write_bytes("ada@example.com+x@example.com^M\xfcller\ncyd@example.com^B\xe4r\n".encode("cp1252"))
    table = _as_parquet(tmp_path / "more", [("", "+12015550104")])
    plan = _check(
        tmp_path, source, suppress=[path, table], suppress_encoding="cp1252", suppress_delimiter="^",
        suppress_header=False, suppress_split_cells="+", suppress_columns=[("email", "column1")],
    )  # fmt: skip
    assert plan.rows.suppressed == 3
    with pytest.raises(UsageError, match="suppression source: --delimiter is for delimited text"):
        _check(tmp_path, source, suppress=table, suppress_delimiter=";")


def test_what_is_said_of_lists_needs_one(tmp_path: Path, source: Path) -> None:
    """An option that nothing heeds is a mistake; so is a share beyond 1."""
    with pytest.raises(UsageError, match="there is no suppression source"):
        _check(tmp_path, source, suppress_columns={"email": "email"})
    with pytest.raises(UsageError, match="suppression source: --delimiter must be one"):
        _check(tmp_path, source, suppress=source, suppress_delimiter=";;")
    with pytest.raises(UsageError, match="--suppress-max-rejected-share"):
        _check(tmp_path, source, suppress=source, suppress_max_rejected_share=1.5)


def test_a_prepared_list_says_what_its_columns_are(tmp_path: Path, source: Path) -> None:
    """Whatever is said of the others."""
    settings = load_settings({}, directory=tmp_path)
    prepare(_write(tmp_path / "o.csv", "email", "ada@example.com"), out=tmp_path / "prepared", settings=settings)
    odd = _write(tmp_path / "odd.csv", "Kennung", "cyd@example.com")
    lists = [tmp_path / "prepared" / "records.parquet", odd]
    assert _check(tmp_path, source, suppress=lists, suppress_columns={"email": "Kennung"}).rows.suppressed == 2


@pytest.mark.parametrize("given", ["marketing", "=yes", "marketing=", "marketing= ", " =yes"])
def test_consent_needs_a_name_and_a_word(tmp_path: Path, source: Path, given: str) -> None:
    """A blank word would make silence a yes."""
    with pytest.raises(UsageError, match="NAME=VALUE"):
        _check(tmp_path, source, consent_column=given)


def test_a_missing_consent_column_is_refused(tmp_path: Path, source: Path) -> None:
    """And so is one that carries identifiers."""
    with pytest.raises(MappingRefused, match="there is no column"):
        _check(tmp_path, source, consent_column="newsletter=yes")
    with pytest.raises(MappingRefused, match="more than one thing"):
        _check(tmp_path, source, consent_column="email=yes", columns={"email": "email"})


def test_nobody_left_is_refused(tmp_path: Path, source: Path) -> None:
    """Unless it is expected."""
    plan = _check(tmp_path, source, consent_column="marketing=on")
    assert (plan.verdict, plan.exit_code, plan.rows.suppressed) == ("refused", 3, 4)
    assert "nobody is left" in str(plan.refusals[0])
    assert "--consent-column" in plan.refusals[0].hint
    assert _check(tmp_path, source, consent_column="marketing=on", allow_empty=True).verdict == "empty"


def test_standard_input_is_read_once(tmp_path: Path, source: Path) -> None:
    """By whoever needs it, not by two."""
    with pytest.raises(UsageError, match="standard input is named twice"):
        _check(tmp_path, source, suppress=["-", "-"])


def test_no_suppression_source_is_written_over(tmp_path: Path, source: Path) -> None:
    """Neither by the rejections nor by a prepared directory."""
    listed = _write(tmp_path / "optouts.csv", "email", "ada@example.com")
    settings = load_settings({}, directory=tmp_path)
    with pytest.raises(UsageError, match="written over"):
        check(source, settings=settings, suppress=listed, rejections=listed)
    inside = tmp_path / "out" / "records.parquet"
    inside.parent.mkdir()
    pq.write_table(pa.table({"email": ["ada@example.com"]}), inside)
    with pytest.raises(UsageError, match="directory that is to be written"):
        prepare(source, out=inside.parent, settings=settings, suppress=inside)


async def test_a_do_not_reach_list_suppresses_nobody(source: Path, emulator: Emulator, settings: Settings) -> None:
    """It keeps people out: who must not be put in there?"""
    for keywords in ({"suppress": [source]}, {"consent_column": "marketing=yes"}):
        with pytest.raises(UsageError, match="nobody is suppressed"):
            await do_not_reach_upload_async(source, settings=settings, **keywords)  # type: ignore[arg-type]


async def test_an_upload_counts_them(tmp_path: Path, source: Path, emulator: Emulator, settings: Settings) -> None:
    """In its report; the service never hears of them."""
    listed = _write(tmp_path / "optouts.csv", "email", "ada@example.com")
    report = await upload_async(
        source, audience_id=emulator.audience_id, settings=settings, suppress=listed, consent_column="marketing=yes"
    )
    assert (report.rows.suppressed, report.rows.sent, report.state) == (3, 1, "complete")


# --- 5,000 cases ---


@pytest.mark.parametrize("seed", range(CASES // ROWS_AT_A_TIME))
def test_nobody_is_sent_who_should_not_be(tmp_path: Path, seed: int) -> None:
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
    sent = _sent_rows(
        tmp_path, path, suppress=lists, consent_column="opt in=yes", allow_empty=True, country="US",
        columns={"email": "email", "phone_number": "phone"},
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
