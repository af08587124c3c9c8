"""The cost of a cell of a megabyte, with any content: processor time against a plain cell of the same bytes.

    python -m benchmarks.long_cells [--bytes 1000000] [--cells 28] [--random 1000] [--out benchmarks/RESULTS.md]

Each sort of `CELLS` is a column of its own, and so is each of the random cells, whose generator knows no rule. A
pattern that takes more than linear time shows as a large number, and as growth: the time of a byte against that of a
byte in a cell of a quarter of the size.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa

from audiencekit.identifiers.kinds import DEFAULT_RULES, Kind
from audiencekit.records.batches import MappedColumn
from audiencekit.records.records import normalize_column
from benchmarks.sections import publish_section
from benchmarks.values.fragments import fill_cell

BEGIN: Final = "<!-- long cells: what follows is written by python -m benchmarks.long_cells -->"
END: Final = "<!-- long cells: end -->"
ROUNDS: Final = 2
MANY_ROUNDS: Final = 5
AGAIN: Final = 12  # of the cells that seem the dearest, and of those that seem to grow most
SHOWN: Final = 5  # of the dearest
SHORTER: Final = 4  # times, for growth
SEED: Final = 1

_PLAIN: Final = "abcdefgh"
# The text before a repeated unit, the unit, and the text behind it.
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
    plain = _seconds(kind, _filled("", _PLAIN, "", size, cells))
    return {name: _seconds(kind, _filled(*parts, size, cells)) / plain for name, parts in CELLS.items()}


def times_at_random(kind: Kind, cells: int, size: int) -> tuple[float, float, float]:
    """How many plain cells a random one is worth, and the dearest of so many; and the greatest growth of any.

    Those that seem the dearest are measured again: other work on the machine is dear, too.
    """
    seeds = [f"{SEED} {cell}" for cell in range(cells)]
    found = {seed: _at_random(kind, seed, size, 1) for seed in seeds}
    mean = sum(times for times, _ in found.values()) / cells
    again = {seed for place in range(2) for seed in sorted(seeds, key=lambda seed: -found[seed][place])[:AGAIN]}
    dearest, growths = zip(*(_at_random(kind, seed, size, MANY_ROUNDS) for seed in again), strict=True)
    return mean, max(dearest), max(growths)


def _at_random(kind: Kind, seed: str, size: int, rounds: int) -> tuple[float, float]:
    """How many plain cells one random one is worth, and its growth: the least of some rounds in turns."""
    plain = _PLAIN * (size // len(_PLAIN))
    texts = plain, fill_cell(random.Random(seed), size), fill_cell(random.Random(seed), size // SHORTER)
    measured = [[_seconds(kind, [text]) for text in texts] for _ in range(rounds)]
    of_plain, whole, part = map(min, zip(*measured, strict=True))
    return whole / of_plain, whole / part / SHORTER


def _filled(front: str, unit: str, back: str, size: int, cells: int) -> list[str]:
    """So many cells, each a unit shorter than the one before: what is there twice is decided once."""
    units = size // len(unit.encode())
    return [front + unit * max(units - cell, 0) + back for cell in range(cells)]


def _seconds(kind: Kind, texts: Sequence[str]) -> float:
    """The least of some rounds."""
    column, array = MappedColumn(kind=kind, position=0, name=kind), pa.array(texts)
    found = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        normalize_column(array, column, countries=None, rules=DEFAULT_RULES)
        found.append(time.process_time() - begin)
    return min(found)


def _lines(given: argparse.Namespace) -> Iterator[str]:
    yield (
        f"Cells of {given.bytes:,} bytes, in plain ones: {len(CELLS)} sorts with {given.cells} cells each, and "
        f"{given.random:,} random cells, each alone.\n\n"
        "| kind | dearest sorts | a random cell: mean, dearest | greatest growth |\n|---|---|---|---|"
    )
    for kind in Kind:
        dearest = sorted(times_of(kind, given.cells, given.bytes).items(), key=lambda item: -item[1])[:SHOWN]
        mean, most, growth = times_at_random(kind, given.random, given.bytes)
        sorts = ", ".join(f"{name} {times:.1f}" for name, times in dearest)
        yield f"| {kind.value} | {sorts} | {mean:.1f}, {most:.1f} | {growth:.1f} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table or write it into a file that has the marks."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.long_cells", description="The cost of long cells.")
    parser.add_argument("--bytes", type=int, default=1_000_000, help="of a cell (default %(default)s)")
    parser.add_argument("--cells", type=int, default=28, help="of each sort (default %(default)s)")
    parser.add_argument("--random", type=int, default=1_000, help="random cells of a kind (default %(default)s)")
    parser.add_argument("--out", type=Path, help="the file that the table is written into")
    given = parser.parse_args(arguments)
    section = "\n".join(_lines(given))
    publish_section(given.out, section, begin=BEGIN, end=END)


if __name__ == "__main__":
    main()
