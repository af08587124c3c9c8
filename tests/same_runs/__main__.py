"""`python -m tests.same_runs BEFORE AFTER`: whether two installed versions do the same with 200 runs, byte by byte.

BEFORE and AFTER are Python interpreters of environments that have audiencekit installed. Comparison are exit codes,
reports, rejected rows, prepared files and every body that an emulator received; only ids and times of a run may differ.
A change that is not to change behaviour is held to it by this. `--reworded` is for versions between which messages were
rewritten: it leaves out the sentences in a report, and compares only whether a command failed with one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.moments import PATIENCE_SECONDS
from tests.same_runs.corpus import RUNS, Step, steps_of

# Facts of one run alone: its id, its times, the random parts of the memory of erased people, and the signature under
# a receipt.
_OF_THE_RUN = re.compile(
    r"(forget-)?\d{8}-\d{6}-[0-9a-f]{6,8}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)"
    r"|receipt [\w+/]{43}=|audiencekit/state [\w+/]+=*"
    r"|\"pace\": \{[^}]*\}|/\S*/(?=[\w.-]+)|in \d+(\.\d+)? s|\"(identity|digest)\": \"[0-9a-f]{32}\""
)
# Sentences for people, in a report and in the manifest of a prepared list.
_SENTENCES = re.compile(r'"(?:message|remedy|hint)":\s*"(?:[^"\\]|\\.)*"|"notes":\s*\[[^\]]*\]')


class Version:
    """One installed version, with an emulator of its own."""

    def __init__(self, python: str, emulator: dict[str, Any], *, reworded: bool) -> None:
        self._python, self._emulator, self._reworded = python, emulator, reworded

    def live(self, number: int) -> list[Any]:
        """Execute run `number`; return the exit code and outputs of each command, and the requests of the service."""
        with tempfile.TemporaryDirectory() as directory:
            folder = Path(directory)
            seen = len(self._log())
            found: list[Any] = [self._carry_out(step, folder) for step in steps_of(number, folder)]
            found.append(self._log()[seen:])
            found += [[path.name, self._digest(path)] for path in sorted(folder.rglob("*")) if _is_made(path, folder)]
            return found

    def _carry_out(self, step: Step, folder: Path) -> list[Any]:
        named = {"AUDIENCE": self._emulator["audience_id"]}
        arguments = [named.get(argument, argument) for argument in step.arguments]
        environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        environment |= self._emulator["env"] | {"AUDIENCEKIT_STATE_DIR": str(folder / ".state")}
        with open(step.stdin or os.devnull, "rb") as given:
            ended = subprocess.run(
                [self._python, "-m", "audiencekit", *arguments],
                cwd=folder, env=environment, stdin=given, capture_output=True, timeout=PATIENCE_SECONDS, check=False,
            )  # fmt: skip
        said = _last_line(ended.stderr.decode()) if ended.returncode else ""  # else progress, with its pace
        told = self._plain(ended.stdout.decode())
        return [step.arguments[0], ended.returncode, told, "…" if said and self._reworded else said]

    def _plain(self, text: str) -> str:
        return _plain(_SENTENCES.sub("…", text) if self._reworded else text)

    def _digest(self, path: Path) -> str:
        content = path.read_bytes()
        if path.name == "manifest.json":
            content = self._plain(content.decode()).encode()
        return hashlib.sha256(content).hexdigest()

    def _log(self) -> list[Any]:
        with urllib.request.urlopen(f"{self._emulator['ads_url']}/__log") as answer:
            lines = [json.loads(line) for line in answer.read().splitlines()]
        return [json.loads(_plain(json.dumps({**line, "seq": 0, "time": 0}))) for line in lines]


@contextmanager
def running(python: str, *, reworded: bool) -> Iterator[Version]:
    command = [python, "-m", "audiencekit", "emulator", "--seed", "1", "--rate", "1000000/1"]
    with tempfile.TemporaryDirectory() as directory:
        process = subprocess.Popen(command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            assert process.stdout is not None
            yield Version(python, json.loads(process.stdout.readline()), reworded=reworded)
        finally:
            process.terminate()
            process.wait()


def _plain(text: str) -> str:
    return _OF_THE_RUN.sub("…", text)


def _last_line(text: str) -> str:
    return _plain(text.strip().rpartition("\n")[2])


def _is_made(path: Path, folder: Path) -> bool:
    """Whether it is a result: what a command made outside of its state."""
    return path.is_file() and ".state" not in path.parts and (path.parent != folder or path.name == "rejected.csv")


def difference(before: list[Any], after: list[Any]) -> str:
    """The first thing that differs, in words without values; empty when nothing does."""
    if len(before) != len(after):
        return f"{len(before)} results before, {len(after)} after"
    for one, other in zip(before, after, strict=True):
        if one != other:
            return f"{one[0] if isinstance(one[0], str) else 'operations received'}: {_where(one, other)}"
    return ""


def _where(one: list[Any], other: list[Any]) -> str:
    names = ("name", "exit code or digest", "output", "last line")
    places = [place for place, (left, right) in enumerate(zip(one, other, strict=False)) if left != right]
    if not isinstance(one[0], str):
        return f"from number {places[0] if places else min(len(one), len(other))} on"
    told = ", ".join(names[place] for place in places)
    return told + (f" ({one[1]} before, {other[1]} after)" if 1 in places and isinstance(one[1], int) else "")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.same_runs", description=__doc__)
    parser.add_argument("before", help="the interpreter of the version before")
    parser.add_argument("after", help="the interpreter of the version after")
    parser.add_argument("--runs", type=int, default=RUNS, help="how many")
    parser.add_argument("--run", type=int, help="the one run to compare, shown whole")
    parser.add_argument("--reworded", action="store_true", help="leave the sentences for people out")
    options = parser.parse_args()
    live = partial(running, reworded=options.reworded)
    numbers = range(options.runs) if options.run is None else [options.run]
    different = 0
    with live(options.before) as before, live(options.after) as after, ThreadPoolExecutor(2) as pool:
        for number in numbers:
            one, other = pool.map(Version.live, (before, after), (number, number))
            if found := difference(one, other):
                different += 1
                print(f"run {number}: {found}", flush=True)  # noqa: T201
            if options.run is not None:
                print(json.dumps([one, other], indent=1, ensure_ascii=False))  # noqa: T201
    print(f"{len(numbers)} runs: {different} differ")  # noqa: T201
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
