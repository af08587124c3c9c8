"""The rule for handles."""

from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from audiencekit.identifiers.accounts import is_marked_handle, normalize_handle, normalize_platform_id
from audiencekit.identifiers.kinds import Reason
from audiencekit.limits import MAX_PLATFORM_ID

# --- The rule for handles ---


# --- The rule for user ids of the platform ---

CASES = [
    ("as it is", "ada_example", "ada_example"),
    ("capitals", "Ada_Example", "ada_example"),
    ("at sign", " @Ada_Example ", "ada_example"),
    ("full-width at sign", "＠ada_example", "ada_example"),
    ("digits only", "123333", "123333"),
    ("one character", "a", "a"),
    ("15 characters", "a" * 15, "a" * 15),
    ("profile", "https://x.com/Ada_Example", "ada_example"),
    ("old profile", "http://twitter.com/Ada_Example/", "ada_example"),
    ("mobile profile", "https://mobile.twitter.com/Ada_Example", "ada_example"),
    ("profile with www", "www.x.com/ada_example", "ada_example"),
    ("profile without scheme", "x.com/ada_example", "ada_example"),
    ("profile with query", "https://x.com/ada_example?lang=en#top", "ada_example"),
    ("profile with at sign", "https://x.com/@ada_example", "ada_example"),
    ("profile of old", "https://twitter.com/#!/ada_example", "ada_example"),
    ("address of a post", "https://x.com/ada_example/status/20", "ada_example"),
    ("capitals in the address", "HTTPS://X.COM/ADA_EXAMPLE", "ada_example"),
    ("an export's apostrophe", "'@Ada_Example", "ada_example"),
    ("an export's apostrophe and a space", " ' ＠ada_example", "ada_example"),
    ("a formula that is a text", '="@ada_example"', "ada_example"),
    ("an apostrophe before an address", "'https://x.com/Ada_Example", "ada_example"),
    ("two apostrophes", "''@ada", Reason.INVALID_SYNTAX),
    ("an apostrophe only", "'", Reason.INVALID_SYNTAX),
    ("a formula", "=@ada", Reason.INVALID_SYNTAX),
    ("null behind an apostrophe", "'@null", Reason.PLACEHOLDER),
    ("empty", " ", Reason.EMPTY),
    ("null", "NULL", Reason.PLACEHOLDER),
    ("null with at sign", "@null", Reason.PLACEHOLDER),
    ("n/a", "N/A", Reason.PLACEHOLDER),
    ("SHA-256", "0a" * 32, Reason.ALREADY_HASHED),
    ("zero-width space inside", "ada\u200bexample", Reason.INVISIBLE_CHARACTER),
    ("16 characters", "a" * 16, Reason.TOO_LONG),
    ("MD5", "0a" * 16, Reason.TOO_LONG),
    ("at sign only", "@", Reason.INVALID_SYNTAX),
    ("two at signs", "@@ada", Reason.INVALID_SYNTAX),
    ("space behind the at sign", "@ ada", Reason.INVALID_SYNTAX),
    ("an e-mail address", "ada@example.com", Reason.INVALID_SYNTAX),
    ("two words", "Ada Example", Reason.INVALID_SYNTAX),
    ("two handles", "@ada,@bob", Reason.INVALID_SYNTAX),
    ("hyphen", "ada-example", Reason.INVALID_SYNTAX),
    ("dot", "ada.example", Reason.INVALID_SYNTAX),
    ("umlaut", "jürgen", Reason.INVALID_SYNTAX),
    ("Kelvin sign", "\u212aate", Reason.INVALID_SYNTAX),
    ("dotless i in the host", "https://tw\u0131tter.com/ada", Reason.INVALID_SYNTAX),
    ("own page", "https://x.com/home", Reason.INVALID_SYNTAX),
    ("internal address", "https://x.com/i/user/12", Reason.INVALID_SYNTAX),
    ("intent", "https://twitter.com/intent/user?screen_name=ada", Reason.INVALID_SYNTAX),
    ("another site", "https://example.com/ada", Reason.INVALID_SYNTAX),
    ("a site that ends alike", "https://notx.com/ada", Reason.INVALID_SYNTAX),
    ("no name", "https://x.com/", Reason.INVALID_SYNTAX),
    ("a list", "@ada/friends", Reason.INVALID_SYNTAX),
]

# Kinds that twitter-text calls valid and we do not: a list is not a person.
KINDS = {"handle_valid", "list_handle_valid", "x_handle"}


def test_cases(wrong: Any) -> None:
    """The at sign and the profile address come off, the rest is 1 to 15 of a-z, 0-9 and _."""
    assert wrong(normalize_handle, CASES) == []


def test_marked_handles_say_what_they_are() -> None:
    """A bare word may be anything."""
    assert all(map(is_marked_handle, ["@ada", " ＠ada", "'@ada", "https://x.com/ada"]))
    assert not any(map(is_marked_handle, ["ada", "'ada", "@", "@null", "", "@ada@example.com", "https://x.com/home"]))


@given(st.from_regex(r"\A[A-Za-z0-9_]{3,15}\Z"))
def test_every_spelling_gives_one_handle(name: str) -> None:
    """With at sign, as an address, in capitals: the same result."""
    expected = normalize_handle(name)
    assert isinstance(expected, Reason) or expected == name.lower()
    assert normalize_handle(f"@{name.upper()}") == expected


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_gives_a_handle_or_a_reason(text: str) -> None:
    """Nothing raises, and a handle is a fixed point."""
    once = normalize_handle(text)
    assert isinstance(once, Reason) or normalize_handle(once) == once


def test_recorded_handles(corpus: Any) -> None:
    """We agree with the conformance cases on single handles; lists name no one person and are refused."""
    for case in corpus("ids/id_cases.json"):
        if case["kind"] in KINDS:
            valid = not isinstance(normalize_handle(case["input"]), Reason)
            is_person = case["kind"] == "x_handle" or "/" not in case["input"]
            assert valid == is_person if case["kind"] != "handle_valid" else valid == case["expected"]["valid"], case[
                "id"
            ]


CASES_PLATFORM_ID = [
    ("as it is", "143567", "143567"),
    ("white space", " 143567\t", "143567"),
    ("leading zeros", "000143567", "143567"),
    ("one digit", "7", "7"),
    ("counting", "1234567890", "1234567890"),
    ("beyond a double", "1234567890123456789", "1234567890123456789"),
    ("the largest", "9223372036854775807", "9223372036854775807"),
    ("the largest with zeros", "0" * 5_000 + "9223372036854775807", "9223372036854775807"),
    ("full-width digits", "１４３５６７", "143567"),
    ("text mark of a spreadsheet", "'143567", "143567"),
    ("text formula of a spreadsheet", '="143567"', "143567"),
    ("empty", "", Reason.EMPTY),
    ("null", "null", Reason.PLACEHOLDER),
    ("zero", "0", Reason.ZEROED),
    ("zeros", "0000", Reason.ZEROED),
    ("SHA-256", "0a" * 32, Reason.ALREADY_HASHED),
    ("zero-width space inside", "143\u200b567", Reason.INVISIBLE_CHARACTER),
    ("float", "143567.0", Reason.EXCEL_MANGLED),
    ("float without a decimal", "143567.", Reason.EXCEL_MANGLED),
    ("fraction", "143567.25", Reason.EXCEL_MANGLED),
    ("scientific", "1.23E+18", Reason.EXCEL_MANGLED),
    ("scientific, plain", "1e18", Reason.EXCEL_MANGLED),
    ("column too narrow", "#####", Reason.EXCEL_MANGLED),
    ("formula", "=143567", Reason.EXCEL_MANGLED),
    ("thousands separators", "1,435,678", Reason.NOT_INTEGER),
    ("spaces between", "143 567", Reason.NOT_INTEGER),
    ("negative", "-143567", Reason.NOT_INTEGER),
    ("plus sign", "+143567", Reason.NOT_INTEGER),
    ("underscore", "143_567", Reason.NOT_INTEGER),
    ("superscript", "143²", Reason.NOT_INTEGER),
    ("hex", "0x23", Reason.NOT_INTEGER),
    ("a handle", "@ada", Reason.NOT_INTEGER),
    ("a word", "tid1", Reason.NOT_INTEGER),
    ("one beyond the largest", "9223372036854775808", Reason.TOO_LONG),
    ("huge", "9" * 60_000, Reason.TOO_LONG),
]


def test_platform_ids(wrong: Any) -> None:
    """Plain integer text, as long as it fits 64 signed bits."""
    assert wrong(normalize_platform_id, CASES_PLATFORM_ID) == []


@given(st.integers(1, MAX_PLATFORM_ID), st.integers(0, 5))
def test_every_id_is_its_own_normal_form(number: int, zeros: int) -> None:
    """Padding never changes an id."""
    assert normalize_platform_id("0" * zeros + str(number)) == str(number)


@given(st.integers(max_value=-1) | st.integers(min_value=MAX_PLATFORM_ID + 1, max_value=10**30))
def test_no_other_integer_is_an_id(number: int) -> None:
    """Negative and larger integers are refused."""
    assert normalize_platform_id(str(number)) in {Reason.NOT_INTEGER, Reason.TOO_LONG}


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_gives_an_id_or_a_reason(text: str) -> None:
    """Nothing raises, and what is accepted is ASCII digits."""
    answer = normalize_platform_id(text)
    assert isinstance(answer, Reason) or (answer.isascii() and answer.isdecimal())


def test_recorded_ids(corpus: Any) -> None:
    """The ids that the service's documentation prints pass, except the one that does not fit a signed long."""
    for case in corpus("ids/id_cases.json"):
        if case["kind"] == "x_twitter_id":
            # id-203b60306d is an unsigned 64-bit integer; the specification, part 1, calls ids long integers.
            expected = Reason.TOO_LONG if case["id"] == "id-203b60306d" else case["input"]
            assert normalize_platform_id(case["input"]) == expected, case["id"]
