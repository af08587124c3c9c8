"""Lists behind https, over real sockets, from servers that are good, poor, broken and hostile."""

from __future__ import annotations

import dataclasses
import gzip
import io
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from audiencekit.errors import AudiencekitError, InputOutputFailed, SourceRefused
from audiencekit.sources.bytes.files import ByteReader, RawFile
from audiencekit.sources.remote import web
from audiencekit.sources.remote.addresses import SourceAddress, open_address
from audiencekit.sources.remote.remote_file import ATTEMPTS, Patience, RemoteFile
from tests.cases import each_case
from tests.sources.remote.conftest import Waits
from tests.sources.remote.reading import LARGE, PIECE_BYTES, read_whole
from tests.sources.remote.webserver import Manner, WebServer, serving

# A list of several pieces, all of them different.
pytestmark = pytest.mark.usefixtures("small_pieces")
SMALL = b"email\nann@example.com\n"

Open = Callable[..., RawFile]


@pytest.fixture
def server() -> Iterator[WebServer]:
    """A server of the large list."""
    with serving(Manner(body=LARGE)) as server:
        yield server


@pytest.fixture
def opened(patience: Patience) -> Open:
    """The file of a server."""
    return lambda server, query="": open_address(SourceAddress.read(server.url + query), patience)


def test_a_file_is_read_in_pieces(server: WebServer, opened: Open) -> None:
    """Every one of them asks for the version that was seen first, and for nothing packed."""
    file = opened(server)
    assert file.seekable
    assert file.size_bytes == len(LARGE)
    assert read_whole(file) == LARGE
    assert read_whole(file) == LARGE
    parts = [headers for _, headers in server.manner.requests if headers["range"] != "bytes=0-0"]
    assert len(parts) >= 4
    assert {headers["if-match"] for headers in parts} == {server.manner.etag}
    assert {headers["accept-encoding"] for headers in parts} == {"identity"}


def test_a_handle_goes_to_any_place(server: WebServer, opened: Open) -> None:
    """As a file on disk does."""
    with closing(opened(server).open()) as handle:
        for place in (len(LARGE) - 7, 0, PIECE_BYTES - 3, 2 * PIECE_BYTES + 11, 5):
            assert handle.seek(place) == place
            assert handle.read(26) == LARGE[place : place + 26]
            assert handle.tell() == min(place + 26, len(LARGE))
        assert handle.seek(-3, io.SEEK_END) == len(LARGE) - 3
        assert handle.read() == LARGE[-3:]
        assert handle.read() == b""
        with pytest.raises(ValueError, match="before"):
            handle.seek(-1)


def test_bytes_looked_at_often_are_asked_for_once(server: WebServer, opened: Open) -> None:
    """Formats are recognised by several looks at the beginning."""
    file = opened(server)
    before = len(server.manner.requests)
    for _ in range(5):
        with closing(file.open()) as handle:
            assert handle.read(65_536) == LARGE[:65_536]
    assert len(server.manner.requests) == before


@pytest.mark.parametrize("fault", ["cut", "short", "busy"])
def test_a_reading_goes_on_where_it_was_cut(server: WebServer, opened: Open, fault: str, waits: Waits) -> None:
    """Of the same version, after a wait."""
    file = opened(server)
    setattr(server.manner, fault, 3)
    assert read_whole(file) == LARGE
    assert len(waits) == 3
    assert all(seconds > 0 for seconds in waits)


def test_bytes_read_before_a_cut_are_not_asked_for_again(server: WebServer, opened: Open) -> None:
    """The next attempt begins behind it."""
    server.manner.body = LARGE[:PIECE_BYTES]
    server.manner.requests.clear()
    server.manner.cut = 1  # which the look of one byte does not meet
    opened(server)
    asked = [headers["range"] for _, headers in server.manner.requests]
    assert asked == ["bytes=0-0", f"bytes=0-{PIECE_BYTES - 1}", f"bytes={PIECE_BYTES // 2}-{PIECE_BYTES - 1}"]


@pytest.mark.parametrize("fault", ["cut", "busy"])
def test_a_server_that_never_recovers(server: WebServer, opened: Open, fault: str, waits: Waits) -> None:
    """It is given up after as many attempts as there are, with a system's exit code."""
    file = opened(server)
    setattr(server.manner, fault, 1_000)
    with pytest.raises(InputOutputFailed, match=f"127.0.0.1.*{ATTEMPTS} times"):
        read_whole(file)


def test_a_server_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, server: WebServer, opened: Open) -> None:
    """Patience has an end."""
    way = web.Way.to
    monkeypatch.setattr(web.Way, "to", lambda address: dataclasses.replace(way(address), silence_seconds=0.1))
    server.manner.silent = 1_000
    with pytest.raises(InputOutputFailed, match="no answer came in time"):
        opened(server)


@each_case(
    "wrong, why",
    [
        ({"excess": b"ann@example.com\n"}, "more bytes"),
        ({"other_range": True}, "another part"),
        ({"ranges": False}, "changed"),
        ({"tag": '"other"'}, "changed"),
        ({"tag": '"other"', "ignores_match": True}, "changed"),
        ({"tag": None, "ignores_match": True}, "changed"),
        ({"body": LARGE.swapcase()}, "changed"),
        ({"body": LARGE[: PIECE_BYTES + 1], "tag": "kept"}, "another part"),
        ({"status": 404}, "no such file"),
    ],
)
def test_another_file_in_the_middle(opened: Open, wrong: dict[str, object], why: str) -> None:
    """Nothing of it is taken for a part of the first."""
    with serving(Manner(body=LARGE)) as server:
        file = opened(server)
        if wrong.get("tag") == "kept":
            wrong = wrong | {"tag": server.manner.etag}
        for name, value in wrong.items():
            setattr(server.manner, name, value)
        with pytest.raises(SourceRefused, match=why):
            read_whole(file)


def test_a_file_that_changes_after_its_last_piece(server: WebServer, opened: Open) -> None:
    """Its place is looked at once more in the end."""
    file = opened(server)
    with closing(file.open()) as handle:
        assert handle.read() == LARGE
        server.manner.body = LARGE.swapcase()
        with pytest.raises(SourceRefused, match="changed"):
            file.check_unchanged(handle)


@pytest.mark.parametrize(
    ("status", "kind", "why"),
    [
        (401, InputOutputFailed, "does not allow"),
        (403, InputOutputFailed, "does not allow"),
        (404, SourceRefused, "no such file"),
        (410, SourceRefused, "no such file"),
        (418, InputOutputFailed, "status 418"),
        (500, InputOutputFailed, "status 500"),
    ],
)
def test_statuses(server: WebServer, opened: Open, status: int, kind: type[AudiencekitError], why: str) -> None:
    """Each has its words, and the query of the address is in none of them."""
    server.manner.status = status
    with pytest.raises(kind, match=why) as caught:
        opened(server, "?signature=secret")
    assert "secret" not in f"{caught.value}{caught.value.hint}"
    assert caught.value.__context__ is None


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(server: WebServer, opened: Open, status: int) -> None:
    """Also to the same host; the address that it leads to is told without its query."""
    with serving(Manner(body=LARGE)) as other:
        server.manner.status, server.manner.location = status, f"{other.url}?signature=secret"
        with pytest.raises(SourceRefused, match=f"redirect \\({status}\\)") as caught:
            opened(server)
        assert other.manner.requests == []
        assert other.url in caught.value.hint
        assert "secret" not in caught.value.hint


@pytest.mark.parametrize(
    "poor", [{"ranges": False}, {"tag": None}, {"tag": 'W/"weak"'}, {"ranges": False, "chunked": True}], ids=str
)
def test_a_server_without_pieces_or_versions(opened: Open, poor: dict[str, object]) -> None:
    """One answer is read, once and in a stream; a look is no reading."""
    with serving(Manner(body=LARGE, **poor)) as server:  # type: ignore[arg-type]
        file = opened(server)
        assert not file.seekable
        assert not isinstance(file, RemoteFile)
        for _ in range(3):
            with closing(file.open()) as handle:
                assert handle.read(64) == LARGE[:64]
        assert read_whole(file) == LARGE
        assert len([path for path, headers in server.manner.requests if "range" not in headers]) == 1


@pytest.mark.parametrize("chunked", [False, True])
def test_a_stream_that_is_cut(opened: Open, chunked: bool) -> None:
    """It cannot go on, and its rows are not trusted."""
    with serving(Manner(body=LARGE, ranges=False, chunked=chunked, cut=2)) as server:  # the first is the look
        file = opened(server)
        with closing(file.open()) as handle, pytest.raises(InputOutputFailed, match=r"ended early|broke"):
            list(ByteReader(handle).blocks(262_144))


def test_a_stream_whose_end_cannot_be_told(opened: Open) -> None:
    """Without a length a cut file would look like a whole one."""
    with serving(Manner(body=SMALL, ranges=False, length=False)) as server, pytest.raises(SourceRefused, match="long"):
        opened(server)


def test_an_empty_file(opened: Open) -> None:
    """No part of it can be asked for."""
    with serving(Manner(body=b"")) as server:
        assert read_whole(opened(server)) == b""


def test_a_file_that_its_server_packs(opened: Open) -> None:
    """Nothing is unpacked on the way: what is packed is recognised by its bytes, and bounded there."""
    with serving(Manner(body=SMALL, packs=True)) as server:
        assert gzip.decompress(read_whole(opened(server))) == SMALL


def test_an_address_that_is_signed_arrives_as_it_was_given(server: WebServer, opened: Open) -> None:
    """A signature is one of these very signs; what cannot stand in a request is escaped."""
    file = opened(server, "?a=%2F%20b&c=d/e+f&g=ü")
    assert file.repeatable is False
    assert {path for path, _ in server.manner.requests} == {"/lists/people.csv?a=%2F%20b&c=d/e+f&g=%C3%BC"}
    assert opened(server).repeatable


def test_proxies_of_other_programs_are_not_heeded(
    server: WebServer, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may have been set for another purpose."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert opened(server).size_bytes == len(LARGE)
