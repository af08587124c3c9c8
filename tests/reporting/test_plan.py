"""A plan in words."""

from __future__ import annotations

import pytest

from audiencekit.reporting.plan import how_resumable


@pytest.mark.parametrize(
    ("is_repeatable", "keeps_spool", "again", "expected"),
    [
        (True, False, "", "unchanged"),
        (True, True, "", "sealed"),
        (False, True, "", "sealed"),
        (False, False, "", "data frames"),
        (True, False, "`audiencekit renew --audience 1a`", "`audiencekit renew --audience 1a` continues it"),
    ],
)
def test_the_needs_of_a_resumption_are_said(is_repeatable: bool, keeps_spool: bool, again: str, expected: str) -> None:
    """A sync and a renewal are not resumed, whatever they read."""
    assert expected in how_resumable(is_repeatable, keeps_spool=keeps_spool, again=again)
