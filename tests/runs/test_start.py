"""The origins that a run can be resumed from: its source, or the spool that was kept of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from audiencekit.errors import ResumeRefused
from audiencekit.runs.start import KEPT, can_resume, refuse_unrepeatable, with_full_urls
from audiencekit.sources.frames import Frame, OpenFile
from tests.runs.journal.conftest import FACTS

FILE, STDIN, FRAME, OPEN_FILE = "/lists/people.csv", "-", Frame.mark, OpenFile.mark
SIGNED = "https://example.com/people.csv?…"


@pytest.mark.parametrize(
    ("sources", "suppress", "keeps", "spool", "planned", "reason"),
    [
        ([FILE], [], False, False, True, None),
        ([FILE], [], True, False, False, None),
        ([STDIN], [], False, False, True, "standard_input"),
        ([FRAME], [], False, False, True, "data_frame"),
        ([OPEN_FILE], [], False, False, True, "open_file"),
        ([FILE, STDIN], [], False, False, True, "standard_input"),
        ([STDIN], [], True, True, True, None),
        ([FRAME], [], True, True, True, None),
        ([STDIN], [], True, True, False, "standard_input"),
        ([STDIN], [], True, False, True, "standard_input"),
        ([STDIN], [], False, True, True, "standard_input"),
        ([FILE], [STDIN], False, False, True, "standard_input"),
        ([FILE], [STDIN], True, True, True, "standard_input"),
        ([STDIN], [FILE], True, True, True, None),
        (["s3://exports/people.csv"], ["https://example.com/a.csv"], False, False, True, None),
        ([SIGNED], [], False, False, True, "signed_address"),
        ([SIGNED], [], True, True, True, None),
    ],
)
def test_a_source_that_cannot_be_read_again_is_named(
    tmp_path: Path,
    sources: list[str],
    suppress: list[str],
    keeps: bool,
    spool: bool,
    planned: bool,
    reason: str | None,
) -> None:
    """A spool stands for the sources once there is a plan, and never for who is suppressed."""
    facts = replace(FACTS, sources=sources, keywords={"suppress": suppress}, keep_spool=keeps)
    if spool:
        (tmp_path / KEPT).write_bytes(bytes(64))
    assert can_resume(facts, tmp_path, is_planned=planned) == (reason is None)
    if reason is None:
        refuse_unrepeatable(facts, tmp_path, is_planned=planned)
        return
    with pytest.raises(ResumeRefused) as caught:
        refuse_unrepeatable(facts, tmp_path, is_planned=planned)
    assert caught.value.reason == reason


def test_half_a_spool_is_removed(tmp_path: Path) -> None:
    """The run ended before it was whole, and nothing was sent."""
    (tmp_path / KEPT).write_bytes(bytes(64))
    facts = replace(FACTS, sources=[STDIN], keywords={}, keep_spool=True)
    with pytest.raises(ResumeRefused, match="nothing was sent"):
        refuse_unrepeatable(facts, tmp_path, is_planned=False)
    assert not (tmp_path / KEPT).exists()


def test_an_address_that_is_given_again_is_whole(tmp_path: Path) -> None:
    """Only the one of which the rest was kept."""
    whole = "https://example.com/people.csv?signature=invented"
    assert with_full_urls([FILE, SIGNED], (whole,)) == [FILE, whole]
    assert with_full_urls([SIGNED], ("https://example.com/other.csv?signature=invented",)) == [SIGNED]
    facts = replace(FACTS, sources=[SIGNED], keywords={})
    refuse_unrepeatable(facts, tmp_path, is_planned=True, sources=[whole])
