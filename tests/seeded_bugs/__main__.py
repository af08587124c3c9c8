"""Seeds the bugs one by one and expects the tests to notice: `python -m tests.seeded_bugs [--only NAME]`.

First the tests that are named must pass in a copy of the tree as it is.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from tests.seeded_bugs.seeding import Bug, known_bugs, passes_as_it_is, survivors


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when the tests notice every bug; 1 names those that they do not."""
    parser = argparse.ArgumentParser(prog="python -m tests.seeded_bugs", description=__doc__)
    parser.add_argument("--only", metavar="NAME", action="append", help="this bug; may be given again")
    given = parser.parse_args(arguments)
    bugs = known_bugs()
    if given.only:
        if alien := set(given.only) - {bug.name for bug in bugs}:
            parser.error(f"there is no bug {', '.join(sorted(alien))}")
        bugs = [bug for bug in bugs if bug.name in given.only]
    if not passes_as_it_is(bugs):
        sys.stdout.write("the tests fail without any bug\n")
        return 1
    return _seed(bugs)


def _seed(bugs: Sequence[Bug]) -> int:
    began, alive = time.monotonic(), []
    for bug in bugs:
        survived = survivors(bug)
        alive += [bug.name] * bool(survived)
        sys.stdout.write(f"{bug.name}: {'noticed' if not survived else 'NOT NOTICED by ' + ', '.join(survived)}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(bugs) - len(alive)} of {len(bugs)} noticed in {time.monotonic() - began:.0f} s\n")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
