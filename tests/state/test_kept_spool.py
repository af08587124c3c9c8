"""A kept spool is read again by who has the key, whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.errors import Bug, InputOutputFailed
from audiencekit.state.keys import SubKey
from audiencekit.state.spool import MARK, KeptSpool, OtherSpoolFormat, destroy_spool
from tests.examples import examples

KEY = SubKey(bytes(range(32)))
MARKER = b"marker-of-a-person"
CHUNKS = [b"one", b"", MARKER * 50, b"four"]


def _kept(path: Path, chunks: list[bytes] | None = None, key: SubKey = KEY) -> Path:
    with KeptSpool.create(path, key) as spool:
        for chunk in CHUNKS if chunks is None else chunks:
            spool.append(chunk)
        spool.finish()
    return path


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=100), max_size=6))
def test_another_process_reads_the_same_chunks(tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes]) -> None:
    """A process that opens the file with the key gets every chunk, in order and by number."""
    path = _kept(tmp_path_factory.mktemp("spool") / "spool", chunks)
    with KeptSpool.open(path, KEY) as spool:
        assert list(spool.chunks()) == chunks
        assert [spool.read(number) for number in reversed(range(len(spool)))] == chunks[::-1]


def test_chunks_keep_their_numbers(tmp_path: Path) -> None:
    """Not the order of writing counts, but the numbers."""
    with KeptSpool.create(tmp_path / "spool", KEY) as spool:
        for number in (2, 0, 1):
            spool.append(b"%d" % number, number)
        spool.finish()
    with KeptSpool.open(tmp_path / "spool", KEY) as spool:
        assert list(spool.chunks()) == [b"0", b"1", b"2"]


def test_nothing_readable_is_in_the_file(tmp_path: Path) -> None:
    """It belongs to its owner alone, and holds neither content nor key; two files of one key have nothing in common."""
    one, two = (_kept(tmp_path / name).read_bytes() for name in ("one", "two"))
    assert stat.S_IMODE((tmp_path / "one").stat().st_mode) == 0o600
    assert MARKER not in one
    assert KEY.unwrap() not in one
    pieces = [{content[at : at + 8] for at in range(len(MARK), len(content) - 24)} for content in (one, two)]
    assert not pieces[0] & pieces[1]


@pytest.mark.parametrize("key", [SubKey(bytes(32)), SubKey(bytes(range(1, 33)))])
def test_another_key_opens_nothing(tmp_path: Path, key: SubKey) -> None:
    """And says what may be wrong."""
    with pytest.raises(InputOutputFailed, match="belongs to another key"):
        KeptSpool.open(_kept(tmp_path / "spool"), key)


def test_every_byte_counts(tmp_path: Path) -> None:
    """A file of which any single byte was changed is refused, at its opening or where the chunk is read."""
    path = _kept(tmp_path / "spool", [b"one", b"two"])
    content = path.read_bytes()
    for at in range(len(content)):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(InputOutputFailed), KeptSpool.open(path, KEY) as spool:
            list(spool.chunks())


def test_every_length_counts(tmp_path: Path) -> None:
    """A file that was cut off anywhere, or went on, is refused when it is opened."""
    path = _kept(tmp_path / "spool", [b"one", b"two"])
    content = path.read_bytes()
    for cut in [*(content[:size] for size in range(len(content))), content + b"\0"]:
        path.write_bytes(cut)
        with pytest.raises(InputOutputFailed, match="not whole"):
            KeptSpool.open(path, KEY)


def test_a_spool_of_another_version_is_refused_as_such(tmp_path: Path) -> None:
    """Nothing is said of damage or of keys, and the file stays."""
    path = _kept(tmp_path / "spool")
    content = b"AKSPOOL2" + path.read_bytes()[8:]
    path.write_bytes(content)
    with pytest.raises(OtherSpoolFormat, match=r"is in format AKSPOOL2, and this .* reads AKSPOOL1 only"):
        KeptSpool.open(path, KEY)
    assert path.read_bytes() == content


def test_swapped_chunks_are_refused(tmp_path: Path) -> None:
    """Chunks of one length in each other's places, and those of another spool in the same place."""
    path, other = _kept(tmp_path / "spool", [b"one", b"two"]), _kept(tmp_path / "other", [b"six", b"two"])
    content, foreign = path.read_bytes(), other.read_bytes()
    head, size = len(MARK) + 32, 3 + 16
    first, second = content[head : head + size], content[head + size : head + 2 * size]
    for changed in (
        content[:head] + second + first + content[head + 2 * size :],
        content[:head] + foreign[head : head + size] + content[head + size :],
        content[:head] + foreign[head:],
    ):
        path.write_bytes(changed)
        with pytest.raises(InputOutputFailed), KeptSpool.open(path, KEY) as spool:
            list(spool.chunks())


def test_an_unfinished_spool_is_refused(tmp_path: Path) -> None:
    """A run that was killed while it read the source left nothing to go on with."""
    with KeptSpool.create(tmp_path / "spool", KEY) as spool:
        spool.append(b"one")
    with pytest.raises(InputOutputFailed, match="not whole"):
        KeptSpool.open(tmp_path / "spool", KEY)


def test_a_finished_spool_takes_nothing(tmp_path: Path) -> None:
    """Neither where it was written nor where it is read; and a spool with a hole is not finished."""
    with KeptSpool.create(tmp_path / "spool", KEY) as spool:
        spool.append(b"one")
        spool.finish()
        with pytest.raises(Bug, match="finished"):
            spool.append(b"two")
    with KeptSpool.open(tmp_path / "spool", KEY) as spool, pytest.raises(Bug, match="finished"):
        spool.append(b"two")
    with KeptSpool.create(tmp_path / "hole", KEY) as spool:
        spool.append(b"two", 1)
        with pytest.raises(Bug, match="never written"):
            spool.finish()


def test_files_are_not_overwritten_or_followed(tmp_path: Path) -> None:
    """An existing file stays, and a link is not followed."""
    path = _kept(tmp_path / "spool")
    (tmp_path / "link").symlink_to(path)
    for name in ("spool", "link"):
        with pytest.raises(InputOutputFailed, match="cannot be made"):
            KeptSpool.create(tmp_path / name, KEY)
    with pytest.raises(InputOutputFailed, match="cannot be opened"):
        KeptSpool.open(tmp_path / "link", KEY)
    with pytest.raises(InputOutputFailed, match="cannot be opened"):
        KeptSpool.open(tmp_path / "missing", KEY)


def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the directory does not fit, and at the very beginning."""

    def failing(file: int, content: bytes, offset: int) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with KeptSpool.create(tmp_path / "spool", KEY) as spool:
        spool.append(b"one")
        monkeypatch.setattr(os, "pwrite", failing)
        with pytest.raises(InputOutputFailed, match=os.strerror(errno.ENOSPC)):
            spool.finish()
    with pytest.raises(InputOutputFailed, match=os.strerror(errno.ENOSPC)):
        KeptSpool.create(tmp_path / "other", KEY)


def test_the_key_is_not_shown() -> None:
    """Like every secret."""
    assert KEY.unwrap().hex() not in repr(KEY) + str(KEY) + f"{KEY}"


def test_a_destroyed_spool_cannot_be_opened_by_another_name(tmp_path: Path) -> None:
    """The salt is overwritten before the name goes: another name of the same file opens nothing."""
    path, other = _kept(tmp_path / "spool"), tmp_path / "other"
    os.link(path, other)
    destroy_spool(path)
    assert not path.exists()
    with pytest.raises(InputOutputFailed, match="not whole"):
        KeptSpool.open(other, KEY)
    destroy_spool(path)  # which is not there


def test_a_spool_that_cannot_be_destroyed_is_told(tmp_path: Path) -> None:
    """A directory in its place is not ours to remove."""
    (tmp_path / "spool").mkdir()
    with pytest.raises(InputOutputFailed, match="cannot be removed"):
        destroy_spool(tmp_path / "spool")
