"""A clock that is never set, and a name for the moment that it counts from."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import os
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.delivery.limiter import HostLimiter, Pausable, host
from audiencekit.delivery.limiter.host import (
    SECONDS_PER_DAY,
    BusyError,
    Waiter,
    WaitingLine,
    WaitingLineFile,
    advance,
    believable,
    interval_seconds,
    pause,
    share_of,
)
from audiencekit.delivery.retry import Clock
from audiencekit.errors import InputOutputFailed, UsageError
from audiencekit.limits import FARTHEST_PLACE_SECONDS, RATE_FLOOR_SHARE
from tests.cases import each_case
from tests.examples import examples

# --- The rate holds while processes are late, stopped or killed, and no death costs a turn ---

INTERVAL = 0.04


class Street:
    """Owners who leave as often as they may, on virtual time."""

    def __init__(self, owners: int, seed: int, lateness: list[float], killed_each_seconds: float = 0.0) -> None:
        self.line = WaitingLine(free_at=0.0)
        self.left: list[tuple[float, str]] = []
        self._chance, self._lateness = random.Random(seed), lateness
        self._asking = [(self._chance.uniform(0, 0.2), f"owner {number}", False) for number in range(owners)]
        heapq.heapify(self._asking)
        self._killed_each, self._kills = killed_each_seconds, 0

    def run(self, seconds: float) -> None:
        now = 0.0
        while now < seconds:
            now, owner, is_due = heapq.heappop(self._asking)
            if self._killed_each and now > (self._kills + 1) * self._killed_each:
                self._kill(now)
                continue
            self.line, due = advance(self.line, owner, now=now, interval=INTERVAL, is_due=is_due)
            if due is None:
                self.left.append((now, owner))
            again = now if due is None else due + self._chance.uniform(0.0, self._chance.choice(self._lateness))
            heapq.heappush(self._asking, (again, owner, due is not None))

    def _kill(self, now: float) -> None:
        """The process that should ask now is dead; another starts."""
        self._kills += 1
        heapq.heappush(self._asking, (now + 0.2, f"successor {self._kills}", False))


@settings(max_examples=examples(150), deadline=None)
@given(
    owners=st.integers(1, 8),
    seed=st.integers(0, 2**16),
    lateness=st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.021, 0.05, 0.3, 5.0]), min_size=1, max_size=4),
    killed_each_seconds=st.sampled_from([0.0, 0.1, 0.5]),
)
def test_no_window_holds_more_than_its_share(
    worst_window: Any, owners: int, seed: int, lateness: list[float], killed_each_seconds: float
) -> None:
    """At most n + 1 requests in any closed window of n intervals, and every living process has a turn."""
    street = Street(owners, seed, lateness, killed_each_seconds)
    street.run(20.0)
    for intervals in (1, 10, 50):
        assert worst_window([moment for moment, _ in street.left], intervals * INTERVAL) <= intervals + 1
    if not killed_each_seconds and max(lateness) < 1.0:
        assert len({owner for _, owner in street.left}) == owners


@each_case("killed_each_seconds", [0.0, 0.5, 0.2])
def test_the_quota_is_used_and_shared(killed_each_seconds: float) -> None:
    """Four owners with timers a little late use it all, in equal parts, although one after the other is killed."""
    street = Street(4, 3, [0.0, 0.001, 0.003], killed_each_seconds)
    street.run(60.0)
    assert len(street.left) >= 0.99 * 60.0 / INTERVAL
    if not killed_each_seconds:
        shares = Counter(owner for _, owner in street.left)
        assert min(shares.values()) >= 0.95 * max(shares.values())


def test_the_caller_that_comes_first_leaves_first() -> None:
    """No process overtakes one that is on time."""
    street = Street(5, 4, [0.0])
    street.run(4.0)
    order = [owner for moment, owner in street.left if moment > 1.0]  # by then all five are there
    assert all(len(set(order[start : start + 5])) == 5 for start in range(0, len(order) - 5, 5))


def test_a_newcomer_queues_behind_who_waits() -> None:
    """Even when the next request may leave just now."""
    line, due = advance(WaitingLine(free_at=1.0), "first", now=0.9, interval=INTERVAL, is_due=False)
    assert due == 1.0
    line, due = advance(line, "second", now=1.001, interval=INTERVAL, is_due=False)
    assert due is not None and due > 1.001  # noqa: PT018
    _, due = advance(line, "first", now=1.002, interval=INTERVAL, is_due=True)
    assert due is None


def test_the_first_429_of_a_pause_halves_the_rate() -> None:
    """Those that follow within the pause only lengthen it, and none shortens it."""
    line = WaitingLine(free_at=0.0)
    for now, seconds in ((100.0, 60.0), (101.0, 70.0), (102.0, 5.0)):
        line = pause(line, now=now, seconds=seconds)
    assert (line.paused_until, line.share) == (171.0, 0.5)
    assert advance(line, "me", now=170.9, interval=INTERVAL, is_due=True)[1] == 171.0
    line, due = advance(line, "me", now=171.0, interval=INTERVAL, is_due=True)
    assert due is None
    assert line.free_at == pytest.approx(171.0 + 2 * INTERVAL)
    assert pause(line, now=171.0, seconds=1.0).share == 0.25


def test_the_rate_recovers_slowly_and_never_above_itself() -> None:
    """By 5 % of the full rate a minute, from the end of the pause on."""
    line = pause(WaitingLine(free_at=0.0), now=0.0, seconds=60.0)
    shares = [share_of(line, 60.0 + minutes * 60) for minutes in (-1, 0, 1, 5, 10, 100)]
    assert shares == pytest.approx([0.5, 0.5, 0.55, 0.75, 1.0, 1.0])


def test_the_rate_has_a_floor() -> None:
    """However many 429 come."""
    line = WaitingLine(free_at=0.0)
    for number in range(20):
        line = pause(line, now=float(number), seconds=1.0)
    assert line.share == RATE_FLOOR_SHARE


def test_times_of_another_clock_are_not_believed() -> None:
    """Those that lie in a far future."""
    assert believable(WaitingLine(free_at=FARTHEST_PLACE_SECONDS), 0.0)
    assert not believable(WaitingLine(free_at=FARTHEST_PLACE_SECONDS + 1.0), 0.0)
    assert not believable(WaitingLine(free_at=0.0, paused_until=FARTHEST_PLACE_SECONDS + 1.0), 0.0)


@each_case("per_minute", [0, -1, float("nan"), float("inf")])
def test_impossible_pace_is_refused(per_minute: float) -> None:
    """A pace that is no number above 0 is a usage error."""
    with pytest.raises(UsageError):
        interval_seconds(per_minute)


# --- One small private file that all processes of a host change, one after the other ---

LINE = WaitingLine(free_at=1.5, paused_until=2.5, share=0.5, share_at=3.5, waiting=(Waiter("a", 4.5), Waiter("b", 5.5)))


@pytest.fixture
def file(tmp_path: Path) -> Iterator[WaitingLineFile]:
    """A new file."""
    opened = WaitingLineFile(tmp_path / "state", "boot")
    yield opened
    opened.close()


def path_in(tmp_path: Path) -> Path:
    return tmp_path / "state/limiter/boot.sqlite"


def test_a_line_comes_back_as_it_was_written(tmp_path: Path, file: WaitingLineFile) -> None:
    """To every process, and each quota has its own."""
    assert file.change("quota", lambda line: (LINE, line)) is None
    other = WaitingLineFile(tmp_path / "state", "boot")
    assert other.change("quota", lambda line: (LINE, line)) == LINE
    assert other.change("another", lambda line: (LINE, line)) is None
    other.close()


def test_only_its_owner_sees_the_file(tmp_path: Path, file: WaitingLineFile) -> None:
    """Neither file nor folder, whatever the umask is."""
    path = path_in(tmp_path)
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_change_that_fails_changes_nothing(file: WaitingLineFile) -> None:
    """And the file can be used again."""

    def fail(line: WaitingLine | None) -> tuple[WaitingLine, None]:
        raise RuntimeError

    file.change("quota", lambda line: (LINE, None))
    with pytest.raises(RuntimeError):
        file.change("quota", fail)
    assert file.change("quota", lambda line: (LINE, line)) == LINE


def test_a_held_file_is_busy(tmp_path: Path, file: WaitingLineFile) -> None:
    """Not broken: the caller may try again."""
    holder = sqlite3.connect(path_in(tmp_path), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(BusyError):
        file.change("quota", lambda line: (LINE, None))
    holder.execute("ROLLBACK")
    holder.close()
    file.change("quota", lambda line: (LINE, None))


@pytest.mark.parametrize(
    "content", [b"[]", b"{}", b'{"waiting": [7], "free_at": 1}', b'{"waiting": [], "free_at": null}', b"\xff"]
)
def test_a_damaged_line_stops_every_sender(tmp_path: Path, file: WaitingLineFile, content: bytes) -> None:
    """It is not taken for an empty one."""
    writer = sqlite3.connect(path_in(tmp_path), isolation_level=None)
    writer.execute("INSERT INTO lines VALUES ('quota', ?)", (content,))
    writer.close()
    with pytest.raises(InputOutputFailed, match="damaged"):
        file.change("quota", lambda line: (LINE, None))


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    """And left as it is."""
    path = path_in(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a database, and longer than its header would be" * 40)
    with pytest.raises(InputOutputFailed, match=r"cannot be opened.*boot\.sqlite") as caught:
        WaitingLineFile(tmp_path / "state", "boot")
    assert "delete a damaged file" in caught.value.hint
    assert path.read_bytes().startswith(b"not a database")


@pytest.mark.parametrize("place", ["state/limiter", "state/limiter/boot.sqlite"])
def test_links_are_not_followed(tmp_path: Path, place: str) -> None:
    """Another user may have put them there."""
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / place
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputOutputFailed, match="link"):
        WaitingLineFile(tmp_path / "state", "boot")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_no_state_directory_no_limiter(tmp_path: Path) -> None:
    """It is said at once, with the path."""
    (tmp_path / "state").write_text("a file")
    with pytest.raises(InputOutputFailed, match="state"):
        WaitingLineFile(tmp_path / "state", "boot")


def test_files_of_earlier_starts_are_removed(tmp_path: Path) -> None:
    """When they were not touched for a week; a younger one may be that of another host."""
    folder = tmp_path / "state/limiter"
    folder.mkdir(parents=True)
    for name, days in (("old", 8), ("young", 6), ("boot", 9)):
        (folder / f"{name}.sqlite").touch()
        moment = (folder / f"{name}.sqlite").stat().st_mtime - days * SECONDS_PER_DAY
        os.utime(folder / f"{name}.sqlite", (moment, moment))
    WaitingLineFile(tmp_path / "state", "boot").close()
    assert {path.stem for path in folder.glob("*.sqlite")} == {"young", "boot"}


# --- Processes of one host share one pace and one pause: here, limiters on one virtual clock with one real file ---

Process = Callable[..., HostLimiter]


@pytest.fixture
def process(tmp_path: Path, clock: Clock) -> Process:
    """Opens the limiter of one more process, with one request a second unless told otherwise."""

    def opened(per_minute: float = 60, quota: str = "quota", boot: str = "boot") -> HostLimiter:
        return HostLimiter(
            per_minute, quota=quota, state_dir=tmp_path, clock=clock, now=lambda: clock.monotonic(), boot=boot
        )

    return opened


async def leave(limiter: HostLimiter, clock: Clock, times: int) -> list[float]:
    """The moments at which one process left."""
    moments = []
    for _ in range(times):
        await limiter.acquire()
        moments.append(clock.monotonic())
    return moments


def test_processes_share_one_pace_in_equal_parts(
    virtually: Any, worst_window: Any, clock: Clock, process: Process
) -> None:
    """Four processes that all want to send leave one interval apart, in turn."""

    async def main() -> list[list[float]]:
        with contextlib.ExitStack() as stack:
            limiters = [stack.enter_context(process(1470)) for _ in range(4)]
            return list(await asyncio.gather(*(leave(limiter, clock, 400) for limiter in limiters)))

    moments = virtually(main())
    together = [moment for share in moments for moment in share]
    assert worst_window(together, 60.0) <= 1_471
    assert 1599 / max(together) >= 0.95 * 25
    assert [share[-1] for share in moments] == pytest.approx([max(together)] * 4, abs=0.5)


def test_callers_of_one_process_are_served_in_order(virtually: Any, clock: Clock, process: Process) -> None:
    """First come, first served, one interval apart; the first at once."""

    async def main() -> list[float]:
        with process() as limiter:
            return [moment for (moment,) in await asyncio.gather(*(leave(limiter, clock, 1) for _ in range(4)))]

    assert virtually(main()) == pytest.approx([0.0, 1.0, 2.0, 3.0])


def test_quotas_do_not_share(virtually: Any, clock: Clock, process: Process) -> None:
    """Another account or token has a pace of its own."""

    async def main() -> list[list[float]]:
        with process() as one, process(quota="another") as other:
            return list(await asyncio.gather(leave(one, clock, 3), leave(other, clock, 3)))

    assert virtually(main()) == [pytest.approx([0.0, 1.0, 2.0])] * 2


def test_a_restart_does_not_begin_anew(virtually: Any, clock: Clock, process: Process) -> None:
    """A process that starts right after another one's end waits for its place."""

    async def main() -> list[float]:
        moments = []
        for _ in range(5):
            with process() as limiter:
                moments += await leave(limiter, clock, 1)
        return moments

    assert virtually(main()) == pytest.approx([0.0, 1.0, 2.0, 3.0, 4.0])


def test_a_cancelled_caller_uses_up_nothing(virtually: Any, clock: Clock, process: Process) -> None:
    """Neither for its own process nor for the others."""

    async def main() -> list[float]:
        with process() as one, process() as other:
            await one.acquire()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(one.acquire(), 0.5)
            return await leave(other, clock, 2)

    assert virtually(main()) == pytest.approx([1.0, 2.0], abs=0.3)


def test_a_429_to_one_holds_back_all(virtually: Any, clock: Clock, process: Process) -> None:
    """Those that wait already, too. Afterwards the pace is half of what it was, and each process knows why."""

    async def main() -> tuple[list[float], list[bool]]:
        with process() as one, process() as other:
            assert isinstance(one, Pausable)
            await one.acquire()
            waiting = asyncio.create_task(leave(other, clock, 3))
            await clock.sleep(0.9)
            before = one.is_quota_shared
            await one.pause(30.0)
            await other.pause(20.0)
            moments = await waiting
            return moments, [before, one.is_quota_shared, other.is_quota_shared]

    moments, shared = virtually(main())
    assert moments == pytest.approx([30.9, 32.9, 34.9], abs=0.1)
    assert shared == [False, True, True]


def test_a_longer_pause_holds_back_who_waits_already(virtually: Any, clock: Clock, process: Process) -> None:
    """No process has a place in a pause; each asks again at its end."""

    async def main() -> list[float]:
        with process() as one, process() as other:
            await one.pause(10.0)
            waiting = asyncio.create_task(leave(other, clock, 1))
            await clock.sleep(5.0)
            await one.pause(30.0)
            return await waiting

    assert virtually(main()) == pytest.approx([35.0], abs=0.01)


def test_the_full_pace_comes_back(virtually: Any, clock: Clock, process: Process) -> None:
    """A quarter of an hour after a 429 the requests are as near as before."""

    async def main() -> list[float]:
        with process() as limiter:
            await limiter.pause(60.0)
            await clock.sleep(900.0)
            return await leave(limiter, clock, 3)

    first, *rest = virtually(main())
    assert [moment - first for moment in rest] == pytest.approx([1.0, 2.0], abs=0.6)


def test_another_start_of_the_machine_is_another_line(virtually: Any, clock: Clock, process: Process) -> None:
    """Times that were written before it count from another moment."""

    async def main() -> list[float]:
        with process() as before:
            await before.pause(100.0)
        with process(boot="another") as after:
            return await leave(after, clock, 1)

    assert virtually(main()) == [0.0]


def test_a_line_of_a_far_future_is_forgotten(virtually: Any, clock: Clock, process: Process, tmp_path: Path) -> None:
    """Where the system does not tell its starts apart: then the first request waits one interval."""
    file = WaitingLineFile(tmp_path, "boot")
    file.change("quota", lambda line: (WaitingLine(free_at=1e6, paused_until=1e6), None))
    file.close()

    async def main() -> list[float]:
        with process() as limiter:
            return await leave(limiter, clock, 2)

    assert virtually(main()) == pytest.approx([1.0, 2.0])


def hold(tmp_path: Path) -> sqlite3.Connection:
    """The work of a process that was stopped in the middle of a change."""
    holder = sqlite3.connect(tmp_path / "limiter/boot.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    return holder


def test_a_held_file_is_waited_for(virtually: Any, clock: Clock, process: Process, tmp_path: Path) -> None:
    """Without stopping the event loop."""

    async def main() -> list[float]:
        with process() as limiter, contextlib.closing(hold(tmp_path)) as holder:
            leaving = asyncio.create_task(leave(limiter, clock, 1))
            await clock.sleep(0.3)
            holder.execute("ROLLBACK")
            return await leaving

    assert virtually(main()) == pytest.approx([0.3], abs=0.02)


def test_a_file_that_is_held_for_ever_ends_the_run(
    virtually: Any, clock: Clock, process: Process, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No request leaves without it."""
    monkeypatch.setattr(host, "LIMITER_BUSY_SECONDS", 0.2)

    async def main() -> None:
        with process() as limiter, contextlib.closing(hold(tmp_path)):
            await limiter.acquire()

    with pytest.raises(InputOutputFailed, match="held the limiter's file") as caught:
        virtually(main())
    assert "continue or end it" in caught.value.hint
    assert caught.value.exit_code == 75


def test_a_file_that_fails_ends_the_run(virtually: Any, clock: Clock, process: Process, tmp_path: Path) -> None:
    """Fail closed: without the file it is not known which requests left."""

    async def main() -> None:
        with process() as limiter:
            await limiter.acquire()
            (tmp_path / "limiter/boot.sqlite").write_bytes(b"overwritten by another" * 1000)
            await limiter.acquire()

    with pytest.raises(InputOutputFailed, match=r"boot\.sqlite"):
        virtually(main())


def test_owners_are_not_confused(virtually: Any, clock: Clock, process: Process) -> None:
    """Two limiters of one process count as two."""

    async def main() -> Counter[int]:
        left: Counter[int] = Counter()

        async def worker(number: int, limiter: HostLimiter) -> None:
            while clock.monotonic() < 20.0:
                await limiter.acquire()
                left[number] += 1

        with process() as one, process() as other:
            await asyncio.gather(worker(1, one), worker(2, other))
        return left

    left = virtually(main())
    assert abs(left[1] - left[2]) <= 2
