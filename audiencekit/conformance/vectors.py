"""Invented values with the result that is right for each, by rule set: to test a pipeline without any person's data."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from audiencekit.conformance.rule_sets import RuleSet, find_rule_set
from audiencekit.identifiers.kinds import Kind

# The vectors of the specification are stored, and not drawn when they are asked for: which numbers are valid depends on
# the installed version of phonenumbers, and a version of the vectors is the same for all who ever print it. Without
# digests, which follow from the normalised values, the file is a tenth of what is printed.
VERSION: Final = 1
FILE: Final = f"vectors-{VERSION}.jsonl.gz"

_SPEC: Final = "specification, part 2, section 4.4"
_OURS: Final = "docs/identifiers.md"

# The sentence from which the result of a vector follows, by the spelling of its value.
PLACES: Final = {
    "normalised": f"{_SPEC}: every field except partner_user_id is SHA-256 hashed after normalization",
    "white_space": f"{_OURS}, All kinds: white space is removed at both ends",
    "marks": f"{_OURS}, All kinds: invisible marks are removed at both ends",
    "case": f"{_OURS}: trimmed and lower-cased",
    "dots_and_tags": f"{_OURS}, email: dots and tags stay",
    "international_domain": f"{_OURS}, email: internationalised domains are hashed in ASCII",
    "composed": f"{_OURS}, email: local parts beyond ASCII are hashed in NFC",
    "scheme": f"{_OURS}, email: mailto: and SMTP: come off",
    "brackets": f"{_OURS}, email: brackets around the whole come off",
    "link": f"{_OURS}, email: the formula of a link that leads to what it shows comes off",
    "spreadsheet_text": f'{_OURS}: a leading apostrophe or ="…" is removed',
    "behind": f"{_OURS}, email: commas and semicolons behind an address are removed",
    "quotes": f"{_OURS}: quotes around the whole are removed",
    "e164": f"{_OURS}, phone_number: E.164 with its plus sign",
    "punctuation": f"{_OURS}, phone_number: E.164, as the library phonenumbers reads it",
    "international_prefix": f"{_OURS}, phone_number: the country comes from the number, also behind 00",
    "national": f"{_OURS}, phone_number: the country comes from the row",
    "number_scheme": f"{_OURS}, phone_number: tel: and p: are removed from its front",
    "number_words": f"{_OURS}, phone_number: words for which of a person's numbers it is come off",
    "chat": f"{_OURS}, phone_number: the digits of wa.me/… are a number with its country's code",
    "other_digits": f"{_OURS}, phone_number: E.164; digits and signs of other scripts are these",
    "braces": f"{_OURS}, device_id: braces are removed",
    "android": f"{_OURS}, device_id: Android ids of 16 hex digits in lower case",
    "at_sign": f"{_OURS}, handle: without @ and in lower case",
    "profile": f"{_OURS}, handle: the address of a profile or post is removed",
    "leading_zeros": f"{_OURS}, platform_id: the plain integer, without leading zeros",
    "unchanged": f"{_SPEC}: partner_user_id is not hashed",
    "declared_hashed": f"{_OURS}, Values that are hashed already: 64 hex digits in any case, base64, 0x, \\x",
    "empty": f"{_OURS}, All kinds: a blank value is none",
    "placeholder": f'{_OURS}, All kinds: words that mean "no value"',
    "masked": f"{_OURS}, email: masked addresses find no one",
    "hash": f"{_OURS}, All kinds: 64 hex digits in a column that is not declared hashed",
    "invisible": f"{_OURS}, All kinds: inside a value an invisible character is refused",
    "formula": f"{_OURS}: a value that still begins with = is a formula; a number that a spreadsheet has rounded",
    "display_name": f"{_OURS}, email: refused: display names",
    "no_address": f"{_OURS}, email: a valid address is valid for the library email-validator",
    "top_level": f"{_OURS}, email: its top-level domain is two letters or more",
    "signs": f"{_OURS}, email: quotation marks beyond ASCII are invalid_syntax",
    "reserved_domain": f"{_OURS}, email: domains that are reserved for tests and local networks",
    "long": f"{_OURS}: at most 64 characters before the @ and 254 bytes in all; 15 of a handle; 64 bits of an id",
    "no_country": f"{_OURS}, phone_number: a number without a country is no_country",
    "extension": f"{_OURS}, phone_number: refused: extensions",
    "letters": f"{_OURS}, phone_number: refused: other letters",
    "day": f"{_OURS}, phone_number: so are days of 1900 to 2029",
    "wrong_length": f"{_OURS}, phone_number: a possible length",
    "unassigned": f"{_OURS}, phone_number: a valid number is in an assigned range of its country",
    "counted": f"{_OURS}, phone_number: one repeated digit, and digits that count up or down",
    "zeros": f"{_OURS}: all zeros mean that the owner of the device opted out; zero is no id",
    "without_dashes": f"{_OURS}, device_id: 32 hex digits without dashes are refused",
    "shared_device": f"{_OURS}, device_id: ids that many devices share are placeholder",
    "page": f"{_OURS}, handle: pages of the service itself are refused",
    "no_handle": f"{_OURS}, handle: 1 to 15 letters, digits and underscores",
    "thousands": f"{_OURS}, platform_id: numbers with thousands separators are refused",
    "personal": f"{_OURS}, partner_user_id: a value that looks like an email, a phone number or a name",
    "wrong_hash": f"{_OURS}, Values that are hashed already: other lengths and encodings",
    "hash_of_nothing": f"{_OURS}, Values that are hashed already: hashes of the empty text and of placeholders",
}

# Of the rule sets of others: their pages speak of white space, of case and of how numbers are written.
_SPELLINGS_OF_ALL: Final = frozenset(
    {"normalised", "white_space", "case", "dots_and_tags", "e164", "punctuation", "at_sign", "leading_zeros", "android"}
)


@dataclass(frozen=True, slots=True)
class Vector:
    """One invented value and its result: `normalised` and `digest`, or the `reason` to refuse it.

    `country` is the country of the row. `declared_hashed` says that the column is declared hashed. `spelling` names how
    the value is written, `place` the sentence from which the result follows. A partner user id is sent as it is, and
    has no digest. `disputed` says that the service has published no rule for it.
    """

    id: str
    kind: Kind
    input: str
    country: str | None
    rule_set: str
    normalised: str | None
    digest: str | None
    reason: str | None
    spelling: str
    place: str
    declared_hashed: bool
    disputed: bool

    def to_json(self) -> dict[str, Any]:
        """Return the fields by name; of digest and reason only the one that there is."""
        found = {
            "id": self.id,
            "kind": self.kind.value,
            "input": self.input,
            "country": self.country,
            "rule_set": self.rule_set,
            "normalised": self.normalised,
            "digest": self.digest,
            "reason": self.reason,
            "spelling": self.spelling,
            "place": self.place,
            "declared_hashed": self.declared_hashed,
            "disputed": self.disputed,
        }
        return {name: value for name, value in found.items() if value is not None and value is not False}


def read_vectors(rule_set: str = "spec") -> Iterator[Vector]:
    """Return the vectors of `rule_set`, in their order. Raises UsageError for an unknown rule set."""
    rules = find_rule_set(rule_set)
    for number, line in enumerate(_lines(), start=1):
        kind, _, _, spelling, _, reason = json.loads(line)
        if Kind(kind) not in rules.kinds or (
            rules.only_accepted and (reason is not None or spelling not in _SPELLINGS_OF_ALL)
        ):
            continue
        yield _vector(f"{rule_set}-{VERSION}-{number:05}", rule_set, rules, line)


@cache
def _lines() -> tuple[bytes, ...]:
    packed = (files("audiencekit.conformance") / FILE).read_bytes()
    return tuple(gzip.decompress(packed).splitlines())


def _vector(name: str, rule_set: str, rules: RuleSet, line: bytes) -> Vector:
    word, text, country, spelling, normalised, reason = json.loads(line)
    kind, declared = Kind(word), spelling in ("declared_hashed", "wrong_hash", "hash_of_nothing")
    digest = None
    if normalised is not None and kind.is_hashed:
        if kind in rules.changes:
            normalised = rules.changes[kind](normalised)
        digest = normalised if declared else rules.encode(hashlib.sha256(normalised.encode()).hexdigest())
    return Vector(
        id=name,
        kind=kind,
        input=text,
        country=country,
        rule_set=rule_set,
        normalised=None if declared else normalised,
        digest=digest,
        reason=reason,
        spelling=spelling,
        place=PLACES[spelling] if rule_set == "spec" else rules.source,
        declared_hashed=declared,
        disputed=kind in rules.disputed,
    )
