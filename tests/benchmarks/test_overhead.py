"""What the journal and the checks cost: that both ways are what they are called, and that the section is written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from audiencekit.emulator import Emulator
from audiencekit.pipeline import upload_async
from audiencekit.runs.storedreports import opened_journal
from audiencekit.settings import Settings
from benchmarks.overhead import BEGIN, END, main, without_journal_and_checks
from benchmarks.sdk_faults import OUT


async def test_without_them_nothing_is_kept(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """The upload is complete all the same; with them its journal knows of every request."""
    source = tmp_path / "list.csv"
    source.write_text("email\nada@example.com\nbo@example.com\n")
    with without_journal_and_checks():
        bare = await upload_async(source, audience_id=emulator.audience_id, settings=settings)
    full = await upload_async(source, audience_id=emulator.audience_id, settings=settings)
    assert bare.state == full.state == "complete"
    assert (_confirmed(settings, bare.run_id), _confirmed(settings, full.run_id)) == (0, 1)


def _confirmed(settings: Settings, run_id: str) -> int:
    """Requests that the journal of the run knows to be confirmed."""
    with opened_journal(settings.state_dir / "runs" / run_id) as journal:
        return journal.sums().confirmed


def test_the_section_is_written_between_its_marks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing else of the file changes."""
    out = tmp_path / "RESULTS.md"
    shutil.copy(OUT, out)
    main(["--rows", "400", "--rounds", "1", "--out", str(out)])
    assert "processor_share" in capsys.readouterr().out
    kept, written = OUT.read_text(), out.read_text()
    assert written.partition(BEGIN)[0] == kept.partition(BEGIN)[0]
    assert written.partition(END)[2] == kept.partition(END)[2]
    assert "| processor |" in written.partition(BEGIN)[2]


def test_a_file_without_the_marks_is_left_alone(tmp_path: Path) -> None:
    """Whose file is it?"""
    out = tmp_path / "other.md"
    out.write_text("# Something else\n")
    with pytest.raises(ValueError, match=r"other\.md must have"):
        main(["--rows", "100", "--rounds", "1", "--out", str(out)])
    assert out.read_text() == "# Something else\n"
