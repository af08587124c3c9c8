"""Requests as a service sees them: every closed window, and their senders."""

from __future__ import annotations

from benchmarks.arrivals import Arrivals


def test_the_server_counts_every_closed_window() -> None:
    """A request over the limit is one that the service would have answered with 429; they are told in any order."""
    arrivals = Arrivals(limit=2, window_seconds=1.0)
    arrivals.is_counting = True
    for moment in (0.5, 0.0, 1.0, 1.6, 3.0):
        arrivals.add(7, moment)
    assert (arrivals.worst_window, arrivals.over_limit, arrivals.by_process[7]) == (3, 1, 5)
