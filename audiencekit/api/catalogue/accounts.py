"""Accounts, the people who may use them, features, recommendations and reference data (specification part 1,
sections 4.1, 4.2 and 4.9 to 4.12).
"""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Section
from audiencekit.api.catalogue.parameters import (
    COUNT,
    CURSOR,
    LISTING,
    SORT_BY,
    WITH_DELETED,
    WITH_TOTAL_COUNT,
    Q,
    currency,
    ids,
    long,
    long_in_path,
    one_of,
    some_of,
    text,
    texts,
    time,
)
from audiencekit.service_words import INDUSTRIES, PRODUCT_TYPES, SANDBOX_FEATURES

_ACCOUNTS: Final = Section("accounts", part=1, section="4.1")

ACCOUNTS: Final = (
    _ACCOUNTS.get(
        "list_accounts", "/12/accounts", ids("account_ids"), COUNT, CURSOR, Q, SORT_BY, WITH_DELETED, WITH_TOTAL_COUNT
    ),
    _ACCOUNTS.get("get_account", "/12/accounts/{account_id}", WITH_DELETED),
    _ACCOUNTS.post(
        "create_account",
        "/12/accounts",
        base="ads_sandbox_url",
        ambiguities=(
            "every path but that of the list is said to name the account, which this one cannot: none is sent",
        ),
    ),
    _ACCOUNTS.put("update_account", "/12/accounts/{account_id}", text("name"), one_of("industry_type", *INDUSTRIES)),
    _ACCOUNTS.delete("delete_account", "/12/accounts/{account_id}", base="ads_sandbox_url"),
    _ACCOUNTS.get("list_account_apps", "/12/accounts/{account_id}/account_apps", *LISTING),
    _ACCOUNTS.get(
        "get_account_history",
        "/12/accounts/{account_id}/account_history",
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


_USERS_ACCESS: Final = Section("users_access", part=1, section="4.9")

USERS_ACCESS: Final = (
    _USERS_ACCESS.get("get_authenticated_user_access", "/12/accounts/{account_id}/authenticated_user_access"),
    _USERS_ACCESS.get(
        "list_promotable_users", "/12/accounts/{account_id}/promotable_users", ids("promotable_user_ids"), *LISTING
    ),
    _USERS_ACCESS.get(
        "get_promotable_user", "/12/accounts/{account_id}/promotable_users/{promotable_user_id}", WITH_DELETED
    ),
    _USERS_ACCESS.get(
        "get_user_settings", "/12/accounts/{account_id}/user_settings/{user_id}", long_in_path("user_id")
    ),
    _USERS_ACCESS.put(
        "update_user_settings",
        "/12/accounts/{account_id}/user_settings/{user_id}",
        long_in_path("user_id"),
        text("notification_email"),
        text("contact_phone"),
        text("contact_phone_extension"),
        texts("subscribe_email_types"),
        ambiguities=("the values of subscribe_email_types are not shown: any words are sent",),
        notes=("only the owner of the settings may call it, no admin for another user",),
    ),
)


_FEATURES: Final = Section("features", part=1, section="4.12")

FEATURES: Final = (
    _FEATURES.get(
        "list_features",
        "/12/accounts/{account_id}/features",
        some_of("feature_keys", "REACH_AND_FREQUENCY_ANALYTICS", "REACH_FREQUENCY_CAP", "WEBSITE_CLICKS_CPM_BILLING"),
        ambiguities=("WEBSITE_CLICKS_CPM_BILLING can be read but not set: each call takes its own list",),
    ),
    _FEATURES.post(
        "add_features",
        "/12/accounts/{account_id}/features",
        some_of(
            "feature_keys",
            *SANDBOX_FEATURES,
            required=True,
        ),
        base="ads_sandbox_url",
    ),
    _FEATURES.delete(
        "remove_features",
        "/12/accounts/{account_id}/features",
        some_of(
            "feature_keys",
            *SANDBOX_FEATURES,
            required=True,
        ),
        base="ads_sandbox_url",
    ),
)


_OLD_VERSION: Final = ("version 5 stands in the path, which the public service has ended: it is called as written",)

_RECOMMENDATIONS: Final = Section("recommendations", part=1, section="4.10")

RECOMMENDATIONS: Final = (
    _RECOMMENDATIONS.get(
        "list_recommendations",
        "/5/accounts/{account_id}/recommendations",
        notes=("a closed beta",),
        ambiguities=_OLD_VERSION,
    ),
    _RECOMMENDATIONS.get(
        "get_recommendation",
        "/5/accounts/{account_id}/recommendations/{recommendation_id}",
        notes=("a closed beta",),
        ambiguities=_OLD_VERSION,
    ),
)


_REFERENCE: Final = Section("reference", part=1, section="4.2")

REFERENCE: Final = (
    _REFERENCE.get("list_advertiser_business_categories", "/12/advertiser_business_categories"),
    _REFERENCE.get("list_content_categories", "/12/content_categories"),
    _REFERENCE.get("list_publishers", "/12/publishers"),
    _REFERENCE.get(
        "list_bidding_rules",
        "/12/bidding_rules",
        currency("currency", note="all of them when it is left out"),
        notes=("the rules change rarely: ask again at least monthly",),
    ),
    _REFERENCE.get("list_line_item_placements", "/12/line_items/placements", one_of("product_type", *PRODUCT_TYPES)),
)
