"""Pytest fixtures: an emulator of the ads API for tests of clients, and a check of pipelines that hash identifiers.

Name them in `conftest.py`: `pytest_plugins = ["audiencekit.testing"]`. Needs the package `pytest`.

PYTEST_DONT_REWRITE: it asserts nothing, and may be imported before it is a plugin.
"""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from audiencekit.conformance.verifying import Hash, verify_command, verify_function
from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.errors import InputOutputFailed, UsageError


@dataclass(frozen=True, slots=True)
class RunningEmulator:
    """An emulator that serves; `env` is the environment that leads to it, with the credentials."""

    ads_url: str
    ads_sandbox_url: str
    base_url: str
    account_id: str
    audience_id: str
    env: dict[str, str] = field(repr=False)
    authority: Path | None = None  # the file with the certificate to trust, with the option `tls`


@contextlib.contextmanager
def run_emulator(options: EmulatorOptions | None = None) -> Iterator[RunningEmulator]:
    """Serves until the block ends. It has a thread of its own, so that clients that block can call it.

    Raises OSError where a port is taken, and StateError for a state file that cannot be read.
    """
    started: Future[RunningEmulator] = Future()
    end: Future[None] = Future()
    thread = threading.Thread(target=_run, args=(options, started, end), name="audiencekit-emulator", daemon=True)
    thread.start()
    try:
        yield started.result()
    finally:
        end.set_result(None)
        thread.join()


def _run(options: EmulatorOptions | None, started: Future[RunningEmulator], end: Future[None]) -> None:
    try:
        asyncio.run(_serve(options, started, end))
    except BaseException as error:
        # The thread that waits for the start raises it; after the start nothing waits.
        if started.done():
            raise
        started.set_exception(error)


async def _serve(options: EmulatorOptions | None, started: Future[RunningEmulator], end: Future[None]) -> None:
    async with Emulator(options) as emulator:
        started.set_result(
            RunningEmulator(
                ads_url=emulator.ads_url,
                ads_sandbox_url=emulator.ads_sandbox_url,
                base_url=emulator.base_url,
                account_id=emulator.account_id,
                audience_id=emulator.audience_id,
                env=emulator.env,
                authority=emulator.authority,
            )
        )
        await asyncio.wrap_future(end)


@pytest.fixture(scope="session")
def ads_emulator_options() -> EmulatorOptions:
    """Give the options of `ads_emulator`: override this fixture for others, such as `profile="x"`."""
    return EmulatorOptions()


@pytest.fixture
def ads_emulator(ads_emulator_options: EmulatorOptions) -> Iterator[RunningEmulator]:
    """Give a fresh emulator to one test."""
    with run_emulator(ads_emulator_options) as emulator:
        yield emulator


@pytest.fixture
def start_ads_emulator() -> Iterator[Callable[[EmulatorOptions], RunningEmulator]]:
    """Give a function that starts emulators with options of their own; all end with the test."""
    with contextlib.ExitStack() as running:
        yield lambda options: running.enter_context(run_emulator(options))


def assert_conforms(pipeline: Hash | str | Sequence[str], *kinds: str, country: str | None = None) -> None:
    """Fail the test unless `pipeline` makes the right digest of every vector of each of `kinds`.

    It is a function as for `audiencekit.verify_function`, or a program as for `verify_command`, in words or as a line.
    The failure names the classes of faults, how many vectors have each, and the remedies. It shows no traceback, and
    no vector. `country` is that of numbers without a code. Raises UsageError for an unknown kind, for none, and for a
    program that is not found.
    """
    __tracebackhide__ = True
    if not kinds:
        raise UsageError("no kind was given", hint="give the kinds that the pipeline hashes, such as 'email'")
    failures = list(_failures(pipeline, kinds, country))
    if failures:
        pytest.fail("\n\n".join(failures), pytrace=False)


def _failures(pipeline: Hash | str | Sequence[str], kinds: Sequence[str], country: str | None) -> Iterator[str]:
    for kind in kinds:
        try:
            if callable(pipeline):
                found = verify_function(pipeline, kind=kind, country=country)
            else:
                words = shlex.split(pipeline) if isinstance(pipeline, str) else pipeline
                found = verify_command(words, kind=kind, country=country)
        except InputOutputFailed as error:
            yield f"{kind}: {error}; {error.hint}"
            continue
        if found.verdict != "right":
            yield f"{kind}: {found.to_text()}"


@pytest.fixture(scope="session")
def conformance() -> Callable[..., None]:
    """Give `assert_conforms`, which fails the test with the faults of a pipeline."""
    return assert_conforms
