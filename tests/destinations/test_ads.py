"""Notes on an upload to an audience."""

from __future__ import annotations

from audiencekit.destinations.ads import AUDIENCE
from tests.cases import each_case


@each_case(
    "updates, deletes, suppressing, parts",
    [
        (100, 0, True, []),
        (0, 1, False, ["a Delete takes out all members who have any of its identifiers"]),
        (100, 2, True, ["a Delete takes out all members", "people are taken out whether they are suppressed or not"]),
        (1, 0, False, ["an audience needs 100 matched people; 1 person is too few alone"]),
        (99, 0, False, ["99 people are too few alone"]),
    ],
)
def test_notes_before_anything_is_sent(updates: int, deletes: int, suppressing: bool, parts: list[str]) -> None:
    """Each where it matters, and no other."""
    notes = AUDIENCE.notes(updates=updates, deletes=deletes, suppressing=suppressing)
    assert len(notes) == len(parts)
    assert all(part in note for note, part in zip(notes, parts, strict=True))
