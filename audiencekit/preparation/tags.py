"""Keyed tags of keys and key sets: 128 bits that are equal when the keys are, and say nothing to anyone else.

A tag of a key is one block of AES over half of the SHA-256 and the kind, under a key that lives as long as the run, or,
where tags are compared with those of an earlier run, as long as the state key. A tag of a set is the sum of its keys'
tags. 64 bits would confuse people with each other in lists of a hundred million.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from audiencekit.identifiers.kinds import Kind
from audiencekit.machine.keys import SubKey
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.columnar.hashing import sha256_of
from audiencekit.preparation.columnar.hexadecimal import hash_matrix

TAG_BYTES: Final = 16
TAG: Final = np.dtype([("high", "<u8"), ("low", "<u8")])
Tags: TypeAlias = npt.NDArray[np.void]
Places: TypeAlias = npt.NDArray[np.int64]


class Tagger:
    """Tags under `key`, or one that is drawn at random; it is never shown."""

    def __init__(self, key: SubKey | None = None) -> None:
        # Single blocks of distinct plain texts: what ECB is good for.
        secret = secrets.token_bytes(32) if key is None else key.unwrap()
        self._cipher = Cipher(algorithms.AES(secret), modes.ECB())  # noqa: S305
        self._of_kinds = {kind: self._mask(kind) for kind in Kind}

    def __repr__(self) -> str:
        return "<Tagger>"

    def tag_keys(self, records: Any) -> Iterator[tuple[Places, Tags]]:
        """For each kind that `records` (RECORD_SCHEMA) hold: the record of each key, and its tag.

        Holds hashes: to be called from a guarded function only.
        """
        for kind, lists, hashes in hashes_by_kind(records):
            owners = lists.value_parent_indices().to_numpy(zero_copy_only=False).astype(np.int64)
            yield owners, self.tag_hashes(hashes, kind)

    def _mask(self, kind: Kind) -> npt.NDArray[np.uint8]:
        name = kind.value.encode().ljust(TAG_BYTES, b"\0")[:TAG_BYTES]
        return np.frombuffer(self._cipher.encryptor().update(name), dtype=np.uint8)

    def tag_hashes(self, hashes: Any, kind: Kind) -> Tags:
        """The tag of each of `hashes` (HASH_TYPE), keys of one kind."""
        halves = hash_matrix(hashes)[:, :TAG_BYTES] ^ self._of_kinds[kind]
        return np.frombuffer(self._cipher.encryptor().update(halves.tobytes()), dtype=TAG)


def hashes_by_kind(records: Any) -> Iterator[tuple[Kind, Any, Any]]:
    """Each kind that `records` (RECORD_SCHEMA) hold, with their lists of it, and the hashes in these (HASH_TYPE).

    Holds hashes: to be called from a guarded function only.
    """
    for kind in Kind:
        lists = records.column(kind.value)
        values = lists.flatten()
        if len(values):
            yield kind, lists, values if kind.is_hashed else sha256_of(values)


@guarded
def tags_of_sets(records: HashedRecords, tagger: Tagger) -> Tags:
    """The tag of the key set of each record of a batch that has a column for every kind."""
    batch = records.unwrap()
    return sum_of_keys(list(tagger.tag_keys(batch)), batch.num_rows)


def sum_of_keys(of_kinds: list[tuple[Places, Tags]], records: int) -> Tags:
    """The tag of each record's key set."""
    sums = np.zeros(records, dtype=TAG)
    for owners, tags in of_kinds:
        if bool((owners[1:] > owners[:-1]).all()):
            sums["high"][owners] += tags["high"]
            sums["low"][owners] += tags["low"]
        else:
            np.add.at(sums["high"], owners, tags["high"])
            np.add.at(sums["low"], owners, tags["low"])
    return sums
