"""Words of the service that client and emulator share: the form of its ids, and the words that parameters take.

They are data, the same for both; how a request is made or judged is written twice, so that a misreading shows. An id
names an account, an audience or a list, and nothing else. Ids become parts of paths, of addresses and on this disk:
nothing that could mean more than a name is one.
"""

from __future__ import annotations

import re
from typing import Final

ID_PATTERN: Final = "[0-9a-z]{1,32}"  # base 36 in lower case (public service, examples)
ID_HINT: Final = "ids are 1 to 32 lower-case letters and digits, such as 18ce54d4x5t"

_ID: Final = re.compile(ID_PATTERN, re.ASCII)


def is_service_id(given: object) -> bool:
    """Whether `given` is text that can be an id."""
    return isinstance(given, str) and _ID.fullmatch(given) is not None


# Specification part 1, section 4.12.
SANDBOX_FEATURES: Final = (
    "AGE_TARGETING",
    "ALLOW_SKIPPABLE_VIDEOS_FOR_PREROLL_VIEWS_OBJECTIVE",
    "AWARENESS_OBJECTIVE",
    "BRAND_TPN",
    "CHARGE_FOR_GOOD_CLICK",
    "CONVERSATION_CARD",
    "CONVERSATION_CARD_FOUR_OPTIONS",
    "CONVERSATION_CARD_UNLOCK",
    "CPI_CHARGING",
    "DIRECT_MESSAGE_CARD",
    "DR_TAP",
    "ENGAGER_RETARGETING",
    "EVENT_TARGETING",
    "INSTALLED_APP_CATEGORY_TARGETING",
    "MOBILE_CONVERSION_TRANSACTION_VALUE",
    "OPTIMIZED_ACTION_BIDDING",
    "REACH_AND_FREQUENCY_ANALYTICS",
    "REACH_FREQUENCY_CAP",
    "VALIDATED_AGE_TARGETING",
    "VIDEO_VIEWS_MIDROLL_OBJECTIVE",
    "PREROLL_VIEWS_OBJECTIVE",
    "VIDEO_APP_DOWNLOAD_CARD",
)

# Specification part 1, section 2.
INDUSTRIES: Final = (
    "AGENCY",
    "BUSINESS_TO_BUSINESS",
    "ONLINE_SERVICES",
    "EDUCATION",
    "FINANCIAL",
    "HEALTH",
    "GOVERNMENT",
    "MEDIA",
    "MOBILE",
    "RESTAURANT",
    "RETAIL",
    "TECHNOLOGY",
    "TRAVEL",
    "OTHER",
)

CARD_TYPES: Final = (
    "IMAGE_APP",
    "IMAGE_CAROUSEL_APP",
    "IMAGE_CAROUSEL_WEBSITE",
    "IMAGE_MULTI_DEST_CAROUSEL_WEBSITE",
    "IMAGE_WEBSITE",
    "MIXED_MEDIA_MULTI_DEST_CAROUSEL_WEBSITE",
    "MIXED_MEDIA_SINGLE_DEST_CAROUSEL_APP",
    "MIXED_MEDIA_SINGLE_DEST_CAROUSEL_WEBSITE",
    "VIDEO_APP",
    "VIDEO_CAROUSEL_APP",
    "VIDEO_CAROUSEL_WEBSITE",
    "VIDEO_MULTI_DEST_CAROUSEL_WEBSITE",
    "VIDEO_WEBSITE",
)

BUTTON_LABELS: Final = ("BOOK", "CONNECT", "INSTALL", "OPEN", "ORDER", "PLAY", "SHOP")

CREATIVE_TYPES: Final = (
    "BANNER",
    "BANNER_TABLET",
    "INTERSTITIAL",
    "INTERSTITIAL_LANDSCAPE",
    "INTERSTITIAL_LANDSCAPE_TABLET",
    "INTERSTITIAL_TABLET",
    "MEDIUM_RECTANGLE",
    "PREROLL",
    "VAST_PREROLL",
)

OBJECTIVES: Final = (
    "APP_ENGAGEMENTS",
    "APP_INSTALLS",
    "ENGAGEMENTS",
    "FOLLOWERS",
    "REACH",
    "VIDEO_VIEWS",
    "WEBSITE_CLICKS",
    "PREROLL_VIEWS",
)

PRODUCT_TYPES: Final = ("MEDIA", "PROMOTED_ACCOUNT", "PROMOTED_TWEETS")

FUNDING_TYPES: Final = ("AGENCY_CREDIT_LINE", "CREDIT_CARD", "CREDIT_LINE", "INSERTION_ORDER", "PARTNER_MANAGED")

TARGETING_OPERATORS: Final = ("EQ", "NE", "GTE", "LT")

FREQUENCY_COMPARATORS: Final = ("NUM_GTE", "NUM_GT", "NUM_EQ", "NUM_LTE", "NUM_LT")

# ISO 4217, list one: currencies, funds and units of account, without the codes for tests and for no currency.
_CURRENCIES: Final = (
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN "
    "BZD CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD "
    "FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS "
    "KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK "
    "MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR "
    "SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH "
    "UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAD XAF XAG XAU XBA XBB XBC XBD XCD XCG XDR XOF "
    "XPD XPF XPT XSU XUA YER ZAR ZMW ZWG"
)
CURRENCIES: Final = frozenset(_CURRENCIES.split())

# The first digits of the key of a video or an animated GIF (public service).
MOVING_MEDIA: Final = ("7_", "13_", "16_")

# Named by the specification, of lists that it does not give in full: sections 2.3 to 2.6 and 4.8.
TWEET_FIELDS: Final = (
    "attachments",
    "author_id",
    "created_at",
    "conversation_id",
    "possibly_sensitive",
    "in_reply_to_user_id",
    "referenced_tweets",
    "public_metrics",
    "entities",
    "context_annotations",
    "lang",
    "reply_settings",
)

MEDIA_FIELDS: Final = (
    "duration_ms",
    "height",
    "width",
    "preview_image_url",
    "public_metrics",
    "alt_text",
    "variants",
)

USER_FIELDS: Final = (
    "id",
    "name",
    "username",
    "created_at",
    "description",
    "location",
    "pinned_tweet_id",
    "profile_image_url",
    "protected",
    "url",
    "verified",
    "verified_type",
    "entities",
    "public_metrics",
)
