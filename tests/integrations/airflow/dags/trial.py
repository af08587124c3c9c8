"""One upload whose source a test gives; it is tried twice."""

from __future__ import annotations

from datetime import datetime, timedelta

try:
    from airflow.sdk import DAG
except ImportError:  # Airflow 2.11
    from airflow import DAG

from audiencekit.integrations.airflow.operators import AudienceUploadOperator

with DAG("trial", schedule=None, start_date=datetime(2026, 1, 1), params={"audience": "", "source": ""}):
    AudienceUploadOperator(
        task_id="upload",
        source="{{ params.source }}",
        audience="{{ params.audience }}",
        retries=1,
        retry_delay=timedelta(seconds=1),
    )
