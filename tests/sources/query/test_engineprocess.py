"""The process of a query: it has little memory and no secrets, and whatever it dies of is told as the query's fault."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from audiencekit.sources.query import engineprocess
from audiencekit.sources.query.engineprocess import EngineProcess, QueryRefused
from tests.moments import PATIENCE_SECONDS

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="the system has no /proc, or heeds no such limit")
SCHEMA = pa.schema([("email", pa.string())])
CELLS = ["zz.a@canarymail.com", "zz.b@canarymail.com"]
POOL_BYTES, PROCESS_BYTES = 100_000_000, 400_000_000


def _read(columns: list[str]) -> Iterator[pa.RecordBatch]:
    for cell in CELLS * 5:
        yield pa.record_batch({name: [cell] for name in columns})


def _planned(sql: str) -> EngineProcess:
    engine = EngineProcess(_read)
    engine.plan(sql, SCHEMA, memory_bytes=POOL_BYTES, process_bytes=PROCESS_BYTES)
    return engine


def _children() -> set[int]:
    listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return set(map(int, listed))


def _rows(engine: EngineProcess) -> list[object]:
    return [row["email"] for batch in engine.execute() for row in batch.to_pylist()]


def test_rows_go_there_and_come_back_and_again() -> None:
    """An execution that was left in the middle is no hindrance to the next one."""
    engine = _planned("SELECT upper(email) AS email FROM source")
    assert next(engine.execute()).to_pylist()[0] == {"email": CELLS[0].upper()}
    assert _rows(engine) == [cell.upper() for cell in CELLS * 5]
    assert _rows(engine) == [cell.upper() for cell in CELLS * 5]


@needs_proc
@pytest.mark.parametrize(
    "expression", ["repeat(email, 200000000)", "lpad(email, 1500000000)", "concat(repeat(email, 100000000), email)"]
)
def test_the_memory_of_a_function_is_bounded(expression: str) -> None:
    """Steps of a query ask how much they may have, and functions do not: the process may not grow."""
    engine = _planned(f"SELECT {expression} AS email FROM source")
    with pytest.raises(QueryRefused) as caught:
        _rows(engine)
    assert caught.value.why in ("gone", "value", "memory")


@pytest.mark.parametrize("depth", [30_000])
def test_a_query_that_is_too_deep_ends_no_process_of_ours(depth: int) -> None:
    """The engine goes down as deep, and its stack ends."""
    sql = "SELECT email FROM source WHERE " + " OR ".join(f"email = '{number}'" for number in range(depth))
    with pytest.raises(QueryRefused) as caught:
        _planned(sql)
    assert caught.value.why in ("gone", "plan")


@pytest.mark.parametrize(
    ("sent", "why", "ended_by"),
    [
        (signal.SIGKILL, "killed", "SIGKILL"),
        (signal.SIGABRT, "gone", ""),
        (signal.SIGSEGV, "gone", ""),
    ],
)
def test_a_process_that_was_ended_is_told(
    monkeypatch: pytest.MonkeyPatch, sent: signal.Signals, why: str, ended_by: str
) -> None:
    """From outside, as by a system that is out of memory; or by its query, which aborts it or ends its stack."""
    monkeypatch.setattr(engineprocess, "_END_SECONDS", PATIENCE_SECONDS)
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *given, **more: started.append(popen(*given, **more)) or started[0])
    engine = _planned("SELECT email FROM source")
    started[0].send_signal(sent)
    with pytest.raises(QueryRefused) as caught:
        _rows(engine)
    assert (caught.value.why, caught.value.ended_by, started[0].returncode) == (why, ended_by, -sent)


@needs_proc
def test_it_has_no_settings_and_no_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in its environment nor in its arguments; and no dump of it is made."""
    monkeypatch.setenv("AUDIENCEKIT_CONSUMER_SECRET", "zz-secret")
    before = _children()
    engine = _planned("SELECT 'zz-word' AS email FROM source")
    (child,) = _children() - before
    assert b"zz-" not in Path(f"/proc/{child}/cmdline").read_bytes()
    try:
        assert b"zz-" not in Path(f"/proc/{child}/environ").read_bytes()
    except PermissionError:  # of a process that makes no dump, only root reads it
        assert os.geteuid() != 0
    limits = Path(f"/proc/{child}/limits").read_text()
    (core,) = (line.split()[4:6] for line in limits.splitlines() if line.startswith("Max core file size"))
    assert core == ["0", "0"]
    del engine
    assert _children() == before


@pytest.mark.parametrize("of", ["a file", "a database"])
def test_no_log_has_a_word_of_a_query(of: str, tmp_path: Path) -> None:
    """Although the site logs all that any process says."""
    (tmp_path / "sitecustomize.py").write_text(
        f"import logging\nlogging.basicConfig(filename={str(tmp_path / 'log')!r}, level=1)\n"
        "logging.getLogger('site').debug('begun')\n"
    )
    (tmp_path / "list.csv").write_text("email\nzz.a@canarymail.com\n")
    with sqlite3.connect(tmp_path / "people.db") as database:
        database.execute("CREATE TABLE source AS SELECT 'zz.a@canarymail.com' AS email")
    (tmp_path / "query.sql").write_text("SELECT email FROM source WHERE email <> 'zz.canaryword@canarymail.com'")
    source = ("list.csv",) if of == "a file" else ("--from-sql", f"sqlite:///{tmp_path}/people.db")
    done = subprocess.run(
        [sys.executable, "-m", "audiencekit", "check", *source, "--sql", "@query.sql"],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "AUDIENCEKIT_STATE_DIR": str(tmp_path / "state")},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    log = (tmp_path / "log").read_text()
    assert "begun" in log
    assert "canaryword" not in log


@needs_proc
def test_it_ends_with_its_parent(tmp_path: Path) -> None:
    """However that ends."""
    script = (
        "import os, signal, tests.sources.query.test_engineprocess as t;"
        "engine = t._planned('SELECT email FROM source');"
        "print(*t._children(), flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    asked = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    (child,) = map(int, asked.stdout.split())
    while _is_alive(child):
        time.sleep(0.01)


def _is_alive(process_id: int) -> bool:
    """Whether it is there, and not one that has ended and for which its parent, which is not ours, has not waited."""
    try:
        stat = Path(f"/proc/{process_id}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):  # it may go between the opening and the reading
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
