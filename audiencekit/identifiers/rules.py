"""The switches where a service's documentation contradicts itself, or where the user knows better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from audiencekit.errors import UsageError
from audiencekit.identifiers.countries import find_country


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The demands of one run on values. The defaults are the best-supported reading of the documentation.

    `default_country`: of national phone numbers whose row names none; whatever `find_country` knows.
    `phone_validity`: `valid` asks for an assigned range, `possible` for a plausible length only.
    `phone_form`: `e164` keeps the plus sign in what is hashed, `digits` drops it (reference: api-facts 1.7).
    `device_id_case`: `lower` as the audience pages say, `as_given` as an older page says.
    Raises UsageError for a default country that is none.
    """

    default_country: str | None = None
    phone_validity: Literal["valid", "possible"] = "valid"
    phone_form: Literal["e164", "digits"] = "e164"
    device_id_case: Literal["lower", "as_given"] = "lower"

    def __post_init__(self) -> None:
        if self.default_country and find_country(self.default_country) is None:
            raise UsageError("the default country is not one", hint="give a code such as DE, or an English name")


DEFAULT_RULES: Final = Rules()
