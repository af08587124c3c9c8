"""The cost of a cell of a megabyte, with any content: processor time against a plain cell of the same bytes.

    python -m benchmarks.long_cells [--bytes 1000000] [--cells 4] [--out benchmarks/RESULTS.md]

A pattern that takes more than linear time shows here as a large number.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa

from audiencekit.identifiers.kinds import Kind
from audiencekit.identifiers.rules import DEFAULT_RULES
from audiencekit.preparation.batches import MappedColumn
from audiencekit.preparation.normalisation import normalize_column
from benchmarks.sections import publish_section

BEGIN: Final = "<!-- long cells: what follows is written by python -m benchmarks.long_cells -->"
END: Final = "<!-- long cells: end -->"
ROUNDS: Final = 2
SHOWN: Final = 5  # of the dearest

_PLAIN: Final = "abcdefgh"
# What stands in front of a unit that is repeated, the unit, and what stands behind.
CELLS: Final = {
    "digits": ("", "1234567890", ""),
    "at signs": ("", "a@", ""),
    "one at sign": ("a@", "b", ""),
    "dots": ("", "a.", "a@b.c"),
    "spaces": ("1", " ", "2"),
    "brackets": ("", "<", ""),
    "a display name": ("x", " ", "<a@b.example>"),
    "mailto:": ("mailto:", "a@", ""),
    "commas": ("1", ",111", ""),
    "groups of digits": ("", "1 2-", ""),
    "slashes": ("", "1234567/", ""),
    "hyphens": ("", "-", ""),
    "pluses": ("", "+", ""),
    "quotes": ("'", '"', ""),
    "a text formula": ('="', "a", '"'),
    "percent signs": ("", "%40", ""),
    "base64": ("", "YW5uYUBleGFtcGxlLmNvbQ", ""),
    "hexadecimal digits": ("", "616e6e61", ""),
    "colons": ("", "a:", ""),
    "entities": ("", "&#64;", ""),
    "the word at": ("", "a at b ", ""),
    "umlauts": ("", "ä", ""),
    "marks": ("a", "\u0301", ""),
    "marks out of order": ("a", "\u0323\u0301", ""),
    "invisible marks": ("", "\u200b", "x"),
    "emoji": ("", "😀", ""),
    "Arabic digits": ("", "٣", ""),
    "dotted capital I": ("", "İ", ""),
    "Thai letters behind an at sign": ("a@", "ก", ""),
    "tel:": ("", "tel:", ""),
    "extensions": ("", "1 x ", ""),
    "an address of the web": ("https://x.com/", "a/", ""),
    "encoded labels": ("a@", "xn--a.", ""),
    "zeros": ("", "0", ""),
    "control characters": ("", "\0", ""),
}


def times_of(kind: Kind, cells: int, size: int) -> dict[str, float]:
    """How many plain cells one of each sort is worth."""
    plain = _seconds(kind, _filled("", _PLAIN, "", size), cells)
    return {name: _seconds(kind, _filled(*parts, size), cells) / plain for name, parts in CELLS.items()}


def _filled(front: str, unit: str, back: str, size: int) -> str:
    return front + unit * (size // len(unit.encode())) + back


def _seconds(kind: Kind, text: str, cells: int) -> float:
    """The least of some rounds."""
    texts, column = pa.array([text] * cells), MappedColumn(kind=kind, position=0, name=kind)
    found = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        normalize_column(texts, column, countries=None, rules=DEFAULT_RULES)
        found.append(time.process_time() - begin)
    return min(found)


def _lines(cells: int, size: int) -> Iterator[str]:
    yield f"{cells} cells of {size:,} bytes; how many plain ones the dearest sorts are worth:\n"
    yield "| kind | dearest sorts |\n|---|---|"
    for kind in Kind:
        dearest = sorted(times_of(kind, cells, size).items(), key=lambda item: -item[1])[:SHOWN]
        yield f"| {kind.value} | {', '.join(f'{name} {times:.1f}' for name, times in dearest)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table or write it into a file that has the marks."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.long_cells", description="The cost of long cells.")
    parser.add_argument("--bytes", type=int, default=1_000_000, help="of a cell (default %(default)s)")
    parser.add_argument("--cells", type=int, default=4, help="of a column (default %(default)s)")
    parser.add_argument("--out", type=Path, help="the file that the table is written into")
    given = parser.parse_args(arguments)
    section = "\n".join(_lines(given.cells, given.bytes))
    publish_section(given.out, section, begin=BEGIN, end=END)


if __name__ == "__main__":
    main()
