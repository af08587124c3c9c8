"""Mobile apps of an account, over the wire."""

from __future__ import annotations

from typing import Any


async def _apps(caller: Any, **query: Any) -> Any:
    return await caller.call("GET", caller.account + "/account_apps", query=query)


async def test_an_account_has_apps(caller: Any) -> None:
    """One of each store; a third was withdrawn."""
    apps = (await _apps(caller)).body["data"]
    assert [(app["os_type"], app["deleted"]) for app in apps] == [("Android", False), ("iOS", False)]
    everything = (await _apps(caller, with_deleted="true")).body["data"]
    assert everything[:2] == apps
    assert everything[2]["deleted"] is True
    assert everything[0] == {
        "app_store_identifier": "com.example.local",
        "conversion_tracking_enabled": False,
        "deep_link_pattern": "local://",
        "os_type": "Android",
        "id": everything[0]["id"],
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
        "deleted": False,
    }


async def test_the_list_has_pages(caller: Any) -> None:
    """And a total, when it is asked for."""
    first = (await _apps(caller, count=1, with_total_count="true")).body
    assert (len(first["data"]), first["total_count"]) == (1, 2)
    second = (await _apps(caller, count=1, cursor=first["next_cursor"])).body
    assert (second["data"][0]["os_type"], second["next_cursor"]) == ("iOS", None)


async def test_faulty_lists_are_refused(caller: Any) -> None:
    """The list takes no ids."""
    for query in ({"account_app_ids": "a"}, {"count": 1_001}, {"sort_by": "os_type"}, {"with_deleted": 1}):
        assert (await _apps(caller, **query)).codes == ["INVALID_PARAMETER"]
