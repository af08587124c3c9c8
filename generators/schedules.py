"""`samples/nightly/`: the files that `audiencekit schedule` prints for an invented setup."""

from __future__ import annotations

from collections.abc import Callable
from datetime import time
from functools import partial
from pathlib import Path
from typing import Final

from audiencekit.audiences.setups.setup import AudienceSetup, Setup
from audiencekit.cli.schedule_files import airflow_dag, cron_job, crontab, github_workflow, service_unit, timer_unit
from audiencekit.cli.scheduled_run import ScheduledRun

FOLDER: Final = "samples/nightly"
_HERE: Final = Path("/srv/shop")
_CUSTOMERS: Final = AudienceSetup(
    name="spring-customers",
    command="sync",
    audience="dlzxk",
    sources=(_HERE / "exports/customers.csv",),
    keywords={"country": "DE", "suppress": [str(_HERE / "exports/unsubscribed.csv")]},
)
_OBJECTIONS: Final = AudienceSetup(
    name="objections", command="do-not-reach", audience="", sources=(_HERE / "exports/objections.csv",)
)
RUN: Final = ScheduledRun(
    setup=Setup(_HERE / "audiencekit.toml", (_CUSTOMERS, _OBJECTIONS)),
    names=(),
    at=time(3, 15),
    program=("/opt/audiencekit/bin/audiencekit",),
    user="ada",
    state_dir=Path("/home/ada/.local/state/audiencekit"),
    log=_HERE / "audiencekit-nights.jsonl",
    settings={"AUDIENCEKIT_PROFILE": "x", "AUDIENCEKIT_ACCOUNT_ID": "18ce5i7i7vj"},
)


def schedule_files() -> dict[str, Callable[[], str]]:
    """Each file, and the function that writes it."""
    written: dict[str, Callable[[ScheduledRun], str]] = {
        "crontab": crontab,
        "audiencekit-shop.service": service_unit,
        "audiencekit-shop.timer": timer_unit,
        "kubernetes.yaml": partial(cron_job, image="registry.example/audiencekit"),
        "airflow.py": airflow_dag,
        "github.yml": github_workflow,
    }
    return {f"{FOLDER}/{name}": partial(write, RUN) for name, write in written.items()}
