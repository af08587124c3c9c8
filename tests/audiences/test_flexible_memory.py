"""`audiencekit.audiences.flexible_memory`."""

from __future__ import annotations

import json
from pathlib import Path

from audiencekit.audiences.flexible import Document, read_document
from audiencekit.audiences.flexible_creation import Creation
from audiencekit.audiences.flexible_memory import FILE, KnownFlexible


def _document(tmp_path: Path, **below: str) -> Document:
    audiences = [{"name": name, "segments": {"audience": one, "lookback": 7}} for name, one in below.items()]
    path = tmp_path / "audiences.json"
    path.write_text(json.dumps({"audiences": audiences}))
    return read_document(path)


def _created(*ids: str | None) -> list[Creation]:
    return [Creation(path="", name="", id=one, state="created" if one else "missing") for one in ids]


def test_created_audiences_are_known_with_all_that_are_above_them(tmp_path: Path) -> None:
    """Of this account, also through other flexible audiences; without those that do not exist."""
    state = tmp_path / "state"
    known = KnownFlexible(state, "acc1")
    assert known.all() == {}
    lower = _document(tmp_path, first="base", lost="base", other="else")
    known.note(lower, _created("f1", None, "f3"))
    upper = _document(tmp_path, second="f1")
    known.note(upper, _created("f2"))
    assert known.all() == {"f1": lower.audiences[0], "f3": lower.audiences[2], "f2": upper.audiences[0]}
    assert {one: audience.name for one, audience in known.above("base").items()} == {"f1": "first", "f2": "second"}
    assert known.above("f2") == {}
    assert KnownFlexible(state, "acc2").all() == {}


def test_a_memory_that_cannot_be_read_knows_nothing(tmp_path: Path) -> None:
    """It is a help: no command ends for it."""
    state = tmp_path / "state"
    known = KnownFlexible(state, "acc1")
    known.note(_document(tmp_path, first="base"), _created("f1"))
    (state / FILE).write_text("{")
    assert known.all() == {}
    KnownFlexible(state, None).note(_document(tmp_path, first="base"), _created("f1"))
    assert KnownFlexible(state, None).all() == {}
