"""Addresses that reach no one, or no person."""

from __future__ import annotations

import random
import string
import unicodedata
from typing import Any

import email_validator
import pytest
from hypothesis import given, strategies as st

from audiencekit.identifiers.email import NO_LETTERS, PROVIDERS, distance, likely_provider, normalize_email
from audiencekit.identifiers.kinds import Reason
from tests.cases import each_case

# --- Addresses that reach no one, or no person ---

SLIPS = 500
ENDS = ["con", "cmo", "cm", "om", "comm", "vom", "ocm", "xom", "cpm"]
MOST_MEANT = ["gmail.com", "yahoo.com", "hotmail.com", "outlook.com", "icloud.com", "googlemail.com", "comcast.net"]


@each_case(
    "typed, meant",
    [
        ("gamil.com", "gmail.com"),
        ("gmial.com", "gmail.com"),
        ("gmail.con", "gmail.com"),
        ("gmail.co", "gmail.com"),
        ("gmai.com", "gmail.com"),
        ("hotmal.con", "hotmail.com"),
        ("yahooo.com", "yahoo.com"),
        ("outlok.com", "outlook.com"),
        ("comcats.net", "comcast.net"),
        ("t-onlin.de", "t-online.de"),
    ],
)
def test_typing_errors(typed: str, meant: str) -> None:
    """The provider that is meant."""
    assert likely_provider(typed) == meant


@each_case(
    "domain",
    [
        *PROVIDERS,
        *("mail.com", "email.com", "gmx.com", "gmx.at", "hotmail.ch", "yahoo.ca", "live.nl", "outlook.es", "proton.me"),
        *("example.com", "northwind.de", "orange.es", "aol.de", "web.com", "verizon.com", "t-mobile.de"),
        *("localhost", ""),
    ],
)
def test_domains_that_are_what_they_are(domain: str) -> None:
    """Providers, and companies that are called much like one."""
    assert likely_provider(domain) is None


def test_most_slips_are_found() -> None:
    """Of keys that were missed, doubled, left out or exchanged, in the name or at the end; at least 95 of a hundred."""
    draw = random.Random(20_261_123)
    typed = [_slip(draw, draw.choice(MOST_MEANT)) for _ in range(SLIPS)]
    named = [domain for domain, _ in typed if likely_provider(domain) is not None]
    assert len(named) >= 0.95 * SLIPS
    wrong = [domain for domain, meant in typed if likely_provider(domain) not in (meant, None)]
    assert len(wrong) <= 0.02 * SLIPS


def _slip(draw: random.Random, meant: str) -> tuple[str, str]:
    """Return a misspelling of the domain `meant`, and the domain that it is misspelled from."""
    name, _, end = meant.partition(".")
    while True:
        place, letter = draw.randrange(len(name)), draw.choice(string.ascii_lowercase)
        typed = draw.choice(
            [
                name[:place] + name[place + 1 :],
                name[: place + 1] + name[place:],
                name[:place] + name[place + 1 : place + 2] + name[place : place + 1] + name[place + 2 :],
                name[:place] + letter + name[place + 1 :] if place else name,
            ]
        )
        own_end = draw.choice(ENDS) if end == "com" and (typed == name or draw.random() < 0.2) else end
        domain = f"{typed}.{own_end}"
        if domain not in PROVIDERS and domain not in ("mail.com", "email.com", "gmal.com"):
            return domain, meant


@each_case(
    "one, other, steps",
    [("gmail", "gmail", 0), ("gmial", "gmail", 1), ("gail", "gmail", 1), ("ggmail", "gmail", 1), ("abc", "xyz", 3)],
)
def test_steps_between_two_words(one: str, other: str, steps: int) -> None:
    """Two letters that changed places are one step; beyond the most it is one more than that."""
    assert distance(one, other, 2) == min(steps, 3)


# --- The rule for e-mail addresses ---

ACCEPTED = [
    ("as it is", "ada@example.com", "ada@example.com"),
    ("upper case", "ADA@Example.COM", "ada@example.com"),
    ("spaces around", "  ada@example.com \r\n", "ada@example.com"),
    ("no-break space and byte order mark", "\ufeff\xa0ada@example.com\xa0", "ada@example.com"),
    ("zero-width and bidi marks at the ends", "\u200b\u202aada@example.com\u202c\u200f", "ada@example.com"),
    ("dots stay", "a.d.a@example.com", "a.d.a@example.com"),
    ("tag stays", "ada+news@example.com", "ada+news@example.com"),
    ("dots and tags stay at every provider", "A.d.a+News@gmail.com", "a.d.a+news@gmail.com"),
    ("hyphen in the domain", "ada@ex-ample.org", "ada@ex-ample.org"),
    ("role account", "info@example.com", "info@example.com"),
    ("short local part", "a@example.com", "a@example.com"),
    ("unusual signs", "o'brien=ada/x!#$%&*?^`{|}~_-@example.com", "o'brien=ada/x!#$%&*?^`{|}~_-@example.com"),
    ("one asterisk", "ada*b@example.com", "ada*b@example.com"),
    ("digits only", "123456@example.com", "123456@example.com"),
    ("local part of 64", "a" * 64 + "@example.com", "a" * 64 + "@example.com"),
    ("test as a subdomain", "ada@test.example.com", "ada@test.example.com"),
    ("testing account elsewhere", "test@example.org", "test@example.org"),
]

# Punycode of these labels: RFC 3492's algorithm, as the registries publish them.
INTERNATIONAL = [
    ("domain in ASCII", "ada@xn--mller-kva.example.com", "ada@xn--mller-kva.example.com"),
    ("top-level domain in ASCII", "ada@example.xn--p1ai", "ada@example.xn--p1ai"),
    ("domain with umlaut", "ada@müller.example.com", "ada@xn--mller-kva.example.com"),
    ("domain in capitals", "ada@MÜLLER.example.com", "ada@xn--mller-kva.example.com"),
    ("domain decomposed", "ada@mu\u0308ller.example.com", "ada@xn--mller-kva.example.com"),
    ("sharp s is not ss", "ada@straße.example.com", "ada@xn--strae-oqa.example.com"),
    ("ideographic full stop", "ada@example\u3002com", "ada@example.com"),
    ("full-width domain", "ada@ｅｘａｍｐｌｅ.com", "ada@example.com"),
    ("local part composed", "ju\u0308rgen@example.com", "j\xfcrgen@example.com"),
    ("local part in capitals", "JÜRGEN@example.com", "j\xfcrgen@example.com"),
    ("Kelvin sign", "\u212aate@example.com", "kate@example.com"),
    ("Turkish capital I", "\u0130da@example.com", "i\u0307da@example.com"),
    ("capital sigma at the end", "\u039f\u03a3@example.com", "\u03bf\u03c2@example.com"),
    ("full-width local part stays", "Ａｄａ@example.com", "ａｄａ@example.com"),
]

REFUSED = [
    ("empty", "", Reason.EMPTY),
    ("spaces only", " \t\xa0", Reason.EMPTY),
    ("marks only", "\ufeff\u200b", Reason.EMPTY),
    ("null", "NULL", Reason.PLACEHOLDER),
    ("n/a", "N/A", Reason.PLACEHOLDER),
    ("spreadsheet error", "#N/A", Reason.PLACEHOLDER),
    ("nan", "nan", Reason.PLACEHOLDER),
    ("dash", " - ", Reason.PLACEHOLDER),
    ("test at test", "Test@Test.com", Reason.PLACEHOLDER),
    ("test at test, two-part end", "test@test.co.uk", Reason.PLACEHOLDER),
    ("one letter throughout", "a@a.a", Reason.PLACEHOLDER),
    ("none at none", "none@none.com", Reason.PLACEHOLDER),
    ("noemail anywhere", "noemail@example.com", Reason.PLACEHOLDER),
    ("no-email anywhere", "no-email@example.org", Reason.PLACEHOLDER),
    ("masked", "An*****@Example.com", Reason.PLACEHOLDER),
    ("masked, domain too", "ann***@***.com", Reason.PLACEHOLDER),
    ("masked, international", "j\xfc***@m\xfcller.com", Reason.PLACEHOLDER),
    ("masked, all letters", "XXXXXXXX@example.com", Reason.PLACEHOLDER),
    ("masked by SQL Server", "aXXX@XXXX.com", Reason.PLACEHOLDER),
    ("masked with bullets", "ann\u2022\u2022\u2022@example.com", Reason.INVALID_SYNTAX),
    ("one quotation mark", "\u201cada@example.com", Reason.INVALID_SYNTAX),
    ("apostrophe of a word processor", "o\u2019brien@example.com", Reason.INVALID_SYNTAX),
    ("SHA-256", "0a" * 32, Reason.ALREADY_HASHED),
    ("SHA-256 in capitals", "0A" * 32, Reason.ALREADY_HASHED),
    ("MD5", "0a" * 16, Reason.INVALID_SYNTAX),
    ("SHA-1", "0a" * 20, Reason.INVALID_SYNTAX),
    ("SHA-256 in base64", "A" * 43 + "=", Reason.ALREADY_HASHED),
    ("NUL inside", "ada\0@example.com", Reason.INVISIBLE_CHARACTER),
    ("NUL at the end", "ada@example.com\0", Reason.INVISIBLE_CHARACTER),
    ("zero-width space inside", "ada\u200b@example.com", Reason.INVISIBLE_CHARACTER),
    ("soft hyphen inside", "ada@exam\xadple.com", Reason.INVISIBLE_CHARACTER),
    ("bidi override inside", "a\u202eda@example.com", Reason.INVISIBLE_CHARACTER),
    ("lone surrogate", "a\ud800@example.com", Reason.INVISIBLE_CHARACTER),
    ("display name", "Ada Example <ada@example.com>", Reason.DISPLAY_NAME),
    ("quoted display name", '"Example, Ada" <ada@example.com>', Reason.DISPLAY_NAME),
    ("mailto with a subject", "mailto:ada@example.com?subject=hello", Reason.INVALID_SYNTAX),
    ("mailto for a name", "mailto:Ada <ada@example.com>", Reason.DISPLAY_NAME),
    ("another scheme", "sip:ada@example.com", Reason.INVALID_SYNTAX),
    ("a long s in a scheme", "\u017fmtp:ada@example.com", Reason.INVALID_SYNTAX),
    ("a link to another", '=HYPERLINK("mailto:bob@example.com","ada@example.com")', Reason.EXCEL_MANGLED),
    ("a link with a word", '=HYPERLINK("mailto:ada@example.com","write to me")', Reason.EXCEL_MANGLED),
    ("no at sign", "ada.example.com", Reason.INVALID_SYNTAX),
    ("two at signs", "ada@@example.com", Reason.INVALID_SYNTAX),
    ("two addresses", "ada@example.com;bob@example.com", Reason.INVALID_SYNTAX),
    ("no local part", "@example.com", Reason.INVALID_SYNTAX),
    ("no domain", "ada@", Reason.INVALID_SYNTAX),
    ("comma for dot", "ada@example,com", Reason.INVALID_SYNTAX),
    ("no dot in the domain", "ada@example", Reason.INVALID_SYNTAX),
    ("one-letter top-level domain", "ada@example.c", Reason.INVALID_SYNTAX),
    ("digit in the top-level domain", "ada@example.c0m", Reason.INVALID_SYNTAX),
    ("digit in it, beside an internationalised label", "ada@m\xfcller.c0m", Reason.INVALID_SYNTAX),
    ("hyphen in the top-level domain", "ada@example.c-m", Reason.INVALID_SYNTAX),
    ("trailing dot", "ada@example.com.", Reason.INVALID_SYNTAX),
    ("double dot", "a..da@example.com", Reason.INVALID_SYNTAX),
    ("leading dot", ".ada@example.com", Reason.INVALID_SYNTAX),
    ("space inside", "ada lovelace@example.com", Reason.INVALID_SYNTAX),
    ("line break inside", "ada@example.com\nbob@example", Reason.INVALID_SYNTAX),
    ("no-break space inside", "ada\xa0l@example.com", Reason.INVALID_SYNTAX),
    ("quoted local part", '"ada l"@example.com', Reason.INVALID_SYNTAX),
    ("needlessly quoted local part", '"ada"@example.com', Reason.INVALID_SYNTAX),
    ("address literal", "ada@[192.0.2.1]", Reason.INVALID_SYNTAX),
    ("comment", "ada(work)@example.com", Reason.INVALID_SYNTAX),
    ("full-width at sign", "ada＠example.com", Reason.INVALID_SYNTAX),
    ("replacement character", "a\ufffdda@example.com", Reason.INVALID_SYNTAX),
    ("hyphen before a dot", "ada@example-.com", Reason.INVALID_SYNTAX),
    ("broken punycode", "ada@xn--\u00e9.com", Reason.INVALID_SYNTAX),
    ("test domain", "ada@example.test", Reason.SPECIAL_USE_DOMAIN),
    ("invalid domain", "ada@example.invalid", Reason.SPECIAL_USE_DOMAIN),
    ("localhost", "root@localhost", Reason.SPECIAL_USE_DOMAIN),
    ("local network", "ada@printer.local", Reason.SPECIAL_USE_DOMAIN),
    ("onion", "ada@example.onion", Reason.SPECIAL_USE_DOMAIN),
    ("reverse look-up", "ada@1.0.0.127.in-addr.arpa", Reason.SPECIAL_USE_DOMAIN),
    ("test domain, ideographic full stop", "ada@example\u3002test", Reason.SPECIAL_USE_DOMAIN),
    ("test domain, full-width", "ada@example．ｔｅｓｔ", Reason.SPECIAL_USE_DOMAIN),
    ("local part of 65", "a" * 65 + "@example.com", Reason.TOO_LONG),
    ("label of 64", "ada@" + "a" * 64 + ".com", Reason.TOO_LONG),
    ("address of 255", "a" * 60 + "@" + "b" * 60 + "." + "c" * 60 + "." + "d" * 60 + "." + "e" * 11, Reason.TOO_LONG),
    ("label of 28, in ASCII over 63", "ada@" + "".join(map(chr, range(0x4E00, 0x9800, 700))) + ".com", Reason.TOO_LONG),
]

# Where we differ from the recorded verdict of email-validator, and why. Everything else must be equal.
DIFFERENCES = {
    "em-057c12ec6b": "one-letter top-level domain: none exists",
    "em-aecaed908c": "one-letter top-level domain: none exists",
    "em-090751d05d": "one-letter top-level domain: none exists",
    "em-4161104893": "a hyphen in the top-level domain: none exists",
    "em-afa43e441e": "a hyphen in the top-level domain: none exists",
    "em-b407fad9ce": "a hyphen in the top-level domain: none exists",
    "em-c484cdf673": "an asterisk alone: a mask, or every address of the domain",
    "em-eea28504a3": "placeholder",
    "em-7bc2f9895b": "an apostrophe alone, which comes off as a spreadsheet's mark",
    "em-0cf7c2cd1e": "a formula of a spreadsheet",
    "em-7d140ec035": "a formula of a spreadsheet",
    "em-38f277cb8d": "brackets alone come off",
    "em-9a1aa9eeb9": "brackets alone come off",
    "em-310d1b6d70": "U+FFFD: the text was damaged before it came here",
}


def test_accepted_addresses_are_trimmed_and_lower_cased(wrong: Any) -> None:
    """Nothing but white space, invisible marks at the ends, and case changes."""
    assert wrong(normalize_email, ACCEPTED) == []


def test_internationalised_addresses_have_one_form(wrong: Any) -> None:
    """Domains leave in ASCII, local parts in NFC and lower case."""
    assert wrong(normalize_email, INTERNATIONAL) == []


def test_refused_addresses_say_why(wrong: Any) -> None:
    """Each way to fail has its own stable reason."""
    assert wrong(normalize_email, REFUSED) == []


def test_an_address_of_254_bytes_is_accepted() -> None:
    """The limit of RFC 3696, erratum 1690, is inclusive."""
    address = "a" * 60 + "@" + "b" * 60 + "." + "c" * 60 + "." + "d" * 60 + "." + "e" * 10
    assert (len(address), normalize_email(address)) == (254, address)


def test_the_signs_that_no_name_has_are_symbols_and_punctuation() -> None:
    """The IdentifierClass of RFC 8264 refuses those beyond ASCII (sections 4.2, 9.15, 9.16), and takes all letters."""
    assert {unicodedata.category(sign)[0] for sign in NO_LETTERS} == {"S", "P"}
    assert not any(sign.isascii() for sign in NO_LETTERS)


def test_global_options_of_the_library_do_not_change_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host program that loosens email-validator loosens nothing here."""
    monkeypatch.setattr(email_validator, "ALLOW_QUOTED_LOCAL", True)
    monkeypatch.setattr(email_validator, "ALLOW_DISPLAY_NAME", True)
    monkeypatch.setattr(email_validator, "GLOBALLY_DELIVERABLE", False)
    assert normalize_email('"jü rgen"@example.com') is Reason.INVALID_SYNTAX
    assert normalize_email("ada@dotlesshost") is Reason.INVALID_SYNTAX


LOCALS = st.from_regex(r"\A[A-Za-z0-9_+-]{2,12}(\.[A-Za-z0-9]{1,8}){0,2}\Z").filter(
    lambda local: "mail" not in local.lower()
)
DOMAINS = st.from_regex(r"\A[A-Za-z0-9]{1,10}\.(com|org|example\.net|de)\Z")


@given(LOCALS, DOMAINS, st.sampled_from(["", " ", "\t", "\xa0", "\ufeff", "\u200b \u202a"]))
def test_white_space_and_case_never_change_the_result(local: str, domain: str, around: str) -> None:
    """Every spelling of one address gives one result."""
    expected = normalize_email(f"{local}@{domain}".lower())
    assert normalize_email(f"{around}{local.upper()}@{domain}{around}") == expected


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_gives_an_address_or_a_reason(text: str) -> None:
    """Nothing raises, and what is accepted can be written as UTF-8."""
    assert isinstance(normalize_email(text), Reason) or normalize_email(text).encode()


@given(st.text(min_size=1, max_size=8), st.text(min_size=1, max_size=8))
def test_an_accepted_address_is_accepted_again_unchanged(local: str, label: str) -> None:
    """A normalised address is a fixed point."""
    once = normalize_email(f"{local}@{label}.com")
    assert isinstance(once, Reason) or normalize_email(once) == once


@given(st.text(st.characters(codec="utf-8", exclude_characters="\ufffd"), min_size=1, max_size=6))
def test_we_accept_nothing_that_the_library_refuses(local: str) -> None:
    """email-validator agrees with every internationalised local part that we accept."""
    ours = normalize_email(f"{local}@example.com")
    if not isinstance(ours, Reason):
        email_validator.validate_email(ours, check_deliverability=False)


def test_recorded_verdicts_of_the_library(corpus: Any) -> None:
    """Over public test suites we say what email-validator says, apart from the named differences."""
    unlike = {case["id"] for case in corpus("emails/email_cases.json") if not _is_as_recorded(case)}
    assert unlike == set(DIFFERENCES)


def _is_as_recorded(case: dict[str, Any]) -> bool:
    text, recorded = case["input"], case["email_validator"]["default"]
    ours = normalize_email(text)
    if text != text.strip():  # the library does not trim, our rule does
        return isinstance(ours, Reason) or ours == text.strip().lower()
    if not case["email_validator"]["strict"]["valid"]:
        return ours is Reason.TOO_LONG if recorded["valid"] else isinstance(ours, Reason)
    local, _, domain = recorded["normalized"].rpartition("@")
    expected = f"{unicodedata.normalize('NFC', local.lower())}@{domain.encode('idna').decode()}"
    return not isinstance(ours, Reason) and ours == expected


@each_case(
    "text, answer",
    [
        ("mailto:Ada@larchpost.example", "ada@larchpost.example"),
        ("MAILTO: ada@larchpost.example,", "ada@larchpost.example"),
        ("SMTP:ada@larchpost.example", "ada@larchpost.example"),
        ("< ada@larchpost.example >;", "ada@larchpost.example"),
        ("'<mailto:ada@larchpost.example>'", "ada@larchpost.example"),
        ('=HYPERLINK("mailto:Ada@larchpost.example","ada@larchpost.example")', "ada@larchpost.example"),
        ('=hyperlink( "mailto:ada@larchpost.example" )', "ada@larchpost.example"),
        ("'ada@larchpost.example", "ada@larchpost.example"),
        (" ' Ada@larchpost.example", "ada@larchpost.example"),
        ('="ada@larchpost.example"', "ada@larchpost.example"),
        ("''ada@larchpost.example", "'ada@larchpost.example"),  # one comes off, as from a number
        ("o'hara@larchpost.example", "o'hara@larchpost.example"),
        ("=ada@larchpost.example", Reason.EXCEL_MANGLED),
        ("=A1", Reason.EXCEL_MANGLED),
        ("'ada@larchpost.example'", "ada@larchpost.example"),
        ('" Ada@larchpost.example "', "ada@larchpost.example"),
        ("ada@larchpost.example,", "ada@larchpost.example"),
        ("ada@larchpost.example ;,", "ada@larchpost.example"),
        ("'ada@larchpost.example',", "ada@larchpost.example"),
        ("j\u00f6rg@larchpost.example;", "j\u00f6rg@larchpost.example"),
        ("'=ada@larchpost.example'", Reason.EXCEL_MANGLED),
        ("ada@larchpost.example'", Reason.INVALID_SYNTAX),
        ("ada@larchpost.example.", Reason.INVALID_SYNTAX),
        (",ada@larchpost.example", Reason.INVALID_SYNTAX),
        ("ada@larchpost.example, bo@larchpost.example,", Reason.INVALID_SYNTAX),
        (",;", Reason.INVALID_SYNTAX),
    ],
)
def test_marks_of_spreadsheets_and_lists_come_off(text: str, answer: str | Reason) -> None:
    """As from phone numbers; a formula is no address, nor are two."""
    assert normalize_email(text) == answer


@each_case(
    "text, is_valid",
    [
        ("a..b@docomo.ne.jp", True),
        ("a.@ezweb.ne.jp", True),
        ("A...b..@AU.com", True),
        (".a@docomo.ne.jp", False),
        ("a..b@mail.docomo.ne.jp", False),
        ("a..b@larchpost.example", False),
        ("a..b c@docomo.ne.jp", False),
    ],
)
def test_dots_of_japanese_carriers(text: str, is_valid: bool) -> None:
    """Dots in a row and at the end are taken at the domains of these carriers alone."""
    assert normalize_email(text) == (text.lower() if is_valid else Reason.INVALID_SYNTAX)
