"""A small Spark cluster: two executors that get the code shipped, as on a real one."""

from __future__ import annotations

import os
import shutil
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def shipped_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as one file that Spark ships."""
    path = tmp_path_factory.mktemp("code") / "audiencekit.zip"
    with zipfile.PyZipFile(str(path), "w") as archive:
        archive.writepy(str(ROOT / "audiencekit"))  # compiled: nothing else would keep that for the executors
    return path


@pytest.fixture(scope="session")
def spark(shipped_code: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session with two executors of one core each, which find audiencekit only where Spark puts it."""
    pytest.importorskip("pyspark", reason="the package pyspark is not installed (pip install '.[spark]')")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    from pyspark.sql import SparkSession

    here = tmp_path_factory.mktemp("spark")
    before = {
        name: os.environ.get(name) for name in ("PYSPARK_PYTHON", "PYTHONPATH", "SPARK_WORKER_DIR", "PYTHONWARNINGS")
    }
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_WORKER_DIR": str(here / "work")}
    os.environ.pop("PYTHONPATH", None)
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.local.dir", str(here / "local"))
        .config("spark.sql.warehouse.dir", str(here / "warehouse"))
        .config("spark.executor.memory", "1g")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    session.sparkContext.addPyFile(str(shipped_code))
    yield session
    session.stop()
    for name, value in before.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
