"""What differs between Airflow 3 and 2.11, in one place: where things are imported from."""

from __future__ import annotations

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
    from airflow.sdk.log import mask_secret
except ImportError:
    from airflow.utils.log.secrets_masker import mask_secret
from airflow.configuration import conf
from airflow.triggers.base import BaseTrigger, TriggerEvent

__all__ = [
    "AirflowException",
    "AirflowFailException",
    "AirflowNotFoundException",
    "AirflowSensorTimeout",
    "BaseHook",
    "BaseOperator",
    "BaseSensorOperator",
    "BaseTrigger",
    "PokeReturnValue",
    "TriggerEvent",
    "conf",
    "mask_secret",
]
