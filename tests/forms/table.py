"""The forms in which a list may lie: how each is written, and how it is named to a command.

A form is one row of `FORMS`. `write` puts the list into the directory or the server of a `Place`, and gives back the
arguments that name it; `damages` are changes of the file that must refuse it.
"""

from __future__ import annotations

import bz2
import gzip
import html
import json
import lzma
import os
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.azurite import Container
from tests.forms import people
from tests.forms.servers import Bucket, Sftp
from tests.forms.workbooks import write_workbook
from tests.gpgkeyring import Keyring
from tests.postgresserver import execute


@dataclass(frozen=True)
class Place:
    """Where forms are written: a directory, and what servers and keys are asked for by name."""

    directory: Path
    ask: Callable[[str], Any]

    def write(self, name: str, data: bytes) -> tuple[str, ...]:
        """The argument that names the file."""
        (self.directory / name).write_bytes(data)
        return (str(self.directory / name),)


# Paths to keys and hosts, which a command needs whose environment has none of our settings.
VARIABLES = ("AUDIENCEKIT_AGE_IDENTITY", "AUDIENCEKIT_KNOWN_HOSTS")

Write: TypeAlias = Callable[[Place, int], tuple[str, ...]]
Damage: TypeAlias = Callable[[bytes], bytes]


def cut(data: bytes) -> bytes:
    """Without its second half."""
    return data[: len(data) // 2]


def cut_at_the_end(data: bytes) -> bytes:
    """Without its last bytes."""
    return data[:-9]


def changed(data: bytes) -> bytes:
    """With another byte in the middle."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0x55]) + data[middle + 1 :]


def followed(data: bytes) -> bytes:
    """With something behind it."""
    return data + b"\nzz@example.com,+49301234567\n"


@dataclass(frozen=True)
class Form:
    """A form of lists. `in_a_file` says that it is one file on disk; `is_secret` that no file may hold its cells.

    `server` is the fixture of the one that a file lies behind; `is_service` says that a program of others is started.
    """

    name: str
    write: Write
    in_a_file: bool = True
    is_secret: bool = False
    damages: Mapping[str, Damage] = field(default_factory=dict)
    server: str = ""
    is_service: bool = False

    def __str__(self) -> str:
        return self.name


ALL_DAMAGES: Mapping[str, Damage] = {
    "cut": cut, "cut at the end": cut_at_the_end, "changed": changed, "followed": followed,
}  # fmt: skip
# Text in the clear has no seal: what is cut or changed in it may be what was meant.
UNSEALED: Mapping[str, Damage] = {}


def _csv(place: Place, count: int) -> tuple[str, ...]:
    return place.write("people.csv", people.as_csv(count))


def _packed(name: str, pack: Callable[[bytes], bytes]) -> Write:
    return lambda place, count: place.write(f"people.csv.{name}", pack(people.as_csv(count)))


def _zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


def _zip(place: Place, count: int) -> tuple[str, ...]:
    path = place.directory / "people.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("people.csv", people.as_csv(count))
    return (str(path),)


def _ndjson(place: Place, count: int) -> tuple[str, ...]:
    lines = (json.dumps(dict(zip(people.HEADER, cells, strict=True))) for cells in people.rows(count))
    return place.write("people.ndjson", "".join(f"{line}\n" for line in lines).encode())


def _web_page(place: Place, count: int) -> tuple[str, ...]:
    rows = "".join(f"<tr><td>{'<td>'.join(map(html.escape, row))}</tr>" for row in (people.HEADER, *people.rows(count)))
    return place.write("people.xls", f"<html><table>{rows}</table></html>".encode())


def _vcards(place: Place, count: int) -> tuple[str, ...]:
    lines = (f"BEGIN:VCARD\r\nEMAIL:{email}\r\nTEL:{phone}\r\nEND:VCARD\r\n" for email, phone in people.rows(count))
    return place.write("people.vcf", "".join(lines).encode())


def _table(count: int) -> pa.Table:
    return pa.table(dict(zip(people.HEADER, map(list, zip(*people.rows(count), strict=True)), strict=True)))


def _parquet(place: Place, count: int) -> tuple[str, ...]:
    pq.write_table(_table(count), place.directory / "people.parquet", write_page_checksum=True)
    return (str(place.directory / "people.parquet"),)


def _workbook(suffix: str) -> Write:
    def write(place: Place, count: int) -> tuple[str, ...]:
        path = place.directory / f"people.{suffix}"
        write_workbook(path, people.HEADER, people.rows(count), with_macros=suffix == "xlsm")
        return (str(path),)

    return write


def _age(place: Place, count: int) -> tuple[str, ...]:
    pyrage = pytest.importorskip("pyrage", reason="the extra age is not installed")
    identity = pyrage.x25519.Identity.generate()
    key = place.directory / "identity"
    key.write_text(f"{identity}\n")
    key.chmod(0o600)
    os.environ["AUDIENCEKIT_AGE_IDENTITY"] = str(key)
    return place.write("people.age", bytes(pyrage.encrypt(people.as_csv(count), [identity.to_public()])))


def _pgp(*options: str) -> Write:
    def write(place: Place, count: int) -> tuple[str, ...]:
        keyring: Keyring = place.ask("keyring")
        os.environ["GNUPGHOME"] = str(keyring.directory)
        return place.write("people.gpg", keyring.encrypt(people.as_csv(count), *options))

    return write


def _s3(place: Place, count: int) -> tuple[str, ...]:
    bucket: Bucket = place.ask("bucket")
    os.environ.update(bucket.env)
    return (bucket.put("people.csv", people.as_csv(count)),)


def _az(place: Place, count: int) -> tuple[str, ...]:
    container: Container = place.ask("container")
    os.environ.update(container.env)
    return (container.put("people.csv", people.as_csv(count)),)


def _sftp(place: Place, count: int) -> tuple[str, ...]:
    server: Sftp = place.ask("sftp_server")
    os.environ.update({"HOME": str(server.home), "AUDIENCEKIT_KNOWN_HOSTS": str(server.known_hosts)})
    return (server.put("people.csv", people.as_csv(count)),)


def _postgresql(place: Place, count: int) -> tuple[str, ...]:
    pytest.importorskip("adbc_driver_postgresql", reason="the extra postgresql is not installed")
    url = place.ask("server")
    execute(
        url,
        "DROP TABLE IF EXISTS people",
        "CREATE TABLE people AS SELECT 'canary' || i || '@example.com' AS email, '+4930' || (20000000 + i) AS phone "
        f"FROM generate_series(0, {count - 1}) AS i",
    )
    return _query(place, url)


def _sqlite(place: Place, count: int) -> tuple[str, ...]:
    import sqlite3

    path = place.directory / "people.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE people (email, phone)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", people.rows(count))
    connection.close()
    return _query(place, f"sqlite:///{path}")


def _query(place: Place, url: str) -> tuple[str, ...]:
    (place.directory / "people.sql").write_text("SELECT email, phone FROM people")
    return ("--from-sql", url, "--sql", f"@{place.directory / 'people.sql'}")


FORMS = (
    Form("csv", _csv, damages=UNSEALED),
    Form("gz", _packed("gz", gzip.compress), damages=ALL_DAMAGES),
    Form("bz2", _packed("bz2", bz2.compress), damages=ALL_DAMAGES),
    Form("zip", _zip, damages=ALL_DAMAGES),
    Form("zst", _packed("zst", _zstd), damages={"cut": cut, "cut at the end": cut_at_the_end, "followed": followed}),
    Form("xz", _packed("xz", lzma.compress), damages=ALL_DAMAGES),
    Form("ndjson", _ndjson, damages=UNSEALED),
    Form("web page", _web_page, damages={"cut": cut, "cut at the end": cut_at_the_end}),
    Form("vCards", _vcards, damages={"cut": cut, "cut at the end": cut_at_the_end}),
    Form("parquet", _parquet, damages={"cut": cut, "cut at the end": cut_at_the_end, "followed": followed}),
    Form("xlsx", _workbook("xlsx"), damages=ALL_DAMAGES),
    Form("xlsm", _workbook("xlsm"), damages=ALL_DAMAGES),
    Form("age", _age, is_secret=True, damages=ALL_DAMAGES),
    Form("pgp", _pgp(), is_secret=True, is_service=True, damages=ALL_DAMAGES),
    Form("pgp in letters", _pgp("--armor"), is_secret=True, is_service=True, damages=ALL_DAMAGES),
    Form("s3", _s3, in_a_file=False, is_secret=True, is_service=True, server="bucket"),
    Form("az", _az, in_a_file=False, is_secret=True, is_service=True, server="container"),
    Form("sftp", _sftp, in_a_file=False, is_secret=True, server="sftp_server"),
    Form("PostgreSQL", _postgresql, in_a_file=False, is_secret=True, is_service=True),
    Form("SQLite", _sqlite, in_a_file=False),
)


def each(forms: Iterable[Form], *more: Any) -> list[Any]:
    """`forms` as cases of a test, each with `more`; those that start a program of others are tests of services."""
    return [
        pytest.param(form, *more, id=", ".join((str(form), *more)), marks=[pytest.mark.services] * form.is_service)
        for form in forms
    ]
