"""An interruption at every step at which a command waits: it ends in good order, and too late it changes nothing."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from audiencekit.audiences.do_not_reach import do_not_reach_upload_async
from audiencekit.audiences.erasure.forgetting import forget_async
from audiencekit.audiences.synchronisation.renewal import renew_async
from audiencekit.audiences.synchronisation.sync import sync_async
from audiencekit.emulator import Emulator
from audiencekit.errors import NotFinished
from audiencekit.pipeline import upload_async
from audiencekit.settings import Settings, load_settings
from tests.crashes.scenario import requests_applied

MOST_STEPS = 100
PEOPLE = [f"person{number}@canarymail.com" for number in range(5)]


class Scene(NamedTuple):
    """Where a command works."""

    source: Path
    emulator: Emulator
    settings: Settings


Command = Callable[[Scene], Coroutine[Any, Any, Any]]


async def _nothing(scene: Scene) -> None:
    """Before commands that need nothing to be there."""


def _upload(scene: Scene) -> Coroutine[Any, Any, Any]:
    return upload_async(scene.source, audience_id=scene.emulator.audience_id, settings=scene.settings)


def _named_upload(scene: Scene) -> Coroutine[Any, Any, Any]:
    audience_id = scene.emulator.audience_id
    return upload_async(scene.source, audience_id=audience_id, settings=scene.settings, run_id="nightly-1")


def _sync(scene: Scene) -> Coroutine[Any, Any, Any]:
    return sync_async(scene.source, audience_id=scene.emulator.audience_id, settings=scene.settings)


async def _brief_sync(scene: Scene) -> None:
    await sync_async(scene.source, audience_id=scene.emulator.audience_id, settings=scene.settings, ttl_days=20)


def _renew(scene: Scene) -> Coroutine[Any, Any, Any]:
    return renew_async(audience_id=scene.emulator.audience_id, settings=scene.settings)


def _forget(scene: Scene) -> Coroutine[Any, Any, Any]:
    return forget_async(PEOPLE[:1], settings=scene.settings)


def _keep_out(scene: Scene) -> Coroutine[Any, Any, Any]:
    return do_not_reach_upload_async(scene.source, settings=scene.settings)


COMMANDS: dict[str, tuple[Command, Command]] = {
    "upload": (_nothing, _upload),
    "upload under an id": (_nothing, _named_upload),
    "upload that is complete": (_named_upload, _named_upload),
    "sync": (_nothing, _sync),
    "renew": (_brief_sync, _renew),
    "forget": (_upload, _forget),
    "do-not-reach": (_nothing, _keep_out),
}


@types.coroutine
def _interrupted(work: Awaitable[Any], at: int) -> Generator[Any, Any, tuple[Any, int]]:
    """Cancel `work` at its `at`-th wait; return its result, and how often it waits."""
    going, failure, steps = work.__await__(), None, 0
    while True:
        try:
            waited = next(going) if failure is None else going.throw(failure)
        except StopIteration as end:
            return end.value, steps
        steps, failure = steps + 1, None
        task = asyncio.current_task()
        if steps == at and task is not None:
            task.cancel()
        try:
            yield waited
        except BaseException as thrown:
            failure = thrown


@pytest.mark.parametrize("name", COMMANDS)
async def test_an_interruption_ends_in_good_order_and_too_late_it_changes_nothing(name: str, tmp_path: Path) -> None:
    """A report, or an error that says that the command is not finished; then the same command finishes.

    A run of which everything was confirmed is complete. An erasure may still have to look for new audiences.
    """
    prepare, command = COMMANDS[name]
    source = tmp_path / "list.csv"
    source.write_text("\n".join(["email", *PEOPLE]) + "\n")
    for at in range(1, MOST_STEPS):
        async with Emulator() as emulator:
            settings = load_settings(emulator.env, directory=tmp_path, state_dir=tmp_path / f"state{at}")
            scene = Scene(source, emulator, settings)
            await prepare(scene)
            before = requests_applied(emulator)

            async def work(scene: Scene = scene, at: int = at) -> tuple[Any, int]:
                return await _interrupted(command(scene), at)

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
