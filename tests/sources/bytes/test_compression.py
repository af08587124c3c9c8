"""gz is read to its last checksum, or refused."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.errors import SourceRefused
from audiencekit.sources.bytes import compression as inflation, compression as zipmember
from audiencekit.sources.bytes.byte_stream import ByteStream
from audiencekit.sources.bytes.compression import COMPRESSIONS, GZ, bounded, compression_of
from audiencekit.sources.bytes.files import ByteReader, RegularFile, StandardInput
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import open_source
from tests.cases import each_case
from tests.examples import examples
from tests.listforms import COMPRESSIONS as PACK, zipped

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


@each_case("damage", DAMAGED)
@each_case("step", [1, 7, 100_000])
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


Write = Callable[..., Path]


FORMS = sorted(PACK)


def compressions_unpack(packed: bytes, *, block: int = 64) -> bytes:
    """Return the unpacked bytes of `packed`, read in blocks of at most `block` bytes."""
    compression = compression_of(packed)
    assert compression is not None
    blocks = list(compression.blocks(ByteReader(io.BytesIO(packed)), block))
    assert max(map(len, blocks), default=0) <= block
    return b"".join(blocks)


def test_every_compression_is_tested() -> None:
    """Each form of the table has its maker here."""
    assert {compression.name for compression in COMPRESSIONS} == set(PACK)


@each_case("form", FORMS)
@each_case("size", [0, 1, 100_000])
def test_the_same_comes_out(form: str, size: int) -> None:
    """In bounded blocks, however much it is."""
    data = (TEXT * (size // len(TEXT) + 1))[:size]
    assert compressions_unpack(PACK[form](data), block=1_000) == data


@pytest.mark.parametrize("form", [form for form in FORMS if form != "zip"])
@settings(deadline=None, max_examples=examples(30))
@given(parts=st.lists(st.binary(max_size=300), min_size=1, max_size=4), block=st.integers(1, 100))
def test_members_come_out_in_order_compressions(form: str, parts: list[bytes], block: int) -> None:
    """Members that tools append to a packed file follow it."""
    assert compressions_unpack(b"".join(map(PACK[form], parts)), block=block) == b"".join(parts)


def _damages(form: str) -> dict[str, bytes]:
    packed = PACK[form](TEXT)
    middle = len(packed) // 2
    damages = {
        "half": packed[:middle],
        "without its last byte": packed[:-1],
        "without its end": packed[:-6],
        "beginning only": packed[:8],
        "another letter": packed[:middle] + bytes([packed[middle] ^ 255]) + packed[middle + 1 :],
    }
    if form != "zip":
        damages |= {"bytes behind": packed + b"garbage", "half a second": packed + packed[:middle]}
    return damages


@each_case("form, damage", [(form, damage) for form in FORMS if form != "zstd" for damage in _damages(form)])
def test_damaged_files_are_refused_compressions(form: str, damage: str) -> None:
    """No damage goes by."""
    with pytest.raises(SourceRefused, match="damaged"):
        compressions_unpack(_damages(form)[damage])


@each_case("damage", [damage for damage in _damages("zstd") if damage != "another letter"])
def test_damaged_frames_are_refused(damage: str) -> None:
    """Of a frame without a checksum only a change of letters goes by, which its rows show or do not."""
    with pytest.raises(SourceRefused, match="damaged"):
        compressions_unpack(_damages("zstd")[damage])


@pytest.mark.parametrize("form", FORMS)
def test_bombs_are_refused_compressions(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """More than MAX_INFLATION bytes for one, once the grace is used up: before more is unpacked."""
    for module in (inflation, zipmember):
        monkeypatch.setattr(module, "INFLATION_GRACE_BYTES", 100_000)
    with pytest.raises(SourceRefused, match=f"the {form} file unpacks to more than 200 times its size"):
        compressions_unpack(PACK[form](bytes(3_000_000)), block=10_000)


def test_a_dictionary_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The header of an xz file can ask for gigabytes of memory."""
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30, "mode": lzma.MODE_FAST, "mf": lzma.MF_HC3}]
    packed = lzma.compress(b"a", filters=filters)
    with pytest.raises(SourceRefused, match="bytes of memory"):
        compressions_unpack(packed)


@each_case(
    "packed, words",
    [
        (zipped(TEXT, ("more.csv", TEXT)), "holds 2 files: people.csv, more.csv"),
        (zipped(TEXT, *((f"{n}.csv", b"") for n in range(7))), "8 files: people.csv, 0.csv, 1.csv, 2.csv, 3.csv and 3"),
        (zipped(TEXT, ("mimetype", b""), ("content.xml", b"")), "an OpenDocument file"),
        (zipped(TEXT) + zipped(TEXT), "there is data before its first file"),
        (zipped(TEXT).replace(b"\x14\x00\x00\x00\x08", b"\x14\x00\x01\x00\x08"), "encrypted"),
        (zipped(TEXT).replace(b"\x14\x00\x00\x00\x08\x00", b"\x14\x00\x00\x00\x09\x00"), "a method that is not read"),
    ],
)
def test_an_archive_that_is_no_list_is_refused(packed: bytes, words: str) -> None:
    """With the names of what it holds."""
    with pytest.raises(SourceRefused, match=words) as caught:
        compressions_unpack(packed)
    assert caught.value.hint


def test_an_archive_without_a_file_is_refused() -> None:
    """Directories are none."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.mkdir("lists")
    with pytest.raises(SourceRefused, match="holds no file"):
        compressions_unpack(packed.getvalue())


@each_case("method", [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archives_of_other_methods_and_with_marks_of_macos_are_read(method: int) -> None:
    """The marks are no rows."""
    assert (
        compressions_unpack(zipped(TEXT, ("__MACOSX/._people.csv", b"x"), (".DS_Store", b"x"), method=method)) == TEXT
    )


def test_an_archive_from_a_pipe_is_refused() -> None:
    """Its directory stands at its end."""
    with pytest.raises(SourceRefused, match="read from its end"):
        ByteStream(StandardInput(io.BytesIO(zipped(TEXT))))


@each_case("form", FORMS)
def test_rows_are_those_of_the_text(write: Write, form: str, rows_of: Callable[..., list[object]]) -> None:
    """The name says nothing, the description names the form, and all bytes count as read."""
    plain = open_source(write(TEXT, "plain.csv"), SourceOptions())
    packed = open_source(path := write(PACK[form](TEXT), "list"), SourceOptions())
    assert rows_of(packed) == rows_of(plain)
    assert packed.description["compression"] == form
    assert packed.bytes_read == packed.bytes_total == path.stat().st_size


@each_case("form", FORMS)
def test_a_packed_file_that_changes_while_it_is_read_is_refused(write: Write, form: str) -> None:
    """Whatever was cut off or put in its place."""
    path = write(PACK[form](TEXT), "list")
    stream = ByteStream(RegularFile(path))
    write(PACK[form](TEXT[:-2]), "list")
    os.utime(path, ns=(1, 1))  # the size may be the same, and the clock of files a tick of it
    with pytest.raises(SourceRefused, match="changed"):
        list(stream.blocks())
