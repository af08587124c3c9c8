"""Keyed digests of bodies and of records: equal for equal bytes, and useless without the key.

They are GMAC, the authentication of AES-GCM without its encryption: of the keyed digests that were measured it is the
fastest (1.3 ms for a body of 5 MB, against 3.3 for HMAC-SHA-256 and 9.8 for keyed BLAKE2b), so no request waits for it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from audiencekit.identifiers.kinds import FIRST_KINDS, Kind
from audiencekit.limits import SHA256_BYTES
from audiencekit.personal import HashedRecords, guarded
from audiencekit.records.batches import IS_DELETE, ROW
from audiencekit.records.chunks import RecordChunk, from_chunk
from audiencekit.records.columns.arrays import HASH_TYPE, hash_matrix
from audiencekit.state.keys import KEY_BYTES, SubKey

# --- Keyed digests of bodies and of records: equal for equal bytes, and useless without the key ---
#
# GMAC, the authentication of AES-GCM without its encryption: of the keyed digests tried it is by far the fastest (1.3
# ms for a body of 5 MB, against 3.3 for HMAC-SHA-256 and 9.8 for keyed BLAKE2b), and no request waits for it.

NONCE_BYTES: Final = 12
NUMBER_BYTES: Final = 10  # of a column that has its number by name: one byte of the nonce more than any other number
_OF_A_KIND: Final = ("counts", "lengths", "values")
_ZEROS: Final = 1 << 20  # at once
DOCUMENTS, BODIES, RECORDS, SUPPRESSION, LISTS = 1, 2, 3, 4, 5  # digested under one key: no two share a nonce


class KeyedDigest:
    """128 bits over all given bytes, in order, in pieces of any size."""

    def __init__(self, key: SubKey, what: int, number: int) -> None:
        nonce = bytes([what]) + number.to_bytes(NONCE_BYTES - 1, "big")
        self._mac = Cipher(algorithms.AES(key.unwrap()), modes.GCM(nonce)).encryptor()

    def __repr__(self) -> str:
        return "<KeyedDigest>"

    def update(self, piece: Any) -> None:
        """Add the bytes of `piece`, any contiguous buffer."""
        self._mac.authenticate_additional_data(memoryview(piece).cast("B"))

    def finish(self) -> bytes:
        """Return the 16 bytes. Nothing can be added afterwards."""
        self._mac.finalize()
        tag: bytes = self._mac.tag
        return tag


def digest_of(key: SubKey, what: int, number: int, content: bytes) -> bytes:
    """Return the digest of one whole thing."""
    digest = KeyedDigest(key, what, number)
    digest.update(content)
    return digest.finish()


class RecordsFingerprint:
    """A digest of all records of a run: rows, verbs and identifiers in order, for any division into batches.

    `keys` has a key for each purpose of the digest: RECORDS, SUPPRESSION or LISTS. Each column is digested alone, as
    one long run of bytes, with lengths apart from values, so that two different lists of records never have the same
    bytes.
    """

    def __init__(self, keys: Mapping[int, SubKey]) -> None:
        self._keys = dict(keys)
        self._columns: dict[str, dict[int, KeyedDigest]] = {}
        self._records = 0

    @property
    def is_begun(self) -> bool:
        """Whether a batch was added."""
        return bool(self._columns)

    def add_key(self, what: int, key: SubKey) -> None:
        """Make the digest for another purpose as well. Raises ValueError when a batch was added."""
        if self.is_begun:
            raise ValueError("records were digested without this key")
        self._keys[what] = key

    def add(self, chunk: RecordChunk, refusing: npt.NDArray[np.bool_] | None = None) -> None:
        """Add the next batch. `refusing` says for each record whether its row lacks consent."""
        _add(self, from_chunk(chunk))
        if refusing is not None:
            self._update("refusing", np.ascontiguousarray(refusing, dtype=np.uint8))

    def finish(self, what: int) -> str:
        """Return the fingerprint for a purpose, in hex."""
        names = sorted(self._columns)
        whole = KeyedDigest(self._keys[what], what, 0)
        for name in names:
            whole.update(name.encode() + b"\0" + self._columns[name][what].finish())
        return whole.finish().hex()

    def _update(self, name: str, piece: Any) -> None:
        if name not in self._columns:
            self._begin(name, 1 + len(self._columns))
        for digest in self._columns[name].values():
            digest.update(piece)

    def _begin(self, name: str, number: int) -> None:
        self._columns[name] = {what: KeyedDigest(key, what, number) for what, key in self._keys.items()}

    def _begin_late(self, kind: Kind) -> None:
        """Begin the columns of a kind that is not in FIRST_KINDS, when the first record has it.

        Their numbers follow from their names, and the numbers of all other columns are the same as without them.
        """
        for what in _OF_A_KIND:
            name = f"{kind.value} {what}"
            self._begin(name, int.from_bytes(sha256(name.encode()).digest()[:NUMBER_BYTES], "big"))
        for begin in range(0, self._records, _ZEROS):
            self._update(f"{kind.value} counts", np.zeros(min(_ZEROS, self._records - begin), dtype="<i4"))


@guarded
def _add(fingerprint: RecordsFingerprint, records: HashedRecords) -> None:
    batch = records.unwrap()
    fingerprint._update(ROW, np.ascontiguousarray(batch.column(ROW).to_numpy(), dtype="<i8"))
    deletes = batch.column(IS_DELETE).to_numpy(zero_copy_only=False)
    fingerprint._update(IS_DELETE, deletes.astype(np.uint8))
    for kind in Kind:
        lists = batch.column(kind.value)
        if kind not in FIRST_KINDS and f"{kind.value} counts" not in fingerprint._columns:
            if lists.null_count == len(lists):
                continue
            fingerprint._begin_late(kind)
        counts = pc.fill_null(pc.list_value_length(lists), 0)
        fingerprint._update(f"{kind.value} counts", counts.to_numpy().astype("<i4"))
        lengths, values = _bytes_of(lists.flatten())
        fingerprint._update(f"{kind.value} lengths", lengths)
        fingerprint._update(f"{kind.value} values", values)
    fingerprint._records += batch.num_rows


def _bytes_of(values: Any) -> tuple[Any, Any]:
    """Return the lengths of the values, and all values joined, the same for all types of text and binary."""
    if values.type == HASH_TYPE:
        return np.full(len(values), SHA256_BYTES, dtype="<i4"), hash_matrix(values).data if len(values) else b""
    plain = values.cast(pa.large_binary())
    offsets = np.frombuffer(plain.buffers()[1], dtype=np.int64)[plain.offset : plain.offset + len(plain) + 1]
    content = memoryview(plain.buffers()[2] or b"")
    return np.diff(offsets).astype("<i4"), content[offsets[0] : offsets[-1]] if len(plain) else b""


# --- A keyed digest of every request in a journal: all that is counted, in all its columns, with its refused rows ---
#
# BLAKE2b with a key needs no nonce, which a row that is written again and again could not have, and takes 2 us a row.

# Rows that the service refused: number of the row, codes.
Refused: TypeAlias = Iterable[tuple[int, str]]

SEAL_BYTES: Final = 16
PLANNED: Final = ("number", "wave", "records", "body_bytes")
_COLUMNS: Final = (
    *PLANNED, "first_row", "last_row", "digest", "left_boot", "left_seconds", "state", "attempts", "rate_limited",
    "success_count", "total_count",
)  # fmt: skip
_BEGINNING: Final = (None, None, None, None, None, "planned", 0, 0, None, None)  # of what is not PLANNED
_ROWS: Final = f"SELECT {', '.join(_COLUMNS)} FROM requests"  # noqa: S608
_INSERT: Final = f"INSERT INTO requests ({', '.join(PLANNED)}, seal) VALUES (?, ?, ?, ?, ?)"  # noqa: S608


class Seals:
    """The seals of one journal, made and checked with `key`."""

    def __init__(self, key: SubKey) -> None:
        self._key = HKDF(SHA256(), KEY_BYTES, salt=None, info=b"audiencekit journal seals 1").derive(key.unwrap())

    def __repr__(self) -> str:
        return "<Seals>"

    def insert(self, connection: sqlite3.Connection, planned: Iterable[tuple[int, ...]]) -> None:
        """Write requests of a plan, with their seals."""
        connection.executemany(_INSERT, ((*each, self._seal((*each, *_BEGINNING), ())) for each in planned))

    def renew(self, connection: sqlite3.Connection, number: int) -> None:
        """Seal the present state of a request."""
        row = connection.execute(f"{_ROWS} WHERE number = ?", (number,)).fetchone()
        found = "SELECT row, codes FROM refused WHERE number = ? ORDER BY row"
        seal = self._seal(row, connection.execute(found, (number,)))
        connection.execute("UPDATE requests SET seal = ? WHERE number = ?", (seal, number))

    def fit(self, connection: sqlite3.Connection, planned: int) -> bool:
        """Whether there are as many requests as `planned`, each as it was written, and no other refused rows."""
        refused: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for number, *rest in connection.execute("SELECT number, row, codes FROM refused ORDER BY number, row"):
            refused[number].append((rest[0], rest[1]))
        rows = connection.execute(f"{_ROWS.replace(' FROM', ', seal FROM')} ORDER BY number").fetchall()
        sealed = all(self._seal(row, refused.pop(row[0], ())) == seal for *row, seal in rows)
        return sealed and len(rows) == planned and not refused

    def _seal(self, row: Sequence[Any], refused: Refused) -> bytes:
        plain = [each.hex() if isinstance(each, bytes) else each for each in row]
        content = orjson.dumps([plain, [list(each) for each in refused]], default=repr)
        return hashlib.blake2b(content, key=self._key, digest_size=SEAL_BYTES, person=b"audiencekit row").digest()
