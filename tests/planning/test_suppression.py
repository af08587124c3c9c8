"""Suppression and consent: people to keep out are not put in, whatever their list looks like."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.emulator import Emulator
from audiencekit.errors import UsageError
from audiencekit.pipeline import prepare, upload_async
from audiencekit.settings import Settings, load_settings
from tests.planning.withheld import FORMATS, checked, sent_rows, sha256, write


@pytest.mark.parametrize("written", FORMATS)
def test_a_suppression_source_may_be_any_source(
    tmp_path: Path, source: Path, written: Callable[[Path, list[tuple[str, str]]], Path]
) -> None:
    """Raw or hashed, of another format; one shared key is enough."""
    people = [("ada@example.com", ""), ("", "+12015550104"), ("zoe@example.com", "+12015550199")]
    plan = checked(tmp_path, source, suppress=written(tmp_path / "optouts", people), ignore="marketing")
    assert (plan.rows.suppressed, plan.rows.pending, plan.rows.read, plan.verdict) == (2, 2, 4, "ready")


def test_several_sources_add_up(tmp_path: Path, source: Path) -> None:
    """Each with columns of its own."""
    one = write(tmp_path / "one.csv", "email", "ada@example.com")
    other = write(tmp_path / "other.tsv", "Handynummer\tname", "+12015550104\tCyd")
    assert sent_rows(tmp_path, source, suppress=[one, other], columns={"email": "email", "phone_number": "phone"}) == [
        2,
        3,
    ]


def test_a_source_without_a_common_kind_can_keep_no_one_out(tmp_path: Path) -> None:
    """The list is refused where none of the sources can; else a warning says which."""
    source = write(tmp_path / "list.csv", "email,phone", "ada@example.com,030 123456", "bob@example.com,030 123457")
    numbers = write(tmp_path / "numbers.csv", "phone", "+493012345678")
    plan = checked(tmp_path, source, suppress=numbers, max_rejected_share=1)
    assert any("numbers.csv: it has phone_number alone" in str(refusal) for refusal in plan.refusals)
    addresses = write(tmp_path / "addresses.csv", "email", "ada@example.com")
    plan = checked(tmp_path, source, suppress=[numbers, addresses])
    assert (plan.verdict, plan.rows.suppressed) == ("ready_with_warnings", 1)
    assert [warning.code for warning in plan.warnings if "numbers.csv" in warning.message] == ["no_common_kind"]


def test_a_hashed_list_is_held_against_a_list_in_the_clear(tmp_path: Path) -> None:
    """Whichever way the phone numbers and device ids were written before they were hashed."""
    device = "AEBE52E7-03EE-455A-B3C4-E57283966239"
    source = write(
        tmp_path / "hashed.csv",
        "phone,idfa",
        f"{sha256('12015550101')},{sha256('x')}",
        f"{sha256('+12015550102')},",
        f",{sha256(device)}",
        f",{sha256(device.lower())}",
        f"{sha256('+12015550199')},",
    )
    listed = write(tmp_path / "optouts.csv", "phone,idfa", "(201) 555-0101,", "201-555-0102,", f",{device}")
    rows = sent_rows(
        tmp_path, source, suppress=listed, hashed=["phone_number", "device_id"], country="US",
        columns={"phone_number": "phone", "device_id": "idfa"},
    )  # fmt: skip
    assert rows == [5]


def test_a_list_with_both_forms_is_read_in_both(tmp_path: Path, source: Path) -> None:
    """Rows whose value stands in the clear, and rows that have only the hash, even in one column."""
    listed = write(
        tmp_path / "optouts.csv",
        "email,email_sha256",
        "ada@example.com,",
        f",{sha256('cyd@example.com')}",
        f"{sha256('bob@example.com')},",
    )
    assert sent_rows(tmp_path, source, suppress=listed) == [4]


def test_possible_numbers_suppress_too(tmp_path: Path) -> None:
    """Also when the upload takes numbers that are not assigned."""
    source = write(tmp_path / "list.csv", "phone", "+12001230101", "+12001230102", "+12015550103")
    listed = write(tmp_path / "optouts.csv", "phone", "+1 (200) 123-0101")
    assert sent_rows(tmp_path, source, suppress=listed, phone_validity="possible") == [2, 3]


def test_no_suppression_source_is_in_the_prepared_directory(tmp_path: Path, source: Path) -> None:
    """It would be written over."""
    settings = load_settings({}, directory=tmp_path)
    inside = tmp_path / "out" / "records.parquet"
    inside.parent.mkdir()
    pq.write_table(pa.table({"email": ["ada@example.com"]}), inside)
    with pytest.raises(UsageError, match="directory that is to be written"):
        prepare(source, out=inside.parent, settings=settings, suppress=inside)


async def test_an_upload_counts_them(tmp_path: Path, source: Path, emulator: Emulator, settings: Settings) -> None:
    """In its report; the service never hears of them."""
    listed = write(tmp_path / "optouts.csv", "email", "ada@example.com")
    report = await upload_async(
        source, audience=emulator.audience_id, settings=settings, suppress=listed, consent_column="marketing=yes"
    )
    assert (report.rows.suppressed, report.rows.sent, report.state) == (3, 1, "complete")
