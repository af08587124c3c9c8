"""How many made-up examples a test tries: 30 % of the numbers that it says, unless EXAMPLES gives another factor.

With EXAMPLES=1, each property has all its examples, the same ones in each run; with more, it draws others.
"""

from __future__ import annotations

import os
from typing import Final

FACTOR: Final = float(os.environ.get("EXAMPLES", "0.3"))
FEWEST: Final = 10


def examples(count: int) -> int:
    """`count` times the factor, and not less than 10 where there are that many."""
    return max(min(count, FEWEST), round(count * FACTOR))
