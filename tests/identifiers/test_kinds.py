"""Hashes of identifiers, against published vectors, and identifiers that arrive hashed."""

from __future__ import annotations

import base64
import hashlib
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given, strategies as st

from audiencekit.errors import UsageError
from audiencekit.identifiers.definition import normalize_identifier
from audiencekit.identifiers.kinds import (
    DEFAULT_RULES,
    Kind,
    NormalizedEmail,
    NormalizedPartnerUserId,
    Reason,
    Rules,
    accept_hashed,
    hash_normalized,
    looks_hashed,
)
from audiencekit.profile import PROFILES
from tests.cases import each_case

# --- Hashes of identifiers, against published vectors, and identifiers that arrive hashed ---

# Facts from the public documentation of the services named (reference: api-facts, section 10).
VECTORS = [
    ("X, handle", Kind.HANDLE, "@AdsAPI", "49e0be2aeccfb51a8dee4c945c8a70a9ac500cf6f5cb08112575f74db9b1470d"),
    ("X, handle", Kind.HANDLE, "twitter", "7352f353c460e74c7ae226952d04f8aa307b12329c5512ec8cb6f1a0f8f9b2cb"),
    ("X, handle of digits", Kind.HANDLE, "123333", "461222f5dd690a20651c3d19848015cb0369db3f8e937571ffb775de70750847"),
    ("X, handle", Kind.HANDLE, "jack", "31611159e7e6ff7843ea4627745e89225fc866621cfcfdbd40871af4413747cc"),
    ("X, e-mail", Kind.EMAIL, "abc@twitter.com", "4798b8bbdcf6f2a52e527f46a3d7a7c9aefb541afda03af79c74809ecc6376f3"),
    ("X, e-mail", Kind.EMAIL, "edf@twitter.com", "5bf13d5ad4200407c5bc8b9bb578e425d05ef936fd488e3799a9d0806669223c"),
    ("X, e-mail", Kind.EMAIL, "test@twitter.com", "d360d510a224510f373931ce2d6215a799f5a9c1cef221b0149b6b6b50cced62"),
    ("X, e-mail", Kind.EMAIL, "test@x.com", "5806dc6b2f04fb728708a8f7b81c14edcd4fba36f77914cf0c9368d9a3a25f76"),
    ("X, e-mail", Kind.EMAIL, "Support@X.com ", "6afb3b8ba60b4050a492472f3c82294dede1ecc6319a9c420f776fd3bca2a381"),
    (
        "X, e-mail",
        Kind.EMAIL,
        "support@twitter.com",
        "3270314ee739c5735cce748b1ac815f86f4d279972a4d8f46d7e4f2989345726",
    ),
    ("X, e-mail", Kind.EMAIL, "abc@x.com", "95b54d5474c8618a3676340df71489dfb79eda1083176da1816339b3db7524f6"),
    ("X, e-mail", Kind.EMAIL, "edf@x.com", "f6baaf926bcf109a7ab114bf7537825dbdc7eeac9b2a56157b613a77015c1bae"),
    ("X, user id", Kind.PLATFORM_ID, "123346", "c623c7e163984493b46c547088542e95d0aaa529bc52bbecce3ff91eb6b7843b"),
    ("X, user id", Kind.PLATFORM_ID, "143567", "617b8747525a154b1ecf75a42d883df00e0dd6d0f981bea57ac7bdce73e57eae"),
    ("X, user id", Kind.PLATFORM_ID, "121291606", "0e3eebbc0962f08dc23e289f04a551507e50c8886de770699d9357e8f01d46cf"),
    ("X, user id", Kind.PLATFORM_ID, "17874544", "f6454903c0c1456af1c793c6067ec3d0512b9f98b083498bb1695d564c2950f7"),
    ("X, user id", Kind.PLATFORM_ID, "783214", "5cc31b18415f5f10852da93111a3101cd898a52863d169d586cdb67c309a687b"),
    (
        *("X, IDFA", Kind.DEVICE_ID, "4B61639E-47CC-4056-A16A-C8217E029462"),
        "225859d35b46df63b4fb381eb3f815b2ef4620bec0a79f2115a6a3eb71a5fa1a",
    ),
    (
        "X, Android id",
        Kind.DEVICE_ID,
        "af3802a465767e36",
        "38bb33cb239524887c276ca99f9a077bc7161629804b914f4fd52e19dcffe92c",
    ),
    (
        "X, Conversion API",
        Kind.PHONE_NUMBER,
        "+1 123 456 7890",
        "1fa6b8d986d9b9cd01bf36951815158bbde9f520c0567c835dfe34783d0a4231",
    ),
    ("rudder", Kind.EMAIL, "abc@xyz.com", "ee278943de84e5d6243578ee1a1057bcce0e50daad9755f45dfa64b60b13bc5d"),
    ("rudder, tag", Kind.EMAIL, "a+1@xyz.com", "27a1b87036e9b0f43235026e7cb1493f1838b6fe41965ea04486d82e499f8401"),
    ("py-sdk", Kind.EMAIL, "test-email@test.com", "e586883b2b4faf78d48300a79e0e15138d664cdf796ffb86e533170a9893eda8"),
    ("Meta", Kind.EMAIL, "John_Smith@gmail.com", "62a14e44f765419d10fea99367361a727c12365e2520f32218d505ed9aa0f62f"),
    ("Google", Kind.EMAIL, "alexz@example.com", "509e933019bb285a134a9334b8bb679dff79d0ce023d529af4bd744d47b4fd8a"),
    (
        "Google",
        Kind.PHONE_NUMBER,
        "+1 800-555-0100",
        "fb4f73a6ec5fdb7077d564cdd22c3554b43ce49168550c3b12c547b78c517b30",
    ),
    ("UID2", Kind.EMAIL, "USER@example.com", "b4c9a289323b21a01c3e940f150eb9b8c542587f1abfd8f0e1cc1ffc5e475514"),
    ("UID2", Kind.PHONE_NUMBER, "+12345678901", "10e6f0b47054a83359477dcb35231db6de5c69fb1816e1a6b98e192de9e5b9ee"),
    (
        "UID2",
        Kind.EMAIL,
        "janesaoirse+work@example.com",
        "28aaee4815230cd3b4ebd88c515226550666e91ac019929e3adac3f66c288180",
    ),
    ("TikTok", Kind.EMAIL, "janedoe@gmail.com", "d6117306485ed0e50afab3ac871e98f81699151f30281527d63ff5f233656c69"),
]

# X's own printed numbers are not assigned ones, hence "possible".
RULES = Rules(phone_validity="possible")

PLACEHOLDERS = [
    *("", " ", "null", "NULL", "Null", "none", "None", "nan", "NaN", "n/a", "N/A", "na", "nil", "undefined"),
    *("-", "unknown"),
    *("0000000000", "+0000000000", "1234567890", "9999999999", "test@test.com", "TEST@TEST.COM", "a@a.a", "#N/A", "0"),
    *("00000000-0000-0000-0000-000000000000", "0000000000000000", "\\N"),
]

REFUSED = [
    ("empty", " \u200b", Reason.EMPTY),
    ("null", "null", Reason.PLACEHOLDER),
    ("MD5", hashlib.md5(b"ada@example.com").hexdigest(), Reason.WRONG_HASH),
    ("SHA-1", hashlib.sha1(b"ada@example.com").hexdigest(), Reason.WRONG_HASH),
    ("SHA-512", hashlib.sha512(b"ada@example.com").hexdigest(), Reason.WRONG_HASH),
    ("zeros in base64", "A" * 43 + "=", Reason.ZEROED),
    ("base64 with bits beyond 32 bytes", "A" * 42 + "B=", Reason.WRONG_HASH),
    ("base64 of both alphabets", "+_" * 21 + "A=", Reason.WRONG_HASH),
    ("base64 without its end", "k" * 42 + "A", Reason.WRONG_HASH),
    ("base64 of MD5", "q" * 22 + "==", Reason.WRONG_HASH),
    ("0x before other digits", "0x" + "0a" * 31, Reason.WRONG_HASH),
    ("the empty text in base64", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", Reason.HASH_OF_PLACEHOLDER),
    ("63 digits", "0a" * 31 + "1", Reason.WRONG_HASH),
    ("65 digits", "0a" * 32 + "1", Reason.WRONG_HASH),
    ("prefix", "sha256:" + "0a" * 32, Reason.WRONG_HASH),
    ("space inside", "0a" * 16 + " " + "0a" * 16, Reason.WRONG_HASH),
    ("full-width digit", "１" + "a" * 63, Reason.WRONG_HASH),
    ("not hex", "g" * 64, Reason.WRONG_HASH),
    ("a raw address", "ada@example.com", Reason.WRONG_HASH),
    ("zeros", "0" * 64, Reason.ZEROED),
]

# Published hashes that our rule does not give, and why.
DIFFERENCES = {
    "hv-273ec67309": "a masked address",
    "hv-20482161c3": "not a possible number",
    "hv-40c556696e": "not a possible number",
    "hv-54cb5fd952": "not a possible number",
    "hv-6942420e42": "not a possible number",
    "hv-8c74556b13": "not a possible number",
    "hv-adfd69b1e6": "not a possible number",
    "hv-3ec4c6523c": "not an assigned number",
    "hv-404486f71e": "not an assigned number",
    "hv-68946794a3": "not an assigned number",
    "hv-9289fdb8fc": "not an assigned number",
    "hv-afdd3c3b73": "not an assigned number, though X prints it",
    "hv-e609f5a210": "not an assigned number",
    "hv-f46c85a740": "not an assigned number",
    "hv-7613ada49f": "placeholder number",
    "hv-79b9d0cf2a": "placeholder number",
    "hv-7bf359d59f": "placeholder address",
    "hv-f66aa1fda1": "placeholder address",
}
NORMAL_FORM_DIFFERENCES = {
    "nv-31b59d4cd9": "internationalised domains leave in ASCII",
    "nv-8e7df26c6d": "internationalised domains leave in ASCII",
    "nv-871135e59c": "quoted local parts are refused",
}
KINDS = {"email": Kind.EMAIL, "phone_or_number": Kind.PHONE_NUMBER, "handle": Kind.HANDLE}


def _hash(kind: Kind, text: str, rules: Rules) -> str:
    normalized = normalize_identifier(kind, text, rules=rules)
    return normalized if isinstance(normalized, Reason) else hash_normalized(normalized)  # type: ignore[arg-type]


def test_published_vectors() -> None:
    """Normalised and hashed by us, the published inputs give the published hashes."""
    assert [name for name, kind, text, expected in VECTORS if _hash(kind, text, RULES) != expected] == []


def test_only_normalised_types_are_hashed() -> None:
    """Neither a partner user id nor raw text is among the types that may be hashed."""
    taken = get_args(get_type_hints(hash_normalized)["normalized"])
    assert NormalizedEmail in taken
    assert NormalizedPartnerUserId not in taken
    assert str not in taken


def test_hashes_are_accepted_in_any_case_and_leave_in_lower_case() -> None:
    """Upper-case hex never matches at the service."""
    digest = hashlib.sha256(b"ada@example.com").hexdigest()
    assert accept_hashed(digest) == digest
    assert accept_hashed(f"\ufeff {digest.upper()}\n") == digest


@each_case("before", ["0x", "0X", "\\x", " \\x"])
def test_hex_behind_the_prefix_of_a_database_is_the_same_hash(before: str) -> None:
    """SQL Server and PostgreSQL write bytes so."""
    assert accept_hashed(before + "0A" * 32) == "0a" * 32
    assert looks_hashed(before + "0A" * 32)


@given(st.binary(max_size=40))
def test_base64_of_32_bytes_is_the_same_hash(content: bytes) -> None:
    """In both alphabets of RFC 4648; of other sizes it is none."""
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        digest = hashlib.sha256(content).digest()
        assert accept_hashed(encode(digest).decode()) == accept_hashed(digest.hex())
        assert looks_hashed(encode(digest).decode())
        assert looks_hashed(encode(content).decode()) == (len(content) == 32)


def test_other_hashes_say_why(wrong: Any) -> None:
    """Another algorithm, length or encoding never passes for a SHA-256."""
    assert wrong(accept_hashed, REFUSED) == []


@each_case("position", range(len(PLACEHOLDERS)))
def test_hashes_of_placeholders_are_refused(position: int) -> None:
    """The hash of nothing is nothing, in either case of its hex."""
    digest = hashlib.sha256(PLACEHOLDERS[position].encode()).hexdigest()
    assert accept_hashed(digest) is Reason.HASH_OF_PLACEHOLDER
    assert accept_hashed(digest.upper()) is Reason.HASH_OF_PLACEHOLDER


def test_the_hash_of_the_empty_text_is_refused() -> None:
    """The best-known digest of all is not sent (api-facts, section 10)."""
    digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert accept_hashed(digest) is Reason.HASH_OF_PLACEHOLDER


@given(st.binary(max_size=40))
def test_any_digest_is_accepted_once_and_again(content: bytes) -> None:
    """An accepted digest is a fixed point, and looks hashed."""
    digest = accept_hashed(hashlib.sha256(b"\x01" + content).hexdigest().upper())
    assert accept_hashed(digest) == digest
    assert looks_hashed(digest)


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_gives_a_hash_or_a_reason(text: str) -> None:
    """Nothing raises."""
    assert isinstance(accept_hashed(text), Reason) or looks_hashed(text)


def test_recorded_hashes(corpus: Any) -> None:
    """Where the documentation's rule gives the published hash, so do we, apart from the named differences."""
    cases = [case for case in corpus("hash/hash_vectors.json") if case.get("x_docs_rule_gives_same_hash")]
    unlike = {case["id"] for case in cases if _hash(KINDS[case["kind"]], case["input"], Rules()) != case["sha256"]}
    assert len(cases) > 90
    assert unlike == set(DIFFERENCES)


def test_recorded_normal_forms(corpus: Any) -> None:
    """Where others normalise addresses as the documentation says, we agree; where they do not, we do not."""
    cases = [case for case in corpus("hash/normalisation_vectors.json") if "same_as_x_docs_rule" in case]
    answers = {case["id"]: normalize_identifier(Kind.EMAIL, case["input"]) == case["expected"] for case in cases}
    unlike = {case["id"] for case in cases if answers[case["id"]] != case["same_as_x_docs_rule"]}
    assert unlike == set(NORMAL_FORM_DIFFERENCES)


# --- The switches of a run ---


def test_defaults_are_the_best_supported_reading() -> None:
    """E.164 with the plus, valid numbers only, device ids in lower case, no country assumed."""
    expected = Rules(default_country=None, phone_validity="valid", phone_form="e164", device_id_case="lower")
    assert expected == DEFAULT_RULES


def test_profiles_name_forms_that_rules_know() -> None:
    """Each profile's switches are values that the rules accept."""
    known = get_type_hints(Rules)
    for profile in PROFILES.values():
        assert profile.phone_form in get_args(known["phone_form"])
        assert profile.device_id_case in get_args(known["device_id_case"])


@each_case("country", ["DE", "germany", "United States of America", "", None])
def test_a_default_country_is_anything_that_means_one(country: str | None) -> None:
    """Codes and names are taken; nothing means that none is assumed."""
    assert Rules(default_country=country).default_country == country


@each_case("country", ["Atlantis", "+999", "DEUTSCH"])
def test_an_unknown_default_country_is_a_usage_error(country: str) -> None:
    """It is refused at construction, not row by row."""
    with pytest.raises(UsageError, match="default country"):
        Rules(default_country=country)
