"""The soak of the limiter, in small: real processes, real kills, a real server."""

from __future__ import annotations

from benchmarks.limiter_soak import Findings, Soak, describe, run_soak


async def test_the_limit_holds_while_processes_are_killed_and_started() -> None:
    """Four processes at the real rate, one killed again and again: never over in any 4 s, and all go on."""
    # 98 at the pace, and one of each process that lost its processor as it left, before a kill and after it.
    findings = await run_soak(Soak(seconds=6.0, kill_every_seconds=0.5, limit=106, window_seconds=4.0))
    assert findings.kills
    assert findings.over_limit == 0
    assert findings.requests


async def test_a_pace_without_a_limit_is_found_out() -> None:
    """The same server notices a pace that is too fast for it."""
    findings = await run_soak(Soak(seconds=2.0, processes=2, kill_every_seconds=0.0, limit=2, window_seconds=1.0))
    assert findings.over_limit > 0


def test_the_section_tells_what_must_be_and_what_is() -> None:
    """The bound and the figure of each line."""
    soak = Soak(seconds=60.0, clocks_apart=2.0)
    found = Findings(
        requests=1_000, seconds=60.0, worst_window=990, over_limit=0, quota_used=0.96, shares=(500, 500), kills=0,
        restarts=1, script_calls=1_001,
    )  # fmt: skip
    text = describe(soak, found)
    assert "| requests in the worst 60 s | at most 1,500 | 990 |" in text
    assert "| requests of each process | within 20 % | 500, 500 |" in text
    assert "| script calls a request | 1 | 1.0010 |" in text
