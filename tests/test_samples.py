"""The samples: what is written about them by hand is what the program does."""

from __future__ import annotations

import asyncio
import csv
import hashlib
import json
import os
import re
import subprocess
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import aiohttp
import pyarrow.parquet as pq
import pytest
from ruamel.yaml import YAML

from audiencekit.api.opening import open_client
from audiencekit.audiences.flexible import read_document, to_sentence
from audiencekit.emulator import Emulator
from audiencekit.errors import MappingRefused
from audiencekit.identifiers.kinds import Reason
from audiencekit.limits import MAX_CELL_BYTES
from audiencekit.pipeline import check, prepare, upload_async
from audiencekit.settings import Settings, load_settings
from tests.moments import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "samples"
# File, its keywords, and what it should come to.
CONTACTS: tuple[str, dict[str, Any], dict[str, int]] = (
    "contacts",
    {},
    {"read": 41, "sent": 0, "rejected": 14, "duplicate": 2, "superseded": 0, "suppressed": 0, "pending": 25},
)
HASHED: tuple[str, dict[str, Any], dict[str, int]] = (
    "hashed",
    {"hashed": ["email"]},
    {"read": 14, "sent": 0, "rejected": 7, "duplicate": 0, "superseded": 0, "suppressed": 0, "pending": 7},
)
CHANGES: tuple[str, dict[str, Any], dict[str, int]] = (
    "changes",
    {"operation_column": "operation"},
    {"read": 11, "sent": 0, "rejected": 2, "duplicate": 1, "superseded": 2, "suppressed": 0, "pending": 6},
)
ALL = pytest.mark.parametrize(
    ("name", "keywords", "counts"), [CONTACTS, HASHED, CHANGES], ids=lambda value: str(value)[:8]
)
FLEXIBLE = {
    "Spring visitors": "People in dlzxk (at least once in the last 30 days).",
    "Lapsed buyers": (
        "People in dlzxk (at least once in the last 30 days) and not in dlzxk (more than 2 times in the last 7 days)."
    ),
    "Shop or app, no staff": (
        "People (in 1nmtk (at least 3 times in the last 14 days) or in 1nmtm (at least once in the last day))"
        " and not in 1nmtn (at least once in the last 30 days)."
    ),
}
NOT_SHOWN = {
    Reason.EMPTY,
    Reason.NOT_TEXT,
    Reason.SHARED,
    Reason.TOO_LARGE,
    Reason.LOOKS_PERSONAL,
    Reason.REFUSED_BY_SERVICE,
}


def _expected(name: str) -> Path:
    return SAMPLES / ("expected_rejections.csv" if name == "contacts" else f"expected_{name}_rejections.csv")


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@ALL
def test_rejections_are_those_written_by_hand(
    tmp_path: Path, name: str, keywords: dict[str, Any], counts: dict[str, int]
) -> None:
    """Row by row, and every row is accounted for."""
    plan = check(SAMPLES / f"{name}.csv", rejections=tmp_path / "rejections.csv", **keywords)
    assert (tmp_path / "rejections.csv").read_text(encoding="utf-8") == _expected(name).read_text(encoding="utf-8")
    assert plan.rows.to_json() == counts
    assert plan.verdict == "ready"


def test_every_reason_that_a_small_file_can_show_is_shown() -> None:
    """Over the three files."""
    shown = {row["reason"] for name, *_ in (CONTACTS, HASHED, CHANGES) for row in _read(_expected(name))}
    assert shown == set(Reason) - NOT_SHOWN


@pytest.mark.parametrize(("name", "keywords"), [CONTACTS[:2], CHANGES[:2]], ids=["contacts", "changes"])
def test_the_outcome_of_every_row_is_explained(tmp_path: Path, name: str, keywords: dict[str, Any]) -> None:
    """The tables of samples/README.md: sent rows are records, rejected ones are not, the rest is neither."""
    explained = _explained(name)
    plan = prepare(SAMPLES / f"{name}.csv", out=tmp_path / "out", **keywords)
    sent = set(pq.read_table(tmp_path / "out/records.parquet").column("row").to_pylist())
    noted = {int(row["row"]) for row in _read(_expected(name))}
    assert sorted(explained) == list(range(1, plan.rows.read + 1))
    assert {row for row, outcome in explained.items() if outcome == "sent"} == sent
    assert {row for row, outcome in explained.items() if outcome == "rejected"} == noted - sent
    outcomes = list(explained.values())
    assert outcomes.count("duplicate") == plan.rows.duplicate
    assert outcomes.count("superseded") == plan.rows.superseded


def _explained(name: str) -> dict[int, str]:
    text = (SAMPLES / "README.md").read_text(encoding="utf-8")
    (section,) = re.findall(rf"^## {name}\.csv\n(.*?)(?=^## )", text, flags=re.MULTILINE | re.DOTALL)
    return {int(row): outcome for row, outcome in re.findall(r"^\| (\d+) \| (\w+) \|", section, flags=re.MULTILINE)}


def test_identifiers_of_the_sample_are_hashed_by_the_rules(tmp_path: Path) -> None:
    """A few rows, recomputed from what the service's documentation says."""
    prepare(SAMPLES / "contacts.csv", out=tmp_path / "out")
    records = {record["row"]: record for record in pq.read_table(tmp_path / "out/records.parquet").to_pylist()}
    assert records[2]["email"] == sorted([_sha256("bo.birk@example.com"), _sha256("bo@example.org")])
    assert records[3]["phone_number"] == sorted([_sha256("+442079460123"), _sha256("+441614960123")])
    assert records[5]["phone_number"] == sorted([_sha256("+442079460456"), _sha256("+493023125456")])
    assert records[7]["handle"] == [_sha256("gus_grove")]
    assert records[7]["platform_id"] == [_sha256("9000000000000000007")]
    assert records[7]["partner_user_id"] == ["crm-00007"]
    assert records[8]["device_id"] == [_sha256("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")]
    assert records[9]["email"] == [_sha256("ivo@xn--bcher-kva.example.com")]
    assert records[34]["phone_number"] == [_sha256("+442079460321")]
    assert records[41]["email"] == [_sha256("max@example.com")]
    assert records[41]["phone_number"] == [_sha256("+46846500412")]
    assert records[22]["phone_number"] is None


async def test_after_the_changes_two_people_are_left(emulator: Emulator, settings: Settings) -> None:
    """Those of rows 3 and 11; the delete of row 8 is sent after the update that it undoes."""
    name, keywords, _ = CHANGES
    report = await upload_async(SAMPLES / f"{name}.csv", audience=emulator.audience_id, settings=settings, **keywords)
    assert (report.state, report.requests_confirmed) == ("complete", 2)
    address = f"{emulator.ads_url}/__members/{emulator.audience_id}"
    async with aiohttp.ClientSession() as session, session.get(address) as answer:
        members = (await answer.json())["members"]
    assert sorted(member["keys"]["email"] for member in members) == sorted(
        [[_sha256("ada@example.com")], [_sha256("gus@example.com")]]
    )


def test_hashes_that_are_not_declared_refuse_the_file() -> None:
    """And the message says what to say."""
    plan = check(SAMPLES / "hashed.csv")
    assert plan.verdict == "refused"
    assert isinstance(plan.refusals[0], MappingRefused)
    assert "`hashed=['email']`" in plan.refusals[0].hint


def test_reasons_that_the_samples_cannot_show(tmp_path: Path) -> None:
    """A cell beyond the limit rejects its row; one personal partner id refuses a small file."""
    large = tmp_path / "large.csv"
    large.write_text(f"email\nada@example.com\n{'x' * (MAX_CELL_BYTES + 1)}\n", encoding="utf-8")
    assert check(large).rejections == {"too_large": 1}
    personal = tmp_path / "personal.csv"
    personal.write_text("partner_user_id\ncrm-1\ncrm-2\nada@example.com\n", encoding="utf-8")
    plan = check(personal)
    assert plan.verdict == "refused"
    assert plan.rejections == {"looks_personal": 1}


@pytest.mark.slow
def test_the_script_uploads_the_sample_to_an_emulator(tmp_path: Path) -> None:
    """Without any setting, as a newcomer would run it."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("AUDIENCEKIT_")}
    environment |= {"PYTHONPATH": str(ROOT), "AUDIENCEKIT_STATE_DIR": str(tmp_path / "state")}
    done = subprocess.run(
        [sys.executable, str(SAMPLES / "upload_contacts.py")],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("complete: 41 rows read, 25 sent, 14 rejected\n")
    assert "@" not in done.stdout + done.stderr


@pytest.mark.slow
def test_a_warehouse_reaches_its_audience(tmp_path: Path) -> None:
    """Without a file in between: of 300 customers 200 said yes, and one of them cannot be reached."""
    pytest.importorskip("duckdb")
    environment = {name: text for name, text in os.environ.items() if not name.startswith("AUDIENCEKIT_")}
    environment |= {"PYTHONPATH": str(ROOT), "AUDIENCEKIT_STATE_DIR": str(tmp_path / "state")}
    done = subprocess.run(
        [sys.executable, str(SAMPLES / "warehouse_to_audience.py")],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "complete: 200 rows read, 199 sent, 1 rejected\n"
    assert "@" not in done.stdout + done.stderr


def test_the_flexible_audiences_read_as_they_are_explained() -> None:
    """Every rule is kept, and the page about the format shows the same file."""
    audiences = read_document(SAMPLES / "flexible.toml").audiences
    assert {audience.name: to_sentence(audience) for audience in audiences} == FLEXIBLE
    page = (ROOT / "docs/flexible.md").read_text(encoding="utf-8")
    shown = "".join(re.findall(r"^```toml\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL))
    assert shown in (SAMPLES / "flexible.toml").read_text(encoding="utf-8")
    assert FLEXIBLE["Lapsed buyers"] in page


async def test_the_receiver_takes_what_is_proven_and_nothing_else(tmp_path: Path) -> None:
    """Events of the emulator are printed, none that is forged or too large; a challenge has a token."""
    async with Emulator() as emulator, aiohttp.ClientSession() as session:
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(SAMPLES / "webhook_receiver.py"), env={**os.environ, **emulator.env}, stdout=PIPE
        )
        assert process.stdout is not None
        address = (await process.stdout.readline()).decode().strip()
        try:
            await session.post(f"{emulator.base_url}/__webhooks", json={"12": address})
            async with open_client(load_settings(emulator.env)) as client:
                await client.call("link_webhook_to_filtered_stream", {"webhook_id": "12"})
                await client.subscribe_to_activity()
            forged = {"x-twitter-webhooks-signature": "sha256=AAAA"}
            for given in ({}, forged):
                assert (await session.post(address, data=b"{}", headers=given)).status == 401
            assert (await session.post(address, data=b"a" * 1_000_001)).status == 413
            assert (await session.get(address)).status == 400
            await session.post(f"{emulator.base_url}/__activity", json={"event_type": "spaces.start"})
            event = json.loads(await asyncio.wait_for(process.stdout.readline(), PATIENCE_SECONDS))
            assert event["data"]["event_type"] == "spaces.start"
        finally:
            process.terminate()
            await process.wait()


@pytest.mark.parametrize(
    ("state", "first_night", "code"),
    [(None, False, 1), ("", False, 1), ("20261128-010203-80001f3a\n", False, 0), (None, True, 0)],
)
def test_the_github_workflow_refuses_to_send_without_its_state(
    tmp_path: Path, state: str | None, first_night: bool, code: int
) -> None:
    """Its own step, as a shell of a runner executes it: `begun` is written by every run."""
    workflow = YAML(typ="safe").load(SAMPLES / "nightly" / "github.yml")
    steps = workflow["jobs"]["run"]["steps"]
    (place,) = (place for place, step in enumerate(steps) if "refuse" in step.get("name", ""))
    (sync,) = (place for place, step in enumerate(steps) if "audiencekit@" in step.get("uses", ""))
    (restored,) = (place for place, step in enumerate(steps) if "cache/restore" in step.get("uses", ""))
    assert restored < place < sync
    assert steps[place]["if"] == "${{ !inputs.first_night }}"
    assert workflow["on"]["workflow_dispatch"]["inputs"]["first_night"]["default"] is False
    if state is not None:
        (tmp_path / "state").mkdir()
        (tmp_path / "state" / "begun").write_text(state)
    if not first_night:
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps[place]["run"]]
        done = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        assert bool(done.stdout) == (code == 1)
        if code:
            assert "evicted" in done.stdout
            assert "erased people" in done.stdout
            assert done.stdout.count("\n") == 1  # an annotation ends with its line
