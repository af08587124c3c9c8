"""Tax settings of an account, over the wire."""

from __future__ import annotations

from typing import Any

import pytest

NAMES = (
    "client_address_street1",
    "client_address_street2",
    "address_name",
    "tax_exemption_id",
    "tax_id",
    "invoice_jurisdiction",
    "tax_category",
)


async def _put(caller: Any, **query: str) -> Any:
    return await caller.call("PUT", caller.account + "/tax_settings", query=query)


async def test_settings_are_changed_one_by_one(caller: Any) -> None:
    """Fields that are not given stay; an empty text unsets."""
    expected: dict[str, str | None] = dict.fromkeys(NAMES)
    for query in (
        {},
        {"tax_id": "GB000000000", "address_name": "Local Tours"},
        {"invoice_jurisdiction": "LOI_SAPIN", "tax_category": "BUSINESS_WITH_VAT", "tax_exemption_id": "x"},
        {"client_address_street1": "1 Some Street", "client_address_street2": "Floor 2", "tax_exemption_id": ""},
    ):
        expected = {**expected, **{name: text or None for name, text in query.items()}}
        reply = await _put(caller, **query)
        assert reply.body["data"] == expected
        assert reply.body["request"]["params"] == {"account_id": caller.emulator.account_id, **query}


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("invoice_jurisdiction", ("LOI_SAPIN", "NONE", "NOT_SET"), ("FRANCE", "none", "")),
        ("tax_category", ("BUSINESS_NO_VAT", "BUSINESS_WITH_VAT", "INDIVIDUAL"), ("BUSINESS", "individual", "")),
    ],
)
async def test_two_of_them_are_one_of_a_few(
    caller: Any, name: str, good: tuple[str, ...], bad: tuple[str, ...]
) -> None:
    """Each word is taken, any other refused, and with it what came along."""
    for text in good:
        assert (await _put(caller, **{name: text})).body["data"][name] == text
    for text in bad:
        refused = await _put(caller, **{name: text, "tax_id": "lost"})
        assert (refused.status, refused.body["errors"][0]["parameter"]) == (400, name)
    assert (await _put(caller)).body["data"]["tax_id"] is None


async def test_nothing_else_is_taken(caller: Any) -> None:
    """A name that is no setting is refused."""
    assert (await _put(caller, vat="7")).codes == ["INVALID_PARAMETER"]
