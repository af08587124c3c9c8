"""The fields of a connection of type `audiencekit`, and the Settings it gives. Knows no Airflow.

Hosts that credentials may go to beyond the profile's own, loopback too, come from the worker's environment and never
from a connection: a person who may edit a connection, and not read its secrets, must not send them elsewhere
(design, section 4.10). A file in the directory that a worker happens to run in is not read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from audiencekit.errors import UsageError
from audiencekit.settings import CHOICES, FILE_KEYS, PREFIX, SECRET_NAMES, Settings, load_settings

CONNECTION_TYPE: Final = "audiencekit"
HOST_LABEL: Final = "Address of the ads API"
HIDDEN_FIELDS: Final = ("login", "password", "schema", "port")
LABELS: Final[Mapping[str, str]] = {
    "profile": "Profile (spec or x)",
    "account_id": "Ads account",
    "consumer_key": "Consumer key",
    "consumer_secret": "Consumer secret",
    "access_token": "Access token",
    "access_token_secret": "Access token secret",
    "state_dir": "State directory",
    "requests_per_minute": "Requests per minute",
    "concurrency": "Requests in flight",
}
PLACEHOLDERS: Final[Mapping[str, str]] = {
    "host": "https://… ; empty for the address of the profile",
    "profile": "spec",
    "state_dir": "a directory that all workers share",
}


def settings_from(
    conn_id: str, host: str | None, extra: Mapping[str, Any], environment: Mapping[str, str] | None = None
) -> Settings:
    """The settings of the connection, and of the worker's environment for what the connection leaves empty.

    The four credentials come from one of the two as a whole. Raises UsageError for invalid fields.
    """
    environment = dict(os.environ if environment is None else environment)
    given = {name: str(value).strip() for name, value in extra.items() if value not in (None, "")}
    if alien := sorted(set(given) - FILE_KEYS - CHOICES - set(SECRET_NAMES)):
        hint = f"it may give {', '.join(LABELS)}; all else comes from the worker's environment"
        raise UsageError(f"connection {conn_id!r} has fields that it must not have: {', '.join(alien)}", hint=hint)
    missing = [name for name in SECRET_NAMES if name not in given]
    if 0 < len(missing) < len(SECRET_NAMES):
        hint = "give all four in the connection, or none there and all in the worker's environment"
        raise UsageError(f"connection {conn_id!r} lacks {', '.join(missing)}", hint=hint)
    named = environment | {PREFIX + name.upper(): value for name, value in given.items()}
    settings = load_settings(named, directory=None, user_file=False)  # of no user: a task has its connection
    # Not by way of the environment, which alone may name a port of loopback.
    return replace(settings, ads_url=host.strip()) if host else settings
