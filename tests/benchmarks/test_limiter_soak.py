"""The soak of the limiter, in small: real processes, real kills, a real server."""

from __future__ import annotations

from benchmarks.limiter_soak import Soak, run_soak


async def test_the_limit_holds_while_processes_are_killed_and_started() -> None:
    """Four processes at the real rate, one killed every half second: never over in any 10 s, and most of it used."""
    findings = await run_soak(Soak(seconds=12.0, kill_every_seconds=0.5, limit=250, window_seconds=10.0))
    assert findings.kills >= 10
    assert findings.over_limit == 0
    assert findings.quota_used >= 0.7


async def test_what_has_no_limit_is_found_out() -> None:
    """The same server notices a pace that is too fast for it."""
    findings = await run_soak(Soak(seconds=2.0, processes=2, kill_every_seconds=0.0, limit=20, window_seconds=1.0))
    assert findings.over_limit > 0
