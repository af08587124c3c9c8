"""All that a machine knows, for its page: of every account, also where files are damaged. Nothing is asked."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from audiencekit.audiences.machine import look_at_machine
from audiencekit.audiences.sync.sync import sync_async
from audiencekit.destinations.audience_sizes import AudienceSizes
from audiencekit.destinations.known_audiences import KnownAudiences
from audiencekit.emulator import Emulator
from audiencekit.pipeline import upload_async
from audiencekit.runs.reports import find_earlier_report
from audiencekit.settings import Settings

PEOPLE = "email\n" + "".join(f"p{number}@example.com\n" for number in range(120))


async def test_audiences_of_every_account_are_there(emulator: Emulator, settings: Settings, tmp_path: Path) -> None:
    """With their sizes and names; one of the account of the settings has its members and their expiry, too."""
    (tmp_path / "list.csv").write_text(PEOPLE)
    await sync_async(tmp_path / "list.csv", audience=emulator.audience_id, settings=settings)
    AudienceSizes(settings.state_dir, "otheraccount").note("h2cd3", 700, "2026-01-01T00:00:00Z")
    KnownAudiences(settings.state_dir, "otheraccount").note({"h2cd3": "Of another account"})
    document = look_at_machine(dataclasses.replace(settings, account_id=None))
    own, other = document["places"]
    assert own["target"]["id"] == emulator.audience_id
    assert (own["members"], own["expiry"]["members"]) == ({"least": 120, "most": 120}, 120)
    assert own["runs"] == [run["run_id"] for run in document["runs"]]
    assert (other["name"], other["runs"], other["members"]) == ("Of another account", [], None)
    assert [each["audience_size"] for each in other["history"]] == [700]


async def test_a_damaged_run_hides_no_other(emulator: Emulator, settings: Settings, tmp_path: Path) -> None:
    """It is there as far as it is known; what it is compared with is the complete run before it, of the same kind."""
    (tmp_path / "list.csv").write_text(PEOPLE)
    keywords = {"audience": emulator.audience_id, "settings": settings}
    first = await upload_async(tmp_path / "list.csv", **keywords)
    damaged = await upload_async(tmp_path / "list.csv", **keywords)
    synced = await sync_async(tmp_path / "list.csv", **keywords)
    last = await upload_async(tmp_path / "list.csv", **keywords)
    (settings.state_dir / "runs" / damaged.run_id / "report.json").write_bytes(b"{")
    runs = look_at_machine(settings)["runs"]
    assert [run["run_id"] for run in runs] == [last.run_id, synced.run_id, damaged.run_id, first.run_id]
    assert runs[2]["state"] == "unreadable"
    earlier = find_earlier_report(settings.state_dir, last.to_json())
    assert earlier is not None
    assert earlier["run_id"] == first.run_id
    assert find_earlier_report(settings.state_dir, first.to_json()) is None


def test_an_empty_machine(settings: Settings) -> None:
    """Nothing is made on it."""
    document = look_at_machine(settings)
    assert (document["places"], document["runs"], document["erasures"]) == ([], [], [])
