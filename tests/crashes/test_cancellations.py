"""A cancellation at steps of every task of a command: it comes out, nothing is lost, and nothing is sent twice.

At every third step; STEPS_BETWEEN=1 is for a longer run that tries each.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Coroutine
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

import audiencekit
from audiencekit.destinations.requests.request_plan import BodyLimits
from audiencekit.emulator import Emulator
from audiencekit.emulator.faults.orders import read_faults
from audiencekit.errors import NotFinished
from audiencekit.process import cancellation
from audiencekit.runs.reports import list_runs
from audiencekit.settings import load_settings
from tests.crashes.commands import BETWEEN, Command, Scene, named_upload, nothing, sync, upload
from tests.crashes.scenario import requests_applied
from tests.moments import PATIENCE_SECONDS
from tests.processes import Commands, environment
from tests.shortened import shortened

ROWS, REQUESTS = 24, 3
MOST_STEPS = 500
PEOPLE = [f"person{number}@canarymail.com" for number in range(ROWS)]
UNANSWERED = {"fault": 1, "match": {"path": "*"}, "times": None, "delay_seconds": 3_600}


async def _part(scene: Scene) -> None:
    """Leave a run of which the first request is confirmed, and the others are not."""
    scene.emulator.faults.replace(read_faults([{**UNANSWERED, "match": {"path": "*/users"}, "nth": 2}]))
    task = asyncio.create_task(named_upload(scene))
    # Two are under way at once: the last one leaves when the answer to the first was heard.
    while len(scene.emulator.faults.document()["fired"]) < REQUESTS - 1:
        await asyncio.sleep(0.01)
    assert requests_applied(scene.emulator) == 1
    task.cancel()
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    scene.emulator.faults.replace(())


def _resume(scene: Scene) -> Coroutine[Any, Any, Any]:
    return audiencekit.resume_async("last", settings=scene.settings)


def _forget(scene: Scene) -> Coroutine[Any, Any, Any]:
    return audiencekit.forget_async(PEOPLE[:1], settings=scene.settings)


def _keep_out(scene: Scene) -> Coroutine[Any, Any, Any]:
    return audiencekit.do_not_reach_upload_async(scene.source, settings=scene.settings)


def _run_setup(scene: Scene) -> Coroutine[Any, Any, Any]:
    setup = scene.source.with_name("audiencekit.toml")
    name = scene.source.name
    text = f'[lists.people]\nsource = "{name}"\n[audiences.people]\nlist = "people"\ncommand = "sync"\n'
    setup.write_text(f'{text}audience = "{scene.emulator.audience_id}"\n')
    return audiencekit.run_setup_async(setup, settings=scene.settings)


COMMANDS: dict[str, tuple[Command, Command]] = {
    "upload": (nothing, upload),
    "resume": (_part, _resume),
    "sync": (nothing, sync),
    "forget": (upload, _forget),
    "do-not-reach": (nothing, _keep_out),
    "setup": (nothing, _run_setup),
}


class Steps:
    """Counts the waits of all tasks of a command together; at some of them the command is cancelled."""

    def __init__(self, *at: int) -> None:
        self._at, self.taken = at, 0
        self.task: asyncio.Task[Any] | None = None

    def take(self, waited: Any) -> Any:
        """One of its tasks waits."""
        self.taken += 1
        if self.taken in self._at and self.task is not None:
            self.task.cancel()
        return waited


class Counted(Coroutine[Any, Any, Any]):
    """The work of one of the tasks."""

    def __init__(self, work: Coroutine[Any, Any, Any], steps: Steps) -> None:
        self._work, self._steps = work, steps

    def send(self, value: Any) -> Any:
        return self._steps.take(self._work.send(value))

    def throw(self, *given: Any) -> Any:
        return self._steps.take(self._work.throw(*given))

    def close(self) -> None:
        self._work.close()

    def __await__(self) -> Any:
        raise NotImplementedError


_STEPS: ContextVar[Steps | None] = ContextVar("_STEPS", default=None)


def _begin(loop: asyncio.AbstractEventLoop, work: Any, **given: Any) -> asyncio.Task[Any]:
    steps = _STEPS.get()
    return asyncio.Task(work if steps is None else Counted(work, steps), loop=loop, **given)


async def _attempt(command: Coroutine[Any, Any, Any], steps: Steps) -> asyncio.Task[Any]:
    """The task of the command, which has ended, and left none behind: it is cancelled as the steps say."""
    asyncio.get_running_loop().set_task_factory(_begin)
    before = asyncio.all_tasks()
    _STEPS.set(steps)
    steps.task = asyncio.create_task(command)
    _STEPS.set(None)
    await asyncio.wait([steps.task])
    await asyncio.sleep(0)
    assert not [task for task in asyncio.all_tasks() - before if isinstance(task.get_coro(), Counted)]
    return steps.task


@pytest.fixture
def small_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BodyLimits, "within", lambda _: BodyLimits(max_body_bytes=1_500))


@pytest.mark.slow
@pytest.mark.usefixtures("small_requests")
@pytest.mark.parametrize("name", COMMANDS)
async def test_a_cancellation_comes_out_and_the_same_again_does_the_rest(name: str, tmp_path: Path) -> None:
    """Whatever task of the command was at work. Each request is applied once: what was under way had its time."""
    prepare, command = COMMANDS[name]
    source = tmp_path / "list.csv"
    source.write_text("\n".join(["email", *PEOPLE]) + "\n")
    expected, at, cancelled = 0, 0, 0
    while at < MOST_STEPS:
        async with Emulator() as emulator:
            settings = load_settings(emulator.env, directory=tmp_path, state_dir=tmp_path / f"s{at}", concurrency=2)
            scene = Scene(source, emulator, settings)
            await prepare(scene)
            steps = Steps(at)
            task = await _attempt(command(scene), steps)
            if not task.cancelled():
                assert task.result().state == "complete" if name != "setup" else task.result().worst is None
                if at:
                    break
                expected, at = requests_applied(emulator), 1
                continue
            cancelled += 1
            with pytest.raises(asyncio.CancelledError) as caught:
                await task
            why = caught.value.__cause__
            if why is None:
                assert hasattr(caught.value, "__notes__"), at
            else:
                assert isinstance(why, NotFinished), at
                begun = name in ("upload", "do-not-reach") and list_runs(settings.state_dir)
                await (_resume if begun else command)(scene)
            assert requests_applied(emulator) == expected, (at, repr(why), getattr(caught.value, "__notes__", ""))
        at += BETWEEN
    assert at < MOST_STEPS
    assert cancelled > 20 // BETWEEN


@pytest.mark.usefixtures("small_requests")
@pytest.mark.parametrize("nth", [1, 2], ids=["the look", "a request"])
@pytest.mark.parametrize("is_spam", [False, True], ids=["one cancellation", "one in every pass of the loop"])
async def test_a_service_that_never_answers_holds_no_cancellation_up(
    nth: int, is_spam: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends before requests under way would. A scope of anyio cancels in every pass of the loop."""
    monkeypatch.setattr(cancellation, "CANCELLATION_SECONDS", 0.05)
    source = tmp_path / "list.csv"
    source.write_text("\n".join(["email", *PEOPLE]) + "\n")
    async with Emulator() as emulator:
        settings = load_settings(emulator.env, directory=tmp_path, state_dir=tmp_path / "state", concurrency=1)
        scene = Scene(source, emulator, settings)
        path = "*/users" if nth > 1 else "*"
        emulator.faults.replace(read_faults([{**UNANSWERED, "match": {"path": path}, "nth": nth}]))
        task = asyncio.create_task(named_upload(scene))
        while not emulator.faults.document()["fired"]:
            await asyncio.sleep(0.01)
        task.cancel()
        while is_spam and not task.done():
            task.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        why = caught.value.__cause__
        assert isinstance(why, NotFinished)
        assert ("stopped at once" in str(why)) == (nth > 1)
        emulator.faults.replace(())
        report = await named_upload(scene)
        assert (report.state, report.success_count) == ("complete", ROWS)
        assert requests_applied(emulator) == REQUESTS + (nth > 1)  # the service took the one in doubt, too


PROGRAM = """
import asyncio, os, signal, sys
import audiencekit

signal.signal(signal.SIGINT, signal.default_int_handler)  # the tests may run where it is ignored
end, source, audience = sys.argv[1:]
sends = asyncio.Event()

class Watching(audiencekit.NoProgress):
    def step(self, stage, done, total, **_):
        if stage == "sending" and done < total and not sends.is_set():
            if end != "a loop that closes":
                os.kill(os.getpid(), signal.SIGINT)
            sends.set()

given = {"audience": audience, "progress": Watching(), "run_id": "nightly-1", "max_body_bytes": 2_000}

async def main():
    uploading = asyncio.create_task(audiencekit.upload_async(source, **given))
    await (sends.wait() if end == "a loop that closes" else uploading)

try:
    if end == "no loop":
        audiencekit.upload(source, **given)
    else:
        asyncio.run(main())
except KeyboardInterrupt:
    print("KeyboardInterrupt")
except audiencekit.NotFinished as error:
    print("NotFinished", error.document["state"])
else:
    print("nothing")
"""


@pytest.mark.parametrize(
    ("end", "expected"),
    shortened(
        [("Ctrl-C", "KeyboardInterrupt"), ("a loop that closes", "nothing"), ("no loop", "NotFinished incomplete")], 1
    ),
)
def test_a_program_ends_and_the_next_one_sends_the_rest(
    end: str, expected: str, commands: Commands, tmp_path: Path
) -> None:
    """In a process of its own. Without an event loop the program has the report."""
    source = tmp_path / "list.csv"
    source.write_text("\n".join(["email,handle", *(f"{email},handle{at}" for at, email in enumerate(PEOPLE))]) + "\n")
    emulating = commands.begin("emulator", env=environment(tmp_path / "other"), cwd=tmp_path, stderr=None)
    assert emulating.stdout is not None
    try:
        ready = json.loads(emulating.stdout.readline())
        env = {**environment(tmp_path / "state", ready["env"]), "AUDIENCEKIT_CONCURRENCY": "1"}
        run = [sys.executable, "-c", PROGRAM, end, str(source), ready["audience_id"]]
        done = subprocess.run(run, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        assert (done.stdout.strip(), done.returncode) == (expected, 0), done.stderr
        assert "never retrieved" not in done.stderr
        again = commands.run("resume", "nightly-1", "--json", env=env, cwd=tmp_path)
        report = json.loads(again.stdout)
        assert (again.returncode, report["state"], report["reconciliation"]["success_count"]) == (0, "complete", ROWS)
    finally:
        emulating.kill()
        emulating.wait()
        emulating.stdout.close()
