"""The memory of erased people."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from audiencekit.audiences.erasure.forms import ErasureKeys, to_records
from audiencekit.errors import MemoryRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import Secret
from audiencekit.selection.forgotten.people import read_forgotten, remember
from audiencekit.selection.tags import TAG, are_among
from audiencekit.state.keys import StateKey

GIVEN = Secret("6b" * 32)
KEY = StateKey(b"k" * 32)


def _records(*numbers: int) -> object:
    hashed = frozenset((Kind.EMAIL, hashlib.sha256(b"%d" % number).hexdigest()) for number in numbers)
    return to_records(ErasureKeys(hashed | {(Kind.PARTNER_USER_ID, f"crm-{number}") for number in numbers}))


def test_without_an_erasure_no_memory_is_made(tmp_path: Path) -> None:
    """Without a memory no key is asked for, nor made."""
    assert read_forgotten(tmp_path, GIVEN) is None
    assert list(tmp_path.iterdir()) == []


def test_records_that_share_a_key_are_held(tmp_path: Path) -> None:
    """All that were ever added, of every kind; no others."""
    remember(tmp_path, KEY, _records(1, 2))
    remember(tmp_path, KEY, _records(2, 3))
    forgotten = read_forgotten(tmp_path, GIVEN)
    assert forgotten is not None
    assert len(forgotten) == 6
    assert forgotten.holds_any(_records(1, 2, 3)).all()
    assert not forgotten.holds_any(_records(4, 5)).any()


def test_the_file_says_nothing_to_others(tmp_path: Path) -> None:
    """No hash and no part of one, no id; for its owner only."""
    remember(tmp_path, KEY, _records(1))
    content = (tmp_path / "forgotten").read_bytes()
    hashed = hashlib.sha256(b"1").digest()
    assert hashed[:8] not in content
    assert hashed[16:24] not in content
    assert b"crm" not in content
    assert stat.S_IMODE(os.lstat(tmp_path / "forgotten").st_mode) == 0o600


@pytest.mark.parametrize("spoil", ["other key", "cut", "changed", "empty", "text"])
def test_a_memory_that_cannot_be_trusted_keeps_everything_back(spoil: str, tmp_path: Path) -> None:
    """People who are not found in it would be sent again."""
    remember(tmp_path, KEY, _records(1, 2))
    path, given_key = tmp_path / "forgotten", GIVEN
    content = path.read_bytes()
    if spoil == "other key":
        given_key = Secret("6f" * 32)
    else:
        spoilt = {"cut": content[:-16], "changed": content[:-1] + b"\0", "empty": b"", "text": b"x" * 100}
        path.write_bytes(spoilt[spoil])
    with pytest.raises(MemoryRefused, match="erased people"):
        read_forgotten(tmp_path, given_key)
    with pytest.raises(MemoryRefused, match="erased people"):
        remember(tmp_path, StateKey(bytes.fromhex(given_key.unwrap())), _records(3))


PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12)


@given(PAIRS, PAIRS)
def test_tags_are_looked_up_exactly(known: list[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    """Tags that share one half are two tags."""
    tags = np.unique(np.array(known, dtype=TAG))
    assert are_among(np.array(asked, dtype=TAG), tags).tolist() == [one in known for one in asked]
