"""The files that commands open in the working directory beside what was named: `audiencekit.toml` and nothing else.

Libraries have configuration files of their own, which they look for there, or start programs that PATH names there.
"""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.shortened import shortened
from tests.strace import strace

COMMAND = [sys.executable, "-P", "-m", "audiencekit"]
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
    "csv": ("check", "{list}"),
    "page": ("check", "{list}", "--html", "{out}/page.html"),
    "Parquet": ("check", "{parquet}"),
    "database": ("check", "--from-sql", "sqlite:///{database}", "--sql", "@{sql}"),
    "prepared": ("prepare", "{list}", "--out", "{out}/prepared"),
    "doctor": ("doctor",),
    "runs": ("runs",),
    "erased people": ("forgotten", "show"),
    "hash": ("hash", "--kind", "email"),
    "version": ("--version",),
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
def traced(tmp_path: Path) -> Callable[..., tuple[subprocess.CompletedProcess[str], list[tuple[str, str]]]]:
    """Run a command in an empty working directory; the calls that name a file in there, and the files."""
    here, trace = tmp_path / "here", tmp_path / "trace"
    here.mkdir()
    tracing = strace("-ff", "-qq", "-s", "4096", "-e", f"trace={_CALLS}", "-e", "signal=none", "-o", str(trace))

    def run(*command: str, **env: str) -> tuple[subprocess.CompletedProcess[str], list[tuple[str, str]]]:
        done = subprocess.run(
            [*tracing, *COMMAND, *command], cwd=here, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(tmp_path), "AUDIENCEKIT_STATE_DIR": str(tmp_path / "state"),
                 "AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_EC2_METADATA_DISABLED": "true", **env},
        )  # fmt: skip
        found = [each for file in trace.parent.glob("trace.*") for each in _found(file.read_text("latin-1"), here)]
        return done, found

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


@pytest.mark.parametrize("name", shortened([*_PLAIN, *_EXTRAS], 1))
def test_nothing_is_opened_in_the_working_directory(
    name: str, traced: Callable[..., tuple[subprocess.CompletedProcess[str], list[tuple[str, str]]]],
    places: dict[str, Path],
) -> None:  # fmt: skip
    """PATH names it, too: neither a library nor its compiler is looked for there."""
    package, command = _EXTRAS.get(name, ("audiencekit", _PLAIN.get(name, ())))
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    path = f":.:{os.environ['PATH']}"
    done, found = traced(*(word.format(**places) for word in command), PATH=path)
    assert done.returncode != 1, done.stderr
    assert sorted({file for _, file in found} - {SETTINGS}) == []


@pytest.mark.slow
def test_the_trace_sees_a_file_of_a_library(tmp_path: Path, traced: Callable[..., object]) -> None:
    """The test of the test: the settings are looked for, by a relative name."""
    _, found = traced("doctor")  # type: ignore[misc]
    assert SETTINGS in {file for _, file in found}
