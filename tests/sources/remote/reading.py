"""Remote files of some small pieces, read to their end."""

from __future__ import annotations

from contextlib import closing
from functools import partial

from audiencekit.sources.bytes.files import RawFile

PIECE_BYTES = 131_072  # a sixteenth of the usual size
LARGE = b"".join(b"person%07d@example.com\n" % number for number in range(3 * PIECE_BYTES // 26 + 1))


def read_whole(file: RawFile) -> bytes:
    """Return all bytes, in pieces as a source takes them; raise when the file has changed meanwhile."""
    with closing(file.open()) as handle:
        data = b"".join(iter(partial(handle.read, 262_144), b""))
        file.check_unchanged(handle)
    return data
