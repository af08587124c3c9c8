"""How many made-up examples a test tries: EXAMPLES raises the numbers of all that ask here, as a factor (1).

With EXAMPLES, tests draw other examples in each run, and without it the same ones (`conftest.py`).
"""

from __future__ import annotations

import os

FACTOR = int(os.environ.get("EXAMPLES", "1"))


def examples(count: int) -> int:
    """`count`, or a multiple of it for a longer run."""
    return count * FACTOR
