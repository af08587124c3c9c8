"""Changes of an audit log are found, by the program and by the verifier that shares no code with it."""

from __future__ import annotations

import os
import random
import re
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

from audiencekit.audit.chain import Head, Keys, hash_of, sign_line, write_note
from audiencekit.audit.log import AuditLog
from audiencekit.audit.verification import verify_log
from audiencekit.state.keys import StateKey
from audiencekit.state.signing import signing_key, verifier_key
from tests.audit.edits import CUTS, EDITS, KEY, STRANGER, edited, lines_of, write_log

ROOT = Path(__file__).resolve().parents[2]
EACH: Final = int(os.environ.get("AUDIT_EDITS", "2"))  # of every kind
ENTRIES: Final = 6
AT: Final = "2026-01-01T00:00:00Z"
ALL: Final = pytest.mark.parametrize("name", [*EDITS, *CUTS])


@cache
def _sample() -> ModuleType:
    """The verifier in samples/, as a module."""
    found = ModuleType("verify_audit_log")
    exec(compile((ROOT / "samples/verify_audit_log.py").read_text("utf-8"), "sample", "exec"), found.__dict__)
    return found


def _is_right_for_sample(lines: list[bytes], notes: list[str], key: StateKey = KEY) -> bool:
    sample = _sample()
    keys = sample.read_keys("\n".join(map(verifier_key, (*reversed(key.earlier), key))))
    try:
        sample.verify(b"".join(lines), keys, notes)
    except (sample.Wrong, ValueError, KeyError, TypeError, AttributeError):
        return False
    return True


def _head(log: AuditLog) -> Head:
    head = verify_log(lines_of(log), Keys.of(log.key)).head
    assert head is not None
    return head


@ALL
def test_a_change_of_the_log_is_found(name: str, tmp_path: Path) -> None:
    """Without any head, and with one; a cut end only with one. Both verifiers agree."""
    log = write_log(tmp_path, ENTRIES)
    lines, head = lines_of(log), _head(log)
    note, draw = write_note(head, AT, KEY), random.Random(name)
    edit = {**EDITS, **CUTS}[name]
    for _ in range(EACH):
        changed = edited(lines, edit, draw)
        alone, compared = (verify_log(changed, Keys.of(KEY), heads) for heads in ((), (head,)))
        assert compared.fault, name
        assert bool(alone.fault) == (name in EDITS), (name, alone.fault)
        assert not _is_right_for_sample(changed, [note])
        assert _is_right_for_sample(changed, []) == (name in CUTS)


@pytest.mark.slow
@ALL
def test_a_thousand_changes_are_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all kinds together."""
    monkeypatch.setitem(globals(), "EACH", 1_000 // (len(EDITS) + len(CUTS)) + 1)
    test_a_change_of_the_log_is_found(name, tmp_path)


def test_a_log_that_was_not_changed_is_right(tmp_path: Path) -> None:
    """After each entry, by every head from before, for both verifiers."""
    log, heads, notes = AuditLog(tmp_path, KEY), list[Head](), list[str]()
    for number in range(4):
        log.append("upload", "begun", of="a-run", records=number)
        heads.append(_head(log))
        notes.append(write_note(heads[-1], AT, KEY))
        found = verify_log(lines_of(log), Keys.of(KEY), heads)
        assert (found.fault, found.entries, found.after) == ("", number + 1, 0)
        assert _is_right_for_sample(lines_of(log), notes)


def test_a_log_of_another_key_or_another_log_is_wrong(tmp_path: Path) -> None:
    """A head is of one log, and a log is of one key."""
    mine, other = write_log(tmp_path / "mine", 3), write_log(tmp_path / "other", 3)
    assert "key that is not known" in verify_log(lines_of(mine), Keys.of(STRANGER)).fault
    assert not _is_right_for_sample(lines_of(mine), [], STRANGER)
    assert "another log" in verify_log(lines_of(mine), Keys.of(KEY), [_head(other)]).fault
    assert not _is_right_for_sample(lines_of(mine), [write_note(_head(other), AT, KEY)])


def test_a_log_goes_on_under_a_rotated_key(tmp_path: Path) -> None:
    """Entries of the key before stay right; the key before signs none behind them."""
    write_log(tmp_path, 2)
    rotated = StateKey(b"\x03" * 32, (KEY,))
    log = write_log(tmp_path, 2, rotated)
    assert verify_log(lines_of(log), Keys.of(rotated)).fault == ""
    assert _is_right_for_sample(lines_of(log), [write_note(_head(log), AT, rotated)], rotated)
    lines = lines_of(log)
    late = sign_line({"number": 5, "previous": hash_of(lines[-1])}, signing_key(KEY))
    assert "earlier key" in verify_log([*lines, late], Keys.of(rotated)).fault
    assert not _is_right_for_sample([*lines, late], [], rotated)


def test_a_cut_by_a_retention_is_signed(tmp_path: Path) -> None:
    """The log is right from there on, by later heads; a head from before the cut cannot be compared."""
    log = write_log(tmp_path, 4)
    early = _head(log)
    assert log.cut("0001") == 0
    log.append("upload", "begun", of="later")
    lines = lines_of(log)
    assert log.cut("9999") == 5
    cut = verify_log(lines_of(log), Keys.of(KEY), [Head(early.log, 5, hash_of(lines[-1]))])
    assert (cut.fault, cut.after, cut.entries) == ("", 5, 0)
    assert "cannot be compared" in verify_log(lines_of(log), Keys.of(KEY), [early]).fault
    log.append("upload", "ended", of="later")
    found = verify_log(lines_of(log), Keys.of(KEY), [Head(early.log, 5, hash_of(lines[-1]))])
    assert (found.fault, found.entries) == ("", 1)
    # The opening from before the cut does not fit any more.
    assert verify_log([lines[0], *lines_of(log)[1:]], Keys.of(KEY)).fault
    assert not _is_right_for_sample([lines[0], *lines_of(log)[1:]], [])
    assert _is_right_for_sample(lines_of(log), [write_note(_head(log), AT, KEY)])


def test_the_sample_is_short_and_shares_no_code() -> None:
    """At most 150 lines, which import nothing of audiencekit."""
    text = (ROOT / "samples/verify_audit_log.py").read_text("utf-8")
    assert len(text.splitlines()) <= 150
    assert re.findall(r"^(?:import|from) audiencekit", text, flags=re.MULTILINE) == []
