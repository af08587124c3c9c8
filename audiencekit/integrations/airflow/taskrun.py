"""The run of a task: the same for every try of it, another one for every other task. Knows no Airflow."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from audiencekit.runs.store import RUN_ID_TIME

_DIGITS: Final = 16


def run_id_of(context: Mapping[str, Any]) -> str:
    """The id of the task's run, from the ids of its DAG, its DAG run and itself, and its map index.

    It begins with the time that the DAG run is for, by which people find it.
    """
    task, dag_run = context["ti"], context["dag_run"]
    names = json.dumps([task.dag_id, task.task_id, task.run_id, task.map_index])
    return f"{_time_of(dag_run)}-{hashlib.sha256(names.encode()).hexdigest()[:_DIGITS]}"


def _time_of(dag_run: Any) -> str:
    # Airflow 3 gives every DAG run a time to run after, and not every one a logical date; 2.11 knows the latter only.
    time: datetime = getattr(dag_run, "run_after", None) or dag_run.logical_date
    return time.astimezone(UTC).strftime(RUN_ID_TIME)
