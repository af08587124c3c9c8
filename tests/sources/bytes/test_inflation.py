"""gz is read to its last checksum, or refused."""

from __future__ import annotations

import gzip
import struct
import zlib

import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.errors import SourceRefused
from audiencekit.sources.bytes import inflation
from audiencekit.sources.bytes.inflation import GZ, bounded

TEXT = b"email\n" + b"".join(b"person%d@example.com\n" % number for number in range(200))
PACKED = gzip.compress(TEXT, mtime=0)


def unpack(packed: bytes, *, step: int = 7, block: int = 64) -> bytes:
    """Return the unpacked bytes when `packed` arrives in pieces of `step` bytes."""
    pieces = [packed[start : start + step] for start in range(0, len(packed), step)]
    return b"".join(bounded(GZ.blocks(pieces, block), "gz", lambda: len(packed)))


@settings(deadline=None)
@given(st.lists(st.binary(max_size=300), min_size=1, max_size=4), st.integers(1, 50), st.integers(1, 100))
def test_members_come_out_in_order(parts: list[bytes], step: int, block: int) -> None:
    """However the bytes are cut, the members' contents follow one another."""
    packed = b"".join(gzip.compress(part, mtime=0) for part in parts)
    assert unpack(packed, step=step, block=block) == b"".join(parts)


def test_blocks_are_bounded() -> None:
    """A small piece cannot become one huge block."""
    packed = gzip.compress(bytes(1_000_000), mtime=0)
    assert max(map(len, GZ.blocks([packed], 1_000))) <= 1_000


DAMAGED = {
    "truncated data": PACKED[: len(PACKED) // 2],
    "truncated checksum": PACKED[:-6],
    "truncated by one byte": PACKED[:-1],
    "wrong checksum": PACKED[:-8] + struct.pack("<I", zlib.crc32(TEXT) ^ 1) + PACKED[-4:],
    "wrong length": PACKED[:-4] + struct.pack("<I", len(TEXT) + 1),
    "garbage after": PACKED + b"garbage",
    "one byte after": PACKED + b"x",
    "zeros after": PACKED + bytes(512),
    "half a header after": PACKED + b"\x1f",
    "second member truncated": PACKED + PACKED[:-3],
    "header only": PACKED[:10],
    "flipped data": PACKED[:20] + bytes([PACKED[20] ^ 255]) + PACKED[21:],
}


@pytest.mark.parametrize("damage", DAMAGED)
@pytest.mark.parametrize("step", [1, 7, 100_000])
def test_damaged_files_are_refused(damage: str, step: int) -> None:
    """No damage goes by, wherever the bytes are cut."""
    with pytest.raises(SourceRefused, match="damaged"):
        unpack(DAMAGED[damage], step=step)


def test_bombs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than MAX_INFLATION bytes for one, once the grace is used up."""
    monkeypatch.setattr(inflation, "INFLATION_GRACE_BYTES", 100_000)
    bomb = gzip.compress(bytes(1_000_000), mtime=0)
    with pytest.raises(SourceRefused, match="200 times"):
        unpack(bomb, step=1_000, block=10_000)


def test_small_files_may_pack_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the grace no ratio is looked at."""
    monkeypatch.setattr(inflation, "INFLATION_GRACE_BYTES", 1_000_000)
    assert len(unpack(gzip.compress(bytes(1_000_000), mtime=0), step=1_000, block=10_000)) == 1_000_000
