"""A keyed digest of every request in a journal: all that is counted, in all its columns, with its refused rows.

BLAKE2b with a key needs no nonce, which a row that is written again and again could not have, and takes 2 us a row.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

import orjson
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from audiencekit.machine.keys import KEY_BYTES, SubKey

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
    """Makes and checks the seals of one journal, whose key is `key`."""

    def __init__(self, key: SubKey) -> None:
        self._key = HKDF(SHA256(), KEY_BYTES, salt=None, info=b"audiencekit journal seals 1").derive(key.unwrap())

    def __repr__(self) -> str:
        return "<Seals>"

    def insert(self, connection: sqlite3.Connection, planned: Iterable[tuple[int, ...]]) -> None:
        """Write requests of a plan, sealed."""
        connection.executemany(_INSERT, ((*each, self._seal((*each, *_BEGINNING), ())) for each in planned))

    def renew(self, connection: sqlite3.Connection, number: int) -> None:
        """Seal a request as it stands by now."""
        row = connection.execute(f"{_ROWS} WHERE number = ?", (number,)).fetchone()
        found = "SELECT row, codes FROM refused WHERE number = ? ORDER BY row"
        seal = self._seal(row, connection.execute(found, (number,)))
        connection.execute("UPDATE requests SET seal = ? WHERE number = ?", (seal, number))

    def fit(self, connection: sqlite3.Connection, planned: int) -> bool:
        """Whether there are as many requests as were `planned`, each as it was written, and nothing refused besides."""
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
