"""The cost of a value by its spelling, against E.164 and a plain address: processor time, least of some rounds.

    python -m benchmarks.cliffs [--regions US,DE | all] [--values 2000] [--out benchmarks/RESULTS.md]

Each spelling of `values/spellings.py`, and each dirt of `values/dirt.py`, fills a column of its own, and of each
region, as an export has one spelling throughout. All of the path counts: kernels, rules and definition.
Each round has values that no round before had, since domains that the definition decided are remembered; and each
spelling has a process of its own, since a plan that was compiled for one serves all. A column takes less than a
millisecond, and anything else that the machine does then counts: a spelling over its bound in a region is measured
again there, in columns ten times as long, and the lesser cost counts.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any, Final, TypeVar

import pyarrow as pa
from phonenumbers import SUPPORTED_REGIONS, PhoneNumber

from audiencekit.identifiers.kinds import Kind
from audiencekit.records.records import codes_of
from benchmarks.sections import publish_section
from benchmarks.values.dirt import DIRTY_ADDRESSES, DIRTY_NUMBERS
from benchmarks.values.spellings import EMAIL_SPELLINGS, PHONE_SPELLINGS, draw_number

REGIONS: Final = ("AE", "AR", "BR", "DE", "EG", "FR", "GB", "ID", "IN", "JP", "NG", "US")
VALUES: Final = 2_000
ROUNDS: Final = 7
SEED: Final = 1
BEGIN: Final = "<!-- cliffs: what follows is written by python -m benchmarks.cliffs -->"
END: Final = "<!-- cliffs: end -->"
_SURROGATES: Final = range(0xD800, 0xE000)  # no text holds them, as labels do that are cut

T = TypeVar("T")

NUMBERS: Final = {**PHONE_SPELLINGS, **DIRTY_NUMBERS}
ADDRESSES: Final = {**EMAIL_SPELLINGS, **DIRTY_ADDRESSES}

BOUNDS: Final = {Kind.PHONE_NUMBER: 2, Kind.EMAIL: 5}  # times a plain value, at most
_LONGER: Final = 10  # times as many values where a cost is over its bound

_PLAIN_NUMBER: Final = "E.164"
_PLAIN_ADDRESS: Final = "plain"


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of processor time for a value of one spelling, in one region (empty: an address), and for a plain one."""

    spelling: str
    region: str
    seconds: float
    plain_seconds: float

    @property
    def times(self) -> float:
        """How many plain values it is worth."""
        return self.seconds / self.plain_seconds


def measure_numbers(regions: Sequence[str], values: int) -> Iterator[Cost]:
    """Every spelling of phone numbers in every one of `regions`, and cells that hold none."""
    for place, region in enumerate(regions):
        print(f"region {place + 1} of {len(regions)}: {region}", file=sys.stderr)
        costs = list(_costs_of_numbers(region, values, list(NUMBERS)))
        over = [cost.spelling for cost in costs if _is_over(cost, Kind.PHONE_NUMBER)]
        yield from _lesser(costs, _costs_of_numbers(region, _LONGER * values, over) if over else ())


def measure_addresses(values: int) -> Iterator[Cost]:
    """Every spelling of addresses, and cells that hold none."""
    costs = list(_costs_of_addresses(values, list(ADDRESSES)))
    over = [cost.spelling for cost in costs if _is_over(cost, Kind.EMAIL)]
    yield from _lesser(costs, _costs_of_addresses(_LONGER * values, over))


def _lesser(costs: Sequence[Cost], again: Iterable[Cost]) -> Iterator[Cost]:
    """Of each spelling in a region the lesser of its two costs, where it was measured again."""
    others = {cost.spelling: cost for cost in again}
    for cost in costs:
        yield min(cost, others.get(cost.spelling, cost), key=lambda one: one.times)


def _costs_of_numbers(region: str, values: int, names: Sequence[str]) -> Iterator[Cost]:
    chance = random.Random(f"{SEED} {region}")
    drawn = [[draw_number(chance, region) for _ in range(values)] for _ in range(ROUNDS + 1)]
    makers = {name: partial(_numbers, name, drawn) for name in (_PLAIN_NUMBER, *names)}
    countries = pa.array([region] * values)
    for name in names:
        yield _cost((makers[name], makers[_PLAIN_NUMBER]), Kind.PHONE_NUMBER, countries, name, region)


def _costs_of_addresses(values: int, names: Sequence[str]) -> Iterator[Cost]:
    plain = partial(_addresses, _PLAIN_ADDRESS, values)
    for name in names:
        yield _cost((partial(_addresses, name, values), plain), Kind.EMAIL, None, name, "")


def _cost(makers: Sequence[Callable[[int], Any]], kind: Kind, countries: Any, name: str, region: str) -> Cost:
    """The least of some rounds, in a process of its own, whose list has no other spelling."""
    seconds, plain_seconds = _apart(partial(_measure, makers, kind, countries))
    return Cost(name, region, seconds, plain_seconds)


def _measure(makers: Sequence[Callable[[int], Any]], kind: Kind, countries: Any) -> tuple[float, ...]:
    """Seconds for a value of each, in turns. Plans are compiled and letters are met before, which a list pays once."""
    of_each = [[make(round_) for round_ in range(ROUNDS)] for make in makers]
    for make, columns in zip(makers, of_each, strict=True):
        codes_of(make(ROUNDS), kind, countries)
        if kind is Kind.EMAIL:
            _meet_letters(columns)
    rounds = [
        [_seconds(texts, kind, countries) / len(texts) for texts in columns] for columns in zip(*of_each, strict=True)
    ]
    return tuple(map(min, zip(*rounds, strict=True)))


def _apart(work: Callable[[], T]) -> T:
    """The outcome of `work` in a process that begins with the memory of this one."""
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of numpy, none of which works meanwhile
        process = context.Process(target=lambda: sender.send(work()))
        process.start()
    sender.close()
    try:
        outcome: T = receiver.recv()
    finally:
        process.join()
    return outcome


def _meet_letters(columns: Sequence[Any]) -> None:
    """Show the path every letter of the columns once, in an address of its own."""
    written = [text for texts in columns for text in texts.to_pylist()]
    encoded = {label for text in written for label in re.findall("xn--([a-z0-9-]+)", text)}
    decoded = [label.encode().decode("punycode", "ignore") for label in encoded]
    letters = {letter for text in (*written, *decoded) for letter in text if not letter.isascii()}
    shown = [f"q{letter}q@q{letter}q.example" for letter in sorted(letters.difference(map(chr, _SURROGATES)))]
    codes_of(pa.array(shown, pa.string()), Kind.EMAIL, None)


def _seconds(texts: Any, kind: Kind, countries: Any) -> float:
    begin = time.process_time()
    codes_of(texts, kind, countries)
    return time.process_time() - begin


def _numbers(name: str, drawn: Sequence[Sequence[PhoneNumber | None]], round_: int) -> Any:
    chance = random.Random(f"{SEED} {name} {round_}")
    return pa.array(["" if number is None else NUMBERS[name](chance, number) for number in drawn[round_]])


def _addresses(name: str, values: int, round_: int) -> Any:
    chance = random.Random(f"{SEED} {name} {round_}")
    return pa.array([ADDRESSES[name](chance) for _ in range(values)])


def as_table(costs: Sequence[Cost]) -> str:
    """A line a spelling: its cost in the median region and in the dearest one, against a plain value there."""
    lines = ["| spelling | times a plain value | least – greatest | dearest in |", "|---|---|---|---|"]
    for name in dict.fromkeys(cost.spelling for cost in costs):
        found = sorted((cost.times, cost.region) for cost in costs if cost.spelling == name)
        middle, least, (greatest, region) = median(times for times, _ in found), found[0][0], found[-1]
        lines.append(f"| {name} | {middle:.1f} | {least:.1f} – {greatest:.1f} | {region} |")
    return "\n".join(lines)


def over_bound(costs: Sequence[Cost], kind: Kind) -> str:
    """The costs over the bound of a kind, in words."""
    over = [
        f"{cost.spelling} in {cost.region or 'addresses'}: {cost.times:.1f}" for cost in costs if _is_over(cost, kind)
    ]
    return f"Over {BOUNDS[kind]}: {len(over):,} of {len(costs):,} costs{''.join(f'; {one}' for one in over)}."


def _is_over(cost: Cost, kind: Kind) -> bool:
    return cost.times > BOUNDS[kind]


def _section(given: argparse.Namespace, regions: Sequence[str]) -> str:
    numbers, addresses = list(measure_numbers(regions, given.values)), list(measure_addresses(given.values))
    micros = median(cost.plain_seconds for cost in numbers) * 1e6, addresses[0].plain_seconds * 1e6
    return (
        f"Columns of {given.values:,} values, least of {ROUNDS} rounds, each spelling in a process of its own. Phone "
        f"numbers in {len(regions)} regions, each against E.164 in the same region ({micros[0]:.2f} µs); measured "
        f"again in {_LONGER} times as many values where over {BOUNDS[Kind.PHONE_NUMBER]}:\n\n"
        f"{as_table(numbers)}\n\n{over_bound(numbers, Kind.PHONE_NUMBER)}\n\n"
        f"Addresses against a plain one ({micros[1]:.2f} µs):\n\n{as_table(addresses)}\n\n"
        f"{over_bound(addresses, Kind.EMAIL)}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the tables or write them into a file that has the marks."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cliffs", description="The cost of each spelling.")
    parser.add_argument("--regions", default=",".join(REGIONS), help="with commas between, or `all` (some 20 minutes)")
    parser.add_argument("--values", type=int, default=VALUES, help="of a column (default %(default)s)")
    parser.add_argument("--out", type=Path, help="the file that the tables are written into")
    given = parser.parse_args(arguments)
    regions = sorted(SUPPORTED_REGIONS) if given.regions == "all" else given.regions.split(",")
    if not set(regions) <= SUPPORTED_REGIONS:
        parser.error("some of these are no regions with phone numbers")
    section = _section(given, regions)
    publish_section(given.out, section, begin=BEGIN, end=END)


if __name__ == "__main__":
    main()
