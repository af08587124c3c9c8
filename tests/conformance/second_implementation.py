"""A second normalisation of identifiers, written from the published text alone.

It knows nothing of the package and of its vectors, so that the two can disagree. "Specification" is the text of the
advertising API; "facts" is the list of facts about the public service, and its section 1.7 holds the rule of each kind.
The specification itself says only: "Every field except partner_user_id must be SHA-256 hashed after normalization"
(part 2, section 4.4). Where the text names a kind and no shape, the standard of that name gives it: RFC 5321 for an
address, RFC 9562 for a UUID, E.164 for a phone number.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

import idna
import phonenumbers

MAX_LOCAL_BYTES = 64  # RFC 5321, section 4.5.3.1.1
MAX_ADDRESS_BYTES = 254  # RFC 5321, section 4.5.3.1.3, without the angle brackets of a path
MAX_LONG = 2**63 - 1  # specification, part 1, section 2: user identifiers are long integers

ATOM = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u0080-\U0010ffff-]+")
HANDLE = re.compile(r"[a-z0-9_]+")
DIGITS = re.compile(r"[0-9]+")
UUID = re.compile(r"([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})")
ANDROID_ID = re.compile(r"[0-9a-f]{16}")
DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Rejection:
    """A value that has no normal form. The text names no reasons; these are our own words."""

    reason: str


Decision = tuple[str | None, str | None] | Rejection


class Refused(Exception):
    """A value that has no normal form; its text is the reason."""


def decide(kind: str, text: str, country: str | None = None, *, declared_hashed: bool = False) -> Decision:
    """The normal form and its digest, or a rejection.

    A partner user id has no digest, and a value that was hashed before has no normal form.
    """
    try:
        if kind == "partner_user_id":
            return partner_user_id(text), None
        if declared_hashed:
            return None, digest_from(text)
        normal = phone_number(text, country) if kind == "phone_number" else NORMALISERS[kind](text)
    except Refused as refused:
        return Rejection(str(refused))
    return normal, sha256_hex(normal)


def sha256_hex(normal: str) -> str:
    """SHA-256 of the UTF-8 text, without salt, in lower-case hex (facts, section 1.7, "Hash")."""
    return hashlib.sha256(normal.encode()).hexdigest()


def digest_from(text: str) -> str:
    """A digest that stands in the list: lower-case hex, upper case is wrong (facts, section 1.7, "Hash")."""
    digest = text.strip().lower()
    if not DIGEST.fullmatch(digest):
        raise Refused("no SHA-256 in hex")
    if digest == sha256_hex(""):  # Facts, section 10: "a hash that must never be sent".
        raise Refused("digest of the empty string")
    return digest


def email(text: str) -> str:
    """Spaces around it trimmed, lower-case, nothing else; dots and tags stay (facts, section 1.7, `email`)."""
    address = text.strip().lower()
    local, at, domain = address.rpartition("@")
    if not at:
        raise Refused("no @")
    if len(local.encode()) > MAX_LOCAL_BYTES or len(address.encode()) > MAX_ADDRESS_BYTES:
        raise Refused("too long")
    if not address.isprintable():
        raise Refused("a character that cannot be seen")
    if not all(ATOM.fullmatch(atom) for atom in local.split(".")):
        raise Refused("no local part")
    check_domain(domain)
    return address


def check_domain(domain: str) -> None:
    """Refuses what is no full domain name: two labels or more, the last with a letter (facts, section 1.7, `email`).

    The older script wants a letter at the end. A name in other scripts is checked by IDNA and kept as it is.
    """
    labels = domain.split(".")
    if len(labels) < 2 or not any(character.isalpha() for character in labels[-1]):
        raise Refused("no full domain name")
    try:
        idna.encode(domain, uts46=True)
    except (idna.IDNAError, UnicodeError):
        raise Refused("no domain name") from None


def handle(text: str) -> str:
    """Trimmed, lower-case, without the @; letters, digits and low lines (facts, section 1.7, `handle`)."""
    name = text.strip().removeprefix("@").lower()
    if not HANDLE.fullmatch(name):
        raise Refused("no handle")
    return name


def platform_id(text: str) -> str:
    """The plain text of a positive long integer, without leading zeros (facts, section 1.7, `twitter_id`)."""
    digits = text.strip()
    if not DIGITS.fullmatch(digits):
        raise Refused("no integer")
    number = digits.lstrip("0")
    if not number:
        raise Refused("zero")
    if len(number) > len(str(MAX_LONG)) or int(number) > MAX_LONG:
        raise Refused("no long integer")
    return number


def device_id(text: str) -> str:
    """An advertising id in lower case with dashes, or an Android id in lower case without dashes or spaces.

    Facts, section 1.7, `device_id`: three kinds, of two shapes: a UUID, and 16 hex digits.
    """
    device = text.strip().lower()
    if groups := UUID.fullmatch(device):
        return "-".join(groups.groups())
    plain = re.sub(r"[ -]", "", device)
    if ANDROID_ID.fullmatch(plain):
        return plain
    raise Refused("no device id")


def phone_number(text: str, country: str | None) -> str:
    """E.164 with a plus (facts, section 1.7, conclusion); a number without its country code needs the country.

    The published example +11234567890 is in no numbering plan, so lengths are checked, and not the plan. A length that
    only callers of the same town may dial is no E.164 number.
    """
    if any(character.isalpha() for character in text):
        raise Refused("letters")
    try:
        number = phonenumbers.parse(text.strip(), (country or "").strip().upper() or None)
    except phonenumbers.NumberParseException:
        raise Refused("no phone number") from None
    if phonenumbers.is_possible_number_with_reason(number) != phonenumbers.ValidationResult.IS_POSSIBLE:
        raise Refused("no possible length")
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def partner_user_id(text: str) -> str:
    """The text as it is: not hashed, passed as is (facts, section 1.7, `partner_user_id`)."""
    if not text.strip():
        raise Refused("empty")
    return text


NORMALISERS = {"email": email, "handle": handle, "platform_id": platform_id, "device_id": device_id}
