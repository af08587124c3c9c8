"""`--version` says which version this is, and whether it has its kernels."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from audiencekit import __version__
from audiencekit.cli import cli
from audiencekit.cli.interruption import run_until_interrupted
from audiencekit.cli.output import COMPILE, NOT_IN_USE, kernels_warning
from audiencekit.errors import NotFinished, UsageError
from audiencekit.kernels import library
from audiencekit.process.startup import ENDINGS
from audiencekit.settings import load_settings
from tests.cases import each_case
from tests.virtualtime import run_virtually


@pytest.mark.parametrize(
    ("found", "told"), [(object(), "with kernels"), (None, "without kernels: the same results, more slowly")]
)
def test_the_version_says_whether_there_are_kernels(found: object, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation without a compiler works the same, and is slow in silence otherwise."""
    monkeypatch.setattr(library, "find_library", lambda: found)
    done = CliRunner().invoke(cli, ["--version"])
    assert done.exit_code == 0
    assert done.stdout == f"audiencekit, version {__version__}, {told}\n"


@pytest.mark.parametrize(
    ("found", "told"), [(object(), None), (None, f"the compiled kernels are {NOT_IN_USE}; {COMPILE}")]
)
def test_a_warning_says_that_kernels_are_not_in_use(
    found: object, told: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kernels of another version are as good as none."""
    monkeypatch.setattr(library, "find_library", lambda: found)
    assert kernels_warning() == told


@pytest.fixture(autouse=True)
def _virtual_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Minutes pass at once; signals are real ones that nothing ignores, and what they do is as before in the end."""
    monkeypatch.setattr(asyncio, "run", run_virtually)
    before = {ending: signal.signal(ending, signal.SIG_DFL) for ending in ENDINGS}
    yield
    for ending, handler in before.items():
        signal.signal(ending, handler)


async def _work(ends: asyncio.Event | None = None) -> str:
    """Says that it was asked to stop, once it was."""
    try:
        await (ends or asyncio.Event()).wait()
    except asyncio.CancelledError:
        return "stopped"
    return "done"


def test_time_that_is_over_is_a_first_signal(capsys: pytest.CaptureFixture[str]) -> None:
    """And says so."""
    assert run_until_interrupted(_work(), max_minutes=0.5) == "stopped"
    assert "the run has reached its limit of 0.5 minutes" in capsys.readouterr().err


def test_nohup_is_respected(capsys: pytest.CaptureFixture[str]) -> None:
    """A terminal that is closed does not stop a run that was begun to outlive it; others still can."""

    async def work(ending: signal.Signals) -> str:
        ends = asyncio.Event()
        asyncio.get_running_loop().call_later(1, ends.set)
        os.kill(os.getpid(), ending)
        return await _work(ends)

    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    assert run_until_interrupted(work(signal.SIGHUP)) == "done"
    assert capsys.readouterr().err == ""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    assert run_until_interrupted(work(signal.SIGTERM)) == "stopped"


def test_work_that_ends_in_time_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing rings later."""
    ends = asyncio.Event()
    ends.set()
    assert run_until_interrupted(_work(ends), max_minutes=5) == "done"
    assert capsys.readouterr().err == ""


@each_case("ending", ENDINGS)
def test_a_signal_after_the_work_takes_nothing_back(ending: signal.Signals) -> None:
    """The report is still to be printed, and the exit code is that of the work; a second signal ends the process."""
    ends = asyncio.Event()
    ends.set()
    assert run_until_interrupted(_work(ends)) == "done"
    os.kill(os.getpid(), ending)
    assert signal.getsignal(ending) is signal.SIG_DFL


def test_a_signal_that_was_ignored_is_ignored_to_the_end() -> None:
    """Of a process that was begun with `nohup`."""
    ends = asyncio.Event()
    ends.set()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    assert run_until_interrupted(_work(ends)) == "done"
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_signal_while_the_loop_closes_takes_nothing_back(
    monkeypatch: pytest.MonkeyPatch, ending: signal.Signals
) -> None:
    """The loop has given up its handlers by then, and that of the system would end the process."""
    ends = asyncio.Event()
    ends.set()

    def run_and_close(work: Coroutine[Any, Any, str]) -> str:
        done: str = run_virtually(work)
        signal.signal(ending, signal.SIG_DFL)
        signal.pthread_kill(threading.get_ident(), ending)  # the tests have threads that a command does not have
        return done

    monkeypatch.setattr(asyncio, "run", run_and_close)
    assert run_until_interrupted(_work(ends)) == "done"
    assert signal.getsignal(ending) is signal.SIG_DFL


def test_work_that_is_cancelled_where_nothing_can_be_said_of_it() -> None:
    """Is not finished, and no bug."""

    async def work() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(60)

    with pytest.raises(NotFinished) as caught:
        run_until_interrupted(work())
    assert "audiencekit runs" in caught.value.hint
    assert caught.value.exit_code == 75


def test_time_that_is_over_does_not_hurry_a_run_that_is_stopping(capsys: pytest.CaptureFixture[str]) -> None:
    """Only a person's second signal stops at once."""

    async def slow() -> str:
        os.kill(os.getpid(), signal.SIGTERM)
        try:
            while True:  # time goes on when nothing is left to do, and the signal is to come before its end
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            await asyncio.sleep(20)
        return "drained"

    assert run_until_interrupted(slow(), max_minutes=10 / 60) == "drained"
    assert "reached its limit" not in capsys.readouterr().err


@pytest.mark.parametrize(("grace", "seconds"), [(None, 25), ("10", 5), ("60", 55), ("4", 2)])
def test_the_time_to_finish_ends_within_the_grace(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], grace: str | None, seconds: int
) -> None:
    """Kubernetes gives 30 seconds by default, docker 10: some of them are for the journal and the report."""
    if grace is not None:
        monkeypatch.setenv("AUDIENCEKIT_GRACE_SECONDS", grace)
    assert load_settings(directory=None).drain_seconds == seconds
    assert run_until_interrupted(_work(), max_minutes=0.5) == "stopped"
    assert f"have {seconds} seconds to finish" in capsys.readouterr().err


@pytest.mark.parametrize("grace", ["0", "-1", "ten", "2.5", "3601"])
def test_a_grace_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, grace: str) -> None:
    """Before anything is begun."""
    monkeypatch.setenv("AUDIENCEKIT_GRACE_SECONDS", grace)
    with pytest.raises(UsageError, match="grace_seconds must be a whole number"):
        load_settings(directory=None)
