"""The files of the memory of erased people: what was written comes back, or nothing is believed."""

from __future__ import annotations

import stat
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from audiencekit.errors import MemoryRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.process.crash_points import set_hook
from audiencekit.records.columns.arrays import HASH_TYPE
from audiencekit.selection.erased_people_file import (
    FORGOTTEN,
    SERIAL,
    ImportedPeople,
    Memory,
    People,
    new_identity,
    new_tag_key,
    read_memory,
    read_serial,
    write_memory,
    write_serial,
)
from audiencekit.selection.erasure_witness import Mark
from audiencekit.selection.tag_arrays import TAG, Tags
from audiencekit.selection.tags import Tagger
from audiencekit.state.keys import StateKey

KEY, OTHER_KEY = StateKey(b"k" * 32), StateKey(b"o" * 32)
IDENTITY = "ab" * 16
_MARK = Mark(identity=IDENTITY, serial=3, keys=2, digest="cd" * 16)


def _tags(*numbers: int) -> Tags:
    return np.array([(number, 2**64 - 1 - number) for number in numbers], dtype=TAG)


def _people(own: Tags, *imports: Tags) -> People:
    return People(
        new_tag_key(),
        own,
        tuple(
            ImportedPeople(import_id=f"{number:08x}", sender=f"as1{number}", at="2026-01-01T00:00:00Z", tags=tags)
            for number, tags in enumerate(imports)
        ),
    )


def _read(directory: Path) -> Memory:
    found = read_memory(directory, KEY)
    assert found is not None
    return found


def _content(people: People) -> tuple[bytes, list[tuple[int, int]], list[tuple[str, str, str, list[tuple[int, int]]]]]:
    imports = [(each.import_id, each.sender, each.at, each.tags.tolist()) for each in people.imports]
    return people.key.unwrap(), people.own.tolist(), imports


@pytest.mark.parametrize(
    ("groups", "keys"),
    [([_tags()], 0), ([_tags(1, 2, 2**64 - 1)], 3), ([_tags(), _tags(7), _tags(), _tags(1, 5, 7)], 3)],
)  # fmt: skip
def test_every_tag_of_every_host_comes_back(groups: list[Tags], keys: int, tmp_path: Path) -> None:
    """With its import, and with the key that it was made under; keys of two groups count once."""
    made = _people(*groups)
    written = write_memory(tmp_path, KEY, made, identity=IDENTITY, serial=258)
    read = _read(tmp_path)
    assert _content(read.people) == _content(made)
    assert (read.identity, read.serial, read.digest) == (IDENTITY, 258, written.digest)
    assert read.mark == written.mark == Mark(
        identity=IDENTITY, serial=258, keys=keys, digest=written.digest
    )  # fmt: skip


def test_another_state_has_another_digest(tmp_path: Path) -> None:
    """By which one that was put back from a copy is told from the last one."""
    part = _people(_tags(1))
    first = write_memory(tmp_path, KEY, part, identity=IDENTITY, serial=1)
    others = [
        write_memory(tmp_path, KEY, part, identity=IDENTITY, serial=2),
        write_memory(tmp_path, KEY, part, identity=new_identity(), serial=1),
        write_memory(tmp_path, KEY, replace(part, own=_tags(1, 2)), identity=IDENTITY, serial=1),
    ]
    assert len({first.digest, *(other.digest for other in others)}) == 4


@pytest.mark.parametrize(("name", "written"), [(FORGOTTEN, "memory"), (SERIAL, "serial")])
def test_no_byte_can_be_changed_or_cut_off(name: str, written: str, tmp_path: Path) -> None:
    """People who are not found in it would be sent again."""
    write_memory(tmp_path, KEY, _people(_tags(1, 2), _tags(3)), identity=IDENTITY, serial=1)
    write_serial(tmp_path, KEY, _MARK)
    path = tmp_path / name
    content = path.read_bytes()
    changed = [
        *(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :] for place in range(len(content))),
        *(content[:length] for length in range(len(content))),
        content + bytes(16),
    ]
    for spoilt in changed:
        path.write_bytes(spoilt)
        with pytest.raises(MemoryRefused, match=f"the {written} of .*erased people"):
            (read_memory if name == FORGOTTEN else read_serial)(tmp_path, KEY)


def test_another_state_key_opens_neither(tmp_path: Path) -> None:
    """It says so, and what to do."""
    write_memory(tmp_path, KEY, _people(_tags(1)), identity=IDENTITY, serial=1)
    write_serial(tmp_path, KEY, _MARK)
    for read in (read_memory, read_serial):
        with pytest.raises(MemoryRefused) as refusal:
            read(tmp_path, OTHER_KEY)
        assert "AUDIENCEKIT_KEY" in str(refusal.value.hint)


def test_the_keys_of_the_tags_are_sealed(tmp_path: Path) -> None:
    """With them, lists of guessed addresses could be compared with the tags. Files are for their owner alone."""
    made = _people(_tags(1), _tags(2))
    write_memory(tmp_path, KEY, made, identity=IDENTITY, serial=1)
    write_serial(tmp_path, KEY, _MARK)
    content = (tmp_path / FORGOTTEN).read_bytes()
    assert made.key.unwrap()[:8] not in content
    assert made.key.unwrap()[-8:] not in content
    assert b"as10" not in content
    assert _MARK.identity.encode() not in (tmp_path / SERIAL).read_bytes()
    assert made.key.unwrap().hex() not in repr(made)
    assert str(made.key.unwrap()) not in repr(made)
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in (FORGOTTEN, SERIAL)} == {0o600}


def test_the_same_people_are_held_under_another_key() -> None:
    """Of every kind and every group; the tags of before say nothing of those of now."""
    hashes = pa.array([sha256(b"%d" % one).digest() for one in range(5)], HASH_TYPE)
    before, after = new_tag_key(), new_tag_key()
    for kind in Kind:
        tags = np.sort(Tagger(before, movable=True).tag_hashes(hashes, kind))
        moved = People(before, tags, _people(_tags(), tags[:2]).imports).under(after)
        assert set(moved.own.tolist()) == set(Tagger(after, movable=True).tag_hashes(hashes, kind).tolist())
        assert set(moved.imports[0].tags.tolist()) < set(moved.own.tolist())
        assert not set(moved.own.tolist()) & set(tags.tolist())


def test_the_mark_of_the_last_memory_comes_back(tmp_path: Path) -> None:
    """Neither file is no error: there was no erasure."""
    assert read_memory(tmp_path, KEY) is None
    assert read_serial(tmp_path, KEY) is None
    write_serial(tmp_path, KEY, _MARK)
    assert read_serial(tmp_path, KEY) == _MARK


def test_a_kill_before_the_end_leaves_the_last_memory(tmp_path: Path) -> None:
    """Whole, as it was."""
    last = write_memory(tmp_path, KEY, _people(_tags(1)), identity=IDENTITY, serial=1)

    def kill(point: str) -> None:
        raise KeyboardInterrupt

    set_hook(kill)
    try:
        with pytest.raises(KeyboardInterrupt):
            write_memory(tmp_path, KEY, _people(_tags(1, 2)), identity=IDENTITY, serial=2)
    finally:
        set_hook(None)
    assert _read(tmp_path).mark == last.mark
