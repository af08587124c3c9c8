"""Keyed tags of keys and key sets: 128 bits that are equal when the keys are, and say nothing to anyone else.

A tag of a key is one block of AES under a key that lives as long as the run, over half of the SHA-256 and the kind; a
tag of a set is the sum of its keys' tags. 64 bits would confuse people with each other in lists of a hundred million.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from audiencekit.identifiers.kinds import Kind
from audiencekit.preparation.columnar.hashing import sha256_of
from audiencekit.preparation.columnar.hexadecimal import hash_matrix

TAG_BYTES: Final = 16
TAG: Final = np.dtype([("high", "<u8"), ("low", "<u8")])
Tags: TypeAlias = npt.NDArray[np.void]
Places: TypeAlias = npt.NDArray[np.int64]


class Tagger:
    """Tags under one key, drawn at random and never shown."""

    def __init__(self) -> None:
        # Single blocks of distinct plain texts: what ECB is good for.
        self._cipher = Cipher(algorithms.AES(secrets.token_bytes(32)), modes.ECB())  # noqa: S305
        self._of_kinds = {kind: np.frombuffer(secrets.token_bytes(TAG_BYTES), dtype=np.uint8) for kind in Kind}

    def __repr__(self) -> str:
        return "<Tagger>"

    def tag_keys(self, records: Any) -> Iterator[tuple[Places, Tags]]:
        """For each kind that `records` (RECORD_SCHEMA) hold: the record of each key, and its tag.

        Holds hashes: to be called from a guarded function only.
        """
        for kind in Kind:
            lists = records.column(kind.value)
            values = lists.flatten()
            if len(values):
                hashes = values if kind.is_hashed else sha256_of(values)
                owners = lists.value_parent_indices().to_numpy(zero_copy_only=False).astype(np.int64)
                yield owners, self._tag(hashes, kind)

    def _tag(self, hashes: Any, kind: Kind) -> Tags:
        halves = hash_matrix(hashes)[:, :TAG_BYTES] ^ self._of_kinds[kind]
        return np.frombuffer(self._cipher.encryptor().update(halves.tobytes()), dtype=TAG)


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
