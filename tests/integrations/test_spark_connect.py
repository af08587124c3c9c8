"""Spark Connect: the job of a classic session, by a client without Java, at a server of pyspark's own package."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import audiencekit
from audiencekit.errors import Refused, UsageError
from audiencekit.integrations.spark import prepare
from tests.integrations.conftest import free_port, spark_home, wait_for_port

pytestmark = [
    pytest.mark.integrations,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"),
]

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
PEOPLE = [f"Person{n}@Example.com" if n % 7 else f"no address {n}" for n in range(200)]


@pytest.fixture(scope="module")
def connected(shipped_code: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session of Connect; its server listens on loopback, and gets the code as an artifact."""
    home = spark_home()
    pytest.importorskip("grpc", reason="the client of Spark Connect is not installed (pip install '.[spark-connect]')")
    if not list(home.glob("jars/spark-connect_*.jar")):
        pytest.skip("this pyspark has no server of Spark Connect")
    from pyspark.sql.connect.session import SparkSession

    here, port = tmp_path_factory.mktemp("connect"), free_port()
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": port,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.local.dir": here / "local",
        "spark.sql.warehouse.dir": here / "warehouse",
    }
    given = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    environment = {name: text for name, text in os.environ.items() if name not in ("PYTHONPATH", "SPARK_REMOTE")}
    environment |= {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
    command = [home / "bin/spark-submit", "--master", "local[2]", "--class", SERVER, *given, "spark-internal"]
    with (here / "log").open("wb") as log:
        server = subprocess.Popen(command, cwd=here, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        wait_for_port(port, server, here / "log")
        session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
        session.addArtifacts(str(shipped_code), pyfile=True)
        yield session
        session.stop()
    finally:
        server.terminate()
        server.wait()


def test_the_records_are_those_of_one_machine(connected: Any, tmp_path: Path) -> None:
    """With their counts and rejections; the job runs again without a change, and with other rows not at all."""
    source = tmp_path / "people.csv"
    source.write_text("email\n" + "".join(f"{person}\n" for person in PEOPLE))
    plan = audiencekit.prepare(source, out=tmp_path / "alone", columns={"email": "email"})
    frame = connected.createDataFrame([(person,) for person in PEOPLE], "email STRING")
    prepared = prepare(frame.repartition(3), columns={"email": "email"})
    report = prepared.write(str(tmp_path / "place"))
    assert (report["rows"]["read"], report["rows"]["records"]) == (len(PEOPLE), plan.records)
    assert report["rejections"] == plan.rejections
    assert report["identifiers"] == plan.identifiers
    alone = pq.read_table(tmp_path / "alone/records.parquet")["email"].to_pylist()
    there = pq.read_table(tmp_path / "place/records")["email"].to_pylist()
    assert sorted([value.hex()] for value in there) == sorted(alone)
    assert prepare(frame, columns={"email": "email"}).write(str(tmp_path / "place")) == report
    with pytest.raises(UsageError, match="another list"):
        prepare(frame.limit(9), columns={"email": "email"}).write(str(tmp_path / "place"))
    assert audiencekit.check(tmp_path / "place").records == plan.records


def test_the_list_as_a_whole_is_judged(connected: Any, tmp_path: Path) -> None:
    """Records are not written for a list that must not be sent."""
    frame = connected.createDataFrame([(f"no address {n}",) for n in range(20)], "email STRING")
    with pytest.raises(Refused, match="20 of 20"):
        prepare(frame, columns={"email": "email"}).write(str(tmp_path))
    assert not (tmp_path / "records").exists()
