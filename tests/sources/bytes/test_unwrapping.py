"""A list comes out of whatever it is wrapped in, in memory alone, and nothing comes out of what is not sound."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from audiencekit.errors import SourceRefused
from audiencekit.sources.bytes import compression as inflation, compression as zipmember, files as memoryfile
from audiencekit.sources.bytes.files import RegularFile
from audiencekit.sources.bytes.unwrapping import unwrapped
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source, open_source
from tests.cases import each_case
from tests.listforms import COMPRESSIONS, FORMATS, zipped
from tests.shortened import shortened

Write = Callable[..., Path]
Rows = Callable[[Source], list[dict[str, Any]]]
NAMES = ("email", "phone")
PEOPLE = [(f"person{number}@example.com", f"+4477009{number:05}") for number in range(300)]
EXPECTED = [{"row": number, "c0": email, "c1": phone} for number, (email, phone) in enumerate(PEOPLE, 1)]
CSV = FORMATS["csv"](NAMES, PEOPLE)


@pytest.fixture
def encrypt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], bytes]:
    """Encrypts bytes for the identity that the environment names."""
    pyrage = pytest.importorskip("pyrage", reason="the extra age is not installed")
    identity = pyrage.x25519.Identity.generate()
    (tmp_path / "identity").write_text(f"{identity}\n")
    (tmp_path / "identity").chmod(0o600)
    monkeypatch.setenv("AUDIENCEKIT_AGE_IDENTITY", str(tmp_path / "identity"))
    return lambda data: bytes(pyrage.encrypt(data, [identity.to_public()]))


# Each format and each compression, and then every one of the others.
PAIRS = [*((form, "gz") for form in FORMATS), *(("csv", each) for each in ("plain", *COMPRESSIONS) if each != "gz")]
SHORT = len(PAIRS)
PAIRS += [pair for pair in product(FORMATS, ["plain", *COMPRESSIONS]) if pair not in PAIRS]


@pytest.mark.parametrize(("form", "compression"), shortened(PAIRS, SHORT))
def test_every_format_comes_out_of_every_compression(write: Write, rows_of: Rows, form: str, compression: str) -> None:
    """From a path, and from a pipe."""
    data = COMPRESSIONS.get(compression, bytes)(FORMATS[form](NAMES, PEOPLE))
    for source in (write(data, "list"), io.BytesIO(data)):
        assert rows_of(open_source(source, SourceOptions())) == EXPECTED


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_comes_out_of_a_cipher(
    write: Write, rows_of: Rows, encrypt: Callable[[bytes], bytes], form: str
) -> None:
    """Packed before it was encrypted or after, and from a pipe; as often as it is read."""
    data = FORMATS[form](NAMES, PEOPLE)
    for wrapped in (encrypt(data), encrypt(zipped(data)), zipped(encrypt(data)), encrypt(COMPRESSIONS["gz"](data))):
        source = open_source(write(wrapped, "list"), SourceOptions())
        assert rows_of(source) == rows_of(source) == EXPECTED
        assert rows_of(open_source(io.BytesIO(wrapped), SourceOptions())) == EXPECTED


def test_text_in_one_compression_is_not_held(write: Write) -> None:
    """It is unpacked in a stream, however long it is."""
    file = RegularFile(write(COMPRESSIONS["gz"](CSV)))
    assert unwrapped(file) is file


def test_compressions_may_stand_in_each_other(write: Write, rows_of: Rows) -> None:
    """Four of them, and no more."""
    data = CSV
    for compression in ("gz", "zip", "xz", "zstd"):
        data = COMPRESSIONS[compression](data)
    assert rows_of(open_source(write(data), SourceOptions())) == EXPECTED
    with pytest.raises(SourceRefused, match="packed or encrypted more than 4 times"):
        open_source(write(COMPRESSIONS["gz"](COMPRESSIONS["gz"](data))), SourceOptions())


def test_no_more_is_held_than_a_bound(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it has come."""
    data = FORMATS["parquet"](NAMES, PEOPLE)
    monkeypatch.setattr(memoryfile, "MAX_HELD_BYTES", len(data) - 1)
    for source in (write(COMPRESSIONS["gz"](data)), io.BytesIO(data)):
        with pytest.raises(SourceRefused, match="held in memory") as caught:
            open_source(source, SourceOptions())
        assert "CSV" in caught.value.hint


@pytest.fixture
def bombs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small ones are bombs, too."""
    for place in (inflation, zipmember):
        monkeypatch.setattr(place, "INFLATION_GRACE_BYTES", 100_000)


@pytest.mark.usefixtures("bombs")
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_bomb_in_a_compression_is_refused(write: Write, compression: str) -> None:
    """Parquet that is all of one letter: by what comes out, not by what it says."""
    with pytest.raises(SourceRefused, match="times its size"):
        open_source(write(COMPRESSIONS[compression](b"PAR1" + bytes(3_000_000))), SourceOptions())


@pytest.mark.usefixtures("bombs")
def test_a_bomb_of_archives_is_refused(write: Write) -> None:
    """Each holds one more, ever smaller outside."""
    with pytest.raises(SourceRefused, match="times its size"):
        open_source(write(zipped(zipped(zipped(bytes(3_000_000))))), SourceOptions())


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("form", ["parquet", "xlsx"])
def test_a_truncated_file_is_refused(write: Write, compression: str, form: str) -> None:
    """Anywhere in the wrapper."""
    data = COMPRESSIONS[compression](FORMATS[form](NAMES, PEOPLE))
    for place in range(40, len(data) - 4, max(len(data) // 12, 1)):
        with pytest.raises(SourceRefused) as caught:
            open_source(write(data[:place]), SourceOptions())
        assert caught.value.hint


@pytest.mark.parametrize("compression", sorted(COMPRESSIONS.keys() - {"zstd"}))  # its frames may have no checksum
@pytest.mark.parametrize("form", ["parquet", "xlsx"])
def test_a_damaged_file_is_refused(write: Write, rows_of: Rows, compression: str, form: str) -> None:
    """A byte that is another, at any place: the rows are the same, or there are none."""
    data = COMPRESSIONS[compression](FORMATS[form](NAMES, PEOPLE))
    refused = 0
    for place in range(0, len(data), max(len(data) // 40, 1)):
        changed = data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :]
        found = None
        with suppress(SourceRefused):
            found = rows_of(open_source(write(changed), SourceOptions()))
        assert found in (None, EXPECTED)
        refused += found is None
    assert refused > 30


def test_a_file_that_changes_while_it_is_held_is_refused(write: Write) -> None:
    """The last byte is followed by another look at it."""
    path, other = write(COMPRESSIONS["gz"](FORMATS["parquet"](NAMES, PEOPLE))), write(CSV, "other.csv")

    class Swapped(RegularFile):
        left = 4  # openings, the last of which reads all

        def open(self) -> BinaryIO:
            handle = super().open()
            self.left -= 1
            if not self.left:
                os.replace(other, path)
            return handle

    with pytest.raises(SourceRefused, match="changed while it was read"):
        unwrapped(Swapped(path))
    assert not other.exists()


@each_case(
    "names, is_read",
    [
        (["../../etc/people.csv"], True),
        (["/people.csv"], True),
        (["a.csv", "b.csv"], False),
    ],
)
def test_names_in_an_archive_name_no_place(write: Write, rows_of: Rows, names: list[str], is_read: bool) -> None:
    """Nothing is unpacked to a path; of two files none is guessed."""
    path = write(zipped(CSV, *((name, CSV) for name in names[1:]), name=names[0]))
    if is_read:
        assert rows_of(open_source(path, SourceOptions())) == EXPECTED
    else:
        with pytest.raises(SourceRefused, match="holds 2 files"):
            open_source(path, SourceOptions())


def test_an_archive_with_sizes_behind_its_data_is_read(write: Write, rows_of: Rows) -> None:
    """As one that was written into a pipe, and one in the form for large files."""

    class Pipe(io.RawIOBase):
        written = b""

        def writable(self) -> bool:
            return True

        def write(self, data: Any, /) -> int:
            Pipe.written += bytes(data)
            return len(data)

    with (
        zipfile.ZipFile(Pipe(), "w", zipfile.ZIP_DEFLATED) as archive,  # type: ignore[call-overload]
        archive.open("people.csv", "w", force_zip64=True) as member,
    ):
        member.write(CSV)
    assert rows_of(open_source(write(Pipe.written), SourceOptions())) == EXPECTED


def test_a_wrapped_file_that_is_no_list_is_named(write: Write) -> None:
    """As it would be outside."""
    for data, words in ((b"SQLite format 3\x00", "a SQLite database"), (b"%PDF-1.7", "a PDF document")):
        with pytest.raises(SourceRefused, match=words):
            open_source(write(COMPRESSIONS["gz"](data)), SourceOptions())
