# Made from the catalogue by `python -m generators`; a test says when it is out of date.

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Never, Protocol, Required, TypedDict, TypeVar, overload

from audiencekit.api.catalogue.endpoint import Endpoint
from audiencekit.api.answers import Answer
from audiencekit.personal import Secret

# For messages of mypy alone: no text is of this type.
EndpointWithTheseParameters = TypeVar("EndpointWithTheseParameters", bound=Literal[b""] | Sequence[Never])

class OauthRequestToken(TypedDict, total=False):
    oauth_callback: Required[str]
    platform_auth_access_type: Literal["read", "write"] | None

class OauthAuthorize(TypedDict, total=False):
    oauth_token: Required[str]
    force_login: bool | None
    screen_name: str | None

class OauthAuthenticate(TypedDict, total=False):
    oauth_token: Required[str]
    force_login: bool | None
    screen_name: str | None

class OauthAccessToken(TypedDict, total=False):
    oauth_verifier: Required[str | Secret]

class OauthInvalidateToken(TypedDict, total=False):
    pass

class Oauth2Token(TypedDict, total=False):
    grant_type: Required[Literal["client_credentials"]]

class Oauth2InvalidateToken(TypedDict, total=False):
    access_token: Required[str | Secret]

GetPosts = TypedDict(
    "GetPosts",
    {
        "ids": Required[str | Sequence[int | str]],
        "tweet.fields": str | Sequence[str] | None,
        "expansions": str | Sequence[str] | None,
        "media.fields": str | Sequence[str] | None,
        "poll.fields": str | Sequence[str] | None,
        "user.fields": str | Sequence[str] | None,
        "place.fields": str | Sequence[str] | None,
    },
    total=False,
)

LinkWebhookToFilteredStream = TypedDict(
    "LinkWebhookToFilteredStream",
    {
        "webhook_id": Required[str],
        "tweet.fields": str | Sequence[str] | None,
        "expansions": str | Sequence[str] | None,
        "media.fields": str | Sequence[str] | None,
        "poll.fields": str | Sequence[str] | None,
        "user.fields": str | Sequence[str] | None,
        "place.fields": str | Sequence[str] | None,
    },
    total=False,
)

class CreateActivitySubscription(TypedDict, total=False):
    direction: str | None
    event_type: str | None
    user_id: int | str | None
    keyword: str | None

class OpenActivityStream(TypedDict, total=False):
    backfill_minutes: int | None

class ReplayWebhook(TypedDict, total=False):
    webhook_id: str | None
    from_date: str | None
    to_date: str | None

class ListStreamRules(TypedDict, total=False):
    ids: str | Sequence[str] | None

class ChangeStreamRules(TypedDict, total=False):
    add: list[Any] | None
    delete: dict[str, Any] | None
    dry_run: bool | None

class ListAccounts(TypedDict, total=False):
    account_ids: str | Sequence[str] | None
    count: int | None
    cursor: str | None
    q: str | None
    sort_by: str | Sequence[str] | None
    with_deleted: bool | None
    with_total_count: bool | None

class GetAccount(TypedDict, total=False):
    account_id: str | None
    with_deleted: bool | None

class CreateAccount(TypedDict, total=False):
    pass

class UpdateAccount(TypedDict, total=False):
    account_id: str | None
    name: str | None
    industry_type: Literal[
        "AGENCY", "BUSINESS_TO_BUSINESS", "ONLINE_SERVICES", "EDUCATION", "FINANCIAL", "HEALTH", "GOVERNMENT",
        "MEDIA", "MOBILE", "RESTAURANT", "RETAIL", "TECHNOLOGY", "TRAVEL", "OTHER"
    ] | None

class DeleteAccount(TypedDict, total=False):
    account_id: str | None

class ListAccountApps(TypedDict, total=False):
    account_id: str | None
    count: int | None
    cursor: str | None
    sort_by: str | Sequence[str] | None
    with_deleted: bool | None
    with_total_count: bool | None

class GetAccountHistory(TypedDict, total=False):
    account_id: str | None
    entity_type: Required[Literal[
        "CAMPAIGN", "LINE_ITEM", "PROMOTED_TWEET", "TARGETING_CRITERIA", "PROMOTED_ACCOUNT"
    ]]
    entity_id: Required[str]
    start_time: Required[str | datetime]
    end_time: Required[str | datetime]
    user_id: int | str | None
    count: int | None
    cursor: str | None

class UpdateTaxSettings(TypedDict, total=False):
    account_id: str | None
    client_address_street1: str | None
    client_address_street2: str | None
    address_name: str | None
    invoice_jurisdiction: Literal["LOI_SAPIN", "NONE", "NOT_SET"] | None
    tax_category: Literal[
        "BUSINESS_NO_VAT", "BUSINESS_WITH_VAT", "INDIVIDUAL"
    ] | None
    tax_exemption_id: str | None
    tax_id: str | None

class ListAdvertiserBusinessCategories(TypedDict, total=False):
    pass

class ListContentCategories(TypedDict, total=False):
    pass

class ListPublishers(TypedDict, total=False):
    pass

class ListBiddingRules(TypedDict, total=False):
    currency: str | None

class ListLineItemPlacements(TypedDict, total=False):
    product_type: Literal["MEDIA", "PROMOTED_ACCOUNT", "PROMOTED_TWEETS"] | None

class ListCuratedCategories(TypedDict, total=False):
    account_id: str | None
    country_codes: Required[str | Sequence[str]]
    cursor: str | None

class GetCuratedCategory(TypedDict, total=False):
    account_id: str | None
    curated_category_id: Required[str]

class CreateLineItemCuratedCategory(TypedDict, total=False):
    account_id: str | None
    curated_category_id: Required[str]
    line_item_id: Required[str]

class UpdateLineItemCuratedCategory(TypedDict, total=False):
    account_id: str | None
    line_item_curated_category_id: Required[str]
    curated_category_id: str | None
    line_item_id: str | None

class DeleteLineItemCuratedCategory(TypedDict, total=False):
    account_id: str | None
    line_item_curated_category_id: Required[str]

class ListCampaigns(TypedDict, total=False):
    account_id: str | None
    campaign_ids: str | Sequence[str] | None
    count: int | None
    cursor: str | None
    funding_instrument_ids: str | Sequence[str] | None
    q: str | None
    sort_by: str | Sequence[str] | None
    with_deleted: bool | None
    with_draft: bool | None
    with_total_count: bool | None

class GetCampaign(TypedDict, total=False):
    account_id: str | None
    campaign_id: Required[str]
    with_deleted: bool | None

class CreateCampaign(TypedDict, total=False):
    account_id: str | None
    funding_instrument_id: Required[str]
    name: Required[str]
    budget_optimization: Literal["CAMPAIGN", "LINE_ITEM"] | None
    daily_budget_amount_local_micro: int | str | None
    entity_status: Literal["ACTIVE", "DRAFT", "PAUSED"] | None
    purchase_order_number: str | None
    standard_delivery: bool | None
    total_budget_amount_local_micro: int | str | None

class BatchCampaigns(TypedDict, total=False):
    account_id: str | None

class UpdateCampaign(TypedDict, total=False):
    account_id: str | None
    campaign_id: Required[str]
    name: str | None
    budget_optimization: Literal["CAMPAIGN", "LINE_ITEM"] | None
    daily_budget_amount_local_micro: int | str | None
    entity_status: Literal["ACTIVE", "PAUSED"] | None
    purchase_order_number: str | None
    standard_delivery: bool | None
    total_budget_amount_local_micro: int | str | None

class DeleteCampaign(TypedDict, total=False):
    account_id: str | None
    campaign_id: Required[str]

class ListFundingInstruments(TypedDict, total=False):
    account_id: str | None
    count: int | None
    cursor: str | None
    funding_instrument_ids: str | Sequence[str] | None
    sort_by: str | Sequence[str] | None
    with_deleted: bool | None
    with_total_count: bool | None

class GetFundingInstrument(TypedDict, total=False):
    account_id: str | None
    funding_instrument_id: Required[str]
    with_deleted: bool | None

class CreateFundingInstrument(TypedDict, total=False):
    account_id: str | None
    currency: Required[str]
    start_time: Required[str | datetime]
    type: Literal[
        "AGENCY_CREDIT_LINE", "CREDIT_CARD", "CREDIT_LINE", "INSERTION_ORDER", "PARTNER_MANAGED"
    ] | None

class ListLineItems(TypedDict, total=False):
    account_id: str | None
    line_item_ids: str | Sequence[str] | None
    count: int | None
    cursor: str | None
    campaign_ids: str | Sequence[str] | None
    funding_instrument_ids: str | Sequence[str] | None
    q: str | None
    sort_by: str | Sequence[str] | None
    with_deleted: bool | None
    with_draft: bool | None
    with_total_count: bool | None

class GetLineItem(TypedDict, total=False):
    account_id: str | None
    line_item_id: Required[str]
    with_deleted: bool | None

class CreateLineItem(TypedDict, total=False):
    account_id: str | None
    campaign_id: Required[str]
    objective: Required[Literal[
        "APP_ENGAGEMENTS", "APP_INSTALLS", "ENGAGEMENTS", "FOLLOWERS", "REACH", "VIDEO_VIEWS", "WEBSITE_CLICKS",
        "PREROLL_VIEWS"
    ]]
    product_type: Required[Literal["MEDIA", "PROMOTED_ACCOUNT", "PROMOTED_TWEETS"]]
    placements: str | Sequence[str] | None
    entity_status: Literal["ACTIVE", "DRAFT", "PAUSED"] | None
    pay_by: str | None
    name: str | None
    start_time: str | datetime | None
    end_time: str | datetime | None
    bid_amount_local_micro: int | str | None
    bid_strategy: Literal["AUTO", "MAX", "TARGET"] | None
    daily_budget_amount_local_micro: int | str | None
    total_budget_amount_local_micro: int | str | None
    standard_delivery: bool | None
    categories: str | Sequence[str] | None

class BatchLineItems(TypedDict, total=False):
    account_id: str | None

class UpdateLineItem(TypedDict, total=False):
    account_id: str | None
    line_item_id: Required[str]
    entity_status: Literal["ACTIVE", "PAUSED"] | None
    name: str | None
    start_time: str | datetime | None
    end_time: str | datetime | None
    bid_amount_local_micro: int | str | None
    bid_strategy: Literal["AUTO", "MAX", "TARGET"] | None
    daily_budget_amount_local_micro: int | str | None
    total_budget_amount_local_micro: int | str | None
    standard_delivery: bool | None
    categories: str | Sequence[str] | None

class DeleteLineItem(TypedDict, total=False):
    account_id: str | None
    line_item_id: Required[str]

class ListMediaCreatives(TypedDict, total=False):
    account_id: str | None
    campaign_id: str | None
    line_item_ids: str | Sequence[str] | None
    media_creative_ids: str | Sequence[str] | None
    count: int | None
    cursor: str | None
    sort_by: str | Sequence[str] | None
    with_deleted: bool | None
    with_total_count: bool | None

class GetMediaCreative(TypedDict, total=False):
    account_id: str | None
    media_creative_id: Required[str]
    with_deleted: bool | None

class CreateMediaCreative(TypedDict, total=False):
    account_id: str | None
    account_media_id: Required[str]
    line_item_id: Required[str]
    landing_url: str | None

class DeleteMediaCreative(TypedDict, total=False):
    account_id: str | None
    media_creative_id: Required[str]

class ListPromotedAccounts(TypedDict, total=False):
    account_id: str | None
    line_item_ids: str | Sequence[str] | None
    promoted_account_ids: str | Sequence[str] | None
    count: int | None
    cursor: str | None
    sort_by: str | Sequence[str] | None
    with_deleted: bool | None
    with_total_count: bool | None

class GetPromotedAccount(TypedDict, total=False):
    account_id: str | None
    promoted_account_id: Required[str]
    with_deleted: bool | None

class CreatePromotedAccount(TypedDict, total=False):
    account_id: str | None
    line_item_id: Required[str]
    user_id: Required[int | str]

class DeletePromotedAccount(TypedDict, total=False):
    account_id: str | None
    promoted_account_id: Required[str]

class ListPromotedTweets(TypedDict, total=False):
    account_id: str | None
    line_item_ids: str | Sequence[str] | None
    promoted_tweet_ids: str | Sequence[str] | None
    count: int | None
    cursor: str | None
    sort_by: str | Sequence[str] | None
    with_deleted: bool | None
    with_total_count: bool | None

class GetPromotedTweet(TypedDict, total=False):
    account_id: str | None
    promoted_tweet_id: Required[str]
    with_deleted: bool | None

class CreatePromotedTweets(TypedDict, total=False):
    account_id: str | None
    line_item_id: Required[str]
    tweet_ids: Required[str | Sequence[int | str]]

class DeletePromotedTweet(TypedDict, total=False):
    account_id: str | None
    promoted_tweet_id: Required[str]

class ListScheduledPromotedTweets(TypedDict, total=False):
    account_id: str | None
    line_item_ids: str | Sequence[str] | None
    scheduled_promoted_tweet_ids: str | Sequence[str] | None
    count: int | None
    cursor: str | None
    sort_by: str | Sequence[str] | None
    with_deleted: bool | None
    with_total_count: bool | None

class GetScheduledPromotedTweet(TypedDict, total=False):
    account_id: str | None
    scheduled_promoted_tweet_id: Required[str]
    with_deleted: bool | None

class CreateScheduledPromotedTweet(TypedDict, total=False):
    account_id: str | None
    line_item_id: Required[str]
    scheduled_tweet_id: Required[int | str]

class DeleteScheduledPromotedTweet(TypedDict, total=False):
    account_id: str | None
    scheduled_promoted_tweet_id: Required[str]

class GetAuthenticatedUserAccess(TypedDict, total=False):
    account_id: str | None

class ListPromotableUsers(TypedDict, total=False):
    account_id: str | None
    promotable_user_ids: str | Sequence[str] | None
    count: int | None
    cursor: str | None
    sort_by: str | Sequence[str] | None
    with_deleted: bool | None
    with_total_count: bool | None

class GetPromotableUser(TypedDict, total=False):
    account_id: str | None
    promotable_user_id: Required[str]
    with_deleted: bool | None

class GetUserSettings(TypedDict, total=False):
    account_id: str | None
    user_id: Required[int | str]

class UpdateUserSettings(TypedDict, total=False):
    account_id: str | None
    user_id: Required[int | str]
    notification_email: str | None
    contact_phone: str | None
    contact_phone_extension: str | None
    subscribe_email_types: str | Sequence[str] | None

class ListRecommendations(TypedDict, total=False):
    account_id: str | None

class GetRecommendation(TypedDict, total=False):
    account_id: str | None
    recommendation_id: Required[str]

class EstimateAudience(TypedDict, total=False):
    account_id: str | None
    targeting_criteria: list[Any] | None
    operator_type: Literal["EQ", "NE"] | None

class ListTargetingCriteria(TypedDict, total=False):
    account_id: str | None
    line_item_ids: Required[str | Sequence[str]]
    targeting_criterion_ids: str | Sequence[str] | None
    count: int | None
    cursor: str | None
    sort_by: str | Sequence[str] | None
    with_deleted: bool | None
    with_total_count: bool | None

class CreateTargetingCriterion(TypedDict, total=False):
    account_id: str | None
    line_item_id: Required[str]
    targeting_type: Required[str]
    targeting_value: Required[str]
    operator_type: Required[Literal["EQ", "NE", "GTE", "LT"]]

class BatchTargetingCriteria(TypedDict, total=False):
    account_id: str | None

class DeleteTargetingCriterion(TypedDict, total=False):
    account_id: str | None
    targeting_criterion_id: Required[str]

class ListTrackingTags(TypedDict, total=False):
    account_id: str | None
    line_item_ids: str | Sequence[str] | None
    tracking_tag_ids: str | Sequence[str] | None
    count: int | None
    cursor: str | None
    sort_by: str | Sequence[str] | None
    with_deleted: bool | None
    with_total_count: bool | None

class GetTrackingTag(TypedDict, total=False):
    account_id: str | None
    tracking_tag_id: Required[str]
    with_deleted: bool | None

class CreateTrackingTag(TypedDict, total=False):
    account_id: str | None
    line_item_id: Required[str]
    tracking_tag_type: Required[Literal["IMPRESSION_TAG", "CLICK_TRACKER"]]
    tracking_tag_url: Required[str]

class UpdateTrackingTag(TypedDict, total=False):
    account_id: str | None
    tracking_tag_id: Required[str]
    tracking_tag_url: Required[str]

class DeleteTrackingTag(TypedDict, total=False):
    account_id: str | None
    tracking_tag_id: Required[str]

class ListFeatures(TypedDict, total=False):
    account_id: str | None
    feature_keys: str | Sequence[Literal[
        "REACH_AND_FREQUENCY_ANALYTICS", "REACH_FREQUENCY_CAP", "WEBSITE_CLICKS_CPM_BILLING"
    ]] | None

class AddFeatures(TypedDict, total=False):
    account_id: str | None
    feature_keys: Required[str | Sequence[Literal[
        "AGE_TARGETING", "ALLOW_SKIPPABLE_VIDEOS_FOR_PREROLL_VIEWS_OBJECTIVE", "AWARENESS_OBJECTIVE", "BRAND_TPN",
        "CHARGE_FOR_GOOD_CLICK", "CONVERSATION_CARD", "CONVERSATION_CARD_FOUR_OPTIONS", "CONVERSATION_CARD_UNLOCK",
        "CPI_CHARGING", "DIRECT_MESSAGE_CARD", "DR_TAP", "ENGAGER_RETARGETING", "EVENT_TARGETING",
        "INSTALLED_APP_CATEGORY_TARGETING", "MOBILE_CONVERSION_TRANSACTION_VALUE", "OPTIMIZED_ACTION_BIDDING",
        "REACH_AND_FREQUENCY_ANALYTICS", "REACH_FREQUENCY_CAP", "VALIDATED_AGE_TARGETING",
        "VIDEO_VIEWS_MIDROLL_OBJECTIVE", "PREROLL_VIEWS_OBJECTIVE", "VIDEO_APP_DOWNLOAD_CARD"
    ]]]

class RemoveFeatures(TypedDict, total=False):
    account_id: str | None
    feature_keys: Required[str | Sequence[Literal[
        "AGE_TARGETING", "ALLOW_SKIPPABLE_VIDEOS_FOR_PREROLL_VIEWS_OBJECTIVE", "AWARENESS_OBJECTIVE", "BRAND_TPN",
        "CHARGE_FOR_GOOD_CLICK", "CONVERSATION_CARD", "CONVERSATION_CARD_FOUR_OPTIONS", "CONVERSATION_CARD_UNLOCK",
        "CPI_CHARGING", "DIRECT_MESSAGE_CARD", "DR_TAP", "ENGAGER_RETARGETING", "EVENT_TARGETING",
        "INSTALLED_APP_CATEGORY_TARGETING", "MOBILE_CONVERSION_TRANSACTION_VALUE", "OPTIMIZED_ACTION_BIDDING",
        "REACH_AND_FREQUENCY_ANALYTICS", "REACH_FREQUENCY_CAP", "VALIDATED_AGE_TARGETING",
        "VIDEO_VIEWS_MIDROLL_OBJECTIVE", "PREROLL_VIEWS_OBJECTIVE", "VIDEO_APP_DOWNLOAD_CARD"
    ]]]

class SearchKeywordInsights(TypedDict, total=False):
    granularity: Required[Literal["DAY", "HOUR"]]
    keywords: Required[str | Sequence[str]]
    start_time: Required[str | datetime]
    end_time: str | datetime | None
    location: str | None
    negative_keywords: str | Sequence[str] | None

class ListTailoredAudiencePermissions(TypedDict, total=False):
    account_id: str | None
    tailored_audience_id: Required[str]
    count: int | None
    cursor: str | None
    granted_account_ids: str | Sequence[str] | None
    sort_by: str | Sequence[str] | None
    tailored_audience_permission_ids: str | Sequence[str] | None
    with_total_count: bool | None

class CreateTailoredAudiencePermission(TypedDict, total=False):
    account_id: str | None
    tailored_audience_id: Required[str]
    granted_account_id: Required[str]
    permission_level: Required[Literal["READ_ONLY", "READ_WRITE"]]

class DeleteTailoredAudiencePermission(TypedDict, total=False):
    account_id: str | None
    tailored_audience_id: Required[str]
    tailored_audience_permission_id: Required[str]

class ListCustomAudiences(TypedDict, total=False):
    account_id: str | None
    count: int | None
    cursor: str | None
    permission_scope: Literal["OWNER", "SHARED"] | None
    q: str | None
    sort_by: str | Sequence[str] | None
    custom_audience_ids: str | Sequence[str] | None
    with_deleted: bool | None
    with_total_count: bool | None

class GetCustomAudience(TypedDict, total=False):
    account_id: str | None
    custom_audience_id: Required[str]
    with_deleted: bool | None

class CreateCustomAudience(TypedDict, total=False):
    account_id: str | None
    name: Required[str]
    description: str | None

class UpdateCustomAudience(TypedDict, total=False):
    account_id: str | None
    custom_audience_id: Required[str]
    name: str | None
    description: str | None

class DeleteCustomAudience(TypedDict, total=False):
    account_id: str | None
    custom_audience_id: Required[str]

class BatchFlexibleAudiences(TypedDict, total=False):
    account_id: str | None

class ListCustomAudienceTargeted(TypedDict, total=False):
    account_id: str | None
    custom_audience_id: Required[str]
    with_active: bool | None
    cursor: str | None

class AddCustomAudienceUsers(TypedDict, total=False):
    account_id: str | None
    custom_audience_id: Required[str]

class ListCustomAudiencePermissions(TypedDict, total=False):
    account_id: str | None
    custom_audience_id: Required[str]
    count: int | None
    cursor: str | None
    granted_account_ids: str | Sequence[str] | None
    sort_by: str | Sequence[str] | None
    custom_audience_permission_ids: str | Sequence[str] | None
    with_total_count: bool | None

class CreateCustomAudiencePermission(TypedDict, total=False):
    account_id: str | None
    custom_audience_id: Required[str]
    granted_account_id: Required[str]
    permission_level: Required[Literal["READ_ONLY", "READ_WRITE"]]

class DeleteCustomAudiencePermission(TypedDict, total=False):
    account_id: str | None
    custom_audience_id: Required[str]
    custom_audience_permission_id: Required[str]

class ListDoNotReachLists(TypedDict, total=False):
    account_id: str | None
    with_deleted: bool | None

class CreateDoNotReachList(TypedDict, total=False):
    account_id: str | None
    description: str | None

class DeleteDoNotReachList(TypedDict, total=False):
    account_id: str | None
    do_not_reach_list_id: Required[str]

class BatchDoNotReachUsers(TypedDict, total=False):
    account_id: str | None
    do_not_reach_list_id: Required[str]

class ListAccountMedia(TypedDict, total=False):
    account_id: str | None
    account_media_ids: str | Sequence[str] | None
    creative_types: str | Sequence[Literal[
        "BANNER", "BANNER_TABLET", "INTERSTITIAL", "INTERSTITIAL_LANDSCAPE", "INTERSTITIAL_LANDSCAPE_TABLET",
        "INTERSTITIAL_TABLET", "MEDIUM_RECTANGLE", "PREROLL", "VAST_PREROLL"
    ]] | None
    count: int | None
    cursor: str | None
    sort_by: str | Sequence[str] | None
    with_deleted: bool | None
    with_total_count: bool | None

class GetAccountMedia(TypedDict, total=False):
    account_id: str | None
    account_media_id: Required[str]
    with_deleted: bool | None

class DeleteAccountMedia(TypedDict, total=False):
    account_id: str | None
    account_media_id: Required[str]

class ListCards(TypedDict, total=False):
    account_id: str | None
    card_types: str | Sequence[Literal[
        "IMAGE_APP", "IMAGE_CAROUSEL_APP", "IMAGE_CAROUSEL_WEBSITE", "IMAGE_MULTI_DEST_CAROUSEL_WEBSITE",
        "IMAGE_WEBSITE", "MIXED_MEDIA_MULTI_DEST_CAROUSEL_WEBSITE", "MIXED_MEDIA_SINGLE_DEST_CAROUSEL_APP",
        "MIXED_MEDIA_SINGLE_DEST_CAROUSEL_WEBSITE", "VIDEO_APP", "VIDEO_CAROUSEL_APP", "VIDEO_CAROUSEL_WEBSITE",
        "VIDEO_MULTI_DEST_CAROUSEL_WEBSITE", "VIDEO_WEBSITE"
    ]] | None
    card_id: str | Sequence[str] | None
    card_uris: str | Sequence[str] | None
    count: int | None
    cursor: str | None
    include_legacy_cards: bool | None
    q: str | None
    sort_by: str | Sequence[str] | None
    with_deleted: bool | None

class GetCard(TypedDict, total=False):
    account_id: str | None
    card_id: Required[str]
    with_deleted: bool | None

class ListCardsByUri(TypedDict, total=False):
    account_id: str | None
    card_uris: Required[str | Sequence[str]]
    with_deleted: bool | None

class GetCardFromAll(TypedDict, total=False):
    account_id: str | None
    card_id: Required[str]
    with_deleted: bool | None

class CreateCard(TypedDict, total=False):
    account_id: str | None
    name: str | None
    components: list[Any] | None
    slides: list[Any] | None

class UpdateCard(TypedDict, total=False):
    account_id: str | None
    card_id: Required[str]
    name: str | None
    components: list[Any] | None
    slides: list[Any] | None

class DeleteCard(TypedDict, total=False):
    account_id: str | None
    card_id: Required[str]

class ListImageConversationCards(TypedDict, total=False):
    account_id: str | None
    card_ids: str | Sequence[str] | None
    count: int | None
    cursor: str | None
    q: str | None
    sort_by: str | Sequence[str] | None
    with_deleted: bool | None
    with_total_count: bool | None

class GetImageConversationCard(TypedDict, total=False):
    account_id: str | None
    card_id: Required[str]
    with_deleted: bool | None

class CreateImageConversationCard(TypedDict, total=False):
    account_id: str | None
    name: Required[str]
    first_cta: Required[str]
    first_cta_tweet: Required[str]
    second_cta: str | None
    second_cta_tweet: str | None
    third_cta: str | None
    third_cta_tweet: str | None
    fourth_cta: str | None
    fourth_cta_tweet: str | None
    thank_you_text: Required[str]
    thank_you_url: str | None
    title: str | None
    unlocked_image_media_key: str | None
    media_key: Required[str]

class UpdateImageConversationCard(TypedDict, total=False):
    account_id: str | None
    card_id: Required[str]
    name: str | None
    first_cta: str | None
    first_cta_tweet: str | None
    second_cta: str | None
    second_cta_tweet: str | None
    third_cta: str | None
    third_cta_tweet: str | None
    fourth_cta: str | None
    fourth_cta_tweet: str | None
    thank_you_text: str | None
    thank_you_url: str | None
    title: str | None
    unlocked_image_media_key: str | None
    media_key: str | None

class ListVideoConversationCards(TypedDict, total=False):
    account_id: str | None
    card_ids: str | Sequence[str] | None
    count: int | None
    cursor: str | None
    q: str | None
    sort_by: str | Sequence[str] | None
    with_deleted: bool | None
    with_total_count: bool | None

class GetVideoConversationCard(TypedDict, total=False):
    account_id: str | None
    card_id: Required[str]
    with_deleted: bool | None

class CreateVideoConversationCard(TypedDict, total=False):
    account_id: str | None
    name: Required[str]
    first_cta: Required[str]
    first_cta_tweet: Required[str]
    second_cta: str | None
    second_cta_tweet: str | None
    third_cta: str | None
    third_cta_tweet: str | None
    fourth_cta: str | None
    fourth_cta_tweet: str | None
    thank_you_text: Required[str]
    thank_you_url: str | None
    title: str | None
    unlocked_image_media_key: str | None
    media_key: Required[str]
    poster_media_key: str | None
    unlocked_video_media_key: str | None

class UpdateVideoConversationCard(TypedDict, total=False):
    account_id: str | None
    card_id: Required[str]
    name: str | None
    first_cta: str | None
    first_cta_tweet: str | None
    second_cta: str | None
    second_cta_tweet: str | None
    third_cta: str | None
    third_cta_tweet: str | None
    fourth_cta: str | None
    fourth_cta_tweet: str | None
    thank_you_text: str | None
    thank_you_url: str | None
    title: str | None
    unlocked_image_media_key: str | None
    media_key: str | None
    poster_media_key: str | None
    unlocked_video_media_key: str | None

class DeleteVideoConversationCard(TypedDict, total=False):
    account_id: str | None
    card_id: Required[str]

class ListDraftTweets(TypedDict, total=False):
    account_id: str | None
    count: int | None
    cursor: str | None
    user_id: int | str | None

class GetDraftTweet(TypedDict, total=False):
    account_id: str | None
    draft_tweet_id: Required[int | str]

class CreateDraftTweet(TypedDict, total=False):
    account_id: str | None
    as_user_id: Required[int | str]
    text: str | None
    card_uri: str | None
    media_keys: str | Sequence[str] | None
    nullcast: bool | None
    name: str | None

class UpdateDraftTweet(TypedDict, total=False):
    account_id: str | None
    draft_tweet_id: Required[int | str]
    card_uri: str | None
    media_keys: str | Sequence[str] | None
    nullcast: bool | None
    text: str | None
    name: str | None

class DeleteDraftTweet(TypedDict, total=False):
    account_id: str | None
    draft_tweet_id: Required[int | str]

class PreviewDraftTweet(TypedDict, total=False):
    account_id: str | None
    draft_tweet_id: Required[int | str]

class UpdateScheduledTweet(TypedDict, total=False):
    account_id: str | None
    scheduled_tweet_id: Required[int | str]
    nullcast: bool | None
    scheduled_at: str | datetime | None
    text: str | None
    name: str | None
    card_uri: str | None
    media_keys: str | Sequence[str] | None

class DeleteScheduledTweet(TypedDict, total=False):
    account_id: str | None
    scheduled_tweet_id: Required[int | str]

class ListScheduledTweets(TypedDict, total=False):
    account_id: str | None
    count: int | None
    cursor: str | None
    user_id: int | str | None

class GetScheduledTweet(TypedDict, total=False):
    account_id: str | None
    scheduled_tweet_id: Required[int | str]

class CreateScheduledTweet(TypedDict, total=False):
    account_id: str | None
    scheduled_at: Required[str | datetime]
    as_user_id: Required[int | str]
    text: str | None
    card_uri: str | None
    media_keys: str | Sequence[str] | None
    nullcast: bool | None
    name: str | None

class ListTweetPreviews(TypedDict, total=False):
    account_id: str | None
    tweet_ids: Required[str | Sequence[int | str]]
    tweet_type: Required[Literal["DRAFT", "PUBLISHED", "SCHEDULED"]]

class ListTweets(TypedDict, total=False):
    account_id: str | None
    tweet_type: Required[str]
    count: int | None
    cursor: str | None
    include_mentions_and_replies: bool | None
    name: str | None
    timeline_type: Literal["ALL", "NULLCAST", "ORGANIC"] | None
    trim_user: bool | None
    tweet_ids: str | Sequence[int | str] | None
    user_id: int | str | None

class CreateTweet(TypedDict, total=False):
    account_id: str | None
    as_user_id: Required[int | str]
    text: str | None
    card_uri: str | None
    conversation_settings: Literal["EVERYONE", "FOLLOWING", "MENTIONED_USERS"] | None
    media_keys: str | Sequence[str] | None
    name: str | None
    nullcast: bool | None
    trim_user: bool | None
    tweet_mode: Literal["compat", "extended"] | None
    video_cta: Literal["VISIT_SITE", "WATCH_NOW"] | None
    video_cta_value: str | None
    video_description: str | None
    video_title: str | None

class UpdateTweetName(TypedDict, total=False):
    account_id: str | None
    tweet_id: Required[int | str]
    name: str | None

class CallByName(Protocol):
    @overload
    async def __call__(
        self, name: Literal["oauth_request_token"], parameters: OauthRequestToken
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["oauth_access_token"], parameters: OauthAccessToken
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["oauth_invalidate_token"], parameters: OauthInvalidateToken | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["oauth2_token"], parameters: Oauth2Token
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["oauth2_invalidate_token"], parameters: Oauth2InvalidateToken
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_posts"], parameters: GetPosts
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["link_webhook_to_filtered_stream"], parameters: LinkWebhookToFilteredStream
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_activity_subscription"], parameters: CreateActivitySubscription | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["open_activity_stream"], parameters: OpenActivityStream | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["replay_webhook"], parameters: ReplayWebhook | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_stream_rules"], parameters: ListStreamRules | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["change_stream_rules"], parameters: ChangeStreamRules | None = None, body: Any = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_accounts"], parameters: ListAccounts | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_account"], parameters: GetAccount | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_account"], parameters: CreateAccount | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["update_account"], parameters: UpdateAccount | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["delete_account"], parameters: DeleteAccount | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_account_apps"], parameters: ListAccountApps | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_account_history"], parameters: GetAccountHistory
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["update_tax_settings"], parameters: UpdateTaxSettings | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_advertiser_business_categories"], parameters: ListAdvertiserBusinessCategories | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_content_categories"], parameters: ListContentCategories | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_publishers"], parameters: ListPublishers | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_bidding_rules"], parameters: ListBiddingRules | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_line_item_placements"], parameters: ListLineItemPlacements | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_curated_categories"], parameters: ListCuratedCategories
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_curated_category"], parameters: GetCuratedCategory
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_line_item_curated_category"], parameters: CreateLineItemCuratedCategory
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["update_line_item_curated_category"], parameters: UpdateLineItemCuratedCategory
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["delete_line_item_curated_category"], parameters: DeleteLineItemCuratedCategory
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_campaigns"], parameters: ListCampaigns | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_campaign"], parameters: GetCampaign
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_campaign"], parameters: CreateCampaign
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["batch_campaigns"], parameters: BatchCampaigns | None, body: Any
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["update_campaign"], parameters: UpdateCampaign
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["delete_campaign"], parameters: DeleteCampaign
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_funding_instruments"], parameters: ListFundingInstruments | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_funding_instrument"], parameters: GetFundingInstrument
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_funding_instrument"], parameters: CreateFundingInstrument
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_line_items"], parameters: ListLineItems | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_line_item"], parameters: GetLineItem
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_line_item"], parameters: CreateLineItem
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["batch_line_items"], parameters: BatchLineItems | None, body: Any
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["update_line_item"], parameters: UpdateLineItem
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["delete_line_item"], parameters: DeleteLineItem
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_media_creatives"], parameters: ListMediaCreatives | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_media_creative"], parameters: GetMediaCreative
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_media_creative"], parameters: CreateMediaCreative
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["delete_media_creative"], parameters: DeleteMediaCreative
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_promoted_accounts"], parameters: ListPromotedAccounts | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_promoted_account"], parameters: GetPromotedAccount
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_promoted_account"], parameters: CreatePromotedAccount
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["delete_promoted_account"], parameters: DeletePromotedAccount
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_promoted_tweets"], parameters: ListPromotedTweets | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_promoted_tweet"], parameters: GetPromotedTweet
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_promoted_tweets"], parameters: CreatePromotedTweets
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["delete_promoted_tweet"], parameters: DeletePromotedTweet
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_scheduled_promoted_tweets"], parameters: ListScheduledPromotedTweets | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_scheduled_promoted_tweet"], parameters: GetScheduledPromotedTweet
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_scheduled_promoted_tweet"], parameters: CreateScheduledPromotedTweet
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["delete_scheduled_promoted_tweet"], parameters: DeleteScheduledPromotedTweet
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_authenticated_user_access"], parameters: GetAuthenticatedUserAccess | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_promotable_users"], parameters: ListPromotableUsers | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_promotable_user"], parameters: GetPromotableUser
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_user_settings"], parameters: GetUserSettings
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["update_user_settings"], parameters: UpdateUserSettings
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_recommendations"], parameters: ListRecommendations | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_recommendation"], parameters: GetRecommendation
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["estimate_audience"], parameters: EstimateAudience | None = None, body: Any = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_targeting_criteria"], parameters: ListTargetingCriteria
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_targeting_criterion"], parameters: CreateTargetingCriterion
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["batch_targeting_criteria"], parameters: BatchTargetingCriteria | None, body: Any
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["delete_targeting_criterion"], parameters: DeleteTargetingCriterion
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_tracking_tags"], parameters: ListTrackingTags | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_tracking_tag"], parameters: GetTrackingTag
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_tracking_tag"], parameters: CreateTrackingTag
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["update_tracking_tag"], parameters: UpdateTrackingTag
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["delete_tracking_tag"], parameters: DeleteTrackingTag
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_features"], parameters: ListFeatures | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["add_features"], parameters: AddFeatures
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["remove_features"], parameters: RemoveFeatures
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["search_keyword_insights"], parameters: SearchKeywordInsights
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_tailored_audience_permissions"], parameters: ListTailoredAudiencePermissions
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_tailored_audience_permission"], parameters: CreateTailoredAudiencePermission
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["delete_tailored_audience_permission"], parameters: DeleteTailoredAudiencePermission
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_custom_audiences"], parameters: ListCustomAudiences | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_custom_audience"], parameters: GetCustomAudience
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_custom_audience"], parameters: CreateCustomAudience
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["update_custom_audience"], parameters: UpdateCustomAudience
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["delete_custom_audience"], parameters: DeleteCustomAudience
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["batch_flexible_audiences"], parameters: BatchFlexibleAudiences | None, body: Any
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_custom_audience_targeted"], parameters: ListCustomAudienceTargeted
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["add_custom_audience_users"], parameters: AddCustomAudienceUsers, body: Any
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_custom_audience_permissions"], parameters: ListCustomAudiencePermissions
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_custom_audience_permission"], parameters: CreateCustomAudiencePermission
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["delete_custom_audience_permission"], parameters: DeleteCustomAudiencePermission
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_do_not_reach_lists"], parameters: ListDoNotReachLists | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_do_not_reach_list"], parameters: CreateDoNotReachList | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["delete_do_not_reach_list"], parameters: DeleteDoNotReachList
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["batch_do_not_reach_users"], parameters: BatchDoNotReachUsers, body: Any
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_account_media"], parameters: ListAccountMedia | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_account_media"], parameters: GetAccountMedia
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["delete_account_media"], parameters: DeleteAccountMedia
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_cards"], parameters: ListCards | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_card"], parameters: GetCard
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_cards_by_uri"], parameters: ListCardsByUri
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_card_from_all"], parameters: GetCardFromAll
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_card"], parameters: CreateCard | None = None, body: Any = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["update_card"], parameters: UpdateCard, body: Any = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["delete_card"], parameters: DeleteCard
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_image_conversation_cards"], parameters: ListImageConversationCards | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_image_conversation_card"], parameters: GetImageConversationCard
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_image_conversation_card"], parameters: CreateImageConversationCard
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["update_image_conversation_card"], parameters: UpdateImageConversationCard
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_video_conversation_cards"], parameters: ListVideoConversationCards | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_video_conversation_card"], parameters: GetVideoConversationCard
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_video_conversation_card"], parameters: CreateVideoConversationCard
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["update_video_conversation_card"], parameters: UpdateVideoConversationCard
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["delete_video_conversation_card"], parameters: DeleteVideoConversationCard
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_draft_tweets"], parameters: ListDraftTweets | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_draft_tweet"], parameters: GetDraftTweet
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_draft_tweet"], parameters: CreateDraftTweet
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["update_draft_tweet"], parameters: UpdateDraftTweet
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["delete_draft_tweet"], parameters: DeleteDraftTweet
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["preview_draft_tweet"], parameters: PreviewDraftTweet
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["update_scheduled_tweet"], parameters: UpdateScheduledTweet
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["delete_scheduled_tweet"], parameters: DeleteScheduledTweet
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_scheduled_tweets"], parameters: ListScheduledTweets | None = None
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["get_scheduled_tweet"], parameters: GetScheduledTweet
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_scheduled_tweet"], parameters: CreateScheduledTweet
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_tweet_previews"], parameters: ListTweetPreviews
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["list_tweets"], parameters: ListTweets
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["create_tweet"], parameters: CreateTweet
    ) -> Answer: ...
    @overload
    async def __call__(
        self, name: Literal["update_tweet_name"], parameters: UpdateTweetName
    ) -> Answer: ...
    @overload
    async def __call__(self, name: Endpoint, parameters: Mapping[str, Any] | None = None, body: Any = None) -> Answer: ...
    @overload
    async def __call__(self, name: EndpointWithTheseParameters, parameters: object = None, body: object = None) -> Answer: ...

class PagesByName(Protocol):
    @overload
    def __call__(
        self, name: Literal["list_accounts"], parameters: ListAccounts | None = None
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_account_apps"], parameters: ListAccountApps | None = None
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["get_account_history"], parameters: GetAccountHistory
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_curated_categories"], parameters: ListCuratedCategories
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_campaigns"], parameters: ListCampaigns | None = None
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_funding_instruments"], parameters: ListFundingInstruments | None = None
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_line_items"], parameters: ListLineItems | None = None
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_media_creatives"], parameters: ListMediaCreatives | None = None
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_promoted_accounts"], parameters: ListPromotedAccounts | None = None
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_promoted_tweets"], parameters: ListPromotedTweets | None = None
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_scheduled_promoted_tweets"], parameters: ListScheduledPromotedTweets | None = None
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_promotable_users"], parameters: ListPromotableUsers | None = None
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_targeting_criteria"], parameters: ListTargetingCriteria
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_tracking_tags"], parameters: ListTrackingTags | None = None
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_tailored_audience_permissions"], parameters: ListTailoredAudiencePermissions
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_custom_audiences"], parameters: ListCustomAudiences | None = None
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_custom_audience_targeted"], parameters: ListCustomAudienceTargeted
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_custom_audience_permissions"], parameters: ListCustomAudiencePermissions
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_account_media"], parameters: ListAccountMedia | None = None
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_cards"], parameters: ListCards | None = None
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_image_conversation_cards"], parameters: ListImageConversationCards | None = None
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_video_conversation_cards"], parameters: ListVideoConversationCards | None = None
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_draft_tweets"], parameters: ListDraftTweets | None = None
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_scheduled_tweets"], parameters: ListScheduledTweets | None = None
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(
        self, name: Literal["list_tweets"], parameters: ListTweets
    ) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(self, name: Endpoint, parameters: Mapping[str, Any] | None = None) -> AsyncIterator[Answer]: ...
    @overload
    def __call__(self, name: EndpointWithTheseParameters, parameters: object = None) -> AsyncIterator[Answer]: ...

class ItemsByName(Protocol):
    @overload
    def __call__(
        self, name: Literal["list_accounts"], parameters: ListAccounts | None = None
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_account_apps"], parameters: ListAccountApps | None = None
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["get_account_history"], parameters: GetAccountHistory
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_curated_categories"], parameters: ListCuratedCategories
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_campaigns"], parameters: ListCampaigns | None = None
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_funding_instruments"], parameters: ListFundingInstruments | None = None
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_line_items"], parameters: ListLineItems | None = None
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_media_creatives"], parameters: ListMediaCreatives | None = None
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_promoted_accounts"], parameters: ListPromotedAccounts | None = None
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_promoted_tweets"], parameters: ListPromotedTweets | None = None
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_scheduled_promoted_tweets"], parameters: ListScheduledPromotedTweets | None = None
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_promotable_users"], parameters: ListPromotableUsers | None = None
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_targeting_criteria"], parameters: ListTargetingCriteria
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_tracking_tags"], parameters: ListTrackingTags | None = None
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_tailored_audience_permissions"], parameters: ListTailoredAudiencePermissions
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_custom_audiences"], parameters: ListCustomAudiences | None = None
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_custom_audience_targeted"], parameters: ListCustomAudienceTargeted
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_custom_audience_permissions"], parameters: ListCustomAudiencePermissions
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_account_media"], parameters: ListAccountMedia | None = None
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_cards"], parameters: ListCards | None = None
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_image_conversation_cards"], parameters: ListImageConversationCards | None = None
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_video_conversation_cards"], parameters: ListVideoConversationCards | None = None
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_draft_tweets"], parameters: ListDraftTweets | None = None
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_scheduled_tweets"], parameters: ListScheduledTweets | None = None
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(
        self, name: Literal["list_tweets"], parameters: ListTweets
    ) -> AsyncIterator[Any]: ...
    @overload
    def __call__(self, name: Endpoint, parameters: Mapping[str, Any] | None = None) -> AsyncIterator[Any]: ...
    @overload
    def __call__(self, name: EndpointWithTheseParameters, parameters: object = None) -> AsyncIterator[Any]: ...

class LinkByName(Protocol):
    @overload
    def __call__(self, name: Literal["oauth_authorize", "oauth_authenticate"], parameters: OauthAuthorize | OauthAuthenticate) -> str: ...
    @overload
    def __call__(self, name: Endpoint, parameters: Mapping[str, Any]) -> str: ...
    @overload
    def __call__(self, name: EndpointWithTheseParameters, parameters: object = None) -> str: ...
