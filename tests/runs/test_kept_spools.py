"""Runs that can go on without their source, from the spool that was kept."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator import Emulator
from audiencekit.errors import AudiencekitError, ResumeRefused
from audiencekit.pipeline import resume_async, upload_async
from audiencekit.runs.reports import list_runs
from audiencekit.runs.start import KEPT
from audiencekit.settings import Settings
from tests.runs.begun import HEADER, LINES, ROWS, begin, members

pytestmark = pytest.mark.usefixtures("small_requests")


async def test_a_kept_spool_stands_for_the_source(source: Path, emulator: Emulator, settings: Settings) -> None:
    """The file may be gone; the rejections are written as before, and the spool is gone with the end of the run."""
    text = source.read_text()
    source.write_text(text + "not an address,,x\n")
    run_id = await begin(source, emulator, settings, keep_spool=True)
    directory = settings.state_dir / "runs" / run_id
    rejections = (directory / "rejections.csv").read_text()
    source.unlink()
    (directory / "rejections.csv").unlink()
    report = await resume_async(run_id, settings=settings)
    assert (report.rows.read, report.rows.sent, report.rows.rejected) == (ROWS + 1, ROWS, 1)
    assert members(emulator) == ROWS
    assert (directory / "rejections.csv").read_text() == rejections
    assert not (directory / KEPT).exists()


async def test_a_refused_run_keeps_no_spool(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """Nothing of it could ever be sent."""
    path = tmp_path / "empty.csv"
    path.write_text("email\nnull\n")
    with pytest.raises(AudiencekitError):
        await upload_async(path, audience=emulator.audience_id, settings=settings, keep_spool=True)
    assert not list(settings.state_dir.rglob(KEPT))


async def test_a_removed_spool_lets_the_source_be_read_again(
    source: Path, emulator: Emulator, settings: Settings
) -> None:
    """Only what comes once depends on it."""
    run_id = await begin(source, emulator, settings, keep_spool=True)
    (settings.state_dir / "runs" / run_id / KEPT).unlink()
    assert (await resume_async(run_id, settings=settings)).rows.sent == ROWS


@pytest.mark.parametrize("keep_spool", [True, False])
async def test_the_list_of_runs_knows_what_standard_input_left(
    emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch, keep_spool: bool
) -> None:
    """Resumable with a kept spool; otherwise the refusal says what would have helped."""
    text = "\n".join([HEADER, *LINES]) + "\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    told: list[str] = []

    class Listener:
        def step(self, *_: Any, **__: Any) -> None:
            pass

        tell = staticmethod(told.append)

    run_id = await begin(Path("-"), emulator, settings, keep_spool=keep_spool, progress=Listener())
    (listed,) = list_runs(settings.state_dir)
    assert listed["resumable"] is keep_spool
    if keep_spool:
        assert any("its records are kept" in message for message in told)
        assert (await resume_async(run_id, settings=settings)).rows.sent == ROWS
        return
    assert any("give `keep_spool=True`" in message for message in told)
    with pytest.raises(ResumeRefused, match="cannot be read again") as caught:
        await resume_async(run_id, settings=settings)
    assert caught.value.reason == "standard_input"
    assert "`keep_spool=True`" in caught.value.hint


async def test_every_damage_to_a_kept_spool_has_one_answer(
    source: Path, emulator: Emulator, settings: Settings
) -> None:
    """Wherever it is, in a chunk or in what names them: nothing more is sent, and a restored one goes on."""
    run_id = await begin(source, emulator, settings, keep_spool=True)
    spool = settings.state_dir / "runs" / run_id / KEPT
    content, draw = spool.read_bytes(), random.Random(3)
    for place in draw.sample(range(len(content)), 25):
        spool.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(ResumeRefused) as caught:
            await resume_async(run_id, settings=settings)
        assert (caught.value.reason, caught.value.exit_code) == ("spool", 3), place
        assert "restore it" in caught.value.hint
    spool.write_bytes(content)
    assert (await resume_async(run_id, settings=settings)).rows.sent == ROWS
