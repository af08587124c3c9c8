"""Requests as a service sees them: every closed window, and their senders."""

from __future__ import annotations

import asyncio

from benchmarks.arrivals import Arrivals


def test_the_server_counts_every_closed_window() -> None:
    """A request over the limit is one that the service would have answered with 429."""
    arrivals = Arrivals(limit=2, window_seconds=1.0)
    arrivals.is_counting = True
    for moment in (0.0, 0.5, 1.0, 1.6, 3.0):
        arrivals.add(7, moment)
    assert (arrivals.worst_window, arrivals.over_limit, arrivals.by_process[7]) == (3, 1, 5)


async def test_waiting_ends_when_every_sender_was_heard_of() -> None:
    """Each process once, over the real door."""
    arrivals = Arrivals(limit=10, window_seconds=1.0)
    async with arrivals.serve() as port:
        waiting = asyncio.create_task(arrivals.heard_from(2))
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"0\n0\n")
        await writer.drain()
        await asyncio.sleep(0)
        assert not waiting.done()
        writer.write(b"1\n")
        await waiting
        arrivals.forget(0)
        again = asyncio.create_task(arrivals.heard_from(2))
        await asyncio.sleep(0)
        assert not again.done()
        writer.write(b"0\n")
        await again
        writer.close()
        await writer.wait_closed()
    assert (arrivals.worst_window, arrivals.by_process.total()) == (4, 0)
