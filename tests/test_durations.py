"""`audiencekit.durations`."""

from __future__ import annotations

from datetime import timedelta

import pytest

from audiencekit.durations import SHORTEST_AGE, parse_age, parse_duration
from audiencekit.errors import UsageError
from audiencekit.limits import EXCHANGE_TIMEOUT_SECONDS, SETTLE_SECONDS
from tests.cases import each_case


@each_case(
    "text, span",
    [
        ("45s", timedelta(seconds=45)),
        ("30m", timedelta(minutes=30)),
        ("8h", timedelta(hours=8)),
        ("30d", timedelta(days=30)),
        ("4w", timedelta(days=28)),
        (" 8H ", timedelta(hours=8)),
        ("0s", timedelta(0)),
    ],
)
def test_a_number_and_a_unit_are_a_span(text: str, span: timedelta) -> None:
    """In either case, with space around."""
    assert parse_duration(text, "--timeout") == span


@each_case("text", ["", "8", "h", "1.5h", "-1h", "8 h", "8y", "1h30m", "٣d", "9999999d"])
def test_anything_else_is_refused_with_the_name_of_its_option(text: str) -> None:
    """And the forms that are known."""
    with pytest.raises(UsageError, match="--timeout") as refused:
        parse_duration(text, "--timeout")
    assert "30d" in refused.value.hint


@each_case("text", ["5218w", "36526d", "999999w"])
def test_a_span_before_all_dates_is_refused(text: str) -> None:
    """A moment so long ago could not be written."""
    with pytest.raises(UsageError, match="--since is more than a hundred years"):
        parse_duration(text, "--since")
    assert parse_duration("5217w", "--since").days == 36_519


@each_case("text", ["0d", "59m", "3599s"])
def test_an_age_is_an_hour_at_least(text: str) -> None:
    """By then nothing that a run left in doubt can be applied any more."""
    with pytest.raises(UsageError, match="--older-than"):
        parse_age(text, "--older-than")
    assert parse_age("1h", "--older-than") == SHORTEST_AGE
    assert SHORTEST_AGE.total_seconds() > SETTLE_SECONDS + EXCHANGE_TIMEOUT_SECONDS
