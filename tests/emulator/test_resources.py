"""Records, and what they were."""

from __future__ import annotations

from audiencekit.emulator.resources import Record


def test_a_record_remembers_its_states() -> None:
    """From its creation on, each with the fields and the time that it had; the last is what it is."""
    record = Record("r", 1.0, 1.0, {"name": "first", "size": 1})
    record.change({"name": "second"}, 2.0)
    record.delete(3.0)
    states = [(state.updated_at, state.value("name"), state.value("size"), state.deleted) for state in record.states()]
    assert states == [(1.0, "first", 1, False), (2.0, "second", 1, False), (3.0, "second", 1, True)]
    assert all(not state.past for state in record.past)


def test_earlier_states_are_not_shown() -> None:
    """The document is what the record is now."""
    record = Record("r", 1.0, 1.0, {"name": "first"})
    record.change({"name": "second"}, 2.0)
    assert record.document() == {
        "name": "second",
        "id": "r",
        "created_at": "1970-01-01T00:00:01Z",
        "updated_at": "1970-01-01T00:00:02Z",
        "deleted": False,
    }
