"""requests/000001.json and so on: each body, byte for byte."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

from audiencekit.destinations.requests.packing import BodyRoom, pack_request
from audiencekit.machine.heap import giving_back
from audiencekit.machine.largefiles import make_room, write_file
from audiencekit.planning.plannedrun import PlannedRun
from audiencekit.reporting.progress import Progress

_GIVE_BACK_EVERY: Final = 8  # bodies; twice as often would take twice as many faults, and save 10 MB

_COPY_SECONDS: Final = 0.01  # that a body takes into fresh pages of the cache


def write_bodies(directory: Path, planned: PlannedRun, progress: Progress) -> Generator[None, None, None]:
    """Make the directory, write the bodies, and yield after each.

    The disk fetches one past the cache while the next is packed. When it is busy, the next goes through the cache.
    Nothing is written any more when this is closed.
    """
    directory.mkdir(mode=0o700)
    largest = max((request.body_bytes for request in planned.requests), default=0)
    room, fetched = BodyRoom(make_room(largest)), BodyRoom(make_room(largest))
    fetching: Future[None] | None = None
    with ThreadPoolExecutor(1, "audiencekit") as pool:
        for request in giving_back(planned.requests, every=_GIVE_BACK_EVERY):
            body = pack_request(request, planned.users_of, planned.form, room).body
            path = directory / f"{request.number:06}.json"
            if fetching is None or _is_done(fetching):
                fetching = pool.submit(write_file, path, body.unwrap(), past_cache=True)
                room, fetched = fetched, room
            else:
                write_file(path, body.unwrap(), past_cache=False)
            progress.step("writing", request.number, len(planned.requests), unit="requests")
            yield
        if fetching is not None:
            fetching.result()


def _is_done(fetching: Future[None]) -> bool:
    """Whether it is by the time that another way would take. Raises OSError when it failed."""
    try:
        fetching.result(_COPY_SECONDS)
    except TimeoutError:
        return False
    return True
