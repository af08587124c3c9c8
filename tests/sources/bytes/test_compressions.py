"""Each form of compression gives the same text, to its last checksum, or is refused."""

from __future__ import annotations

import io
import lzma
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.errors import SourceRefused
from audiencekit.sources.bytes import inflation, zipmember
from audiencekit.sources.bytes.bytestream import ByteStream
from audiencekit.sources.bytes.compressions import COMPRESSIONS, compression_of
from audiencekit.sources.bytes.rawbytes import ByteReader
from audiencekit.sources.bytes.regularfile import RegularFile
from audiencekit.sources.bytes.standardinput import StandardInput
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.sourceopening import open_source
from tests.listforms import COMPRESSIONS as PACK, zipped

Write = Callable[..., Path]
TEXT = b"email\n" + b"".join(b"person%d@example.com\n" % number for number in range(200))


FORMS = sorted(PACK)


def unpack(packed: bytes, *, block: int = 64) -> bytes:
    """Return the unpacked bytes of `packed`, read in blocks of at most `block` bytes."""
    compression = compression_of(packed)
    assert compression is not None
    blocks = list(compression.blocks(ByteReader(io.BytesIO(packed)), block))
    assert max(map(len, blocks), default=0) <= block
    return b"".join(blocks)


def test_every_compression_is_tested() -> None:
    """Each form of the table has its maker here."""
    assert {compression.name for compression in COMPRESSIONS} == set(PACK)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [0, 1, 100_000])
def test_the_same_comes_out(form: str, size: int) -> None:
    """In bounded blocks, however much it is."""
    data = (TEXT * (size // len(TEXT) + 1))[:size]
    assert unpack(PACK[form](data), block=1_000) == data


@pytest.mark.parametrize("form", [form for form in FORMS if form != "zip"])
@settings(deadline=None, max_examples=30)
@given(parts=st.lists(st.binary(max_size=300), min_size=1, max_size=4), block=st.integers(1, 100))
def test_members_come_out_in_order(form: str, parts: list[bytes], block: int) -> None:
    """Members that tools append to a packed file follow it."""
    assert unpack(b"".join(map(PACK[form], parts)), block=block) == b"".join(parts)


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


@pytest.mark.parametrize(
    ("form", "damage"), [(form, damage) for form in FORMS if form != "zstd" for damage in _damages(form)]
)
def test_damaged_files_are_refused(form: str, damage: str) -> None:
    """No damage goes by."""
    with pytest.raises(SourceRefused, match="damaged"):
        unpack(_damages(form)[damage])


@pytest.mark.parametrize("damage", [damage for damage in _damages("zstd") if damage != "another letter"])
def test_damaged_frames_are_refused(damage: str) -> None:
    """Of a frame without a checksum only a change of letters goes by, which its rows show or do not."""
    with pytest.raises(SourceRefused, match="damaged"):
        unpack(_damages("zstd")[damage])


@pytest.mark.parametrize("form", FORMS)
def test_bombs_are_refused(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """More than MAX_INFLATION bytes for one, once the grace is used up: before more is unpacked."""
    for module in (inflation, zipmember):
        monkeypatch.setattr(module, "INFLATION_GRACE_BYTES", 100_000)
    with pytest.raises(SourceRefused, match=f"the {form} file unpacks to more than 200 times its size"):
        unpack(PACK[form](bytes(3_000_000)), block=10_000)


def test_a_dictionary_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The header of an xz file can ask for gigabytes of memory."""
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30, "mode": lzma.MODE_FAST, "mf": lzma.MF_HC3}]
    packed = lzma.compress(b"a", filters=filters)
    with pytest.raises(SourceRefused, match="bytes of memory"):
        unpack(packed)


@pytest.mark.parametrize(
    ("packed", "words"),
    [
        (zipped(TEXT, ("more.csv", TEXT)), "holds 2 files: people.csv, more.csv"),
        (zipped(TEXT, *((f"{n}.csv", b"") for n in range(7))), "8 files: people.csv, 0.csv, 1.csv, 2.csv, 3.csv and 3"),
        (zipped(TEXT, ("mimetype", b""), ("content.xml", b"")), "an OpenDocument file"),
        (zipped(TEXT) + zipped(TEXT), "bytes stand before its first file"),
        (zipped(TEXT).replace(b"\x14\x00\x00\x00\x08", b"\x14\x00\x01\x00\x08"), "encrypted"),
        (zipped(TEXT).replace(b"\x14\x00\x00\x00\x08\x00", b"\x14\x00\x00\x00\x09\x00"), "a method that is not read"),
    ],
    ids=["two", "many", "OpenDocument", "two archives", "encrypted", "method"],
)
def test_an_archive_that_is_no_list_is_refused(packed: bytes, words: str) -> None:
    """With the names of what it holds."""
    with pytest.raises(SourceRefused, match=words) as caught:
        unpack(packed)
    assert caught.value.hint


def test_an_archive_without_a_file_is_refused() -> None:
    """Directories are none."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.mkdir("lists")
    with pytest.raises(SourceRefused, match="holds no file"):
        unpack(packed.getvalue())


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archives_of_other_methods_and_with_marks_of_macos_are_read(method: int) -> None:
    """The marks are no rows."""
    assert unpack(zipped(TEXT, ("__MACOSX/._people.csv", b"x"), (".DS_Store", b"x"), method=method)) == TEXT


def test_an_archive_from_a_pipe_is_refused() -> None:
    """Its directory stands at its end."""
    with pytest.raises(SourceRefused, match="read from its end"):
        ByteStream(StandardInput(io.BytesIO(zipped(TEXT))))


@pytest.mark.parametrize("form", FORMS)
def test_rows_are_those_of_the_text(write: Write, form: str, rows_of: Callable[..., list[object]]) -> None:
    """The name says nothing, the description names the form, and all bytes count as read."""
    plain = open_source(write(TEXT, "plain.csv"), SourceOptions())
    packed = open_source(path := write(PACK[form](TEXT), "list"), SourceOptions())
    assert rows_of(packed) == rows_of(plain)
    assert packed.description["compression"] == form
    assert packed.bytes_read == packed.bytes_total == path.stat().st_size


@pytest.mark.parametrize("form", FORMS)
def test_a_packed_file_that_changes_while_it_is_read_is_refused(write: Write, form: str) -> None:
    """Whatever was cut off or put in its place."""
    path = write(PACK[form](TEXT), "list")
    stream = ByteStream(RegularFile(path))
    write(PACK[form](TEXT[:-2]), "list")
    os.utime(path, ns=(1, 1))  # the size may be the same, and the clock of files a tick of it
    with pytest.raises(SourceRefused, match="changed"):
        list(stream.blocks())
