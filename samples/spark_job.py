"""One job from a query to an audience: the cluster prepares the list, then one machine uploads it: the driver, here.

python samples/spark_job.py PLACE                        # samples/changes.csv, to an emulator
spark-submit samples/spark_job.py PLACE customers/ ID    # Parquet with the same columns, to audience ID

PLACE is for one list, for example one with the date: a volume that executors and driver see, or an address that Spark
can write to and audiencekit can read (s3://, s3a:// or gs://). It gets the records (hashes:
keep it as you keep the list), the rejections and, last, a manifest. The job can run again at any time, after a failure
or without one: a list that is prepared stays, and an upload goes on where it ended.
"""

from __future__ import annotations

import hashlib
import sys
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from upload_contacts import emulator

import audiencekit
from audiencekit.integrations.spark import prepare

CHANGES = Path(__file__).with_name("changes.csv")
QUERY = "SELECT operation, email, handle FROM customers WHERE coalesce(email, handle) IS NOT NULL"
ATTEMPTS = 3
WAIT_SECONDS = 60.0
MAY_SUCCEED_LATER = (69, 74, 75)  # exit codes: the service or the place was not reached, or the run is not finished


def main(arguments: list[str]) -> int:
    """The exit code: 0 when everything was confirmed, else that of the error."""
    spark = SparkSession.builder.appName("audiencekit").getOrCreate()
    place, *rest = arguments
    try:
        if rest:
            source, audience_id = rest
            prepare_list(spark, spark.read.parquet(source), place)
            return upload(place, audience_id)
        prepare_list(spark, spark.read.csv(str(CHANGES), header=True), place)
        with emulator() as audience_id:
            return upload(place, audience_id)
    except audiencekit.AudiencekitError as error:
        sys.stderr.write(f"{error}\n{error.hint}\n")
        return error.exit_code
    finally:
        spark.stop()


def prepare_list(spark: SparkSession, customers: DataFrame, place: str) -> None:
    """Write what the query gives. Raises Refused when the list as a whole must not be sent."""
    customers.createOrReplaceTempView("customers")
    prepared = prepare(spark.sql(QUERY), columns={"email": "email", "handle": "handle"}, operation_column="operation")
    rows = prepared.write(place)["rows"]
    sys.stdout.write(f"prepared: {rows['read']} rows read, {rows['rejected']} rejected\n")


def upload(place: str, audience_id: str) -> int:
    """Upload the records, and say how it went. Raises the error of the last attempt."""
    source = f"{place.replace('s3a://', 's3://', 1).rstrip('/')}/"
    # The same list and audience have the same id in each run of the job: what was confirmed is not sent again.
    run_id = f"spark-{hashlib.sha256(f'{source} {audience_id}'.encode()).hexdigest()[:24]}"
    for attempt in range(1, ATTEMPTS + 1):
        try:
            report = audiencekit.upload(source, audience=audience_id, run_id=run_id)
            break
        except audiencekit.AudiencekitError as error:
            if attempt == ATTEMPTS or error.exit_code not in MAY_SUCCEED_LATER:
                raise
            sys.stderr.write(f"attempt {attempt}: {error}\n")
            time.sleep(WAIT_SECONDS)
    rows = report.rows
    sys.stdout.write(f"{report.state}: {rows.read} records read, {rows.sent} sent\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
