"""One upload that holds no worker while it waits; its traces are an event, lineage, and a page with a link.

As a program of Airflow 3 it runs one DAG run, with the configuration of its argument. It is the same one each time;
`dags test` of Airflow 3 begins another.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime

try:
    from airflow.sdk import DAG
except ImportError:  # Airflow 2.11
    from airflow import DAG

from audiencekit.integrations.airflow.assets import audience_asset
from audiencekit.integrations.airflow.operators import AudienceUploadOperator

NAME = "Killed twice"

with DAG("deferrable", schedule=None, start_date=datetime(2026, 1, 1), params={"source": "", "page": ""}) as dag:
    AudienceUploadOperator(
        task_id="upload",
        source="{{ params.source }}",
        audience=NAME,
        deferrable=True,
        defer_after=1,
        outlets=[audience_asset(NAME)],
        page="{{ params.page }}",
        page_url="https://pages.example/{{ run_id }}.html",
    )

if __name__ == "__main__":
    when = datetime(2026, 2, 9, tzinfo=UTC)
    run = dag.test(run_conf=json.loads(sys.argv[1]), logical_date=when, run_after=when)
    sys.exit(run.state != "success")
