"""The rows of a run that have a rejection, each with the tag of its record: what shows later that a row is one of them.

A tag is keyed, so that it says nothing without the key of the run, and is of all identifiers of the record together, as
the digests in a journal are of all records of a request.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np
import pyarrow as pa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from audiencekit.personal import HashedRecords, guarded
from audiencekit.records.batches import ROW
from audiencekit.records.record_bits import Bools, Indices
from audiencekit.selection.tag_arrays import TAG, Tags
from audiencekit.selection.tags import TaggedKeys, Tagger
from audiencekit.state.keys import KEY_BYTES, SubKey

_TAGS: Final = b"audiencekit tags of rejected rows 1"
_PROOFS: Final = b"audiencekit proofs of rejected rows 1"
_ROW_BYTES: Final = 8
_PROOF_BYTES: Final = 16
_MOST_DIGITS: Final = 18  # of a row in a proof
_HALF: Final = (1 << 64) - 1  # of a tag
MOST_IDENTIFIERS: Final = 16  # of a row whose earlier identifiers are looked for among those that it has now


def row_tagger(key: SubKey) -> Tagger:
    """The tagger of the rejected rows of the run with this key."""
    return Tagger(_derived(key, _TAGS))


def _derived(key: SubKey, purpose: bytes) -> SubKey:
    return SubKey(HKDF(SHA256(), KEY_BYTES, salt=None, info=purpose).derive(key.unwrap()))


# --- Rows, and the tags of their records ---


@dataclass(frozen=True, slots=True)
class RowTags:
    """Ascending `rows`, and the tag of the record of each; zeros for a row without a record."""

    rows: Indices = field(repr=False)
    tags: Tags = field(repr=False)

    @classmethod
    def joined(cls, parts: Sequence[RowTags]) -> Self:
        """Return all `parts`, the rows of each behind those of the one before."""
        none = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=TAG)
        rows, tags = zip(none, *((part.rows, part.tags) for part in parts), strict=True)
        return cls(np.concatenate(rows), np.concatenate(tags))

    def to_bytes(self) -> bytes:
        """Return the rows, then the tags, all little-endian."""
        return self.rows.astype("<i8").tobytes() + self.tags.tobytes()

    @classmethod
    def from_bytes(cls, content: bytes | memoryview) -> Self:
        """Return what `to_bytes` wrote."""
        count = len(content) // (_ROW_BYTES + TAG.itemsize)
        return cls(np.frombuffer(content, "<i8", count).astype(np.int64), np.frombuffer(content[8 * count :], TAG))

    def updated(self, others: RowTags) -> Self:
        """Return the same rows, with the tags of `others` for those that they have."""
        tags = self.tags.copy()
        at = np.searchsorted(self.rows, others.rows)
        tags[at] = others.tags
        return type(self)(self.rows, tags)

    def without(self, rows: Indices) -> Self:
        """Return these without some rows."""
        stays = ~np.isin(self.rows, rows)
        return type(self)(self.rows[stays], self.tags[stays])

    def places_of(self, rows: Indices) -> tuple[Indices, Bools]:
        """Return where each of `rows` is among these, and whether it is there at all."""
        at = np.minimum(np.searchsorted(self.rows, rows), max(len(self.rows) - 1, 0))
        found = self.rows[at] == rows if len(self.rows) else np.zeros(len(rows), dtype=bool)
        return at, found


def have_records(tags: Tags) -> Bools:
    """Return for each of `tags` whether it is of a record, and not of a row without one."""
    are_there: Bools = (tags["high"] | tags["low"]) != 0
    return are_there


@guarded
def tag_rejected(records: HashedRecords, rejections: pa.RecordBatch, tagger: Tagger) -> RowTags:
    """Return the rows of `rejections` (REJECTION_SCHEMA) with the tags of those of `records` that are theirs."""
    rows = np.unique(rejections.column(0).to_numpy())
    batch, tags = records.unwrap(), np.zeros(len(rows), dtype=TAG)
    own = batch.column(ROW).to_numpy()
    if len(own) and len(rows):
        at = np.minimum(np.searchsorted(own, rows), len(own) - 1)
        found = own[at] == rows
        if found.any():
            tags[found] = tagger.tag(batch.take(pa.array(at[found]))).of_sets()
    return RowTags(rows, tags)


@dataclass(frozen=True, slots=True)
class RejectedListener:
    """Is told of the rejected rows of every batch, in order: `add` gets them with the tags that `tagger` makes."""

    tagger: Tagger
    add: Callable[[RowTags], None]


# --- The identifiers that a record had before, found among those that it has now ---


def find_new(tagged: TaggedKeys, record: int, before: Tags) -> list[int] | None:
    """Return which keys of `tagged` are new in `record`, whose tag was `before` (one of TAG); None if keys are gone.

    The places count all keys of the batch, kind after kind. The tag of a record is the sum of those of its keys: so the
    keys are looked for whose sum is the difference. Of more than MOST_IDENTIFIERS none is found.
    """
    places = list(_places(tagged, record))
    if len(places) > MOST_IDENTIFIERS:
        return None
    keys = [(int(tagged.tags[place]["high"]), int(tagged.tags[place]["low"])) for place in places]
    wanted = int(before["high"]), int(before["low"])
    sums = {(0, 0): 0}  # of some of the keys: which they are, a bit each
    for number, (high, low) in enumerate(keys):
        sums |= {
            ((one + high) & _HALF, (other + low) & _HALF): bits | 1 << number for (one, other), bits in sums.items()
        }
    kept = sums.get(wanted)
    return None if kept is None else [place for number, place in enumerate(places) if not kept >> number & 1]


def _places(tagged: TaggedKeys, record: int) -> Iterator[int]:
    for start, offsets in zip(tagged.starts(), tagged.offsets.values(), strict=True):
        yield from range(start + int(offsets[record]), start + int(offsets[record + 1]))


# --- The proof in an opened line: that the run with this key rejected the row ---


class RowProofs:
    """Proofs under the key of a run: `13.k3…` says that it rejected row 13. Without the key none can be made."""

    def __init__(self, key: SubKey) -> None:
        self._key = _derived(key, _PROOFS)

    def __repr__(self) -> str:
        return "<RowProofs>"

    def of(self, row: int) -> str:
        """Return the proof of `row`."""
        return f"{row}.{base64.urlsafe_b64encode(self._digest(row)).decode().rstrip('=')}"

    def row_of(self, proof: str | None) -> int | None:
        """Return the row that `proof` is of; None for anything that `of` did not make."""
        number, _, text = (proof or "").strip().partition(".")
        if not (number.isascii() and number.isdigit() and len(number) <= _MOST_DIGITS):
            return None
        try:
            digest = base64.urlsafe_b64decode(text + "==")
        except (ValueError, binascii.Error):
            return None
        return int(number) if hmac.compare_digest(digest, self._digest(int(number))) else None

    def _digest(self, row: int) -> bytes:
        return hashlib.blake2b(b"%d" % row, key=self._key.unwrap(), digest_size=_PROOF_BYTES).digest()
