"""A night: an audience is made and filled by its name, holding no worker; another one is synced; and a list is bad.

Beside them a wait that holds no worker either, until people who were synced can be targeted.
"""

from __future__ import annotations

from datetime import datetime, timedelta

try:
    from airflow.sdk import DAG
except ImportError:  # Airflow 2.11
    from airflow import DAG

from audiencekit.integrations.airflow.assets import audience_asset
from audiencekit.integrations.airflow.operators import (
    AudienceSyncOperator,
    AudienceUploadOperator,
    CreateAudienceOperator,
)
from audiencekit.integrations.airflow.sensor import AudienceReadySensor

NAME = "Of the night"

with DAG(
    "night",
    schedule=None,
    start_date=datetime(2026, 1, 1),
    is_paused_upon_creation=False,
    params={"lists": "", "page": "", "synced": ""},
):
    create = CreateAudienceOperator(task_id="create", audience_name=NAME)
    upload = AudienceUploadOperator(
        task_id="upload",
        source=["{{ params.lists }}/first.csv", "{{ params.lists }}/second.csv"],
        audience=NAME,
        deferrable=True,
        defer_after=1,
        retries=5,
        retry_delay=timedelta(seconds=1),
        outlets=[audience_asset(NAME)],
        page="{{ params.page }}",
        page_url="https://pages.example/{{ run_id }}.html",
    )
    sync = AudienceSyncOperator(task_id="sync", source="{{ params.lists }}/first.csv", audience="Synced")
    bad = AudienceUploadOperator(
        task_id="bad", source="{{ params.lists }}/bad.csv", audience=NAME, retries=1, retry_delay=timedelta(seconds=1)
    )
    create >> upload >> sync >> bad  # type: ignore[operator]
    AudienceReadySensor(
        task_id="ready", audience="{{ params.synced }}", deferrable=True, poke_interval=1, timeout=3_600
    )
