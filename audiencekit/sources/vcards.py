"""vCards, as phones, iCloud and address books export contacts (RFC 6350, RFC 2426, vCard 2.1): read as the NDJSON that
they would be, a row a card with all of its addresses and numbers.
"""

from __future__ import annotations

import quopri
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import orjson

from audiencekit.errors import SourceRefused
from audiencekit.identifiers.kinds import Reason
from audiencekit.limits import MAX_LINE_BYTES
from audiencekit.sources.bytes.byte_stream import ByteStream, TextSample, bounded_lines, take_sample
from audiencekit.sources.columns.header import Header
from audiencekit.sources.json_lines import JsonLinesTable, read_object
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.sampling import SAMPLE_BYTES, Sample
from audiencekit.sources.table import Description, Look
from audiencekit.sources.unreadable_rows import FaultWords

KEYS: Final = ("email", "phone", "country")
_BEGINNING: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*BEGIN:VCARD\s*\n", re.I)
# A group, a name and parameters (RFC 6350, section 3.3); a parameter in quotes may hold colons.
_PROPERTY: Final = re.compile(
    rb"(?:[A-Za-z0-9-]+\.)?(?P<name>[A-Za-z0-9-]+)(?P<parameters>(?:;(?:\"[^\"]*\"|[^\":;])*)*):(?P<value>.*)", re.S
)
_ESCAPED: Final = re.compile(r"\\(.)")
_PARTS: Final = re.compile(r"(?<!\\);")
_COUNTRY_PART: Final = 6  # of an address, from 0 (RFC 6350, section 6.3.1)
_NOT_A_PHONE: Final = (b"FAX", b"PAGER", b"TEXTPHONE", b"TELEX")
_READ: Final = (b"EMAIL", b"TEL", b"ADR")
_FOLD: Final = (b" ", b"\t")
_QUOTED: Final = b"QUOTED-PRINTABLE"
_FAULTY, _BROKEN = b"[]\n", b"\xff\n"  # no object, no text: their rows are faults
_BLOCK_LINES: Final = 4_096
WORDS: Final[Mapping[Reason, FaultWords]] = {
    Reason.RAGGED: FaultWords("hold a line that is no property of a vCard", "export the contacts once more"),
    Reason.ENCODING: FaultWords("hold bytes that are not UTF-8", "export the contacts as vCard 3.0 or 4.0"),
    Reason.TOO_LARGE: FaultWords("hold a value that is too large for an identifier", "export the contacts once more"),
}


def is_vcards(name: str, sample: TextSample) -> bool:
    """Whether these are vCards, by the first line."""
    return _BEGINNING.match(sample.data + b"\n") is not None


def open_vcards(stream: ByteStream, options: SourceOptions) -> Look:
    """A file of vCards, looked at. Raises SourceRefused for one that ends within a card."""
    cards = ByteStream(stream.file, options.encoding, convert=json_of_cards)
    taken = take_sample(cards.blocks(), SAMPLE_BYTES)
    objects = [found for line in taken.data.splitlines() if isinstance(found := read_object(line), dict)]
    cells = tuple(tuple(_first(found[key]) for found in objects) for key in KEYS)
    values = {place: [found[key] for found in objects] for place, key in enumerate(KEYS)}
    table = VCardTable(cards, KEYS, options)
    return Look(table, Header.of(KEYS, len(KEYS), options.wanted_names), Sample(KEYS, cells, values))


class VCardTable(JsonLinesTable):
    """The rows of a file of vCards."""

    words: ClassVar[Mapping[Reason, FaultWords]] = WORDS

    @property
    def description(self) -> Description:
        """The format of the file, for people."""
        return {**super().description, "format": "vcard"}


def _first(value: Any) -> str:
    return (value[0] if value else "") if isinstance(value, list) else value or ""


def json_of_cards(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The cards in `blocks` as UTF-8 blocks of NDJSON, a line a card. Raises SourceRefused."""
    reader, made = _CardReader(), []
    for line in _unfolded(blocks):
        if (card := reader.read(line)) is not None:
            made.append(card)
            if len(made) == _BLOCK_LINES:
                yield b"".join(made)
                made.clear()
    if reader.depth:
        raise SourceRefused("the last vCard of the file has no end", hint="see whether it was cut off: export it again")
    if made:
        yield b"".join(made)


def _unfolded(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Lines with those that go on in the next one joined. Of a property that is not read, only the first line stays.

    Raises SourceRefused for a line that is too long.
    """
    first, last, rest = b"", b"", b""
    others: list[bytes] = []
    size_bytes = 0
    for block in bounded_lines(blocks):
        *lines, rest = (rest + block).split(b"\n")
        for line in (line.removesuffix(b"\r") for line in lines):
            if not _goes_on(first, last, line):
                yield b"".join((first, *others))
                first, others, size_bytes = line, [], 0
            elif _is_read(first):
                others.append(line[1:] if line[:1] in _FOLD else b"\n" + line)
                size_bytes += len(line)
                if size_bytes > MAX_LINE_BYTES:
                    raise SourceRefused("an address or number of a vCard is too long", hint="export the contacts again")
            last = line
    yield b"".join((first, *others))
    yield rest.strip()


def _goes_on(first: bytes, last: bytes, line: bytes) -> bool:
    """Folded by a blank (RFC 6350, section 3.2), or by the soft line end of quoted-printable in vCard 2.1.

    The latter stays: it is a part of the encoding.
    """
    return bool(first) and (line[:1] in _FOLD or (last.endswith(b"=") and _QUOTED in first.partition(b":")[0].upper()))


def _is_read(first: bytes) -> bool:
    name = re.split(rb"[;:]", first, maxsplit=1)[0].rpartition(b".")[2]
    return name.upper() in _READ


@dataclass(slots=True, eq=False)
class _CardReader:
    """The card that is being read. `depth` counts cards in it: those are of other people, such as an agent's."""

    depth: int = 0
    emails: dict[str, None] = field(default_factory=dict, repr=False)  # each once, in their order
    phones: dict[str, None] = field(default_factory=dict, repr=False)
    countries: dict[str, None] = field(default_factory=dict, repr=False)
    fault: bytes = b""

    def read(self, line: bytes) -> bytes | None:
        """Take in the next line; return the line of JSON of a card that ends with it."""
        word = line.strip().upper()
        if word == b"BEGIN:VCARD":
            self.depth += 1
        elif word == b"END:VCARD" and self.depth:
            self.depth -= 1
            return None if self.depth else self._end()
        elif word and not self.depth:
            raise SourceRefused("there is text between the vCards", hint="keep vCards only, or export as CSV")
        elif word and self.depth == 1:
            self._add(line)
        return None

    def _end(self) -> bytes:
        country = next(iter(self.countries)) if len(self.countries) == 1 else None
        card = {"email": [*self.emails], "phone": [*self.phones], "country": country}
        made = self.fault or orjson.dumps(card) + b"\n"
        self.emails, self.phones, self.countries, self.fault = {}, {}, {}, b""
        return made

    def _add(self, line: bytes) -> None:
        found = _PROPERTY.fullmatch(line)
        if found is None:
            self.fault = _FAULTY
            return
        name, parameters = found["name"].upper(), found["parameters"].upper()
        if name not in _READ:
            return
        try:
            value = _text_of(found["value"], parameters)
        except (LookupError, UnicodeDecodeError):
            self.fault = _BROKEN
            return
        if name == b"EMAIL":
            self._add_value(self.emails, _plain(value.removeprefix("mailto:")))
        elif name == b"TEL":
            if not any(word in parameters for word in _NOT_A_PHONE):
                self._add_value(self.phones, _plain(value.removeprefix("tel:")).replace(";ext=", " ext. "))
        else:
            parts = _PARTS.split(value)
            self._add_value(self.countries, _plain(parts[_COUNTRY_PART]) if len(parts) > _COUNTRY_PART else "")

    @staticmethod
    def _add_value(values: dict[str, None], value: str) -> None:
        if value:
            values[value] = None


def _text_of(value: bytes, parameters: bytes) -> str:
    if _QUOTED not in parameters:
        return value.decode()
    charset = re.search(rb"CHARSET=\"?([A-Z0-9_.:-]{1,40})", parameters)
    return quopri.decodestring(value).decode("utf-8" if charset is None else charset[1].decode("ascii"))


def _plain(value: str) -> str:
    """A value without the escapes of a vCard (RFC 6350, section 3.4)."""
    return _ESCAPED.sub(lambda found: " " if found[1] in "nN" else found[1], value).strip()
