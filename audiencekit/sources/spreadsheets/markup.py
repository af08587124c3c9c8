"""XML by expat, in a stream: names without their namespaces, no entities of the document's own, nothing loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias
from xml.parsers import expat

from audiencekit.errors import SourceRefused
from audiencekit.sources.spreadsheets.container import damaged

Attributes: TypeAlias = dict[str, str]
_SEPARATOR: Final = "}"
_MAX_DEPTH: Final = 64  # elements within each other; the format has some ten, and each open one takes memory


def parse(
    blocks: Iterable[bytes],
    begin: Callable[[str, Attributes], None],
    end: Callable[[str], None] = lambda name: None,
    text: Callable[[str], None] = lambda text: None,
) -> Iterator[None]:
    """Calls the functions for what stands in `blocks`, and stops behind each block.

    Raises SourceRefused for what is no XML, for elements too deep within each other, and for a document type: it can
    stand for any amount of text.
    """
    depth = 0

    def on_begin(name: str, given: Attributes) -> None:
        nonlocal depth
        depth += 1
        if depth > _MAX_DEPTH:
            raise damaged(f"it has more than {_MAX_DEPTH} elements of XML within each other")
        begin(_local(name), {_local(key): given[key] for key in given})

    def on_end(name: str) -> None:
        nonlocal depth
        depth -= 1
        end(_local(name))

    parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_document_type
    parser.StartElementHandler = on_begin
    parser.EndElementHandler = on_end
    parser.CharacterDataHandler = text
    for block in blocks:
        _feed(parser, block, False)
        yield
    _feed(parser, b"", True)
    yield


def elements(data: bytes) -> list[tuple[str, Attributes]]:
    """The elements of a document in the order in which they begin, each with its attributes."""
    found: list[tuple[str, Attributes]] = []
    for _ in parse([data], lambda name, attributes: found.append((name, attributes))):
        pass
    return found


def _feed(parser: expat.XMLParserType, block: bytes, is_final: bool) -> None:
    try:
        parser.Parse(block, is_final)
        return
    except (expat.ExpatError, ValueError):  # it may quote
        pass
    raise damaged("its XML is not sound")


def _local(name: str) -> str:
    return name.rpartition(_SEPARATOR)[2]


def _refuse_document_type(*_: object) -> None:
    raise SourceRefused("the workbook declares a document type, as no spreadsheet program does", hint="save it again")
