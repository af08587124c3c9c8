"""Both paths over as many made-up values as one likes: whatever the columnar path decides, the definition must say.

    python -m benchmarks.differential --count 1000000 [--minutes 60] [--out benchmarks/RESULTS.md]

Every value is decided three times: by the columnar rules alone, as without kernels, by the kernels, and by the
definition. For each kind it says how many values there were, which share each of the first two decided, and how many
otherwise than the third. Of these it names kind, seed and index, never the value; to see the made-up value:

    python -m benchmarks.differential --show KIND SEED INDEX
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

import pyarrow as pa

from audiencekit.identifiers.kinds import Reason
from audiencekit.records.columns.arrays import PENDING, REASONS, UNDECIDED, VALID, Codes, Decisions, Matrix
from benchmarks.sections import publish_section
from benchmarks.values.kinds import KINDS, ValueKind
from benchmarks.values.phone_numbers import Row

BLOCK: Final = 2_000  # values; what one process decides in one go
PROCESSES: Final = 2
SHOWN: Final = 20  # differences that are named
PATTERNS: Final = 100_000  # kept compiled: numbers of 245 regions need more than re keeps, and half the time went there
BEGIN: Final = "<!-- both paths: what follows is written by python -m benchmarks.differential -->"
END: Final = "<!-- both paths: end -->"

_KINDS: Final = {kind.name: kind for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Block:
    """The outcome of one block of values.

    How many were decided in bulk, and which of these differ: without kernels, and by them (`at_sight`).
    """

    kind: str
    values: int
    decided: int
    differing: tuple[int, ...]
    at_sight: int = 0
    differing_at_sight: tuple[int, ...] = ()


def compare(decisions: Decisions, answers: Sequence[str | Reason]) -> list[int]:
    """Where `decisions` say another thing than the definition: indices, never values. EMPTY must be decided."""
    found = zip(decisions.normalized.to_pylist(), decisions.reasons.to_pylist(), answers, strict=True)
    return [index for index, (text, code, answer) in enumerate(found) if not _agree(text, code, answer)]


def _agree(text: str | None, code: int, answer: str | Reason) -> bool:
    if code == UNDECIDED:
        return text is None and answer is not Reason.EMPTY
    if code == VALID:
        return text == answer and not isinstance(answer, Reason)
    return text is None and answer is REASONS[code]


def compare_plain(codes: Codes, hashes: Matrix, answers: Sequence[str | Reason]) -> list[int]:
    """Where the kernels say another thing than the definition: indices, never values."""
    found = zip(codes.tolist(), hashes, answers, strict=True)
    return [index for index, (code, found_hash, answer) in enumerate(found) if not _is_plain(code, found_hash, answer)]


def _is_plain(code: int, found_hash: Matrix, answer: str | Reason) -> bool:
    if code == VALID:
        return not isinstance(answer, Reason) and found_hash.tobytes() == hashlib.sha256(answer.encode()).digest()
    return code == PENDING or (isinstance(answer, Reason) and REASONS[code] is answer)


def decide_block(name: str, seed: int, number: int, size: int = BLOCK) -> Block:
    """Both paths over the block `number` of the kind `name`."""
    kind = _KINDS[name]
    rows = kind.rows(seed, number, size)
    texts, countries = (pa.array(list(column), pa.string()) for column in zip(*rows, strict=True))
    decisions = kind.decide(texts, countries)
    answers = [kind.define(text, country) for text, country in rows]
    differing, decided = _numbered(compare(decisions, answers), number), size - len(decisions.undecided)
    plain = kind.plain(texts, countries)
    if plain is None:
        return Block(name, size, decided, differing)
    at_sight = int((plain[0] != PENDING).sum())
    alone = (kind.alone(text) for text, _ in rows)
    others = [index for index, answer in enumerate(alone) if answer is not None and answer != answers[index]]
    by_kernels = sorted({*compare_plain(*plain, answers), *others})
    return Block(name, size, decided, differing, at_sight, _numbered(by_kernels, number))


def _numbered(places: Sequence[int], block: int) -> tuple[int, ...]:
    return tuple(block * BLOCK + place for place in places)


def value_at(name: str, seed: int, index: int) -> Row:
    """The text and the country at `index`."""
    number, place = divmod(index, BLOCK)
    return _KINDS[name].rows(seed, number, place + 1)[place]


def kinds_named(part: str) -> tuple[ValueKind, ...]:
    """The kinds whose names hold `part`."""
    return tuple(kind for kind in KINDS if part in kind.name)


def blocks(count: int, kinds: Sequence[ValueKind] = KINDS) -> Iterator[tuple[str, int, int]]:
    """(kind, number, size) of blocks that hold `count` values or, rounded up, a few more; `kinds` in turn."""
    weights = sum(kind.weight for kind in kinds)
    left = {kind.name: -(-count * kind.weight // weights) for kind in kinds}
    numbers: Counter[str] = Counter()
    while any(left.values()):
        for name in [name for name in left if left[name]]:
            size = min(BLOCK, left[name])
            left[name] -= size
            yield name, numbers[name], size
            numbers[name] += 1


def run_differential(
    count: int, seed: int, kinds: Sequence[ValueKind] = KINDS, processes: int = PROCESSES
) -> Iterator[Block]:
    """Every block, as it is done; no more of them wait at a time than the processes need."""
    waiting = blocks(count, kinds)
    with ProcessPoolExecutor(processes, initializer=_keep_patterns) as pool:
        running = [pool.submit(decide_block, name, seed, *block) for name, *block in islice(waiting, processes * 4)]
        while running:
            yield running.pop(0).result()
            running += [pool.submit(decide_block, name, seed, *block) for name, *block in islice(waiting, 1)]


def _keep_patterns() -> None:
    re._MAXCACHE = PATTERNS  # type: ignore[attr-defined]


def _summary(kind: ValueKind, done: list[Block]) -> str:
    values, decided = sum(block.values for block in done), sum(block.decided for block in done)
    at_sight = sum(block.at_sight for block in done)
    shares = (f"{decided / max(values, 1):.4f}", f"{at_sight / max(values, 1):.4f}")
    differing = (sum(len(block.differing) for block in done), sum(len(block.differing_at_sight) for block in done))
    cells = (kind.name, f"{values:,}", *shares, *map(str, differing))
    return f"| {' | '.join(cells)} |"


def _table(done: dict[str, list[Block]], seed: int) -> str:
    """The text to publish: all values, and a line a kind."""
    all_blocks = [block for blocks in done.values() for block in blocks]
    values = sum(block.values for block in all_blocks)
    ways = "without kernels and by them" if any(block.at_sight for block in all_blocks) else "without kernels"
    heads = ("kind", "values", "decided without kernels", "by kernels", "differences without", "with")
    lines = (_summary(_KINDS[name], blocks) for name, blocks in done.items())
    head = f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|"
    return "\n".join([f"{values:,} values of seed {seed}, decided {ways}:\n", head, *lines])


def _all_differing(block: Block) -> list[int]:
    return sorted({*block.differing, *block.differing_at_sight})


def _show(name: str, seed: int, index: int) -> None:
    text, country = value_at(name, seed, index)
    print(ascii(text), country)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print a line a kind, and return 1 when anything differed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.differential", description="Both paths, compared.")
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="after which it ends with what was done")
    parser.add_argument("--processes", type=int, default=PROCESSES)
    parser.add_argument("--out", type=Path, help="the file that the table is written into")
    parser.add_argument("--kinds", default="", help="only those with this in their name, such as `spelled:`")
    parser.add_argument("--show", nargs=3, metavar=("KIND", "SEED", "INDEX"), help="make one value again")
    given = parser.parse_args(arguments)
    if given.show:
        _show(given.show[0], int(given.show[1]), int(given.show[2]))
        return 0
    kinds = kinds_named(given.kinds)
    if not kinds:
        parser.error("no kind has that in its name")
    done: dict[str, list[Block]] = {kind.name: [] for kind in kinds}
    seen, end = 0, time.monotonic() + given.minutes * 60
    for block in run_differential(given.count, given.seed, kinds, given.processes):
        done[block.kind].append(block)
        seen += block.values
        print(f"\r{seen:,} of {given.count:,}", end="", file=sys.stderr, flush=True)
        if time.monotonic() > end:
            break
    print(file=sys.stderr)
    publish_section(given.out, _table(done, given.seed), begin=BEGIN, end=END)
    differing = [(block.kind, index) for found in done.values() for block in found for index in _all_differing(block)]
    for name, index in differing[:SHOWN]:
        print(f"differs: {name}, seed {given.seed}, index {index}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
