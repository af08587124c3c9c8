"""A prepared directory is a source: the same bytes as from the list itself, by every entry point."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.audiences.do_not_reach import do_not_reach_upload_async
from audiencekit.cli import cli
from audiencekit.emulator import Emulator
from audiencekit.errors import NotFinished, ResumeRefused, SourceRefused, UsageError
from audiencekit.pipeline import check, prepare, resume_async, upload_async
from audiencekit.runs.reports import list_runs
from audiencekit.settings import Settings
from tests.moments import TODAY

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
TEXTS = pa.list_(pa.string())
ANN, BOB = (hashlib.sha256(name.encode()).hexdigest() for name in ("ann", "bob"))


def _bodies(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (out / "requests").iterdir()}


@pytest.mark.parametrize(
    ("name", "keywords"),
    [("contacts", {}), ("changes", {"operation_column": "operation"}), ("hashed", {"hashed": ["email"]})],
    ids=["contacts", "changes", "hashed"],
)
@pytest.mark.parametrize("of", ["file", "directory"])
def test_a_round_trip_gives_the_same_bytes(tmp_path: Path, name: str, keywords: dict[str, Any], of: str) -> None:
    """Waves and all; nothing is rejected a second time."""
    first, second = tmp_path / "first", tmp_path / "second"
    plan = prepare(SAMPLES / f"{name}.csv", out=first, requests=True, plan_time=TODAY, **keywords)
    source = first / "records.parquet" if of == "file" else first
    again = prepare(source, out=second, requests=True, plan_time=TODAY)
    assert _bodies(second) == _bodies(first)
    assert again.to_json()["plan"] == plan.to_json()["plan"]
    assert (again.rows.read, again.rows.rejected) == (plan.rows.pending, 0)
    assert again.source["format"] == "prepared"


def test_one_operation_may_be_said_for_all(tmp_path: Path) -> None:
    """So that the people of an old upload can be taken out again."""
    prepare(SAMPLES / "contacts.csv", out=tmp_path / "first")
    prepare(tmp_path / "first", out=tmp_path / "second", operation="delete")
    operations = pq.read_table(tmp_path / "second/records.parquet").column("operation").to_pylist()
    assert set(operations) == {"Delete"}


def test_a_prepared_directory_is_not_written_over_itself(tmp_path: Path) -> None:
    """Its records would be gone before they are read."""
    prepare(SAMPLES / "contacts.csv", out=tmp_path / "out")
    with pytest.raises(UsageError, match="the source lies in the directory"):
        prepare(tmp_path / "out", out=tmp_path / "out")
    assert (tmp_path / "out/records.parquet").exists()


def test_rows_without_a_key_or_an_operation_are_rejected(tmp_path: Path) -> None:
    """Rows and rejections close."""
    table = pa.table(
        {
            "row": [1, 2, 3, 4],
            "operation": ["Update", "Remove", None, "Update"],
            "email": pa.array([[ANN], [BOB], [BOB], None], TEXTS),
        }
    )
    pq.write_table(table, tmp_path / "records.parquet")
    plan = check(tmp_path / "records.parquet", max_rejected_share=1.0)
    assert (plan.rows.read, plan.rows.rejected, plan.rows.pending) == (4, 3, 1)
    assert plan.rejections == {"unknown_operation": 2, "no_identifier": 1}


async def test_raw_values_send_nothing(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """Not even the sound records before them."""
    emails = pa.array([[ANN], ["bob@example.com"]], TEXTS)
    table = pa.table({"row": [1, 2], "operation": ["Update"] * 2, "email": emails})
    pq.write_table(table, tmp_path / "records.parquet")
    with pytest.raises(SourceRefused, match="row 2, column email: not a SHA-256") as caught:
        await upload_async(tmp_path / "records.parquet", audience=emulator.audience_id, settings=settings)
    assert caught.value.exit_code == 3
    assert not [entry for entry in emulator.store.requests.documents() if entry["path"].endswith("/users")]
    assert "bob@" not in f"{caught.value} {caught.value.document}"


async def test_a_mixed_prepared_list_is_uploaded_as_it_says(
    tmp_path: Path, emulator: Emulator, settings: Settings
) -> None:
    """And the report says what was done."""
    prepare(SAMPLES / "changes.csv", out=tmp_path / "out", operation_column="operation")
    report = await upload_async(tmp_path / "out", audience=emulator.audience_id, settings=settings)
    assert (report.state, report.operation, report.rows.sent) == ("complete", "update and delete", 6)


PEOPLE = {"email": [f"p{number}@example.com" for number in range(40)]}


@pytest.mark.parametrize("make", [pa.table, lambda columns: pa.table(columns).to_reader()], ids=["table", "reader"])
async def test_a_frame_is_uploaded(
    emulator: Emulator, settings: Settings, tmp_path: Path, make: Callable[[dict[str, Any]], Any]
) -> None:
    """The same people as from a file, and the report tells that it came once."""
    report = await upload_async(make(PEOPLE), audience=emulator.audience_id, settings=settings)
    assert (report.state, report.rows.sent) == ("complete", 40)
    assert [(part["name"], part["repeatable"]) for part in report.sources] == [("data frame", False)]
    (tmp_path / "list.csv").write_text("email\n" + "\n".join(PEOPLE["email"]) + "\n")
    alike = [check(source, plan_time=TODAY).to_json()["plan"] for source in (make(PEOPLE), tmp_path / "list.csv")]
    assert {**alike[0], "resumable": None} == {**alike[1], "resumable": None}


class _Ends:
    """A limiter that ends the run when it is first asked."""

    async def acquire(self) -> None:
        raise NotFinished("the test has seen enough")


async def test_a_run_from_a_frame_is_not_resumed(emulator: Emulator, settings: Settings) -> None:
    """The frame is gone with the process that had it."""
    with pytest.raises(NotFinished):
        await upload_async(pa.table(PEOPLE), audience=emulator.audience_id, settings=settings, limiter=_Ends())
    with pytest.raises(ResumeRefused, match="a source was a data frame, which cannot be read again") as caught:
        await resume_async("last", settings=settings)
    assert caught.value.reason == "data_frame"
    assert len(list_runs(settings.state_dir)) == 1


def test_a_prepared_list_suppresses(tmp_path: Path) -> None:
    """Whatever its operations are: who is in it is kept out."""
    prepare(SAMPLES / "changes.csv", out=tmp_path / "out", operation="delete")
    rows = check(SAMPLES / "changes.csv", operation="update", suppress=tmp_path / "out").rows
    assert (rows.suppressed, rows.rejected, rows.pending) == (11, 0, 0)


def test_a_frame_does_not_suppress_unnoticed() -> None:
    """Suppression takes paths, and what is no path is not left out in silence."""
    with pytest.raises(UsageError, match="rows that come once are not taken here"):
        check(SAMPLES / "contacts.csv", suppress=pa.table(PEOPLE))  # type: ignore[typeddict-item]


@pytest.mark.parametrize("make", [pa.table, lambda columns: pa.table(columns).to_reader()], ids=["table", "reader"])
async def test_a_frame_is_put_on_the_do_not_reach_list(
    emulator: Emulator, settings: Settings, make: Callable[[dict[str, Any]], Any]
) -> None:
    """Which is created first, since the account has none."""
    report = await do_not_reach_upload_async(make(PEOPLE), settings=settings)
    assert (report.state, report.rows.sent) == ("complete", 40)


def test_the_command_line_takes_a_directory(tmp_path: Path) -> None:
    """And says what is wrong with one."""
    from click.testing import CliRunner

    prepare(SAMPLES / "contacts.csv", out=tmp_path / "out")
    assert CliRunner().invoke(cli, ["check", str(tmp_path / "out")]).exit_code == 0
    (tmp_path / "out/more.csv").write_text("email\n")
    refused = CliRunner().invoke(cli, ["check", str(tmp_path / "out")])
    assert (refused.exit_code, "more.csv: the manifest does not name it" in refused.stderr) == (3, True)
