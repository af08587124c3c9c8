"""The rule for device ids."""

from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from audiencekit.identifiers.device_id import is_advertising_id, normalize_device_id
from audiencekit.identifiers.kinds import Reason, Rules

CASES = [
    ("as it is", "4b61639e-47cc-4056-a16a-c8217e029462", "4b61639e-47cc-4056-a16a-c8217e029462"),
    ("capitals", "4B61639E-47CC-4056-A16A-C8217E029462", "4b61639e-47cc-4056-a16a-c8217e029462"),
    ("white space", " 4b61639e-47cc-4056-a16a-c8217e029462\n", "4b61639e-47cc-4056-a16a-c8217e029462"),
    ("braces", "{4b61639e-47cc-4056-a16a-c8217e029462}", "4b61639e-47cc-4056-a16a-c8217e029462"),
    ("apostrophe in front", "' 4B61639E-47CC-4056-A16A-C8217E029462", "4b61639e-47cc-4056-a16a-c8217e029462"),
    ("text formula", '="{4b61639e-47cc-4056-a16a-c8217e029462} "', "4b61639e-47cc-4056-a16a-c8217e029462"),
    ("text formula, Android id", '="af3802a465767e36"', "af3802a465767e36"),
    ("formula", "=4b61639e-47cc-4056-a16a-c8217e029462", Reason.INVALID_SYNTAX),
    ("zeroed behind an apostrophe", "'00000000-0000-0000-0000-000000000000", Reason.ZEROED),
    ("any version bits", "4b61639e-47cc-f056-016a-c8217e029462", "4b61639e-47cc-f056-016a-c8217e029462"),
    ("Android id", "af3802a465767e36", "af3802a465767e36"),
    ("Android id in capitals", "AF3802A465767E36", "af3802a465767e36"),
    ("empty", " ", Reason.EMPTY),
    ("null", "null", Reason.PLACEHOLDER),
    ("zeroed", "00000000-0000-0000-0000-000000000000", Reason.ZEROED),
    ("zeroed in braces", "{00000000-0000-0000-0000-000000000000}", Reason.ZEROED),
    ("zeroed Android id", "0" * 16, Reason.ZEROED),
    ("zeroed without dashes", "0" * 32, Reason.ZEROED),
    ("zero", "0", Reason.ZEROED),
    ("all f", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", Reason.PLACEHOLDER),
    ("the shared id of Android 2.2", "9774d56d682e549c", Reason.PLACEHOLDER),
    ("from documentation", "12345678-1234-1234-1234-123456789012", Reason.PLACEHOLDER),
    ("SHA-256", "0a" * 32, Reason.ALREADY_HASHED),
    ("NUL inside", "4b61639e-47cc-4056-a16a-c8217e02946\x00", Reason.INVISIBLE_CHARACTER),
    ("no dashes", "4b61639e47cc4056a16ac8217e029462", Reason.INVALID_SYNTAX),
    ("one brace", "{4b61639e-47cc-4056-a16a-c8217e029462", Reason.INVALID_SYNTAX),
    ("one digit short", "4b61639e-47cc-4056-a16a-c8217e02946", Reason.INVALID_SYNTAX),
    ("the short one in the documentation", "2f5f5391-3e45-4d02-b645-4575a08f86e", Reason.INVALID_SYNTAX),
    ("dashes elsewhere", "4b61639e47cc-4056-a16a-c821-7e029462", Reason.INVALID_SYNTAX),
    ("not hex", "4b61639g-47cc-4056-a16a-c8217e029462", Reason.INVALID_SYNTAX),
    ("non-breaking hyphens", "4b61639e\u201147cc\u20114056\u2011a16a\u2011c8217e029462", Reason.INVALID_SYNTAX),
    ("full-width digits", "４b61639e-47cc-4056-a16a-c8217e029462", Reason.INVALID_SYNTAX),
    ("MAC address", "00:1b:63:84:45:e6", Reason.INVALID_SYNTAX),
    ("IMEI", "490154203237518", Reason.INVALID_SYNTAX),
    ("MD5", "0a" * 16, Reason.INVALID_SYNTAX),
    ("braces only", "{-}", Reason.INVALID_SYNTAX),
]


def test_cases(wrong: Any) -> None:
    """Lower case with the dashes of the device; what opts out, is shared or is another id says so."""
    assert wrong(normalize_device_id, CASES) == []


def test_case_stays_by_rule() -> None:
    """The older documentation hashes ids as given; braces still come off and zeros are still zeros."""
    as_given = Rules(device_id_case="as_given")
    given_id = "4B61639E-47CC-4056-A16A-C8217E029462"
    assert normalize_device_id("{" + given_id + "}", rules=as_given) == given_id
    assert normalize_device_id("0" * 16, rules=as_given) is Reason.ZEROED


def test_the_form_of_an_advertising_id() -> None:
    """Zeroed ids have the form too; Android ids do not show what they are."""
    assert is_advertising_id(" {00000000-0000-0000-0000-000000000000} ")
    assert is_advertising_id('="00000000-0000-0000-0000-000000000000"')
    assert not any(map(is_advertising_id, ["", "{}", "af3802a465767e36", "4b61639e"]))


@given(st.uuids(version=4))
def test_every_uuid_is_a_fixed_point(uuid: object) -> None:
    """Any spelling of an advertising id gives its lower-case form."""
    assert normalize_device_id(str(uuid).upper()) == str(uuid)
    assert normalize_device_id(str(uuid)) == str(uuid)


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_gives_an_id_or_a_reason(text: str) -> None:
    """Nothing raises."""
    answer = normalize_device_id(text)
    assert isinstance(answer, Reason) or len(answer) in {16, 36}


def test_recorded_uuids(corpus: Any) -> None:
    """Whatever RFC 9562 calls valid has the form; version bits, all zeros and all f are judged by our own rule."""
    for case in corpus("ids/id_cases.json"):
        if case["kind"] == "uuid_valid" and case["expected"]["valid_rfc9562"]:
            assert is_advertising_id(case["input"]), case["id"]
        if case["kind"] in {"x_device_id_idfa", "x_device_id_android_id"}:
            assert normalize_device_id(case["input"]) == case["input"].lower(), case["id"]
        if case["kind"] == "x_device_id_adid":  # one digit short, by the corpus's own note
            assert normalize_device_id(case["input"]) is Reason.INVALID_SYNTAX, case["id"]
