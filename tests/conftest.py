"""Fixtures of several folders, and the options of all tests."""

from __future__ import annotations

import contextlib
import gc
import importlib
import itertools
import os
import re
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.process.workers import cores
from audiencekit.settings import Settings, load_settings
from tests.crashes.killing import Driver
from tests.examples import FACTOR, examples
from tests.processes import BEGUN, Commands, end_those_begun

ROOT = Path(__file__).resolve().parent.parent
MEMORY = Path("/dev/shm")
ENOUGH_BYTES = 4_000_000_000
PATTERNS = 100_000  # more than phonenumbers has, of all regions


with contextlib.suppress(ModuleNotFoundError):  # where only the tests of an integration run
    import hypothesis

    # No test asserts a timing: an example that takes long on a busy machine is no failure. The examples are the same in
    # each run, so that a rare one refuses no change that has nothing to do with it; EXAMPLES=10 draws others.
    are_fixed = FACTOR <= 1
    hypothesis.settings.register_profile(
        "untimed", deadline=None, derandomize=are_fixed, max_examples=examples(hypothesis.settings.default.max_examples)
    )
    hypothesis.settings.load_profile("untimed")
    if are_fixed:  # without the constants of the modules that are imported by then, which other tests decide
        from hypothesis.internal.conjecture import providers
        from hypothesis.internal.constants_ast import Constants

        providers._get_local_constants = Constants  # type: ignore[assignment]


def pytest_configure() -> None:
    """Files of tests stand in memory where there is room: they are synced to the disk tens of thousands of times."""
    has_room = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ENOUGH_BYTES
    if has_room and "TMPDIR" not in os.environ:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None  # asked again
    # Dozens of processes import the same modules: without bytecode each would compile them again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    gc.disable()  # until all tests are collected: hardly anything of them is garbage
    # phonenumbers leaves it to `re` to keep its patterns, which keeps 512: tests of all regions compiled them anew.
    re._MAXCACHE = PATTERNS  # type: ignore[attr-defined]


@pytest.fixture
def gone_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working directory is one that was removed."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Each worker imports the modules of all tests from another place on, so that one finds what others compiled."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if not worker or session.config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    paths = sorted(path.relative_to(ROOT) for path in ROOT.joinpath("tests").rglob("test_*.py"))
    start = len(paths) * int(worker.removeprefix("gw")) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    for path in paths[start:] + paths[:start]:
        with contextlib.suppress(Exception, pytest.skip.Exception):  # is told when pytest itself imports it
            importlib.import_module(".".join(path.with_suffix("").parts))


def pytest_collection_finish() -> None:
    """Keep collected and imported objects out of later garbage collections."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: while tests wait for disks and sockets, others go on."""
    return cores() + 1


@pytest.fixture(scope="session")
def shared() -> Path:
    """The public test data beside the checkout; tests that use it skip where it is absent."""
    directory = ROOT.parent / "shared"
    if not directory.is_dir():
        pytest.skip("the public test data is not beside this checkout")
    return directory


@pytest.fixture(scope="session")
def _states(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One path after the other. Nothing is made there: most tests have no state, and directories take their time."""
    directory = tmp_path_factory.mktemp("states")
    return (directory / str(number) for number in itertools.count())


@pytest.fixture(scope="session", autouse=True)
def _no_settings_of_this_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests, and fixtures of whole modules, see nothing of the machine's user, and leave nothing with them.

    One cache directory is for all tests and processes: files kept between runs are kept between tests.
    """
    ours = tmp_path_factory.getbasetemp()
    shared = ours.parent if "PYTEST_XDIST_WORKER" in os.environ else ours
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("AUDIENCEKIT_")]:
            patch.delenv(name)
        for kind in ("cache", "data"):
            (shared / kind).mkdir(mode=0o700, exist_ok=True)
            patch.setenv(f"XDG_{kind.upper()}_HOME", str(shared / kind))
        yield


@pytest.fixture(autouse=True)
def _no_state_of_another_test(monkeypatch: pytest.MonkeyPatch, _states: Iterator[Path]) -> None:
    monkeypatch.setenv("AUDIENCEKIT_STATE_DIR", str(next(_states)))
    monkeypatch.setenv("XDG_CONFIG_HOME", f"{os.environ['AUDIENCEKIT_STATE_DIR']}-settings")


@pytest.fixture(autouse=True)
def _no_process_is_left() -> Iterator[None]:
    """Processes that a failed test began are ended with it; a fixture of more tests keeps its own."""
    before = tuple(BEGUN)
    yield
    end_those_begun(but=before)


@pytest.fixture(scope="session")
def commands() -> Iterator[Commands]:
    """The command line in processes of its own."""
    begun = Commands()
    yield begun
    begun.close()


@pytest.fixture(scope="session")
def driver() -> Iterator[Driver]:
    """The command line in processes that are killed."""
    started = Driver()
    yield started
    started.close()


@pytest.fixture
async def emulator() -> AsyncIterator[Emulator]:
    """A local ads API."""
    async with Emulator(EmulatorOptions()) as running:
        yield running


@pytest.fixture
def settings(emulator: Emulator, tmp_path: Path) -> Settings:
    """Settings that lead to the emulator."""
    return load_settings(emulator.env, directory=tmp_path, state_dir=tmp_path / "state")
