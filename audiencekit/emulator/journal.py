"""The log of requests and operations. Bodies are sealed in a file without a name, under a key in memory only.

They hold hashes of people. The file ends with the process, however that ends.
"""

from __future__ import annotations

import os
import secrets
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from audiencekit.emulator.answers import format_time
from audiencekit.state.files import open_unnamed, read_at, write_at

if TYPE_CHECKING:
    from audiencekit.emulator.endpoints.audience_users import Operation

# --- The log, for checks: requests as they arrived, operations as they were applied ---


@dataclass(slots=True)
class RequestEntry:
    """One request: `arrival` in epoch seconds of the emulator; `status` is None until it was answered."""

    seq: int
    arrival: float
    method: str
    path: str
    bytes: int = 0
    status: int | None = None


class RequestLog:
    """Requests in order of arrival."""

    def __init__(self) -> None:
        self._entries: list[RequestEntry] = []

    def open(self, arrival: float, method: str, path: str) -> RequestEntry:
        """Return a new entry, to be completed later."""
        entry = RequestEntry(self._entries[-1].seq + 1 if self._entries else 1, arrival, method, path)
        self._entries.append(entry)
        return entry

    def restore(self, entries: Iterable[RequestEntry]) -> None:
        """Insert the entries of an earlier emulator before all others."""
        self._entries[:0] = entries

    def documents(self) -> list[dict[str, Any]]:
        """Return the entries as JSON objects."""
        return [asdict(entry) for entry in self._entries]


@dataclass(slots=True)
class _Upload:
    first_seq: int
    time: float
    list_id: str
    # Types and times of the operations, and the body as it came, so that memory does not grow with what is uploaded.
    facts: Place
    body: Place
    fault: int | None = None


class OperationLog:
    """Operations in the order in which they were applied. `seq` counts from 1."""

    def __init__(self) -> None:
        self._uploads: list[_Upload] = []
        self._operations = 0
        self._sealed = SealedFile()

    def __len__(self) -> int:
        return self._operations

    def append(self, time: float, list_id: str, body: bytes, operations: Sequence[Operation]) -> None:
        """Add the operations of one request. Raises OSError, and adds nothing, on a full disk."""
        facts = [(operation.operation_type, operation.effective_at, operation.expires_at) for operation in operations]
        kept, content = self._sealed.add(orjson.dumps(facts)), self._sealed.add(body)
        self._uploads.append(_Upload(self._operations + 1, time, list_id, kept, content))
        self._operations += len(facts)

    def attribute(self, first: int, last: int, fault: int) -> None:
        """Note the fault of the request with the operations after the `first`-th, up to the `last`-th."""
        for upload in reversed(self._uploads):
            if upload.first_seq <= first:
                break
            if upload.first_seq <= last:
                upload.fault = fault

    def lines(self) -> Iterator[bytes]:
        """NDJSON: one operation a line, its users as they were received."""
        for upload in list(self._uploads):
            received = orjson.loads(self._sealed.read(upload.body))
            facts = orjson.loads(self._sealed.read(upload.facts))
            for index, (operation_type, effective_at, expires_at) in enumerate(facts):
                line = {
                    "seq": upload.first_seq + index,
                    "time": upload.time,
                    "list_id": upload.list_id,
                    "operation_type": operation_type,
                    "effective_at": format_time(effective_at),
                    "expires_at": format_time(expires_at),
                    "users": received[index]["params"]["users"],
                    **({} if upload.fault is None else {"fault": upload.fault}),
                }
                yield orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)


# --- Bodies for the log, sealed in a file without a name, under a key that only memory holds ---
#
# They hold hashes of people. The file goes with the process, however that ends.

_KEY_BITS: Final = 128
_NONCE_BYTES: Final = 12


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a text in the file."""

    start: int
    size: int


class SealedFile:
    """Stores texts and returns them. The file is opened for the first, and closed with the last reference."""

    def __init__(self) -> None:
        self._cipher = AESGCM(AESGCM.generate_key(_KEY_BITS))
        self._descriptor = -1
        self._end = 0

    def add(self, content: bytes) -> Place:
        """Store `content` and return its place. Raises OSError on a full disk."""
        if self._descriptor < 0:
            self._open()
        sealed = memoryview(self._cipher.encrypt(_nonce(self._end), content, None))
        place = Place(self._end, len(sealed))
        while sealed:
            written = write_at(self._descriptor, sealed, place.start + place.size - len(sealed))
            sealed = sealed[written:]
        self._end += place.size
        return place

    def read(self, place: Place) -> bytes:
        """Return the content at `place`."""
        sealed = b""
        while len(sealed) < place.size:
            sealed += read_at(self._descriptor, place.size - len(sealed), place.start + len(sealed))
        return self._cipher.decrypt(_nonce(place.start), sealed, None)

    def _open(self) -> None:
        self._descriptor = open_unnamed(Path(tempfile.gettempdir()) / f"audiencekit-emulator-{secrets.token_hex(16)}")
        weakref.finalize(self, os.close, self._descriptor)


def _nonce(start: int) -> bytes:
    """Return a nonce that is unique, since no two texts begin at one place."""
    return start.to_bytes(_NONCE_BYTES, "big")
