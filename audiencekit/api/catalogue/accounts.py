"""Advertising accounts, their apps, history and taxes (specification part 1, sections 4.1 and 4.11)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Section
from audiencekit.api.catalogue.parameters import (
    ACCOUNT_ID,
    COUNT,
    CURSOR,
    SORT_BY,
    WITH_DELETED,
    WITH_TOTAL_COUNT,
    Q,
    ids,
    long,
    one_of,
    text,
    time,
)
from audiencekit.api.catalogue.rules import CURSOR_OR_TOTAL
from audiencekit.servicewords import INDUSTRIES

_ACCOUNTS: Final = Section("accounts", part=1, section="4.1")

ENDPOINTS: Final = (
    _ACCOUNTS.get(
        "list_accounts",
        "/12/accounts",
        ids("account_ids"),
        COUNT,
        CURSOR,
        Q,
        SORT_BY,
        WITH_DELETED,
        WITH_TOTAL_COUNT,
        rules=(CURSOR_OR_TOTAL,),
    ),
    _ACCOUNTS.get("get_account", "/12/accounts/{account_id}", ACCOUNT_ID, WITH_DELETED),
    _ACCOUNTS.post(
        "create_account",
        "/12/accounts",
        base="ads_sandbox_url",
        ambiguities=(
            "every path but that of the list is said to name the account, which this one cannot: none is sent",
        ),
    ),
    _ACCOUNTS.put(
        "update_account", "/12/accounts/{account_id}", ACCOUNT_ID, text("name"), one_of("industry_type", *INDUSTRIES)
    ),
    _ACCOUNTS.delete("delete_account", "/12/accounts/{account_id}", ACCOUNT_ID, base="ads_sandbox_url"),
    _ACCOUNTS.get(
        "list_account_apps",
        "/12/accounts/{account_id}/account_apps",
        ACCOUNT_ID,
        COUNT,
        CURSOR,
        SORT_BY,
        WITH_DELETED,
        WITH_TOTAL_COUNT,
        rules=(CURSOR_OR_TOTAL,),
    ),
    _ACCOUNTS.get(
        "get_account_history",
        "/12/accounts/{account_id}/account_history",
        ACCOUNT_ID,
        one_of(
            "entity_type",
            "CAMPAIGN",
            "LINE_ITEM",
            "PROMOTED_TWEET",
            "TARGETING_CRITERIA",
            "PROMOTED_ACCOUNT",
            required=True,
        ),
        text("entity_id", required=True),
        time("start_time", required=True, whole_hours=True),
        time("end_time", required=True, whole_hours=True),
        long("user_id"),
        COUNT,
        CURSOR,
        notes=("a beta, open to accounts that were let in",),
    ),
    Section("tax", part=1, section="4.11").put(
        "update_tax_settings",
        "/12/accounts/{account_id}/tax_settings",
        ACCOUNT_ID,
        text("client_address_street1", note="of the client, when the account is an agency's"),
        text("client_address_street2", note="of the client, when the account is an agency's"),
        text("address_name"),
        one_of("invoice_jurisdiction", "LOI_SAPIN", "NONE", "NOT_SET"),
        one_of("tax_category", "BUSINESS_NO_VAT", "BUSINESS_WITH_VAT", "INDIVIDUAL"),
        text("tax_exemption_id"),
        text("tax_id"),
        ambiguities=("stated in part only: no other parameters are taken",),
    ),
)
