"""Bodies for the log, sealed in a file without a name, under a key that only memory holds.

They hold hashes of people. The file goes with the process, however that ends.
"""

from __future__ import annotations

import os
import secrets
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from audiencekit.machine.openfiles import open_unnamed, read_at, write_at

_KEY_BITS: Final = 128
_NONCE_BYTES: Final = 12


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was put."""

    start: int
    size: int


class SealedFile:
    """Takes texts, and gives them back. The file is opened for the first, and closed with the last reference."""

    def __init__(self) -> None:
        self._cipher = AESGCM(AESGCM.generate_key(_KEY_BITS))
        self._descriptor = -1
        self._end = 0

    def add(self, content: bytes) -> Place:
        """Return where `content` is from now on. Raises OSError when there is no room for it."""
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
        """Return the content that was written at `place`."""
        sealed = b""
        while len(sealed) < place.size:
            sealed += read_at(self._descriptor, place.size - len(sealed), place.start + len(sealed))
        return self._cipher.decrypt(_nonce(place.start), sealed, None)

    def _open(self) -> None:
        self._descriptor = open_unnamed(Path(tempfile.gettempdir()) / f"audiencekit-emulator-{secrets.token_hex(16)}")
        weakref.finalize(self, os.close, self._descriptor)


def _nonce(start: int) -> bytes:
    """Of its own for every text, since no two begin at one place."""
    return start.to_bytes(_NONCE_BYTES, "big")
