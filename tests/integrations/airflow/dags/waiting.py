"""One wait that costs no worker, for an audience that a test names."""

from __future__ import annotations

from datetime import datetime

try:
    from airflow.sdk import DAG
except ImportError:  # Airflow 2.11
    from airflow import DAG

from audiencekit.integrations.airflow.sensor import AudienceReadySensor

with DAG("waiting", schedule=None, start_date=datetime(2026, 1, 1), params={"audience": ""}):
    AudienceReadySensor(
        task_id="ready", audience="{{ params.audience }}", deferrable=True, poke_interval=1, timeout=300
    )
