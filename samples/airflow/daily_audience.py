"""Every day: from a query of the warehouse to an audience that is ready to be targeted.

First, people who asked to be forgotten are taken out of every audience of the account, and left out of all that is sent
from then on. Then the audience is made equal to the customers who said yes: who is new is put in, who is gone is taken
out, and whose time is nearly over is put in again. Those who said no go on the do-not-reach list of the account. The
exports hold personal data: they lie in a directory that only the workers can read, and are removed when the run has
ended, whether it went well or not. Rows never pass through Airflow itself: a task hands on the path of its file.

The table erasure_requests keeps who asked for some days, a month say: an erasure that failed is then made good by the
run of the next day. The receipt of each is the XCom of its task.

Set up: a connection `audiencekit_default` of type audiencekit, a connection `warehouse` of any SQL database, the
Airflow variable `audience_id`, and on every worker AUDIENCEKIT_STATE_DIR and AUDIENCE_EXPORTS, directories that all
workers share.
"""

from __future__ import annotations

import csv
import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

try:
    from airflow.sdk import DAG, BaseHook, get_current_context, task
except ImportError:  # Airflow 2.11
    from airflow import DAG
    from airflow.decorators import task
    from airflow.hooks.base import BaseHook
    from airflow.operators.python import get_current_context
try:
    from airflow.sdk.exceptions import AirflowSkipException
except ImportError:  # Airflow before 3.2
    from airflow.exceptions import AirflowSkipException

from audiencekit.integrations.airflow.operators import AudienceSyncOperator, DoNotReachUploadOperator, ForgetOperator
from audiencekit.integrations.airflow.sensor import AudienceReadySensor

# The order makes the file of a second try the same as that of the first.
CUSTOMERS = "SELECT email, phone, country FROM customers WHERE consent = 1 ORDER BY id"
REFUSALS = "SELECT email, phone, country FROM customers WHERE consent = 0 ORDER BY id"
ERASURES = "SELECT email, phone, country FROM erasure_requests ORDER BY id"
ROWS_AT_A_TIME = 10_000


def export_path(name: str) -> Path:
    """The file of one export of this DAG run: the same for every try of its task."""
    run = get_current_context()["run_id"].replace(":", "-")
    return Path(os.environ["AUDIENCE_EXPORTS"], run, f"{name}.csv")


@task
def export(name: str, query: str, skip_if_empty: bool = False) -> str:
    """Writes the rows of the query to a file for the owner only, and hands on its path."""
    path = export_path(name)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    cursor = BaseHook.get_connection("warehouse").get_hook().get_conn().cursor()
    cursor.execute(query)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([column[0] for column in cursor.description])
        count = 0
        while rows := cursor.fetchmany(ROWS_AT_A_TIME):
            writer.writerows(rows)
            count += len(rows)
    if skip_if_empty and count == 0:
        path.unlink()
        raise AirflowSkipException("there are no rows today")
    return str(path)


@task(trigger_rule="all_done")
def remove(paths: list[str | None]) -> None:
    """Remove the exports when no task reads them any more; a task that was skipped has none."""
    for path in filter(None, paths):
        Path(path).unlink(missing_ok=True)


defaults: dict[str, Any] = {"retries": 3, "retry_delay": timedelta(minutes=10)}
with DAG(
    "daily_audience",
    schedule="@daily",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    default_args=defaults,
):
    customers = export.override(task_id="export_customers")("customers", CUSTOMERS)
    refusals = export.override(task_id="export_refusals")("refusals", REFUSALS)
    erasures = export.override(task_id="export_erasures")("erasures", ERASURES, skip_if_empty=True)
    forget = ForgetOperator(task_id="forget", source=erasures)
    # An erasure that failed holds the others back; one that was skipped, without requests, does not.
    keep_out = DoNotReachUploadOperator(
        task_id="keep_out", source=refusals, options={"allow_empty": True}, trigger_rule="none_failed"
    )
    sync = AudienceSyncOperator(
        task_id="sync",
        source=customers,
        audience="{{ var.value.audience_id }}",
        options={"ttl_days": 90, "max_rejected_share": 0.2},
        trigger_rule="none_failed",
    )
    ready = AudienceReadySensor(task_id="ready", audience="{{ var.value.audience_id }}", deferrable=True)
    forget >> [keep_out, sync] >> remove([customers, refusals, erasures])
    sync >> ready
