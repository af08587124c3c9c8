"""The door to a state in a bucket, for programs: their settings find the working copy, which is gone at the end."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

import audiencekit
from audiencekit.errors import CredentialsRefused, InputOutputFailed, StateRefused, UsageError
from audiencekit.mirror.opening import begin_state, look_at_state, open_state
from audiencekit.selection.erasure_witness import Mark, Witness
from audiencekit.settings import load_settings
from audiencekit.state.durability import store_changes
from audiencekit.state.files import replace_file, sync_directory
from tests.mirror.conftest import ADDRESS
from tests.mirror.stores import MemoryObjects


@pytest.fixture
def objects(objects: MemoryObjects) -> MemoryObjects:
    """With a state."""
    begin_state(ADDRESS)
    return objects


def _write(content: bytes) -> None:
    place = load_settings().state_dir
    replace_file(place / "begun", content)
    sync_directory(place)


def test_a_program_finds_the_files_of_the_one_before(empty: Path) -> None:
    with open_state():
        _write(b"first")
    with open_state() as head:
        assert (load_settings().state_dir / "begun").read_bytes() == b"first"
    assert head.generation == 2


def test_a_change_is_stored_before_a_request_may_leave(empty: Path, objects: MemoryObjects) -> None:
    """Also when the process is killed then; a store that is away lets nothing leave."""
    kept: dict[str, tuple[bytes, int]] = {}

    def work() -> None:
        with open_state():
            _write(b"sent")
            asyncio.run(store_changes())
            kept.update(objects.objects)
            _write(b"not sent")
            objects.losses = 1.0
            for _ in range(2):
                with pytest.raises(InputOutputFailed, match="cannot be used"):
                    asyncio.run(store_changes())

    with pytest.raises(InputOutputFailed, match="cannot be used"):
        work()
    objects.losses, objects.objects = 0.0, kept
    with open_state(hold=False):
        assert (load_settings().state_dir / "begun").read_bytes() == b"sent"


def test_a_note_of_the_erased_people_waits_for_the_bucket(empty: Path, tmp_path: Path) -> None:
    """A kill before would make the last memory in the bucket look like an earlier one, on this machine for good."""
    witness, mark = Witness(tmp_path / "witness", "machine"), Mark(identity="a", serial=2, keys=1, digest="00")
    with open_state():
        place = load_settings().state_dir
        _write(b"tags")
        assert witness.note(place, mark)
        assert witness.of_identity("a") is None
        asyncio.run(store_changes())
        assert witness.of_identity("a") == mark
    with open_state(hold=False):
        assert witness.note(load_settings().state_dir, replace(mark, serial=3))
        assert witness.of_identity("a") == replace(mark, serial=3)


def test_a_look_changes_nothing(empty: Path, objects: MemoryObjects) -> None:
    before = dict(objects.objects)
    with open_state(hold=False):
        _write(b"dropped")
        asyncio.run(store_changes())
    assert objects.objects == before


def test_a_summary_counts_files_by_kind(empty: Path) -> None:
    with open_state():
        place = load_settings().state_dir
        for name in ("a", "b"):
            (place / "runs" / name).mkdir(parents=True)
            (place / "runs" / name / "report.json").write_bytes(b"12345")
        (place / "forgotten").write_bytes(b"123")
    found = look_at_state(ADDRESS)
    assert [(kind.name, kind.files, kind.size_bytes) for kind in found.kinds] == [("forgotten", 1, 3), ("runs", 2, 10)]
    assert found.head.holder is None


def test_settings_refuse_a_bucket_that_is_not_open(empty: Path) -> None:
    """So every function of the library refuses it, and does not use another directory."""
    with pytest.raises(UsageError, match="its state is not open"):
        audiencekit.upload("list.csv", audience="dlzxk")


@pytest.mark.parametrize(
    ("environment", "error", "message"),
    [
        ({"AUDIENCEKIT_KEY": ""}, CredentialsRefused, "needs its key from elsewhere"),
        ({"AUDIENCEKIT_STATE_DIR": "/srv/state"}, UsageError, "are both given"),
        ({"AUDIENCEKIT_STATE": ""}, UsageError, "no address of a bucket"),
        ({"AUDIENCEKIT_STATE": "sftp://host/state"}, UsageError, "no address of a bucket"),
        ({"AUDIENCEKIT_STATE_HEAD": "7"}, InputOutputFailed, "CHANGE:DIGEST"),
        ({"AUDIENCEKIT_STATE_HEAD": "2:00"}, StateRefused, "before the one that is known, 2"),
    ],
)
def test_a_state_that_cannot_be_opened_is_refused(
    empty: Path, environment: dict[str, str], error: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(error, match=message), open_state():
        pass


def test_a_machine_without_a_place_for_the_copy_is_told_which_is_needed(
    objects: MemoryObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a container with a read-only root and no /tmp."""

    def refuse(**_: str) -> str:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    with pytest.raises(InputOutputFailed, match="no place for the working copy") as caught, open_state():
        pass
    assert "TMPDIR" in caught.value.hint
