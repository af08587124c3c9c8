"""Both paths over as many made-up values as one likes: whatever the columnar path decides, the definition must say.

    python -m benchmarks.differential --count 1000000

Prints for each kind how many values there were, which share was decided in bulk and which by the kernels, and how many
were decided otherwise by either.
Of these it names kind, seed and index, never the value; to see the made-up value:

    python -m benchmarks.differential --show KIND SEED INDEX
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Final

import pyarrow as pa

from audiencekit.identifiers.reasons import Reason
from audiencekit.preparation.columnar.buffers import Matrix
from audiencekit.preparation.columnar.decisions import PENDING, REASONS, UNDECIDED, VALID, Codes, Decisions
from benchmarks.values.kinds import KINDS, ValueKind
from benchmarks.values.phone_numbers import Row

BLOCK: Final = 2_000  # values; what one process decides in one go
PROCESSES: Final = 2
SHOWN: Final = 20  # differences that are named

_KINDS: Final = {kind.name: kind for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Block:
    """The outcome of one block of values: how many were decided in bulk, which differ, how many the kernels decided."""

    kind: str
    values: int
    decided: int
    differing: tuple[int, ...]
    at_sight: int = 0


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
    differing, plain = compare(decisions, answers), kind.plain(texts, countries)
    if plain is not None:
        differing = sorted({*differing, *compare_plain(*plain, answers)})
    first = number * BLOCK
    decided = size - len(decisions.undecided)
    at_sight = int((plain[0] != PENDING).sum()) if plain is not None else 0
    return Block(name, size, decided, tuple(first + index for index in differing), at_sight)


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
    with ProcessPoolExecutor(processes) as pool:
        running = [pool.submit(decide_block, name, seed, *block) for name, *block in islice(waiting, processes * 4)]
        while running:
            yield running.pop(0).result()
            running += [pool.submit(decide_block, name, seed, *block) for name, *block in islice(waiting, 1)]


def _summary(kind: ValueKind, done: list[Block]) -> str:
    values, decided = sum(block.values for block in done), sum(block.decided for block in done)
    differing = sum(len(block.differing) for block in done)
    at_sight = sum(block.at_sight for block in done)
    shares = f"{decided / max(values, 1):8.4f} in bulk  {at_sight / max(values, 1):8.4f} by kernels"
    return f"{kind.name:48} {values:>12,} values  {shares}  {differing} differences"


def _show(name: str, seed: int, index: int) -> None:
    text, country = value_at(name, seed, index)
    print(ascii(text), country)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print a line a kind, and return 1 when anything differed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.differential", description="Both paths, compared.")
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
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
    seen = 0
    for block in run_differential(given.count, given.seed, kinds):
        done[block.kind].append(block)
        seen += block.values
        print(f"\r{seen:,} of {given.count:,}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for kind in kinds:
        print(_summary(kind, done[kind.name]))
    differing = [(block.kind, index) for found in done.values() for block in found for index in block.differing]
    for name, index in differing[:SHOWN]:
        print(f"differs: {name}, seed {given.seed}, index {index}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
