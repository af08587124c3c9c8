"""The files of the memory of erased people: what was written comes back, or nothing is believed."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest

from audiencekit.errors import MemoryRefused
from audiencekit.machine.crashpoints import set_hook
from audiencekit.machine.erasurewitness import Mark
from audiencekit.machine.keys import StateKey
from audiencekit.selection.forgotten.file import (
    FORGOTTEN,
    SERIAL,
    Memory,
    MemoryPart,
    new_identity,
    new_tag_key,
    read_memory,
    read_serial,
    write_memory,
    write_serial,
)
from audiencekit.selection.tags import TAG, Tags

KEY, OTHER_KEY = StateKey(b"k" * 32), StateKey(b"o" * 32)
IDENTITY = "ab" * 16
_MARK = Mark(identity=IDENTITY, serial=3, keys=2, digest="cd" * 16)


def _tags(*numbers: int) -> Tags:
    return np.array([(number, 2**64 - 1 - number) for number in numbers], dtype=TAG)


def _parts(*parts: Tags) -> list[MemoryPart]:
    return [MemoryPart(new_tag_key(), tags) for tags in parts]


def _read(directory: Path) -> Memory:
    found = read_memory(directory, KEY)
    assert found is not None
    return found


def _content(parts: list[MemoryPart] | tuple[MemoryPart, ...]) -> list[tuple[bytes, list[tuple[int, int]]]]:
    return [(part.key.unwrap(), part.tags.tolist()) for part in parts]


@pytest.mark.parametrize(
    "parts", [[], [_tags()], [_tags(1, 2, 2**64 - 1)], [_tags(), _tags(7), _tags(), _tags(1, 5)]]
)  # fmt: skip
def test_every_tag_of_every_host_comes_back(parts: list[Tags], tmp_path: Path) -> None:
    """In its part, with the key that it was made under: under another, its people would not be known again."""
    made = _parts(*parts)
    written = write_memory(tmp_path, KEY, made, identity=IDENTITY, serial=258)
    read = _read(tmp_path)
    assert _content(read.parts) == _content(made)
    assert (read.identity, read.serial, read.digest) == (IDENTITY, 258, written.digest)
    assert read.mark == written.mark == Mark(
        identity=IDENTITY, serial=258, keys=sum(map(len, parts)), digest=written.digest
    )  # fmt: skip


def test_another_state_has_another_digest(tmp_path: Path) -> None:
    """By which one that was put back from a copy is told from the last one."""
    part = _parts(_tags(1))
    first = write_memory(tmp_path, KEY, part, identity=IDENTITY, serial=1)
    others = [
        write_memory(tmp_path, KEY, part, identity=IDENTITY, serial=2),
        write_memory(tmp_path, KEY, part, identity=new_identity(), serial=1),
        write_memory(tmp_path, KEY, [*part, *_parts(_tags(2))], identity=IDENTITY, serial=1),
    ]
    assert len({first.digest, *(other.digest for other in others)}) == 4


@pytest.mark.parametrize(("name", "written"), [(FORGOTTEN, "memory"), (SERIAL, "serial")])
def test_no_byte_can_be_changed_or_cut_off(name: str, written: str, tmp_path: Path) -> None:
    """People who are not found in it would be sent again."""
    write_memory(tmp_path, KEY, _parts(_tags(1, 2), _tags(3)), identity=IDENTITY, serial=1)
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
    write_memory(tmp_path, KEY, _parts(_tags(1)), identity=IDENTITY, serial=1)
    write_serial(tmp_path, KEY, _MARK)
    for read in (read_memory, read_serial):
        with pytest.raises(MemoryRefused) as refusal:
            read(tmp_path, OTHER_KEY)
        assert "AUDIENCEKIT_KEY" in str(refusal.value.hint)


def test_the_keys_of_the_tags_are_sealed(tmp_path: Path) -> None:
    """With them, lists of guessed addresses could be compared with the tags. Files are for their owner alone."""
    made = _parts(_tags(1), _tags(2))
    write_memory(tmp_path, KEY, made, identity=IDENTITY, serial=1)
    write_serial(tmp_path, KEY, _MARK)
    content = (tmp_path / FORGOTTEN).read_bytes()
    assert not any(part.key.unwrap()[:8] in content or part.key.unwrap()[-8:] in content for part in made)
    assert _MARK.identity.encode() not in (tmp_path / SERIAL).read_bytes()
    assert not any(part.key.unwrap().hex() in repr(part) or str(part.key.unwrap()) in repr(part) for part in made)
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in (FORGOTTEN, SERIAL)} == {0o600}


def test_a_new_key_comes_before_the_parts_and_loses_none(tmp_path: Path) -> None:
    """Empty parts go: no one is in them."""
    made = _parts(_tags(1), _tags(), _tags(2, 3))
    memory = write_memory(tmp_path, KEY, made, identity=IDENTITY, serial=1)
    renewed = memory.with_new_key()
    assert _content(renewed[1:]) == _content([made[0], made[2]])
    assert len(renewed[0].tags) == 0
    assert renewed[0].key.unwrap() not in [part.key.unwrap() for part in made]


def test_the_mark_of_the_last_memory_comes_back(tmp_path: Path) -> None:
    """Neither file is no error: there was no erasure."""
    assert read_memory(tmp_path, KEY) is None
    assert read_serial(tmp_path, KEY) is None
    write_serial(tmp_path, KEY, _MARK)
    assert read_serial(tmp_path, KEY) == _MARK


def test_a_kill_before_the_end_leaves_the_last_memory(tmp_path: Path) -> None:
    """Whole, as it was."""
    last = write_memory(tmp_path, KEY, _parts(_tags(1)), identity=IDENTITY, serial=1)

    def kill(point: str) -> None:
        raise KeyboardInterrupt

    set_hook(kill)
    try:
        with pytest.raises(KeyboardInterrupt):
            write_memory(tmp_path, KEY, _parts(_tags(1, 2)), identity=IDENTITY, serial=2)
    finally:
        set_hook(None)
    assert _read(tmp_path).mark == last.mark
