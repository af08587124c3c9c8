"""The tools whose normalisers are tried: where their code comes from, and which function of it is called how.

Only public packages at a pinned version. A call has nothing of ours in it but for plain SHA-256 where a tool leaves
hashing to its caller, and what takes the digest out of the tool's answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

import phonenumbers

from audiencekit.identifiers.kinds import Kind
from benchmarks.other_tools import rules

ShowCountry = Callable[[str], str]


class Language(Enum):
    """The language of a tool, and so the client that installs it."""

    PYTHON = "Python"
    NODE = "Node"


def as_iso_code(country: str) -> str:
    """The country as the vectors name it."""
    return country


def as_calling_code(country: str) -> str:
    """The calling code of the country, with its plus."""
    return f"+{phonenumbers.country_code_for_region(country)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool. `setup` imports it; `calls` are expressions of `text` and `country` by kind, that give the digest.

    `requirements` are what `pip` or `npm` installs, with versions. `country` writes the country of a vector as the tool
    takes it: None where it takes none, and then it gets only numbers with their country code. `rule` is the rule of its
    service. `called` and `normalises` say for the readers of the table what runs, and by which steps.
    """

    name: str
    language: Language
    requirements: tuple[str, ...]
    called: str
    normalises: str
    setup: str
    calls: Mapping[Kind, str]
    country: ShowCountry | None = None
    rule: rules.Rule | None = None
    kinds_with_country: frozenset[Kind] = field(default=frozenset({Kind.PHONE_NUMBER}))

    def show_country(self, kind: Kind) -> ShowCountry | None:
        """How the country is given with values of `kind`; None where it is not."""
        return self.country if kind in self.kinds_with_country else None


_SHA256: Final = "import hashlib\nsha256 = lambda text: hashlib.sha256(text.encode()).hexdigest()\n"
_SEGMENT: Final = ("@segment/action-destinations@3.387.0",)
_OF_SEGMENT: Final = "@segment/action-destinations/dist/destinations"
_DRT: Final = """
import time
from drt.config.destinations_saas import MetaConversionsDestinationConfig
from drt.destinations.meta_conversions import _build_event
def user_data(field, text):
    config = MetaConversionsDestinationConfig(
        type="meta_conversions", pixel_id="1", event_name="Lead", event_time_field="time", event_id_field="id",
        action_source="system_generated", **{f"{field}_field": "value"},
    )
    return _build_event({"time": int(time.time()), "id": 1, "value": text}, config)["user_data"]
"""
_PARSONS: Final = """
from facebook_business.adobjects.customaudience import CustomAudience
from parsons import Table
from parsons.facebook_ads.facebook_ads import FacebookAds
def digest(column, text):
    matched = FacebookAds.get_match_table_for_users_table(Table([{column: text}]))
    schema, rows = FacebookAds._get_match_schema_and_data(matched)
    return CustomAudience.format_params(schema, rows, is_raw=True)["payload"]["data"][0][0]
"""
_PHONENUMBERS: Final = """
import phonenumbers
def e164(text, country):
    number = phonenumbers.parse(text, country)
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
def valid_e164(text, country):
    number = phonenumbers.parse(text, country)
    return e164(text, country) if phonenumbers.is_valid_number(number) else None
"""

TOOLS: Final = (
    Tool(
        name="facebook-business",
        language=Language.PYTHON,
        requirements=("facebook-business==26.0.3",),
        called="`UserData.normalize`",
        normalises="trims, lower-cases, checks the address by a pattern; takes signs, + and 00 off numbers",
        setup="from facebook_business.adobjects.serverside.user_data import UserData",
        calls={
            Kind.EMAIL: "UserData(emails=[text]).normalize()['em'][0]",
            Kind.PHONE_NUMBER: "UserData(phones=[text]).normalize()['ph'][0]",
        },
        rule=rules.META,
    ),
    Tool(
        name="facebook-nodejs-business-sdk",
        language=Language.NODE,
        requirements=("facebook-nodejs-business-sdk@24.0.1",),
        called="`UserData.normalize`",
        normalises="trims, lower-cases, checks the address; takes signs and letters off numbers, checks their length",
        setup='const { UserData } = require("facebook-nodejs-business-sdk");',
        calls={
            Kind.EMAIL: "new UserData().setEmail(text).normalize().em[0]",
            Kind.PHONE_NUMBER: "new UserData().setPhone(text).normalize().ph[0]",
        },
        rule=rules.META,
    ),
    Tool(
        name="capi-param-builder-nodejs",
        language=Language.NODE,
        requirements=("capi-param-builder-nodejs@1.3.2",),
        called="`getNormalizedAndHashedPII`; the mark that it puts behind a digest is taken off",
        normalises="trims, lower-cases, checks the address by a pattern; digits of numbers, without zeros in front",
        setup='const builder = new (require("capi-param-builder-nodejs").ParamBuilder)();',
        calls={
            Kind.EMAIL: 'builder.getNormalizedAndHashedPII(text, "email").split(".")[0]',
            Kind.PHONE_NUMBER: 'builder.getNormalizedAndHashedPII(text, "phone").split(".")[0]',
        },
        rule=rules.META,
    ),
    Tool(
        name="google-ads-datamanager-util",
        language=Language.PYTHON,
        requirements=("google-ads-datamanager-util==0.4.0",),
        called="`Formatter.process_email_address`, `process_phone_number`",
        normalises="trims, lower-cases, refuses inner spaces, removes dots and tags at Gmail; + and the digits",
        setup="from google.ads.datamanager_util.format import Encoding, Formatter\nformatter = Formatter()",
        calls={
            Kind.EMAIL: "formatter.process_email_address(text, Encoding.HEX)",
            Kind.PHONE_NUMBER: "formatter.process_phone_number(text, Encoding.HEX)",
        },
        rule=rules.GOOGLE_DATA_MANAGER,
    ),
    Tool(
        name="google-ads",
        language=Language.PYTHON,
        requirements=("google-ads==34.0.0",),
        called="`normalize_and_hash` of its example `add_customer_match_user_list`, as that calls it",
        normalises="removes all white space",
        setup="from examples.remarketing.add_customer_match_user_list import normalize_and_hash",
        calls={Kind.EMAIL: "normalize_and_hash(text, True)", Kind.PHONE_NUMBER: "normalize_and_hash(text, True)"},
        rule=rules.GOOGLE,
    ),
    Tool(
        name="snap-business-sdk",
        language=Language.PYTHON,
        requirements=("snap-business-sdk==1.0.0",),
        called="`ConversionEvent.norm_and_hash`",
        normalises="trims, lower-cases; divides a number into country code (1 without one) and the rest, without its 0",
        setup="from snap_business_sdk.public.conversion_event import ConversionEvent",
        calls={
            Kind.EMAIL: "ConversionEvent.norm_and_hash(email=text)['hashed_email']",
            Kind.PHONE_NUMBER: "ConversionEvent.norm_and_hash(phone_number=text)['hashed_phone_number']",
            Kind.DEVICE_ID: "ConversionEvent.norm_and_hash(mobile_ad_id=text)['hashed_mobile_ad_id']",
        },
        rule=rules.SNAP,
    ),
    Tool(
        name="uid2-client",
        language=Language.PYTHON,
        requirements=("uid2-client==2.9.0",),
        called="`IdentityMapInput.from_emails`, `from_phones`",
        normalises="takes off spaces, lower-cases A to Z, removes dots and tags at Gmail; numbers must be in E.164",
        setup="from uid2_client import IdentityMapInput",
        calls={
            Kind.EMAIL: "IdentityMapInput.from_emails([text]).hashed_normalized_emails[0]",
            Kind.PHONE_NUMBER: "IdentityMapInput.from_phones([text]).hashed_normalized_phones[0]",
        },
        rule=rules.UID2,
    ),
    Tool(
        name="Segment, Google Ads",
        language=Language.NODE,
        requirements=_SEGMENT,
        called="`createIdentifierExtractors` of google-enhanced-conversions",
        normalises="trims, lower-cases, removes a dot at Gmail, checks the address by a pattern; puts the calling code "
        "(+1 without one) before digits that do not begin with it",
        setup=f'const google = require("{_OF_SEGMENT}/google-enhanced-conversions/functions.js");\n'
        "const extract = google.createIdentifierExtractors().CONTACT_INFO;",
        calls={
            Kind.EMAIL: "extract({ email: text })[0].hashedEmail",
            Kind.PHONE_NUMBER: "extract({ phone: text, phone_country_code: country ?? undefined })[0]"
            ".hashedPhoneNumber",
        },
        country=as_calling_code,
        rule=rules.GOOGLE_CONVERSIONS,
    ),
    Tool(
        name="Segment, Facebook audiences",
        language=Language.NODE,
        requirements=_SEGMENT,
        called="`generateData` of facebook-custom-audiences",
        normalises="trims, lower-cases; keeps the digits of numbers, without zeros in front",
        setup=f'const {{ generateData }} = require("{_OF_SEGMENT}/facebook-custom-audiences/fbca-operations.js");',
        calls={
            Kind.EMAIL: "generateData([{ email: text }])[0][1]",
            Kind.PHONE_NUMBER: "generateData([{ phone: text }])[0][2]",
        },
        rule=rules.META,
    ),
    Tool(
        name="Segment, TikTok audiences",
        language=Language.NODE,
        requirements=_SEGMENT,
        called="`extractUsers` of tiktok-audiences",
        normalises="removes tags and dots of addresses, lower-cases; hashes numbers and device ids as they are",
        # It takes numbers only of people with an address or a device id.
        setup=f'const {{ extractUsers }} = require("{_OF_SEGMENT}/tiktok-audiences/functions.js");\n'
        'const digest = (more) => extractUsers([{ audience_id: "1", ...more }])[0][0].id;',
        calls={
            Kind.EMAIL: "digest({ email: text, send_email: true })",
            Kind.PHONE_NUMBER: 'digest({ advertising_id: "1", phone: text, send_phone: true })',
            Kind.DEVICE_ID: "digest({ advertising_id: text, send_advertising_id: true })",
        },
        rule=rules.TIKTOK,
    ),
    Tool(
        name="Segment, Snap audiences",
        language=Language.NODE,
        requirements=_SEGMENT,
        called="`sortPayload` of snap-audiences",
        normalises="trims, lower-cases; takes spaces, ( ) + - and up to three zeros in front off numbers",
        setup=f'const {{ sortPayload }} = require("{_OF_SEGMENT}/snap-audiences/syncAudience/utils.js");\n'
        "const digest = (more) =>\n"
        '  sortPayload([{ props: { one: true }, audienceKey: "one", ...more }]).enteredAudience[0][0];',
        calls={
            Kind.EMAIL: 'digest({ schema_type: "EMAIL_SHA256", email: text })',
            Kind.PHONE_NUMBER: 'digest({ schema_type: "PHONE_SHA256", phone: text })',
            Kind.DEVICE_ID: 'digest({ schema_type: "MOBILE_AD_ID_SHA256", advertising_id: text })',
        },
        rule=rules.SNAP,
    ),
    Tool(
        name="RudderStack integrations-lib",
        language=Language.NODE,
        requirements=("@rudderstack/integrations-lib@0.2.74",),
        called="`hashToSha256`",
        normalises="nothing: it hashes, and leaves the rest to the caller",
        setup='const { hashToSha256 } = require("@rudderstack/integrations-lib");',
        calls={Kind.EMAIL: "hashToSha256(text)", Kind.PHONE_NUMBER: "hashToSha256(text)"},
    ),
    Tool(
        name="drt-core",
        language=Language.PYTHON,
        requirements=("drt-core==1.2.1",),
        called="`_build_event` of its Meta destination",
        normalises="trims, lower-cases; keeps the digits of numbers",
        setup=_DRT,
        calls={
            Kind.EMAIL: "user_data('email', text)['em'][0]",
            Kind.PHONE_NUMBER: "user_data('phone', text)['ph'][0]",
        },
        rule=rules.META,
    ),
    Tool(
        name="parsons",
        language=Language.PYTHON,
        requirements=("parsons[facebook]==6.1.0", "facebook-business==26.0.3"),
        called="`FacebookAds`, which leaves hashing to `CustomAudience.format_params` of facebook-business",
        normalises="removes spaces and dots around, lower-cases; keeps the digits of numbers",
        setup=_PARSONS,
        calls={Kind.EMAIL: "digest('email', text)", Kind.PHONE_NUMBER: "digest('phone', text)"},
        rule=rules.META,
    ),
    Tool(
        name="facebook-leads-cli",
        language=Language.PYTHON,
        requirements=("facebook-leads-cli==0.3.2",),
        called="`prepare_user_data`",
        normalises="trims, lower-cases; keeps the digits of numbers without 0, 00, and without the 1 of eleven digits",
        setup="from fb_cli.conversions import prepare_user_data",
        calls={
            Kind.EMAIL: "prepare_user_data({'email': text})['em']",
            Kind.PHONE_NUMBER: "prepare_user_data({'phone': text})['ph']",
        },
        rule=rules.META,
    ),
    Tool(
        name="phonenumbers, used plainly",
        language=Language.PYTHON,
        requirements=("phonenumbers==9.0.43",),
        called="`parse`, `format_number` in E.164; the caller hashes",
        normalises="numbers in E.164 with the country of the row",
        setup=_SHA256 + _PHONENUMBERS,
        calls={Kind.PHONE_NUMBER: "sha256(e164(text, country))"},
        country=as_iso_code,
    ),
    Tool(
        name="phonenumbers, valid numbers",
        language=Language.PYTHON,
        requirements=("phonenumbers==9.0.43",),
        called="`parse`, `is_valid_number`, `format_number` in E.164; the caller hashes",
        normalises="numbers in E.164 with the country of the row; it refuses those that no one can have",
        setup=_SHA256 + _PHONENUMBERS,
        calls={Kind.PHONE_NUMBER: "sha256(valid_e164(text, country))"},
        country=as_iso_code,
    ),
    Tool(
        name="libphonenumber-js, used plainly",
        language=Language.NODE,
        requirements=("libphonenumber-js@1.13.16",),
        called="`parsePhoneNumber`, `number`; the caller hashes",
        normalises="numbers in E.164 with the country of the row",
        setup='const { createHash } = require("crypto");\n'
        'const { parsePhoneNumber } = require("libphonenumber-js");\n'
        'const sha256 = (text) => createHash("sha256").update(text, "utf8").digest("hex");',
        calls={Kind.PHONE_NUMBER: "sha256(parsePhoneNumber(text, country ?? undefined).number)"},
        country=as_iso_code,
    ),
)
