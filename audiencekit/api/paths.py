"""The path of an endpoint with its variables filled in, so that no id can mean another path."""

from __future__ import annotations

import re
from typing import Final

from audiencekit.api.catalogue import VERSION, Endpoint
from audiencekit.errors import UsageError
from audiencekit.serviceids import HINT, is_service_id

_VERSION: Final = re.compile(r"[1-9][0-9]{0,2}", re.ASCII)


def fill_path(endpoint: Endpoint, *, version: str, **identifiers: str) -> str:
    """The path of `endpoint` under `version`. Raises UsageError for an id or a version that is not one."""
    check_version(version)
    for name, identifier in identifiers.items():
        check_identifier(name, identifier)
    return endpoint.path.replace(f"/{VERSION}/", f"/{version}/", 1).format(**identifiers)


def check_version(version: str) -> None:
    """Raises UsageError unless `version` is a version of the API."""
    if not _VERSION.fullmatch(version):
        raise UsageError("the version of the API is a whole number, such as 12")


def check_identifier(name: str, identifier: str) -> None:
    """Raises UsageError unless `identifier` is an id of this service; `name` says which one is meant."""
    if not is_service_id(identifier):
        raise UsageError(f"the {name} is not an id of this service", hint=HINT)
