"""The examples of the pages: blocks of `sh` and `python`, which run one after the other as they are printed.

A block that cannot run has a comment in front: `<!-- not run: REASON -->`. A block that is the content of a file has
`<!-- file: NAME -->`. All blocks of a page share a directory, the variables of the shell and those of Python. A running
emulator is in their environment, whose audience is `dlzxk` of account `18ce5i7i7vj`, and lists of invented people.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.moments import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[1]
PAGES = tuple(
    str(path.relative_to(ROOT))
    for path in sorted(
        [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "samples/README.md", *ROOT.glob("docs/**/*.md")]
    )
)
RUN = ("sh", "python")
DOOR = "DOOR"  # names the descriptor at which `audiencekit` asks for its process, where it does
_BLOCK = re.compile(r"(?:^<!-- (not run|file): (.+?) -->\n)?^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Example:
    """One block: its language, its text, its line in the page, and its mark with what that says."""

    language: str
    text: str
    line: int
    mark: str
    told: str

    @property
    def runs(self) -> bool:
        """Whether it is run."""
        return self.language in RUN and self.mark != "not run"


def examples_of(page: str) -> Iterator[Example]:
    """All blocks of a page, by its path from the root of the repository."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        line = text.count("\n", 0, found.start(3)) + 1
        yield Example(found[3], found[4], line, found[1] or "", found[2] or "")


def run_page(page: str, directory: Path, environment: Mapping[str, str]) -> list[str]:
    """Run the examples of a page in `directory`; the failures, each with its line."""
    blocks, failures = [*examples_of(page)], []
    for block in blocks:
        if block.mark == "file":
            path = directory / block.told
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
    python = ""
    for block in (block for block in blocks if block.runs):
        if block.language == "python":
            python += "\n" * (block.line - python.count("\n")) + block.text
            command = [sys.executable, "-c", _AWAITING, page, python]
        else:
            command = ["bash", "-euo", "pipefail", "-c", f"{_BEFORE}\n{block.text}\n{_AFTER}"]
        done = subprocess.run(
            command,
            cwd=directory,
            env=dict(environment),
            pass_fds=[int(environment[DOOR])] if DOOR in environment else [],
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        if done.returncode:
            failures.append(f"{page}:{block.line}: {done.returncode}: {done.stderr[-1_500:]}")
    return failures


# Variables that a block exports are those of the next one.
_BEFORE = "[ ! -e .exported ] || . ./.exported"
_AFTER = "export -p > .exported"
# A page may await at the top, as a notebook does.
_AWAITING = """
import ast, asyncio, inspect, sys
code = compile(sys.argv[2], sys.argv[1], "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
names = {"__name__": "__main__"}
found = eval(code, names)
if inspect.iscoroutine(found):
    asyncio.run(found)
"""
