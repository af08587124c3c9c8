"""The runs that two versions are compared by: always the same ones, of all commands, and a difference is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.same_runs.__main__ import difference
from tests.same_runs.corpus import RUNS, steps_of


@pytest.mark.slow
def test_a_run_is_always_the_same(tmp_path: Path) -> None:
    """Its commands and its files, byte by byte; and every command has its share."""
    commands = set()
    for number in range(RUNS // 5):
        folders = [tmp_path / f"{number}{copy}" for copy in "ab"]
        for folder in folders:
            folder.mkdir()
        one, other = (steps_of(number, folder) for folder in folders)
        assert [step.arguments for step in one] == [step.arguments for step in other]
        files = [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders]
        assert files[0] == files[1]
        commands |= {step.arguments[0] for step in one}
    assert commands == {"check", "prepare", "upload", "report", "sync", "renew", "do-not-reach", "forget"}


def test_a_difference_is_told_and_no_value() -> None:
    """By where it is: exit code, output, or operations."""
    run = [["upload", 0, "said", ""], [{"users": 1}]]
    assert difference(run, run) == ""
    assert difference(run, [["upload", 3, "said", ""], [{"users": 1}]]).startswith("upload: exit code")
    assert difference(run, [run[0], [{"users": 2}]]) == "operations received: from number 0 on"
