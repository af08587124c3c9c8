"""Marks of snapshots that are noted outside of state directories."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from audiencekit.errors import InputOutputFailed
from audiencekit.selection.erasure_witness import Mark, Witness, newest

MARK = Mark(identity="ab" * 16, serial=3, keys=7, digest="cd" * 16)


def test_a_mark_is_found_by_place_and_by_identity(tmp_path: Path) -> None:
    """And by nothing else; another user of the data directory sees neither."""
    witness = Witness(tmp_path / "data" / "witness", "machine")
    assert witness.note(tmp_path / "state", MARK)
    assert (witness.of_place(tmp_path / "state"), witness.of_identity(MARK.identity)) == (MARK, MARK)
    assert (witness.of_place(tmp_path / "other"), witness.of_identity("00" * 16)) == (None, None)
    made = [path for path in tmp_path.rglob("*") if path != tmp_path / "state"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_dir()} == {0o700}
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_file()} == {0o600}
    assert str(tmp_path) not in "".join(path.read_text() for path in made if path.is_file())


def test_a_link_is_the_place_that_it_leads_to(tmp_path: Path) -> None:
    """However it is named."""
    (tmp_path / "state").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "state")
    witness = Witness(tmp_path / "witness", "machine")
    witness.note(tmp_path / "link", MARK)
    assert witness.of_place(tmp_path / "state") == MARK


def test_another_machine_has_other_places(tmp_path: Path) -> None:
    """But the same memories: a home may be shared."""
    Witness(tmp_path / "witness", "one").note(tmp_path / "state", MARK)
    other = Witness(tmp_path / "witness", "two")
    assert (other.of_place(tmp_path / "state"), other.of_identity(MARK.identity)) == (None, MARK)


def test_a_place_that_takes_no_file_is_no_failure(tmp_path: Path) -> None:
    """No user directory, or one that is a file; it is no failure."""
    (tmp_path / "file").write_text("")
    for directory in (None, tmp_path / "file" / "witness"):
        witness = Witness(directory, "machine")
        assert not witness.note(tmp_path / "state", MARK)
        assert (witness.of_place(tmp_path / "state"), witness.of_identity(MARK.identity)) == (None, None)


def test_a_file_that_other_users_may_write_is_not_believed(tmp_path: Path) -> None:
    """They may have written it."""
    witness = Witness(tmp_path / "witness", "machine")
    witness.note(tmp_path / "state", MARK)
    (tmp_path / "witness").chmod(0o777)
    assert witness.of_place(tmp_path / "state") is None


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b'{"identity": 1, "serial": 1, "keys": 1, "digest": ""}', b"\xff"]
)
def test_a_damaged_record_is_said(content: bytes, tmp_path: Path) -> None:
    """With its path, and never as if there were none."""
    witness = Witness(tmp_path / "witness", "machine")
    witness.note(tmp_path / "state", MARK)
    for path in (tmp_path / "witness").iterdir():
        path.write_bytes(content)
    with pytest.raises(InputOutputFailed, match="damaged"):
        witness.of_place(tmp_path / "state")


def test_the_user_of_the_process_has_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the data directory."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert Witness.of_user().note(tmp_path / "state", MARK)
    assert len(os.listdir(tmp_path / "data" / "audiencekit" / "witness")) == 2


def test_the_newest_mark_has_the_highest_serial() -> None:
    """Whichever directory notes it."""
    later = Mark(identity="", serial=4, keys=1, digest="")
    assert newest({"a": MARK, "b": later}) == ("b", later)
