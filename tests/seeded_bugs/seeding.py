"""Wrong patches, the tests that must notice each, and copies of the tree in which they are tried."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
HERE: Final = Path(__file__).parent
COPIED: Final = ("audiencekit", "tests", "samples", "pyproject.toml")
_FAILED: Final = re.compile(r"^FAILED (\S+?::\w+)", re.MULTILINE)
_TESTS_FAILED: Final = 1  # pytest's exit code; others say that it could not even begin


@dataclass(frozen=True)
class Bug:
    """One wrong patch; `tests` are functions as pytest names them, every one of which must fail with it."""

    name: str
    what: str
    tests: tuple[str, ...]

    @property
    def patch(self) -> Path:
        """The file."""
        return HERE / f"{self.name}.patch"


def known_bugs() -> list[Bug]:
    """All that `bugs.toml` lists."""
    table = tomllib.loads((HERE / "bugs.toml").read_text(encoding="utf-8"))
    return [Bug(name, entry["what"], tuple(entry["tests"])) for name, entry in table.items()]


def applies(bug: Bug) -> bool:
    """Whether the patch still fits the tree."""
    return _apply(bug, ROOT, "--check")


def survivors(bug: Bug) -> list[str]:
    """Those of its tests that do not notice the bug; all when they cannot be run."""
    with _copied_tree() as tree:
        if not _apply(bug, tree):
            return list(bug.tests)
        done = _run_tests(tree, bug.tests)
    failed = set(_FAILED.findall(done.stdout)) if done.returncode == _TESTS_FAILED else set()
    return [test for test in bug.tests if test not in failed]


def passes_as_it_is(bugs: Sequence[Bug]) -> bool:
    """Whether the tests of all `bugs` pass in a copy of the tree without any of them."""
    tests = sorted({test for bug in bugs for test in bug.tests})
    with _copied_tree() as tree:
        return _run_tests(tree, tests).returncode == 0


@contextmanager
def _copied_tree() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="seeded-bug-") as directory:
        for name in COPIED:
            original, copy = ROOT / name, Path(directory) / name
            if original.is_dir():
                shutil.copytree(original, copy, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(original, copy)
        yield Path(directory)


def _apply(bug: Bug, tree: Path, *options: str) -> bool:
    command = ["git", "apply", "--whitespace=nowarn", *options, str(bug.patch)]
    return subprocess.run(command, cwd=tree, capture_output=True, check=False).returncode == 0


def _run_tests(tree: Path, tests: Sequence[str]) -> subprocess.CompletedProcess[str]:
    options = ["-q", "-n0", "--tb=no", "-rf", "-p", "no:cacheprovider", "-m", ""]
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=tree, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
