"""The answers that Airflow asks a provider for: its connection type, hook, and triggers. Named by the entry point."""

from __future__ import annotations

from typing import Any, Final

from audiencekit import __version__
from audiencekit.integrations.airflow.connection import CONNECTION_TYPE, HIDDEN_FIELDS, HOST_LABEL, LABELS, PLACEHOLDERS
from audiencekit.settings import SECRET_NAMES

_ROOM: Final = "audiencekit.integrations.airflow"
HOOK: Final = f"{_ROOM}.hook.AudiencekitHook"
HOOK_NAME: Final = "audiencekit"


def get_provider_info() -> dict[str, Any]:
    """The provider as Airflow 3 reads it; 2.11 asks the hook for the form, and passes over what it does not know."""
    connection = {
        "hook-class-name": HOOK,
        "connection-type": CONNECTION_TYPE,
        "hook-name": HOOK_NAME,
        "ui-field-behaviour": field_behaviour("hidden-fields"),
        "conn-fields": {name: _field(name) for name in LABELS},
    }
    return {
        "package-name": "audiencekit",
        "name": "audiencekit",
        "description": "Puts your customers into ads audiences: normalised, hashed, counted, nothing lost or leaked.",
        "versions": [__version__],
        "hook-class-names": [HOOK],
        "connection-types": [connection],
        "extra-links": [f"{_ROOM}.links.ReportLink"],
        "operators": [{"integration-name": "audiencekit", "python-modules": [f"{_ROOM}.operators"]}],
        "sensors": [{"integration-name": "audiencekit", "python-modules": [f"{_ROOM}.sensor"]}],
        "triggers": [{"integration-name": "audiencekit", "python-modules": [f"{_ROOM}.sensor", f"{_ROOM}.deferral"]}],
    }


def field_behaviour(hidden: str) -> dict[str, Any]:
    """Which of the usual fields are hidden, what they are called; `hidden` is the key that names the first of these."""
    return {hidden: list(HIDDEN_FIELDS), "relabeling": {"host": HOST_LABEL}, "placeholders": dict(PLACEHOLDERS)}


def _field(name: str) -> dict[str, Any]:
    schema = (
        {"type": ["string", "null"], "format": "password"} if name in SECRET_NAMES else {"type": ["string", "null"]}
    )
    return {"label": LABELS[name], "schema": schema}
