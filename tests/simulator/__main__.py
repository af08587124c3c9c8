"""`python -m tests.simulator --seed N` replays one run, `--count N` makes many, `--pairs` all pairs of faults."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator

from tests.simulator.faults import EFFECTS
from tests.simulator.run import Outcome, simulate

Case = tuple[int, tuple[int, int] | None]


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """Seeds, each with the pair of faults it is about, if any."""
    if options.pair:
        yield options.seed or 0, tuple(options.pair)
    elif options.pairs:
        for first in EFFECTS:
            yield from ((options.first + first * 100 + second, (first, second)) for second in EFFECTS)
    elif options.seed is not None:
        yield options.seed, None
    else:
        yield from ((seed, None) for seed in range(options.first, options.first + options.count))


def command_for(seed: int, pair: tuple[int, int] | None) -> str:
    """Return the command that replays one run."""
    return f"python -m tests.simulator --seed {seed}" + (f" --pair {pair[0]} {pair[1]}" if pair else "")


def tell(seed: int, pair: tuple[int, int] | None, outcome: Outcome) -> None:
    print(f"{command_for(seed, pair)}   # {'; '.join(outcome.differences) or 'exact'}", flush=True)  # noqa: T201


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulator", description=__doc__)
    parser.add_argument("--seed", type=int, help="the one run to replay")
    parser.add_argument("--first", type=int, default=0, help="first seed of many, or what is added to those of pairs")
    parser.add_argument("--count", type=int, default=2_000, help="how many seeds")
    parser.add_argument("--pairs", action="store_true", help="every ordered pair of faults instead of seeds")
    parser.add_argument("--pair", type=int, nargs=2, metavar="FAULT", help="one ordered pair of faults")
    options = parser.parse_args()
    met: Counter[int] = Counter()
    failed = runs = processes = 0
    for seed, pair in cases(options):
        outcome = simulate(seed, pair=pair)
        runs, processes = runs + 1, processes + outcome.processes
        met.update(outcome.met)
        if outcome.differences or options.seed is not None:
            failed += bool(outcome.differences)
            tell(seed, pair, outcome)
    print(f"{runs} runs in {processes} processes met {met.total()} faults of {len(met)} kinds: {failed} not exact")  # noqa: T201
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
