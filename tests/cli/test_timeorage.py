"""A moment as options give it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from audiencekit.cli.timeorage import moment_of
from audiencekit.errors import UsageError

NOW = datetime(2026, 11, 22, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("given", "moment"),
    [
        ("7d", "2026-11-15T12:30:00Z"),
        ("2h", "2026-11-22T10:30:00Z"),
        ("2026-11-01", "2026-11-01T00:00:00Z"),
        ("2026-11-01T02:00:00+02:00", "2026-11-01T00:00:00Z"),
    ],
)
def test_a_time_and_an_age_are_moments(given: str, moment: str) -> None:
    """Ages count back from now."""
    assert moment_of(given, "--since", NOW) == moment


@pytest.mark.parametrize("given", ["yesterday", "7x", "-7d", ""])
def test_other_words_are_refused_by_the_name_of_the_option(given: str) -> None:
    """Which the caller has given."""
    with pytest.raises(UsageError, match="--since"):
        moment_of(given, "--since", NOW)
