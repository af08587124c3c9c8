"""Commands that the tests interrupt and cancel, with the scene in which they work."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, NamedTuple

import audiencekit
from audiencekit.emulator import Emulator
from audiencekit.settings import Settings


class Scene(NamedTuple):
    """Where a command works."""

    source: Path
    emulator: Emulator
    settings: Settings


# Commands are interrupted at every so many steps; 1 tries each.
BETWEEN = int(os.environ.get("STEPS_BETWEEN", "7"))
Command = Callable[[Scene], Coroutine[Any, Any, Any]]


async def nothing(scene: Scene) -> None:
    """Before commands that need nothing to be there."""


def upload(scene: Scene) -> Coroutine[Any, Any, Any]:
    """Put the list into the audience."""
    return audiencekit.upload_async(scene.source, audience=scene.emulator.audience_id, settings=scene.settings)


def named_upload(scene: Scene) -> Coroutine[Any, Any, Any]:
    """The same under an id of its own."""
    audience_id = scene.emulator.audience_id
    return audiencekit.upload_async(scene.source, audience=audience_id, settings=scene.settings, run_id="nightly-1")


def sync(scene: Scene) -> Coroutine[Any, Any, Any]:
    """Make the audience the list."""
    return audiencekit.sync_async(scene.source, audience=scene.emulator.audience_id, settings=scene.settings)
