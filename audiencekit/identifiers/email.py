"""The rule for e-mail addresses: trim, lower-case, nothing else (reference: api-facts 1.7).

Dots and `+tags` stay. Valid is what email-validator calls valid without asking DNS, plus: a local part has
64 characters at most, a top-level domain two letters at least. The marks of a spreadsheet come off as from phone
numbers, and so do commas and semicolons behind an address and quotes around it, which have no other reading. A full
stop behind it stays: of `ada@example.com.` a cell may have lost the `au`, and then it is another person's. Refused
forms: quoted local parts, address literals, comments, display names. Internationalised local parts (RFC 6531) are
accepted, in NFC.

Internationalised domains leave in ASCII ("xn--…": IDNA 2008 over UTS 46, non-transitional). That is the one
form which every mail system takes, which browsers submit from e-mail fields, and which the service's own
script for hashing accepted; and so both spellings of one mailbox give one hash.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from email_validator import SPECIAL_USE_DOMAIN_NAMES, EmailNotValidError, validate_email

from audiencekit.identifiers.commonchecks import refuse_at_once
from audiencekit.identifiers.excel import unmarked
from audiencekit.identifiers.invisible import WHITE_SPACE, trim
from audiencekit.identifiers.kinds import NormalizedEmail
from audiencekit.identifiers.placeholders import is_placeholder_email
from audiencekit.identifiers.reasons import Reason
from audiencekit.identifiers.unicodeforms import in_form

# RFC 5321 section 4.5.3.1 and RFC 3696, erratum 1690; RFC 1035 section 2.3.4.
MAX_ADDRESS_BYTES: Final = 254
MAX_LOCAL_LENGTH: Final = 64
MAX_DOMAIN_LENGTH: Final = MAX_ADDRESS_BYTES - len("a@")
MAX_LABEL_LENGTH: Final = 63

# Domains only, never whole addresses: an internationalised one costs 80-100 us, and people share theirs.
MEMOISED_DOMAINS: Final = 65_536

_ATOM: Final = r"[a-z0-9_!#$%&'*+\-/=?^`{|}~]+"
_ASCII_LOCAL: Final = re.compile(rf"{_ATOM}(?:\.{_ATOM})*")  # RFC 5322 section 3.2.3, dot-atom
# Mobile carriers of Japan gave out addresses with dots in a row and before the @, which RFC 5322 forbids and their own
# systems deliver (docomo; KDDI's au, under both of its domains).
CARRIERS: Final = ("au.com", "docomo.ne.jp", "ezweb.ne.jp")
_CARRIER_LOCAL: Final = re.compile(rf"{_ATOM}(?:\.+{_ATOM})*\.*")
# Of a list from which the address was taken: no domain ends so.
_BEHIND: Final = re.compile(rf"(?<![{WHITE_SPACE},;])[{WHITE_SPACE},;]*[,;]\Z")
_QUOTES: Final = ("''", '""')
# RFC 1123, section 2.1: it is alphabetic. ICANN asks that of new ones (gTLD Applicant Guidebook, string requirements),
# or the form of IDNA; so are all of the root. `c0m` is a typing error.
_TOP: Final = re.compile(r"[a-z]{2,}|xn--.+")
# Signs that a decoder which gave up, or a mask, has put in the place of a letter; and quotation marks: one is there
# when a pair was cut, or a word processor changed an apostrophe. All are symbols or punctuation, and RFC 8264, section
# 4.2, does not allow them in names of accounts (IdentifierClass).
NO_LETTERS: Final = frozenset("\ufffd…•∗∙■▪●█＊«»‘’‚‛“”„‟‹›")
_DISPLAY_NAME: Final = re.compile(r"[^<]*<([^<>]*)>|mailto:(.*)", re.DOTALL)


def normalize_email(text: str) -> NormalizedEmail | Reason:
    """The address as it is hashed, or why there is none.

    The order of the checks decides the reason: empty, placeholder word, already hashed, invisible character,
    formula of a spreadsheet, display name, something on both sides of one `@`, placeholder address, length, local part,
    domain.
    """
    trimmed = trim(text)
    if (reason := refuse_at_once(trimmed)) is not None:
        return reason
    address = _alone(trimmed)
    return Reason.EXCEL_MANGLED if address.startswith("=") else _normalize_address(lower(address))


def _alone(trimmed: str) -> str:
    """`trimmed` without commas and semicolons behind it, then without quotes or a spreadsheet's marks around it."""
    bare = _BEHIND.sub("", trimmed)
    if len(bare) > 1 and bare[0] + bare[-1] in _QUOTES:
        return trim(bare[1:-1])
    return unmarked(bare)


def lower(text: str) -> str:
    """Lower case, in NFC. U+0130 becomes two characters and the Kelvin sign an ASCII k, as Unicode has it."""
    if text.isascii():
        return text.lower()
    return in_form("NFC", in_form("NFC", text).lower())


def _normalize_address(address: str) -> NormalizedEmail | Reason:
    if _has_display_name(address):
        return Reason.DISPLAY_NAME
    local, _, domain = address.partition("@")
    if not local or not domain or "@" in domain:
        return Reason.INVALID_SYNTAX
    if is_placeholder_email(address):
        return Reason.PLACEHOLDER
    if len(local) > MAX_LOCAL_LENGTH or len(address.encode()) > MAX_ADDRESS_BYTES:
        return Reason.TOO_LONG
    if not _is_local_part(local, domain):
        return Reason.INVALID_SYNTAX
    in_ascii = ascii_domain(domain)
    if isinstance(in_ascii, Reason):
        return in_ascii
    normalized = f"{local}@{in_ascii}"
    return Reason.TOO_LONG if len(normalized.encode()) > MAX_ADDRESS_BYTES else NormalizedEmail(normalized)


def _has_display_name(address: str) -> bool:
    found = _DISPLAY_NAME.fullmatch(address)
    return found is not None and "@" in (found[1] or found[2] or "")


def _is_local_part(local: str, domain: str) -> bool:
    if local.isascii():
        form = _CARRIER_LOCAL if domain in CARRIERS else _ASCII_LOCAL
        return form.fullmatch(local) is not None
    return NO_LETTERS.isdisjoint(local) and _library_domain(f"{local}@example.com") is not None


@lru_cache(maxsize=MEMOISED_DOMAINS)
def ascii_domain(domain: str) -> str | Reason:
    """The lower-cased `domain` in ASCII, or why it is none. The columnar path asks here too."""
    # The ideographic full stop divides labels too (UTS 46), and NFKC makes it of its half-width form.
    top = in_form("NFKC", domain).replace("\u3002", ".").rpartition(".")[2]
    if top in SPECIAL_USE_DOMAIN_NAMES:
        return Reason.SPECIAL_USE_DOMAIN
    if _is_too_long(domain):
        return Reason.TOO_LONG
    in_ascii = _library_domain(f"a@{domain}")
    if in_ascii is None or not _TOP.fullmatch(in_ascii.rpartition(".")[2]):
        return Reason.INVALID_SYNTAX
    return in_ascii


def _is_too_long(domain: str) -> bool:
    labels = [_ascii_label(label) for label in domain.split(".")]
    return len(".".join(labels)) > MAX_DOMAIN_LENGTH or max(map(len, labels)) > MAX_LABEL_LENGTH


def _ascii_label(label: str) -> str:
    return label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii")


def _library_domain(address: str) -> str | None:
    """The ASCII domain of a valid `address`; None for what email-validator refuses.

    Every option is given, since a host program may have changed the library's global defaults.
    """
    try:
        return validate_email(
            address,
            allow_smtputf8=True,
            allow_empty_local=False,
            allow_quoted_local=False,
            allow_domain_literal=False,
            allow_display_name=False,
            check_deliverability=False,
            test_environment=False,
            globally_deliverable=True,
        ).ascii_domain
    except (EmailNotValidError, ValueError, IndexError):
        return None
