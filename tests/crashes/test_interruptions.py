"""An interruption at steps at which a command waits: it ends in good order, and too late it changes nothing.

At every third step; STEPS_BETWEEN=1 is for a longer run that tries each.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
import types
from collections import Counter
from collections.abc import Awaitable, Coroutine, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audiencekit.audiences.do_not_reach import do_not_reach_upload_async
from audiencekit.audiences.erasure.forgetting import forget_async
from audiencekit.audiences.sync.sync import renew_async, sync_async
from audiencekit.destinations.requests.request_plan import BodyLimits
from audiencekit.emulator import Emulator
from audiencekit.errors import NotFinished
from audiencekit.pipeline import resume_async, upload_async
from audiencekit.process.cancellation import interruptible
from audiencekit.runs.reports import list_runs
from audiencekit.settings import load_settings
from tests.crashes.commands import BETWEEN, Command, Scene, named_upload, nothing, sync, upload
from tests.crashes.scenario import requests_applied
from tests.processes import Commands, environment
from tests.shortened import shortened

MOST_STEPS = 100
ROWS = 30  # several small requests
OPEN_FILES = Path("/proc/self/fd")
PEOPLE = [f"person{number}@canarymail.com" for number in range(5)]


async def _brief_sync(scene: Scene) -> None:
    await sync_async(scene.source, audience=scene.emulator.audience_id, settings=scene.settings, ttl_days=20)


def _renew(scene: Scene) -> Coroutine[Any, Any, Any]:
    return renew_async(audience=scene.emulator.audience_id, settings=scene.settings)


def _forget(scene: Scene) -> Coroutine[Any, Any, Any]:
    return forget_async(PEOPLE[:1], settings=scene.settings)


def _keep_out(scene: Scene) -> Coroutine[Any, Any, Any]:
    return do_not_reach_upload_async(scene.source, settings=scene.settings)


COMMANDS: dict[str, tuple[Command, Command]] = {
    "upload": (nothing, upload),
    "upload under an id": (nothing, named_upload),
    "upload that is complete": (named_upload, named_upload),
    "sync": (nothing, sync),
    "renew": (_brief_sync, _renew),
    "forget": (upload, _forget),
    "do-not-reach": (nothing, _keep_out),
}


@types.coroutine
def _interrupted(work: Awaitable[Any], *at: int) -> Generator[Any, Any, tuple[Any, int]]:
    """Cancel `work` at its `at`-th waits; return its result, and how often it waits."""
    going, failure, steps = work.__await__(), None, 0
    while True:
        try:
            waited = next(going) if failure is None else going.throw(failure)
        except StopIteration as end:
            return end.value, steps
        steps, failure = steps + 1, None
        task = asyncio.current_task()
        if steps in at and task is not None:
            task.cancel()
        try:
            yield waited
        except BaseException as thrown:
            failure = thrown


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
async def test_an_interruption_ends_in_good_order_and_too_late_it_changes_nothing(name: str, tmp_path: Path) -> None:
    """A report, or an error that says that the command is not finished; then the same command finishes.

    A run of which everything was confirmed is complete. An erasure may still have to look for new audiences.
    """
    prepare, command = COMMANDS[name]
    source = tmp_path / "list.csv"
    source.write_text("\n".join(["email", *PEOPLE]) + "\n")
    for at in range(1, MOST_STEPS, BETWEEN):
        async with Emulator() as emulator:
            settings = load_settings(emulator.env, directory=tmp_path, state_dir=tmp_path / f"state{at}")
            scene = Scene(source, emulator, settings)
            await prepare(scene)
            before = requests_applied(emulator)

            async def work(scene: Scene = scene, at: int = at) -> tuple[Any, int]:
                return await _interrupted(interruptible(command(scene)), at)

            try:
                done, steps = await asyncio.create_task(work())
            except NotFinished:
                assert name == "forget" or requests_applied(emulator) == before, at
                done = await command(scene)
            else:
                if steps < at:
                    return
            assert done.state == "complete"
    pytest.fail("there are more steps")


@pytest.fixture
def ready(commands: Commands, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The line of an emulator in another process: what is left in this one is of the commands."""
    env = environment(tmp_path / "of-emulator")
    process = commands.begin("emulator", "--rate", "100000/60", env=env, cwd=tmp_path, stderr=None)
    assert process.stdout is not None
    yield json.loads(process.stdout.readline())
    process.kill()
    process.wait()
    process.stdout.close()


def _open_files() -> Counter[str]:
    found = Counter[str]()
    for each in os.listdir(OPEN_FILES):
        with contextlib.suppress(OSError):  # that of the listing itself
            found[os.readlink(OPEN_FILES / each)] += 1
    return found


def _threads() -> set[threading.Thread]:
    """All but those of the loop's own pool, which wait for work."""
    return {thread for thread in threading.enumerate() if not thread.name.startswith("asyncio_")}


@pytest.mark.skipif(not OPEN_FILES.exists(), reason="open files are counted there")
@pytest.mark.parametrize("again", shortened([((),), ((1,),), ((2, 3),)], 0), ids=["once", "twice", "three times"])
async def test_of_a_cancelled_upload_nothing_goes_on_and_a_resume_sends_the_rest(
    again: tuple[int, ...], ready: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No task, no thread and no open file is left, whenever it was cancelled, and however often."""
    monkeypatch.setattr(BodyLimits, "within", lambda _: BodyLimits(max_body_bytes=1_500))
    source = tmp_path / "list.csv"
    source.write_text("\n".join(["email", *(f"person{number}@canarymail.com" for number in range(ROWS))]) + "\n")
    base = replace(load_settings(ready["env"], directory=tmp_path, state_dir=tmp_path / "first"), concurrency=2)
    await upload_async(source, audience=ready["audience_id"], settings=base)  # opens what stays open
    before = asyncio.all_tasks(), _threads(), _open_files()
    resumed = 0
    for at in range(1, MOST_STEPS):
        settings = replace(base, state_dir=tmp_path / f"state{at}")
        uploading = upload_async(source, audience=ready["audience_id"], settings=settings, keep_spool=True)
        at_all = (at, *(at + later for later in again))

        async def work(uploading: Any = uploading, at_all: tuple[int, ...] = at_all) -> tuple[Any, int]:
            return await _interrupted(interruptible(uploading), *at_all)

        steps = at
        try:
            done, steps = await asyncio.create_task(work())
            assert done.state == "complete"
        except NotFinished:
            if list_runs(settings.state_dir):
                report = await resume_async("last", settings=settings)
                assert (report.state, report.rows.sent, report.success_count) == ("complete", ROWS, ROWS)
                resumed += 1
        await asyncio.sleep(0)
        left = asyncio.all_tasks() - before[0], _threads() - before[1], _open_files() - before[2]
        assert not any(left), (at, left)  # what other tests left may be gone
        assert not list(settings.state_dir.rglob("*spool*")), at
        if steps < at:
            break
    assert resumed > 3
