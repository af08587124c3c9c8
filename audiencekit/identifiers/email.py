"""The rule for email addresses, and the detection of valid addresses that reach no one, or no single person."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from email_validator import SPECIAL_USE_DOMAIN_NAMES, EmailNotValidError, validate_email

from audiencekit.identifiers.common_checks import refuse_at_once
from audiencekit.identifiers.kinds import NormalizedEmail, Reason
from audiencekit.identifiers.texts import WHITE_SPACE, in_form, is_placeholder_email, trim, unlinked, unquoted

# --- The rule for e-mail addresses: trim, lower-case, nothing else (reference: api-facts 1.7) ---
#
# Dots and `+tags` stay. Valid is what email-validator calls valid without asking DNS, plus: a local part has 64
# characters at most, a top-level domain two letters at least. The marks of a spreadsheet come off as from phone
# numbers, and so do commas and semicolons behind an address and quotes around it, which have no other reading. A full
# stop behind it stays: of `ada@example.com.` a cell may have lost the `au`, and then it is another person's. Refused
# forms: quoted local parts, address literals, comments, display names. Internationalised local parts (RFC 6531) are
# accepted, in NFC.
#
# Internationalised domains leave in ASCII ("xn--…": IDNA 2008 over UTS 46, non-transitional). That is the one form
# which every mail system takes, which browsers submit from e-mail fields, and which the service's own script for
# hashing accepted; and so both spellings of one mailbox give one hash.

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
# RFC 1123, section 2.1: it is alphabetic. ICANN asks that of new ones (gTLD Applicant Guidebook, string requirements),
# or the form of IDNA; so are all of the root. `c0m` is a typing error.
_TOP: Final = re.compile(r"[a-z]{2,}|xn--.+")
# Signs that a decoder which gave up, or a mask, has put in the place of a letter; and quotation marks: one is there
# when a pair was cut, or a word processor changed an apostrophe. All are symbols or punctuation, and RFC 8264, section
# 4.2, does not allow them in names of accounts (IdentifierClass).
NO_LETTERS: Final = frozenset("\ufffd…•∗∙■▪●█＊«»‘’‚‛“”„‟‹›")
_DISPLAY_NAME: Final = re.compile(r"[^<]*<([^<>]*)>", re.DOTALL)
# RFC 6068, without what a message would begin with; and the proxy addresses of Exchange.
_SCHEME: Final = re.compile(r"(?:mailto|smtp):[ ]*", re.IGNORECASE | re.ASCII)
# Every text of which something but the address comes off; others are among them.
DRESSED: Final = r"(?i)\A[^a-z0-9]*(?:<|mailto:|smtp:|hyperlink)"


def normalize_email(text: str) -> NormalizedEmail | Reason:
    """Return the address as it is hashed, or the reason to reject it.

    The order of the checks decides the reason: empty, placeholder word, already hashed, invisible character, formula of
    a spreadsheet, display name, text on both sides of one `@`, placeholder address, length, local part, domain.
    """
    trimmed = trim(text)
    if (reason := refuse_at_once(trimmed)) is not None:
        return reason
    address = _alone(trimmed)
    return Reason.EXCEL_MANGLED if address.startswith("=") else _normalize_address(lower(address))


def _alone(trimmed: str) -> str:
    """Return `trimmed` without trailing commas and semicolons, then without quotes, marks of a spreadsheet, scheme."""
    bare = unquoted(unlinked(_BEHIND.sub("", trimmed)))
    if bare[:1] == "<" and bare[-1:] == ">":
        bare = trim(bare[1:-1])
    return _SCHEME.sub("", bare, count=1) if _SCHEME.match(bare) else bare


def lower(text: str) -> str:
    """Return lower case in NFC. U+0130 becomes two characters and the Kelvin sign an ASCII k, as in Unicode."""
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
    return found is not None and "@" in found[1]


def _is_local_part(local: str, domain: str) -> bool:
    if local.isascii():
        form = _CARRIER_LOCAL if domain in CARRIERS else _ASCII_LOCAL
        return form.fullmatch(local) is not None
    return NO_LETTERS.isdisjoint(local) and _library_domain(f"{local}@example.com") is not None


@lru_cache(maxsize=MEMOISED_DOMAINS)
def ascii_domain(domain: str) -> str | Reason:
    """Return the lower-cased `domain` in ASCII, or the reason to reject it. The columnar rules call this, too."""
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
    """Return the ASCII domain of a valid `address`; None for an address that email-validator refuses.

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


# --- Valid addresses that reach no one, or no person: likely typing errors, roles, throwaway mailboxes ---
#
# Nothing of this rejects a value, and no value is ever corrected: it is counted and reported. A domain counts as a
# typing error only when it is a slip or two away from one of a closed list of providers: the name of a provider says
# nothing about a person.


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Providers with so many mailboxes that a domain next to theirs is rather a slip than a company.
PROVIDERS: Final = _words(
    """gmail.com googlemail.com yahoo.com yahoo.co.uk yahoo.fr yahoo.de ymail.com rocketmail.com hotmail.com
    hotmail.co.uk hotmail.fr hotmail.de hotmail.it outlook.com outlook.de outlook.fr live.com live.co.uk icloud.com
    comcast.net verizon.net sbcglobal.net bellsouth.net btinternet.com protonmail.com freenet.de t-online.de
    wanadoo.fr orange.fr laposte.net libero.it virgilio.it gmx.net gmx.de web.de aol.com msn.com"""
)
# Of providers and companies that are one slip away from another provider, and no slip.
_REAL: Final = frozenset(
    _words(
        """mail.com email.com gmx.com gmx.at gmx.ch gmx.us gmx.fr gmx.es aol.de aol.fr aol.it mail.de mail.ru fmail.com
    hmail.com imail.com vmail.com zmail.com tmail.com emailn.de gmail.de me.com live.de live.fr live.nl live.it
    live.ca live.be live.se live.no live.dk live.cn live.jp live.in love.com life.com line.com alive.com olive.com
    five.com cloud.com icloud.de mac.com orange.com orange.es orange.pl orange.be orange.ch verizon.com comcast.com
    free.fr freenet.com freenet.ch outlook.be wanadoo.es wanadoo.nl libero.com msn.de msnbc.com aon.com aol.jp web.com
    web.id gmx.biz gmx.info hotmail.org proton.me proton.com yahoo.net yahoo.org t-mobile.de tonline.de"""
    )
)
# The ends of a domain that people mean when they type .com.
_SLIPS_OF_COM: Final = frozenset(
    _words("con cmo ocm om cm comm coom vom xom cpm cim c0m cok com.com coml clm dom com1")
)
# Offices: local parts, in lower case and before a plus, that name no person.
ROLES: Final = _words(
    """abuse accounting accounts admin administrator billing bookings careers contact contacto customerservice
    enquiries feedback finance hello help helpdesk hostmaster hr info information inquiries invoice invoices
    jobs kontakt mail mailer-daemon marketing media newsletter no-reply noreply office orders postmaster press
    privacy purchasing reception recruiting root sales security service services shop spam staff support team
    technik webmaster vertrieb buchhaltung bestellung einkauf rechnung contabilidad ventas contact-us
    do-not-reply donotreply"""
)
# Domains whose mailboxes are for a few minutes.
THROWAWAY: Final = _words(
    """10minutemail.com 20minutemail.com 33mail.com anonbox.net burnermail.io byom.de discard.email discardmail.com
    dispostable.com dropmail.me einrot.com emailondeck.com fakeinbox.com fakemail.net getairmail.com getnada.com
    grr.la guerrillamail.biz guerrillamail.com guerrillamail.de guerrillamail.net guerrillamail.org inboxbear.com
    inboxkitten.com incognitomail.com jetable.org mail-temp.com mail.tm maildrop.cc mailcatch.com mailexpire.com
    mailinator.com mailinator.net mailnesia.com mailnull.com mailpoof.com mintemail.com moakt.com mohmal.com
    mytemp.email nada.email owlymail.com sharklasers.com spam4.me spambog.com spamgourmet.com temp-mail.io
    temp-mail.org tempail.com tempinbox.com tempmail.com tempmail.net tempmailo.com tempr.email throwam.com
    throwawaymail.com trash-mail.com trashmail.com trashmail.de trashmail.net wegwerfemail.de wegwerfmail.de
    yopmail.com yopmail.fr yopmail.net zeroinbox.com"""
)
_MIN_LENGTH: Final = 9  # letters of a provider: next to a shorter one there are too many companies
_LONG: Final = 7  # letters of its name: two slips in it are likelier than another company
# The keys beside each letter.
_KEYS: Final = "qwertyuiopasdfghjklzxcvbnm"
_BESIDE: Final = """wa qes wrd etf ryg tuh yij uok ipl ol qsz adwx sfec dgrv fhtb gjyn hkum jli kop asx zcd xvf cbg vnh
    bmj nk"""
_NEIGHBOURS: Final = dict(zip(_KEYS, map(frozenset, _words(_BESIDE)), strict=True))


@lru_cache(maxsize=65_536)
def likely_provider(domain: str) -> str | None:
    """Return the provider of which `domain` (lower case) is probably a misspelling; None for any other domain."""
    if domain in PROVIDERS or domain in _REAL or "." not in domain:
        return None
    for provider in PROVIDERS:
        if _is_slip(domain, provider):
            return provider
    return None


def _is_slip(domain: str, provider: str) -> bool:
    name, _, end = provider.partition(".")
    own, _, own_end = domain.partition(".")
    if own == name:
        return _is_slip_of_end(own_end, end, name)
    if len(provider) < _MIN_LENGTH or not _starts_like(own, name):
        return False
    if own_end == end or (end == "com" and own_end in _SLIPS_OF_COM):
        return distance(own, name, 2) <= (2 if len(name) >= _LONG and own[:1] == name[:1] else 1)
    return distance(domain, provider, 1) == 1


def _is_slip_of_end(own_end: str, end: str, name: str) -> bool:
    """Whether the same name has a misspelled ending. A country's ending counts only if the provider does not use it."""
    if end == "com":
        return own_end in _SLIPS_OF_COM or (name in ("gmail", "googlemail", "icloud") and own_end == "co")
    return len(own_end) > 2 and own_end not in ("com", "net", "org") and distance(own_end, end, 1) == 1


def _starts_like(own: str, name: str) -> bool:
    """Whether the first letters are the same, were typed one key away, or are in another order."""
    if own[:1] == name[:1] or own[:2] == name[1::-1] or own[:1] == name[1:2]:
        return True
    return own[:1] in _NEIGHBOURS.get(name[:1], frozenset()) or own[1:2] == name[:1]


def distance(one: str, other: str, most: int) -> int:
    """Return the number of edits (change, drop, add or swap letters) from `one` to `other`; `most` + 1 if more."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, wanted in enumerate(other, 1):
            steps = min(last[column] + 1, line[-1] + 1, last[column - 1] + (letter != wanted))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == wanted:
                steps = min(steps, before[column - 2] + 1)
            line.append(steps)
        if min(line) > most:
            return most + 1
        before, last = last, line
    return min(last[-1], most + 1)
