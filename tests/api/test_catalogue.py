"""The rows against the specification's own data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audiencekit.api.catalogue import BY_NAME, ENDPOINTS, Endpoint, RateWindow
from audiencekit.limits import MAX_LIST_IDS, MAX_PAGE_ROWS

SPECIFICATION = Path(__file__).resolve().parents[2].parent / "shared" / "spec" / "endpoints.json"


def _stated(name: str) -> dict[str, Any]:
    if not SPECIFICATION.exists():
        pytest.skip("no shared specification here")
    found = [row for row in json.loads(SPECIFICATION.read_text())["endpoints"] if row["name"] == name]
    assert len(found) == 1
    return dict(found[0])


def _window(stated: dict[str, Any]) -> RateWindow | None:
    if "requests_per_window" not in stated:
        return None
    return RateWindow(requests=stated["requests_per_window"], seconds=stated["window_seconds"])


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=[endpoint.name for endpoint in ENDPOINTS])
def test_row_is_as_specified(endpoint: Endpoint) -> None:
    """Each field of a row is what the specification states under the same name."""
    stated = _stated(endpoint.name)
    limits = stated["limits"]
    assert endpoint == Endpoint(
        name=stated["name"],
        method=stated["method"],
        path=stated["path"],
        parameters=tuple(parameter["name"] for parameter in stated["params"]),
        base=stated["base"],
        params_in=stated["params_in"],
        body=stated["body"],
        window=_window(limits),
        window_with_total_count=_window(limits.get("with_total_count", {})),
        operations=limits.get("operations"),
        body_bytes=limits.get("body_bytes"),
        section=stated["source"]["section"],
        ambiguities=endpoint.ambiguities,
    )


def test_bounds_of_lists_are_as_specified() -> None:
    """The bounds of `count` and of lists of ids are those stated for listing audiences."""
    parameters = {parameter["name"]: parameter for parameter in _stated("list_custom_audiences")["params"]}
    assert parameters["count"]["max"] == MAX_PAGE_ROWS
    assert parameters["count"]["min"] == 1
    assert parameters["custom_audience_ids"]["max_items"] == MAX_LIST_IDS


def test_names_are_unique() -> None:
    """Every row is found by its name."""
    assert [BY_NAME[endpoint.name] for endpoint in ENDPOINTS] == list(ENDPOINTS)
