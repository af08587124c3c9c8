"""`audiencekit.audiences.durations`."""

from __future__ import annotations

from datetime import timedelta

import pytest

from audiencekit.audiences.durations import parse_duration
from audiencekit.errors import UsageError


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("45s", timedelta(seconds=45)),
        ("30m", timedelta(minutes=30)),
        ("8h", timedelta(hours=8)),
        ("30d", timedelta(days=30)),
        (" 8H ", timedelta(hours=8)),
        ("0s", timedelta(0)),
    ],
)
def test_a_number_and_a_unit_are_a_span(text: str, span: timedelta) -> None:
    """In either case, with space around."""
    assert parse_duration(text, "--timeout") == span


@pytest.mark.parametrize("text", ["", "8", "h", "1.5h", "-1h", "8 h", "8w", "1h30m", "٣d", "9999999d"])
def test_anything_else_is_refused_with_the_name_of_its_option(text: str) -> None:
    """And the forms that are known."""
    with pytest.raises(UsageError, match="--timeout") as refused:
        parse_duration(text, "--timeout")
    assert "30d" in refused.value.hint
