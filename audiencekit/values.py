"""Single values, at the door of the library: the rules of `identifiers`, with exceptions in place of reasons."""

from __future__ import annotations

from typing import cast

from audiencekit.errors import IdentifierRejected, UsageError
from audiencekit.identifiers.bare_numbers import KNOWN, is_payment_number, readings_of, reads_as_phone_number
from audiencekit.identifiers.countries import find_country
from audiencekit.identifiers.definition import normalize_identifier
from audiencekit.identifiers.kinds import Hashable, Kind, Normalized, Reason, Rules, hash_normalized
from audiencekit.identifiers.personal_shapes import number_behind_words, shape_of
from audiencekit.identifiers.texts import trim
from audiencekit.personal import Personal
from audiencekit.planning.options import read_kind


class _RawText(Personal[str]):
    """One raw value on its way through these functions."""


def normalize(kind: str, text: str, *, country: str | None = None, confirm_partner_ids: bool = False) -> str:
    """`text` as it is hashed (a partner user id: as it is sent), by the default profile. Personal data.

    `country` is an ISO code or an English name. A partner user id whose digits read as a phone number, that is
    the number of a payment card or a bank account, or that is shaped like a name, a date, a place or a profile, is
    refused unless `confirm_partner_ids` is set: in a column the share of such values decides, but one value has no
    column. Raises IdentifierRejected, a ValueError whose `reason` is
    the stable code; UsageError for an unknown kind or country.
    """
    decided = _decide(read_kind(kind), _checked(text), _read_country(country))
    if kind == Kind.PARTNER_USER_ID and not confirm_partner_ids and _may_be_a_persons(text, country):
        decided = Reason.LOOKS_PERSONAL
    del text
    if isinstance(decided, Reason):
        raise IdentifierRejected(kind, decided.value)
    return decided


def hash_identifier(kind: str, text: str, *, country: str | None = None) -> str:
    """Lower-case hex SHA-256 of the normalised `text`. Personal data.

    Raises as `normalize` does, and UsageError for `partner_user_id`, which leaves unhashed.
    """
    if not read_kind(kind).is_hashed:
        raise UsageError(f"{kind} leaves unhashed")
    decided = _decide(read_kind(kind), _checked(text), _read_country(country))
    del text
    if isinstance(decided, Reason):
        raise IdentifierRejected(kind, decided.value)
    return hash_normalized(cast("Hashable", decided))


def _may_be_a_persons(text: str, country: str | None) -> bool:
    if reads_as_phone_number(text, country) or is_payment_number(trim(text)):
        return True
    number = number_behind_words(text)
    return bool(shape_of(text)) or (bool(number) and KNOWN in readings_of(number, country))


def _checked(text: str) -> _RawText:
    if not isinstance(text, str):
        raise UsageError("the value must be text")
    return _RawText(text)


def _decide(kind: Kind, raw: _RawText, country: str | None) -> Normalized | Reason:
    return normalize_identifier(kind, raw.unwrap(), rules=Rules(default_country=country))


def _read_country(country: str | None) -> str | None:
    code = find_country(country) if isinstance(country, str) and country else None
    if country and code is None:
        raise UsageError("country is not a country", hint="give an ISO code such as DE, or an English name")
    return code
