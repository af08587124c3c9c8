"""The people whom `forget` was asked to erase, as keyed tags: so that a stale file does not bring them back.

    8 bytes                 MARK
    16 bytes                keyed digest of what follows
    16 bytes each           tags of keys, ascending: one for every form of every identifier

The tags are made under a sub key of the state key, so that the file says nothing to who lacks it. Nothing is believed
before the digest was checked: a file that was cut off, changed, or written under another key is refused, since people
who are not found in it would be sent again.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from audiencekit.errors import InputOutputFailed
from audiencekit.identifiers.kinds import Kind
from audiencekit.machine.keys import StateKey, SubKey, find_state_key
from audiencekit.machine.privatefiles import explained, read_file, replace_file
from audiencekit.machine.statedirectory import check_root, make_directory
from audiencekit.personal import HashedRecords, Secret, guarded
from audiencekit.preparation.columnar.hashing import sha256_of
from audiencekit.preparation.suppression import KeyMemory
from audiencekit.preparation.tags import TAG, TAG_BYTES, Tagger, Tags
from audiencekit.settings import Settings

FORGOTTEN: Final = "forgotten"
PURPOSE: Final = "forgotten"
MARK: Final = b"AKFORGT1"
MAX_FORGOTTEN_BYTES: Final = 4_000_000_000

_HEAD_BYTES: Final = len(MARK) + TAG_BYTES
_HINT: Final = "give the AUDIENCEKIT_KEY, keyring or key file of then, or restore the file; without it nothing is sent"
_MET: Final = (
    "there are people among the rows who were erased by `forget`: they are not put in, and count as suppressed"
)


class Forgotten:
    """Who was erased, as far as keys tell: a KeyMemory, whose `note` is for the plan of one run."""

    def __init__(self, key: SubKey, tags: Tags) -> None:
        self._tagger, self._tags, self._was_met = Tagger(key), tags, False

    def __len__(self) -> int:
        """How many keys are remembered."""
        return len(self._tags)

    def __repr__(self) -> str:
        return f"<Forgotten: {len(self)} keys>"

    def holds(self, kind: Kind, hashes: Any) -> npt.NDArray[np.bool_]:
        """Of each of `hashes` (HASH_TYPE), keys of one kind, whether it is that of somebody who was erased.

        Of the kind that is sent as it is, they are the SHA-256. To be called from a guarded function only.
        """
        held = _are_among(self._tagger.tag_hashes(hashes, kind), self._tags)
        self._was_met |= bool(held.any())
        return held

    @property
    def note(self) -> str:
        """What people should know when somebody was held, empty while nobody was."""
        return _MET if self._was_met else ""

    def holds_any(self, records: HashedRecords) -> npt.NDArray[np.bool_]:
        """Of each record of a batch with a column for every kind, whether any of its keys is held."""
        return _holds_any(self, records)


def read_forgotten(state_dir: Path, given: Secret | None) -> Forgotten | None:
    """Who was erased from this state directory; None when nobody was. `given` is the state key, as in the settings.

    Raises InputOutputFailed for a file that cannot be trusted.
    """
    check_root(state_dir)
    path = state_dir / FORGOTTEN
    if not os.path.lexists(path):
        return None
    key = find_state_key(state_dir, given).derive(PURPOSE)
    return Forgotten(key, _read(path, key))


def memories_of(settings: Settings) -> tuple[KeyMemory, ...]:
    """What every plan of records to be put in has to heed. Raises InputOutputFailed for what cannot be trusted."""
    forgotten = read_forgotten(settings.state_dir, settings.key)
    return () if forgotten is None else (forgotten,)


def remember(state_dir: Path, key: StateKey, records: HashedRecords) -> None:
    """Add every key of `records`; durable when it returns. Raises InputOutputFailed."""
    path, own = state_dir / FORGOTTEN, key.derive(PURPOSE)
    with _locked(path):
        known = _read(path, own) if os.path.lexists(path) else np.zeros(0, dtype=TAG)
        tags = _joined(known, _tags_of(Tagger(own), records))
        with explained("the memory of erased people cannot be written", path):
            replace_file(path, MARK + _digest(own, tags.tobytes()) + tags.tobytes())


@guarded
def _holds_any(forgotten: Forgotten, records: HashedRecords) -> npt.NDArray[np.bool_]:
    batch = records.unwrap()
    found = np.zeros(batch.num_rows, dtype=bool)
    for kind in Kind:
        lists = batch.column(kind.value)
        if len(values := lists.flatten()):
            held = forgotten.holds(kind, values if kind.is_hashed else sha256_of(values))
            found[lists.value_parent_indices().to_numpy(zero_copy_only=False)[held]] = True
    return found


def _are_among(asked: Tags, tags: Tags) -> npt.NDArray[np.bool_]:
    """Of each of `asked`, whether it is one of `tags`, which ascend."""
    among = np.zeros(len(asked), dtype=bool)
    if len(tags):
        # By their first halves; hardly any others than those that are looked for pass.
        at = np.minimum(np.searchsorted(tags["high"], asked["high"]), len(tags) - 1)
        near = np.flatnonzero(tags["high"][at] == asked["high"])
        same_halves = {one.tobytes() for one in tags[np.isin(tags["high"], asked["high"][near])]}
        among[near] = [one.tobytes() in same_halves for one in asked[near]]
    return among


@guarded
def _tags_of(tagger: Tagger, records: HashedRecords) -> Tags:
    found = [np.zeros(0, dtype=TAG), *(tags for _, tags in tagger.tag_keys(records.unwrap()))]
    return np.concatenate(found)


def _joined(known: Tags, fresh: Tags) -> Tags:
    """All of both, each once, ascending."""
    tags: Tags = np.unique(np.concatenate([known, fresh]))
    return tags


def _read(path: Path, key: SubKey) -> Tags:
    with explained("the memory of erased people cannot be read", path):
        content = read_file(path, MAX_FORGOTTEN_BYTES)
    tags = content[_HEAD_BYTES:]
    is_whole = content.startswith(MARK) and not len(tags) % TAG_BYTES
    if not is_whole or not hmac.compare_digest(content[len(MARK) : _HEAD_BYTES], _digest(key, tags)):
        raise InputOutputFailed(
            f"{str(path)!r}, the memory of erased people, is damaged or was written under another state key", hint=_HINT
        )
    return np.frombuffer(tags, dtype=TAG)


def _digest(key: SubKey, tags: bytes) -> bytes:
    return hashlib.blake2b(tags, key=key.unwrap(), digest_size=TAG_BYTES).digest()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time adds."""
    make_directory(path.parent)
    with explained("the memory of erased people cannot be locked", path):
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(path.with_name(f".{path.name}.lock"), flags, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)
