"""The switches of a run."""

from __future__ import annotations

from typing import get_args, get_type_hints

import pytest

from audiencekit.errors import UsageError
from audiencekit.identifiers.rules import DEFAULT_RULES, Rules
from audiencekit.profile import PROFILES


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


@pytest.mark.parametrize("country", ["DE", "germany", "United States of America", "", None])
def test_a_default_country_is_anything_that_means_one(country: str | None) -> None:
    """Codes and names are taken; nothing means that none is assumed."""
    assert Rules(default_country=country).default_country == country


@pytest.mark.parametrize("country", ["Atlantis", "+49", "DEUTSCH"])
def test_an_unknown_default_country_is_a_usage_error(country: str) -> None:
    """It is refused at construction, not row by row."""
    with pytest.raises(UsageError, match="default country"):
        Rules(default_country=country)
