"""vCards are read a row a card, as the NDJSON that they would be."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audiencekit.errors import SourceRefused
from audiencekit.limits import MAX_LINE_BYTES
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source, open_source
from audiencekit.sources.vcards import json_of_cards
from tests.cases import each_case

Rows = Callable[[Source], list[dict[str, Any]]]
Faults = Callable[[Source], list[tuple[int, str | None, str]]]
Write = Callable[..., Path]


def _card(*lines: str, end: str = "\r\n") -> bytes:
    return end.join(["BEGIN:VCARD", *lines, "END:VCARD", ""]).encode()


def _read(data: bytes, piece: int = 1 << 20) -> list[Any]:
    pieces = (data[start : start + piece] for start in range(0, len(data), piece))
    return [json.loads(line) for line in b"".join(json_of_cards(pieces)).splitlines()]


@each_case(
    "lines, found",
    [
        (["EMAIL:ann@larchpost.example"], {"email": ["ann@larchpost.example"]}),
        (
            ["email;type=INTERNET,HOME:a@b.example", "item2.EMAIL:c@d.example"],
            {"email": ["a@b.example", "c@d.example"]},
        ),
        (["EMAIL:a@b.example", "EMAIL:a@b.example"], {"email": ["a@b.example"]}),
        (["EMAIL;TYPE=work:ann@larch", " post.example"], {"email": ["ann@larchpost.example"]}),
        (["TEL;TYPE=CELL:+49 151 23456789"], {"phone": ["+49 151 23456789"]}),
        (['TEL;VALUE=uri;TYPE="voice,home":tel:+49-30-1234567;ext=12'], {"phone": ["+49-30-1234567 ext. 12"]}),
        (["TEL;TYPE=HOME,FAX:+49 30 7654321", "TEL;PAGER:1"], {}),
        (["ADR;TYPE=HOME:;;Weg 1\\;b;Berlin;;10115;Germany"], {"country": "Germany"}),
        (["ADR:;;;;;;Germany", "ADR:;;;;;;France"], {}),
        (["ADR:;;;;;;", "ADR:;;;;;;FR"], {"country": "FR"}),
        (["EMAIL;ENCODING=QUOTED-PRINTABLE:bob=40larch=", "post.example"], {"email": ["bob@larchpost.example"]}),
        (
            ["NOTE;ENCODING=QUOTED-PRINTABLE:x=", "EMAIL:no@larchpost.example=", "end", "EMAIL:a@b.example"],
            {"email": ["a@b.example"]},
        ),
        (["FN;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:J=F6rg", "PHOTO;ENCODING=b:AA", " BB="], {}),
        (
            ["AGENT:", "BEGIN:VCARD", "EMAIL:agent@larchpost.example", "END:VCARD", "EMAIL:a@b.example"],
            {"email": ["a@b.example"]},
        ),
        (["RELATED;TYPE=friend:mailto:other@larchpost.example", "NOTE:call +49 30 1", "KEY:x"], {}),
    ],
)
def test_cards(lines: list[str], found: dict[str, Any]) -> None:
    """In pieces of every size, with every line end."""
    expected = [{"email": [], "phone": [], "country": None, **found}]
    for end in ("\r\n", "\n"):
        data = _card("VERSION:3.0", *lines, end=end)
        assert all(_read(data, piece) == expected for piece in (1, 2, 5, 1 << 20))


@each_case(
    "data, words",
    [
        (_card("EMAIL:a@b.example") + b"BEGIN:VCARD\r\nEMAIL:c@d.example\r\n", "has no end"),
        (_card("EMAIL:a@b.example") + b"c@d.example\r\n", "between the vCards"),
    ],
)
def test_refused(data: bytes, words: str) -> None:
    """A person could be lost."""
    with pytest.raises(SourceRefused, match=words):
        _read(data)


def test_pictures_take_no_time_and_no_room() -> None:
    """Of a property that is not read, the lines that it is folded into are dropped as they come."""
    picture = [" " + "A" * 74] * 60_000
    cards = _card("PHOTO;ENCODING=b:AAAA", *picture, "EMAIL:ann@larchpost.example")
    tracemalloc.start()
    pieces = (cards[start : start + 65_536] for start in range(0, len(cards), 65_536))
    assert b"ann@larchpost.example" in b"".join(json_of_cards(pieces))
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()


def test_a_line_without_an_end_is_refused() -> None:
    """Such as a file that is no text."""
    with pytest.raises(SourceRefused, match="longer than"):
        _read(b"BEGIN:VCARD\nNOTE:" + b"x" * 2 * MAX_LINE_BYTES, 65_536)
    folded = [" " + "x" * 999] * (MAX_LINE_BYTES // 999 + 1)
    with pytest.raises(SourceRefused, match="too long"):
        _read(_card("EMAIL:a", *folded), 65_536)


def test_a_file_of_cards_is_a_source(write: Write, rows_of: Rows) -> None:
    """Found by its first line; lists are several values of one person."""
    cards = _card("EMAIL:ann@larchpost.example", "TEL:0151 23456789", "ADR:;;;;;;Germany") + _card("FN:Bob")
    source = open_source(write(cards, "contacts.vcf"), SourceOptions())
    assert rows_of(source) == [
        {"row": 1, "country": "Germany", "c0": ["ann@larchpost.example"], "c1": ["0151 23456789"]},
        {"row": 2, "country": None, "c0": [], "c1": []},
    ]
    assert source.description["format"] == "vcard"


def test_a_broken_card_is_a_fault_of_its_row(write: Write, faults_of: Faults) -> None:
    """A line that is no property, and a byte that is no letter, cost their card."""
    good = _card("EMAIL:ann@larchpost.example") * 20
    broken = _card("EMAIL bob@larchpost.example") + _card(
        "EMAIL:b\udcffob@larchpost.example".encode("utf-8", "surrogateescape").decode("latin-1")
    ).replace("ÿ".encode(), b"\xff")
    source = open_source(write(good + broken), SourceOptions())
    assert faults_of(source) == [(21, None, "ragged"), (22, None, "encoding")]
