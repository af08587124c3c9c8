"""Addresses: what they may say, and that neither passwords nor signatures of them are shown or kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from audiencekit.errors import UsageError
from audiencekit.sources.remote.addresses import SourceAddress, is_address, is_stored_whole, stored_address
from tests.cases import each_case


@each_case(
    "path, is_one",
    [
        ("s3://bucket/people.csv", True),
        ("HTTPS://example.com/a", True),
        ("ftp://example.com/a", True),
        ("people.csv", False),
        ("-", False),
        ("C:\\people.csv", False),
        ("c://people.csv", False),
        ("exports/s3://a", False),
        (Path("s3:/bucket"), False),
    ],
)
def test_an_address_is_told_from_a_path(path: str | Path, is_one: bool) -> None:
    """By a scheme of two letters or more: one letter is a drive."""
    assert is_address(path) is is_one


@each_case(
    "text, parts",
    [
        ("s3://bucket/a/b.csv", ("s3", "bucket", None, "a/b.csv", "", "")),
        ("gs://bucket/a?b#c.csv", ("gs", "bucket", None, "a?b#c.csv", "", "")),
        ("az://container/", ("az", "container", None, "", "", "")),
        ("https://example.com:8443/a.csv?x=1#top", ("https", "example.com", 8443, "/a.csv", "", "x=1")),
        ("https://[2001:db8::1]/a", ("https", "[2001:db8::1]", None, "/a", "", "")),
        ("http://127.0.0.1:80/a", ("http", "127.0.0.1", 80, "/a", "", "")),
        ("http://localhost/a", ("http", "localhost", None, "/a", "", "")),
        ("SFTP://ann@example.com/a", ("sftp", "example.com", None, "/a", "ann", "")),
    ],
)
def test_an_address_in_its_parts(text: str, parts: tuple[object, ...]) -> None:
    """The key of a bucket may hold any sign; a query is one of https only."""
    address = SourceAddress.read(text)
    assert (address.scheme, address.host, address.port, address.path, address.user, address.query) == parts


@each_case(
    "text, why",
    [
        ("ftp://example.com/secret", "no place"),
        ("file:///etc/secret", "no place"),
        ("http://example.com/secret", "others on the way"),
        ("http://127.0.0.1.example.com/secret", "others on the way"),
        ("http://localhost.example.com/secret", "others on the way"),
        ("https://ann:secret@example.com/a", "password"),
        ("https://secret@example.com/a", "no user name"),
        ("s3://AKIASECRET:secret@bucket/a", "password"),
        ("sftp://ann:secret@example.com/a", "password"),
        ("sftp://@example.com/secret", "no user name"),
        ("s3://", "no address"),
        ("https:///secret", "no address"),
        ("https://example.com:99999/secret", "no address"),
        ("https://exam ple.com/secret", "no address"),
        ("https://example.com/secret\n", "no address"),
        ("s3://bucket:80/secret", "no port"),
    ],
)
def test_an_address_that_is_not_taken(text: str, why: str) -> None:
    """It is refused with the reason, and is not quoted."""
    with pytest.raises(UsageError, match=why) as caught:
        SourceAddress.read(text)
    assert "secret" not in f"{caught.value}{caught.value.hint}".lower()


def test_a_query_is_neither_shown_nor_kept() -> None:
    """It may be a signature, which lets everyone in who reads it."""
    address = SourceAddress.read("https://example.com/people.csv?X-Amz-Signature=secret")
    shown = f"{address!r}{address}{address.stored}{address.name}{address.identity}"
    assert "secret" not in shown
    assert address.stored == "https://example.com/people.csv?…"
    assert not is_stored_whole(address.stored)
    assert is_stored_whole(stored_address("https://example.com/people.csv"))
    assert is_stored_whole("what?…")


@each_case(
    "text, name",
    [
        ("s3://bucket/a/people.csv", "people.csv"),
        ("s3://bucket/a%20b.csv", "a%20b.csv"),
        ("https://example.com/a%20b.csv?x", "a b.csv"),
        ("https://example.com", "example.com"),
        ("s3://bucket/exports/", "exports"),
        ("s3://bucket/", "bucket"),
    ],
)
def test_the_name_of_a_file_is_the_last_part(text: str, name: str) -> None:
    """As of paths."""
    assert SourceAddress.read(text).name == name


def test_addresses_of_one_file_are_the_same() -> None:
    """Two queries may mean two files."""
    first = SourceAddress.read("https://example.com/a?list=1").identity
    assert first == SourceAddress.read("HTTPS://example.com/a?list=1").identity
    assert first != SourceAddress.read("https://example.com/a?list=2").identity


@each_case(
    "text, several",
    [
        ("s3://bucket/exports/", True),
        ("s3://bucket", True),
        ("s3://bucket/exports/*.parquet", True),
        ("sftp://example.com/exports/", True),
        ("s3://bucket/people.csv", False),
        ("https://example.com/exports/", False),
        ("https://example.com/*.csv", False),
    ],
)
def test_directories_and_stars(text: str, several: bool) -> None:
    """A web server has no list of its files."""
    assert SourceAddress.read(text).asks_for_several is several
