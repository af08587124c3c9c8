"""The table of the SDK and ours: who is right, and where it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.sdk_faults import BEGIN, END, OURS, PEOPLE, PROBES, THEIRS, Finding, meet, write_results, write_table

AWAY = next(probe for probe in PROBES if probe.leads_away)
STAYS = PROBES[0]


@pytest.mark.parametrize(
    ("done", "members", "strange", "stays", "away"),
    [
        (True, PEOPLE, 0, True, False),
        (True, PEOPLE - 1, 0, False, False),
        (False, PEOPLE, 0, False, True),
        (False, 0, 5, False, False),
    ],
)
def test_who_is_right(done: bool, members: int, strange: int, stays: bool, away: bool) -> None:
    """Nobody lost and nobody misled; for a redirect, nothing at the other address."""
    finding = Finding(heard="", is_told_done=done, members=members, strange_bytes=strange)
    assert (finding.is_right(STAYS), finding.is_right(AWAY)) == (stays, away)


def test_there_are_twelve() -> None:
    """As the reliability bar has it, and the table has a line for each and the sums."""
    finding = Finding(heard="complete", is_told_done=True, members=PEOPLE, strange_bytes=0)
    table = write_table({(who, probe.name): finding for who in (OURS, THEIRS) for probe in PROBES})
    assert len(PROBES) == 12
    assert table.splitlines()[-1] == "| right | | 11 of 12 | | 11 of 12 |"


def test_only_what_is_between_the_marks_is_replaced(tmp_path: Path) -> None:
    """A file without them is left alone."""
    path = tmp_path / "RESULTS.md"
    path.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    write_results(path, "new")
    assert path.read_text() == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"
    path.write_text("nothing")
    with pytest.raises(ValueError, match="must have the lines"):
        write_results(path, "new")


async def test_ours_is_right_over_a_real_socket() -> None:
    """The real command against a fault that costs no waiting, and against the redirect."""
    reset = next(probe for probe in PROBES if probe.name == "connection reset")
    for probe in (reset, AWAY):
        assert (await meet(OURS, probe)).is_right(probe)
