"""Calls every export of the kernels with what no one would: `python -m tests.kernelfuzz [--seconds N] [--seed N]`.

The calls are made in another process. One that it does not survive, that does not end, that writes beside its buffers
or answers wrongly is named with its seed; `--only SEED` makes that one call again. Exit code 1 when there was any.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tests.kernelfuzz.fuzzing import Total, fuzz, repeat


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kernelfuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0, help="how long")
    parser.add_argument("--seed", type=int, default=0, help="of the first call; each further one has the next")
    parser.add_argument("--only", type=int, metavar="SEED", help="one call, in this process")
    given = parser.parse_args(arguments)
    if given.only is not None:
        sys.stdout.write(f"{repeat(given.only)}\n")
        return 0
    total = fuzz(given.seed, given.seconds)
    sys.stdout.write(f"{told(total)}\n")
    return 1 if total.faults or not total.calls else 0


def told(total: Total) -> str:
    """A line of sums, and one for each fault."""
    sums = f"{total.calls:,} calls, {total.texts:,} texts and values, {total.panics:,} panics caught"
    return "\n".join([f"{sums}, {len(total.faults)} faults", *total.faults])


if __name__ == "__main__":
    sys.exit(main())
