"""The receipt of a purge counts, and names nothing."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

from audiencekit.runs.purge.expired import Expired, PurgeCandidates
from audiencekit.runs.purge.receipt import KEEPABLE, REMOVABLE, WORDS, PurgeReceipt
from tests.runs.purge.state import NOW

DAY = 86_400


def _found(*kinds: str) -> PurgeCandidates:
    now = NOW.timestamp()
    return PurgeCandidates(
        [Expired(Path("a-name"), kind, now - number * DAY) for number, kind in enumerate(kinds, 40)],
        Counter(resumable=2, running=1),
    )


def test_it_counts_by_kind_and_tells_ages() -> None:
    """Every kind, also of none; what a killed purge has left has no age."""
    receipt = PurgeReceipt.of(timedelta(days=30), NOW, "command")
    receipt.count(_found("complete", "complete", "refused", "leftovers"))
    document = receipt.to_json()
    assert document["purge_id"].startswith("purge-20261121-120000-")
    assert (document["state"], document["by"], document["finished_at"]) == ("planned", "command", None)
    assert (document["before"], document["older_than_seconds"]) == ("2026-10-22T12:00:00Z", 30 * DAY)
    assert (document["oldest"], document["newest"]) == ("2026-10-10T12:00:00Z", "2026-10-12T12:00:00Z")
    assert document["expired"] == {**dict.fromkeys(REMOVABLE, 0), "complete": 2, "refused": 1, "leftovers": 1}
    assert document["kept"] == {**dict.fromkeys(KEEPABLE, 0), "resumable": 2, "running": 1}
    assert not any(document["removed"].values())
    assert "a-name" not in str(document)


def test_its_text_says_what_goes_and_what_stays() -> None:
    """Before and after."""
    receipt = PurgeReceipt.of(timedelta(days=30), NOW, "command")
    receipt.count(_found("complete"))
    assert receipt.to_text().splitlines() == [
        "last changed before 2026-10-22T12:00:00Z:",
        "  to be purged        1  complete runs",
        "  kept                2  runs that can be resumed",
        "  kept                1  at work, or their audience is",
    ]
    receipt.state, receipt.kept = "complete", Counter()
    assert receipt.to_text().splitlines()[1:] == ["  purged           none", "  kept             none"]


def test_a_time_before_all_times_is_the_first() -> None:
    """An age may be longer than there are times."""
    receipt = PurgeReceipt.of(timedelta(weeks=999_999), NOW, "command")
    assert (receipt.before, receipt.to_json()["before"]) == (0.0, "1970-01-01T00:00:00Z")


def test_every_kind_has_words() -> None:
    """And no other."""
    assert set(WORDS) == {*REMOVABLE, *KEEPABLE}
