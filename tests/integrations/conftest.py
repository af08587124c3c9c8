"""A small Spark cluster: two executors that get the code shipped, as on a real one."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from audiencekit.identifiers.kinds import Kind
from tests.moments import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def shipped_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as one file that Spark ships."""
    path = tmp_path_factory.mktemp("code") / "audiencekit.zip"
    with zipfile.PyZipFile(str(path), "w") as archive:
        archive.writepy(str(ROOT / "audiencekit"))  # compiled: nothing else would keep that for the executors
    return path


@pytest.fixture(scope="module")
def spark(shipped_code: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session with two executors of one core each, which find audiencekit only where Spark puts it."""
    with spark_session("local-cluster[2,1,1024]", tmp_path_factory.mktemp("spark"), shipped_code) as session:
        yield session


@contextmanager
def spark_session(master: str, here: Path, code: Path, **more: Any) -> Iterator[Any]:
    """A session of `master`, the only one of this process, with files in `here`; `more` are settings of Spark."""
    spark_home()
    from pyspark.sql import SparkSession

    before = {
        name: os.environ.get(name) for name in ("PYSPARK_PYTHON", "PYTHONPATH", "SPARK_WORKER_DIR", "PYTHONWARNINGS")
    }
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_WORKER_DIR": str(here / "work")}
    os.environ.pop("PYTHONPATH", None)
    settings: dict[str, Any] = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": str(here / "local"),
        "spark.sql.warehouse.dir": str(here / "warehouse"),
        "spark.executor.memory": "1g",
        "spark.sql.shuffle.partitions": "4",
        **more,
    }
    session = SparkSession.builder.master(master).config(map=settings).getOrCreate()
    assert session.sparkContext.master == master
    session.sparkContext.setLogLevel("ERROR")
    session.sparkContext.addPyFile(str(code))
    yield session
    session.stop()
    for name, value in before.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value


def spark_home() -> Path:
    """The directory of pyspark. Skips the test when it is not installed, or Java is not."""
    pyspark = pytest.importorskip("pyspark", reason="the package pyspark is not installed (pip install '.[spark]')")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    return Path(pyspark.__file__).parent


def free_port() -> int:
    """A port of loopback at which nothing listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for_port(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until `server` listens at a port of loopback. Fails with the end of its log when it ends instead."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        with socket.socket() as door:
            if door.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert server.poll() is None, log.read_text("utf-8", "replace")[-2_000:]
        assert time.monotonic() < end
        time.sleep(0.1)


def as_written(record: dict[str, Any]) -> dict[str, Any]:
    """A record of Spark as one machine writes it: hashes in digits, in lists."""
    kinds = {kind.value: record.get(kind.value) for kind in Kind}
    texts = {kind: value.hex() if isinstance(value, bytes | bytearray) else value for kind, value in kinds.items()}
    listed = {kind: None if text is None else [text] for kind, text in texts.items()}
    return {"row": record["row"], "operation": record["operation"], **listed}


def records_alone(out: Path) -> dict[int, dict[str, Any]]:
    """The records that one machine wrote to `out`, by row."""
    return {record["row"]: record for record in pq.read_table(out / "records.parquet").to_pylist()}


def rejections_alone(out: Path) -> list[tuple[int, str, str]]:
    """Row, column and reason of what one machine rejected, in order."""
    lines = (out / "rejections.csv").read_text("utf-8").splitlines()[1:]
    return sorted((int(row), column, reason) for row, column, reason in (line.split(",") for line in lines))
