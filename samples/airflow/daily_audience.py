"""Every day: from a query of the warehouse to an audience that is ready to be targeted.

The audience is made equal to the customers who said yes: who is new is put in, who is gone is taken out, and whose
time is nearly over is put in again. Those who said no go on the do-not-reach list of the account. The two exports hold
personal data: they lie in a directory that only the workers can read, and are removed when the run has ended, whether
it went well or not. Rows never pass through Airflow itself: a task hands on the path of its file.

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

from audiencekit.integrations.airflow.operators import AudienceSyncOperator, DoNotReachUploadOperator
from audiencekit.integrations.airflow.sensor import AudienceReadySensor

# The order makes the file of a second try the same as that of the first.
CUSTOMERS = "SELECT email, phone, country FROM customers WHERE consent = 1 ORDER BY id"
REFUSALS = "SELECT email, phone, country FROM customers WHERE consent = 0 ORDER BY id"
ROWS_AT_A_TIME = 10_000


def export_path(name: str) -> Path:
    """The file of one export of this DAG run: the same for every try of its task."""
    run = get_current_context()["run_id"].replace(":", "-")
    return Path(os.environ["AUDIENCE_EXPORTS"], run, f"{name}.csv")


@task
def export(name: str, query: str) -> str:
    """Writes the rows of the query to a file for the owner only, and hands on its path."""
    path = export_path(name)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    cursor = BaseHook.get_connection("warehouse").get_hook().get_conn().cursor()
    cursor.execute(query)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([column[0] for column in cursor.description])
        while rows := cursor.fetchmany(ROWS_AT_A_TIME):
            writer.writerows(rows)
    return str(path)


@task(trigger_rule="all_done")
def remove(paths: list[str]) -> None:
    """Removes the exports, as soon as nobody reads them any more."""
    for path in paths:
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
    keep_out = DoNotReachUploadOperator(task_id="keep_out", source=refusals, options={"allow_empty": True})
    sync = AudienceSyncOperator(
        task_id="sync",
        source=customers,
        audience_id="{{ var.value.audience_id }}",
        options={"ttl_days": 90, "max_rejected_share": 0.2},
    )
    ready = AudienceReadySensor(task_id="ready", audience_id="{{ var.value.audience_id }}", deferrable=True)
    [keep_out, sync] >> remove([customers, refusals])
    sync >> ready
