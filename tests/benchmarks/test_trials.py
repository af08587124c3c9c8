"""Trials in processes of their own, and their lists."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.benchmark import EMAILS, contact_list
from benchmarks.trials import ROOT, Contestant, core_numbers, run_trial, start

pytestmark = pytest.mark.slow


def _script(tmp_path: Path, text: str) -> Contestant:
    (tmp_path / "contestant_of_a_test.py").write_text(text)
    return Contestant(
        name="a script", module="contestant_of_a_test", environment={"PYTHONPATH": str(tmp_path), "MARK": "7"}
    )


def test_figures_come_back_with_time_and_memory(tmp_path: Path) -> None:
    """The figures printed, and the system's figures on the process."""
    figures = run_trial(_script(tmp_path, 'import os, json; print(json.dumps({"rows": int(os.environ["MARK"])}))'))
    assert figures["rows"] == 7
    assert figures["cpu_seconds"] > 0
    assert figures["peak_bytes"] > 1_000_000


def test_the_peak_is_the_contestants_own(tmp_path: Path) -> None:
    """60 MB on the heap show, and are gone from the next trial. Asked of a small process, as a benchmark is one."""
    (tmp_path / "lean.py").write_text('print("{}")')
    (tmp_path / "fat.py").write_text('filled = bytearray(b"1" * 60_000_000); print("{}")')
    ask = (
        "from benchmarks.trials import Contestant, run_trial\n"
        "for name in ('lean', 'fat', 'lean'): print(run_trial(Contestant(name=name, module=name))['peak_bytes'])"
    )
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    found = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, check=True)
    first, fat, last = map(int, found.stdout.split())
    assert 55_000_000 < fat - first < 200_000_000
    assert 55_000_000 < fat - last < 200_000_000


def test_a_contestant_that_fails_is_an_error(tmp_path: Path) -> None:
    """Its figures would be wrong."""
    with pytest.raises(RuntimeError, match="a script ended with 3"):
        run_trial(_script(tmp_path, "raise SystemExit(3)"))


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system does not bind processes to cores")
def test_a_trial_runs_as_an_installation_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without AUDIENCEKIT_* of the caller, which could name a real service; with bytecode; on its cores alone."""
    monkeypatch.setenv("AUDIENCEKIT_ADS_URL", "https://ads.example.com")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    tells = (
        "import json, os, sys; names = [name for name in os.environ if name.startswith('AUDIENCEKIT_')];"
        "print(json.dumps([names, sys.dont_write_bytecode, len(os.sched_getaffinity(0))]))"
    )
    begun = start([sys.executable, "-c", tells], cores=core_numbers()[:1], environment={"AUDIENCEKIT_PROFILE": "spec"})
    assert json.loads(begun.communicate()[0]) == [["AUDIENCEKIT_PROFILE"], False, 1]


def test_the_process_that_starts_trials_stays_small() -> None:
    """The memory of a process stands in what the system says of its children: no numpy, no pyarrow here."""
    loaded = (
        "import sys, benchmarks.__main__; heavy = {'numpy', 'pyarrow', 'aiohttp', 'duckdb', 'datafusion'}; "
        "print(heavy & {*sys.modules})"
    )
    found = subprocess.run([sys.executable, "-c", loaded], cwd=ROOT, capture_output=True, check=True)
    assert found.stdout.decode().strip() == "set()"


def test_a_contestant_without_its_package_is_left_out() -> None:
    """With the reason; the others take part."""
    absent = Contestant(name="a", module="a", package="a_package_that_does_not_exist")
    assert absent.hindrance() == "the package a_package_that_does_not_exist is not installed"
    assert Contestant(name="a", module="a", package="json").hindrance() is None


def test_a_kept_list_is_found_again(tmp_path: Path) -> None:
    """It is made once; without a directory it is gone afterwards."""
    with contact_list(30, 1, EMAILS, lists=tmp_path) as path:
        assert path.read_text().count("\n") == 31
    path.write_text("as it was")
    with contact_list(30, 1, EMAILS, lists=tmp_path) as again, contact_list(20, 1) as passing:
        assert again.read_text() == "as it was"
    assert not passing.exists()
