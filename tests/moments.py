"""Moments that a plan may name in whatever year the tests run, and how long a test waits at most.

A date that is written down is too old one day.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

# A test waits for an event. Only what never comes is given up, after a time that no busy machine takes.
PATIENCE_SECONDS: Final = 1_200.0

_BEGUN: Final = datetime.now(UTC)
TODAY: Final = f"{_BEGUN:%Y-%m-%d}T00:00:00Z"
IN_HALF_A_YEAR: Final = f"{_BEGUN + timedelta(days=180):%Y-%m-%d}T00:00:00Z"
