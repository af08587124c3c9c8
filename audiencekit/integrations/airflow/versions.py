"""The differences of Airflow 3 and 2.11, in one place: where things are imported from, and what they log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

try:
    from airflow.sdk import BaseHook, BaseOperator, BaseSensorOperator, PokeReturnValue
    from airflow.sdk.exceptions import (
        AirflowException,
        AirflowFailException,
        AirflowNotFoundException,
        AirflowSensorTimeout,
    )
except ImportError:  # 3.0 and 3.1 keep the exceptions, 2.11 keeps everything, in the old places
    from airflow.exceptions import (
        AirflowException,
        AirflowFailException,
        AirflowNotFoundException,
        AirflowSensorTimeout,
    )

    try:
        from airflow.sdk import BaseHook, BaseOperator, BaseSensorOperator, PokeReturnValue
    except ImportError:
        from airflow.hooks.base import BaseHook
        from airflow.models import BaseOperator
        from airflow.sensors.base import BaseSensorOperator, PokeReturnValue
try:
    from airflow.sdk import Asset, AssetAlias, BaseOperatorLink
    from airflow.sdk.execution_time.xcom import XCom
except ImportError:
    from airflow.datasets import Dataset as Asset, DatasetAlias as AssetAlias
    from airflow.models.baseoperatorlink import BaseOperatorLink
    from airflow.models.xcom import XCom
try:
    from airflow.sdk.log import mask_secret
except ImportError:
    from airflow.utils.log.secrets_masker import mask_secret
from airflow.configuration import conf
from airflow.triggers.base import BaseTrigger, TriggerEvent

try:
    import structlog
except ImportError:  # 2.11 logs without it
    structlog = None

__all__ = [
    "AirflowException",
    "AirflowFailException",
    "AirflowNotFoundException",
    "AirflowSensorTimeout",
    "Asset",
    "AssetAlias",
    "BaseHook",
    "BaseOperator",
    "BaseOperatorLink",
    "BaseSensorOperator",
    "BaseTrigger",
    "PokeReturnValue",
    "TriggerEvent",
    "XCom",
    "conf",
    "in_seconds",
    "mask_secret",
    "unlogged_secrets",
]


def in_seconds(time: timedelta | float) -> float:
    """Return a time as arguments of operators have it, in seconds."""
    return time.total_seconds() if isinstance(time, timedelta) else time


@contextmanager
def unlogged_secrets() -> Iterator[None]:
    """While it lasts, Airflow 3 does not log the messages by which its own parts pass secrets on.

    `airflow dags test` would: at the level DEBUG it writes down the very request to mask a secret.
    """
    processors = structlog.get_config()["processors"] if structlog is not None else []
    processors.insert(0, _drop_secrets)
    try:
        yield
    finally:
        processors.remove(_drop_secrets)


def _drop_secrets(logger: Any, method: str, event: dict[str, Any]) -> dict[str, Any]:
    if type(event.get("msg")).__name__ in ("MaskSecret", "ConnectionResult"):
        raise structlog.DropEvent
    return event
