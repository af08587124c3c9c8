"""Remote files, read to their end."""

from __future__ import annotations

from contextlib import closing
from functools import partial

from audiencekit.sources.bytes.files import RawFile


def read_whole(file: RawFile) -> bytes:
    """Return all bytes, in pieces as a source takes them; raise when the file has changed meanwhile."""
    with closing(file.open()) as handle:
        data = b"".join(iter(partial(handle.read, 262_144), b""))
        file.check_unchanged(handle)
    return data
