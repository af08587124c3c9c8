"""The files that commands open in the working directory beside what was named: `audiencekit.toml` and nothing else.

Libraries have configuration files of their own, which they look for there, or start programs that PATH names there.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.calls import call
from tests.processes import environment
from tests.strace import strace

LIST = "email,phone\nzz.a@canarymail.com,+12015550123\nzz.b@canarymail.com,+12015550124\n"
SETTINGS = "audiencekit.toml"
# A call that names a file, with its directory where that is not the working directory; the working directory itself.
_NAMED = re.compile(r"^(\w+)\((?:AT_FDCWD, )?\"([^\"]*)\"")
_CALLS = "open,openat,execve,execveat,stat,lstat,access,faccessat,faccessat2,newfstatat,statx,readlink,readlinkat,chdir"
_EXTRAS = {
    "bucket": ("boto3", ("check", "s3://bucket/list.csv")),
    "bucket of Azure": ("obstore", ("check", "az://container/list.csv")),
    "bucket of Google": ("obstore", ("check", "gs://bucket/list.csv")),
    "sftp": ("asyncssh", ("check", "sftp://someone@127.0.0.1:9/list.csv")),
    "PostgreSQL": ("adbc_driver_postgresql", ("check", "--from-sql", "postgresql://127.0.0.1:9/x", "--sql", "@{sql}")),
    "Flight SQL": ("adbc_driver_flightsql", ("check", "--from-sql", "flightsql://127.0.0.1:9", "--sql", "@{sql}")),
    "key in a keyring": ("keyring", ("key", "show")),
    "age": ("pyrage", ("check", "{out}/list.csv.age")),
    "limiter": ("redis", ("doctor",)),
}
_PLAIN = {
    "csv": ("audiencekit", ("check", "{list}")),
    "page": ("audiencekit", ("check", "{list}", "--html", "{out}/page.html")),
    "Parquet": ("audiencekit", ("check", "{parquet}")),
    "database": ("audiencekit", ("check", "--from-sql", "sqlite:///{database}", "--sql", "@{sql}")),
    "prepared": ("audiencekit", ("prepare", "{list}", "--out", "{out}/prepared")),
    "doctor": ("audiencekit", ("doctor",)),
    "runs": ("audiencekit", ("runs",)),
    "erased people": ("audiencekit", ("forgotten", "show")),
    "hash": ("audiencekit", ("hash", "--kind", "email")),
    "version": ("audiencekit", ("--version",)),
}


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    """Files to read and a directory to write to, none of them in the working directory."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "list.csv").write_text(LIST)
    (out / "list.csv.age").write_bytes(b"age-encryption.org/v1\n")
    (out / "query.sql").write_text("SELECT email FROM source")
    pq.write_table(pa.table({"email": ["zz.a@canarymail.com"]}), out / "list.parquet")
    with sqlite3.connect(out / "people.db") as database:
        database.execute("CREATE TABLE source AS SELECT 'zz.a@canarymail.com' AS email")
    return {
        "list": out / "list.csv", "parquet": out / "list.parquet", "sql": out / "query.sql", "out": out,
        "database": out / "people.db",
    }  # fmt: skip


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """An empty working directory."""
    directory = tmp_path / "here"
    directory.mkdir()
    return directory


def test_python_opens_nothing_in_the_working_directory(here: Path, places: dict[str, Path], tmp_path: Path) -> None:
    """Neither the interpreter nor what is written in Python; programs and libraries in C are traced below."""
    env = environment(tmp_path / "state")
    with _python_files() as opened:
        for name in ("csv", "Parquet", "prepared", "version"):
            done = call(*(word.format(**places) for word in _PLAIN[name][1]), env=env, cwd=here)
            assert done.returncode == 0, done.stderr
    assert opened
    assert {name for name in opened if not name.startswith("/") or name.startswith(f"{here}/")} <= {SETTINGS}


_LISTENERS: list[set[str]] = []


@contextmanager
def _python_files() -> Iterator[set[str]]:
    """The names of the files that Python opens, or programs that it starts, within the block."""
    _listen()
    opened = set[str]()
    _LISTENERS.append(opened)
    try:
        yield opened
    finally:
        _LISTENERS.clear()


@cache
def _listen() -> None:
    """Once for this process: it cannot be undone."""
    sys.addaudithook(_note_file)


def _note_file(event: str, arguments: tuple[Any, ...]) -> None:
    is_of_file = event in ("open", "os.listdir", "os.scandir", "subprocess.Popen", "sqlite3.connect")
    if _LISTENERS and is_of_file and isinstance(arguments[0], str | bytes | os.PathLike):  # and no descriptor
        _LISTENERS[-1].add(os.fsdecode(arguments[0]))


# Each of several commands in one process, with their exit codes at the end of stderr.
ONE_BY_ONE = """
import json, sys
from audiencekit import cli
cli.set_up_own_process()
codes = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["audiencekit", *words]
    codes.append(cli._run())
print("\\n" + json.dumps(codes), file=sys.stderr)
"""


@pytest.fixture
def traced(here: Path, tmp_path: Path) -> Callable[..., tuple[list[int], list[tuple[str, str]]]]:
    """Run commands there; their exit codes, the calls that name a file in there, and the files."""
    trace = tmp_path / "trace"
    tracing = strace("-ff", "-qq", "-s", "4096", "-e", f"trace={_CALLS}", "-e", "signal=none", "-o", str(trace))

    def run(commands: list[list[str]], **env: str) -> tuple[list[int], list[tuple[str, str]]]:
        done = subprocess.run(
            [*tracing, sys.executable, "-P", "-c", ONE_BY_ONE, json.dumps(commands)],
            cwd=here, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(tmp_path), "AUDIENCEKIT_STATE_DIR": str(tmp_path / "state"),
                 "AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_EC2_METADATA_DISABLED": "true", **env},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found = [each for file in trace.parent.glob("trace.*") for each in _found(file.read_text("latin-1"), here)]
        return json.loads(done.stderr.splitlines()[-1]), found

    return run


def _found(lines: str, here: Path) -> list[tuple[str, str]]:
    """The calls of one process that name a file in `here`, until it works in another directory."""
    found = []
    for line in lines.splitlines():
        if not (named := _NAMED.match(line)):
            continue
        call, name = named[1], named[2]
        if call == "chdir" and line.rstrip().endswith("= 0"):
            return found
        if call.startswith("readlink"):
            continue  # what a link says is no name of a file that was opened
        if (
            name not in ("", ".")
            and (not name.startswith("/") or name.startswith(f"{here}/"))
            and not _is_own_start(call, line)
        ):
            found.append((call, name))
    return found


def _is_own_start(call: str, line: str) -> bool:
    return call == "execve" and line.rstrip().endswith("= 0") and f'"{sys.executable}"' in line


@pytest.mark.slow
@pytest.mark.parametrize("names", [_PLAIN, _EXTRAS], ids=["plain", "extras"])
def test_nothing_is_opened_in_the_working_directory(
    names: dict[str, Any], traced: Callable[..., tuple[list[int], list[tuple[str, str]]]], places: dict[str, Path]
) -> None:
    """PATH names it, too: neither a library nor its compiler is looked for there. What is not installed is left out."""
    installed = {name: command for name, (package, command) in names.items() if find_spec(package)}
    commands = [[word.format(**places) for word in command] for command in installed.values()]
    codes, found = traced(commands, PATH=f":.:{os.environ['PATH']}")
    assert [name for name, code in zip(installed, codes, strict=True) if code == 1] == []
    assert sorted({file for _, file in found} - {SETTINGS}) == []


@pytest.mark.slow
def test_the_trace_sees_a_file_of_a_library(traced: Callable[..., tuple[list[int], list[tuple[str, str]]]]) -> None:
    """The test of the test: the settings are looked for, by a relative name."""
    _, found = traced([["doctor"]])
    assert SETTINGS in {file for _, file in found}
