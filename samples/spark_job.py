"""A list prepared by Spark, then uploaded by one machine: the driver, here.

python samples/spark_job.py OUT                          # samples/changes.csv, to an emulator
spark-submit samples/spark_job.py OUT customers/ ID      # Parquet with the same columns, to audience ID

OUT gets `records` (hashes: keep it as you keep the list), `rejections` and, when both are whole, a manifest: a job that
runs again with the same list goes on with its upload. On a cluster OUT is a place that the executors can write to, and
the driver can read as a directory.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from upload_contacts import emulator

import audiencekit
from audiencekit.integrations.spark import prepare

CHANGES = Path(__file__).with_name("changes.csv")


def main(arguments: list[str]) -> int:
    """The exit code: 0 when everything was confirmed, else that of the error."""
    spark = SparkSession.builder.appName("audiencekit").getOrCreate()
    out, *rest = arguments
    try:
        if rest:
            source, audience_id = rest
            prepare_list(spark.read.parquet(source), out)
            return upload(out, audience_id)
        prepare_list(spark.read.csv(str(CHANGES), header=True), out)
        with emulator() as audience_id:
            return upload(out, audience_id)
    except audiencekit.AudiencekitError as error:
        sys.stderr.write(f"{error}\n{error.hint}\n")
        return error.exit_code
    finally:
        spark.stop()


def prepare_list(people: DataFrame, out: str) -> None:
    """Write records and rejections. Raises Refused when the list as a whole must not be sent."""
    prepared = prepare(people, columns={"email": "email", "handle": "handle"}, operation_column="operation")
    rows = prepared.write(out)["rows"]
    sys.stdout.write(f"prepared: {rows['read']} rows read, {rows['rejected']} rejected\n")


def upload(out: str, audience_id: str) -> int:
    """Upload the records, and say how it went."""
    report = audiencekit.upload(Path(out, "records"), audience=audience_id)
    rows = report.rows
    sys.stdout.write(f"{report.state}: {rows.read} records read, {rows.sent} sent\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
