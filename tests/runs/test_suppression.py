"""A run that suppresses is resumed as it was begun, or refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator import Emulator
from audiencekit.errors import NotFinished, ResumeRefused
from audiencekit.pipeline import resume_async, upload_async
from audiencekit.runs.reports import read_report
from audiencekit.settings import Settings
from tests.runs.begun import EndsAfter, requests_received

ROWS = 40
Change = Callable[[Path], None]


pytestmark = pytest.mark.usefixtures("small_requests")


@pytest.fixture
def keywords(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A suppression source by a path that means something from here only, and a consent."""
    monkeypatch.chdir(tmp_path)
    lines = [f"person{number}@example.com,{'no' if number % 10 == 3 else 'yes'}" for number in range(ROWS)]
    Path("list.csv").write_text("\n".join(["email,ok", *lines]) + "\n")
    Path("optouts.csv").write_text("email\nperson1@example.com\nperson2@example.com\n")
    return {"suppress": ["optouts.csv"], "consent_column": "ok=yes"}


async def _begin(emulator: Emulator, settings: Settings, keywords: dict[str, Any]) -> None:
    with pytest.raises(NotFinished):
        await upload_async(
            "list.csv", audience=emulator.audience_id, settings=settings,
            limiter=EndsAfter(2), **keywords,
        )  # fmt: skip


async def test_a_run_is_resumed_from_anywhere(
    tmp_path: Path, emulator: Emulator, settings: Settings, keywords: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal knows the suppression sources by their whole paths, and the consent."""
    await _begin(emulator, settings, keywords)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    report = await resume_async("last", settings=settings)
    assert (report.rows.suppressed, report.rows.sent, report.state) == (6, ROWS - 6, "complete")
    audience = emulator.store.find_audience(emulator.audience_id)
    assert audience is not None
    assert len(list(audience.members.members(emulator.clock.now()))) == ROWS - 6


def _one_more(directory: Path) -> None:
    with (directory / "optouts.csv").open("a") as file:
        file.write("person7@example.com\n")


def _another(directory: Path) -> None:
    (directory / "optouts.csv").write_text("email\nperson1@example.com\nperson9@example.com\n")


def _a_stranger(directory: Path) -> None:
    with (directory / "optouts.csv").open("a") as file:
        file.write("stranger@example.com\n")


def _other_consents(directory: Path) -> None:
    path = directory / "list.csv"
    text = path.read_text()
    path.write_text(
        text.replace("person13@example.com,no", "person13@example.com,yes").replace(
            "n17@example.com,yes", "n17@example.com,no"
        )
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [(_one_more, "suppression"), (_another, "suppression"), (_a_stranger, "suppression"), (_other_consents, "source")],
)
async def test_a_changed_list_refuses_the_resumption(
    tmp_path: Path, emulator: Emulator, settings: Settings, keywords: dict[str, Any], change: Change, reason: str
) -> None:
    """Nothing is sent: the plan of then is not that of now."""
    await _begin(emulator, settings, keywords)
    change(tmp_path)
    before = requests_received(emulator)
    with pytest.raises(ResumeRefused) as caught:
        await resume_async("last", settings=settings)
    assert (caught.value.reason, requests_received(emulator)) == (reason, before)


async def test_a_list_that_is_gone_refuses_the_resumption(
    tmp_path: Path, emulator: Emulator, settings: Settings, keywords: dict[str, Any]
) -> None:
    """And the run can still be finished when it is back."""
    await _begin(emulator, settings, keywords)
    (tmp_path / "optouts.csv").rename(tmp_path / "aside.csv")
    before = requests_received(emulator)
    with pytest.raises(Exception, match=r"optouts\.csv"):
        await resume_async("last", settings=settings)
    assert requests_received(emulator) == before
    (tmp_path / "aside.csv").rename(tmp_path / "optouts.csv")
    assert (await resume_async("last", settings=settings)).state == "complete"


async def test_a_list_from_standard_input_cannot_be_read_again(
    emulator: Emulator, settings: Settings, keywords: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a source, the run is refused rather than sent without it."""
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"email\nperson1@example.com\n")))
    await _begin(emulator, settings, {"suppress": "-"})
    with pytest.raises(ResumeRefused) as caught:
        await resume_async("last", settings=settings)
    assert caught.value.reason == "standard_input"


async def test_no_suppressed_person_is_in_journal_or_report(
    tmp_path: Path, emulator: Emulator, settings: Settings, keywords: dict[str, Any]
) -> None:
    """Neither the suppressed nor their hashes: counts and paths only."""
    import hashlib

    await _begin(emulator, settings, keywords)
    kept = b"".join(path.read_bytes() for path in (tmp_path / "state").rglob("*") if path.is_file())
    report = json.dumps(read_report(settings.state_dir, "last")).encode()
    for person in (b"person1@example.com", b"person13@example.com"):
        for trace in (person, hashlib.sha256(person).hexdigest().encode(), hashlib.sha256(person).digest()):
            assert trace not in kept + report
