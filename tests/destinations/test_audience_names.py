"""Names of audiences that say something of people, and those that do not."""

from __future__ import annotations

import pytest

from audiencekit.destinations.audience_names import check_name, find_in_name
from audiencekit.errors import PlanRefused
from tests.cases import each_case

NAMED = {
    "jane.doe@example.com": "an email address",
    "list of (jane.doe@example.com), 2026": "an email address",
    "+49 151 12345678": "a phone number",
    "call back 0151 12345678": "a phone number",
    "(201) 555-0123": "a phone number",
    "device 38400000-8cf0-11bd-b23e-10b96e40000d": "a device id",
}
TOLD = {
    "Followers of @example": "a handle",
    "arthritis patients": "a word of health",
    "Diabetiker DACH": "a word of health",
    "LGBT travel": "a word of sexual orientation or sex life",
    "Kosher recipes for Jewish holidays": "a word of religion or belief",
    "swing voters": "a word of political opinion or union membership",
    "Latino moms": "a word of ethnic origin",
    "ex-prisoners": "a word of crime",
    "Spielsucht Hilfe": "a word of money troubles or addiction",
}
PLAIN = (
    *("Q4 2026 customers", "customers 2026-11-23", "20261123 buyers", "run 20261123-0130", "03.12.2026 14:30"),
    *("Newsletter 01.02.2026 - 05.02.2026", "Winter sale 2025/2026", "Top 10 000 buyers", "1,000,000 shoppers"),
    *("CRM export 1700000000", "gift cards 50-100 EUR", "Lookalike 1% US"),
    *("seg_12345678", "v1.2.3", "10.0.0.1 devices"),
    *("Republic of Gamers", "Christian Dior", "Gayle's list", "black friday 24.-27.11.2026", "ZIP 90210-1234", ""),
    *("Children's books", "Cancún trips", "Democracy museum", "Aidsfield Road shop", "jewellery", "gaylord hotel"),
)


@each_case("name, what", NAMED.items())
def test_a_name_that_names_a_person_is_refused(name: str, what: str) -> None:
    """Also when it stands in the description; the message does not repeat it."""
    for texts in ((name,), ("Autumn", name)):
        with pytest.raises(PlanRefused, match=f"holds {what}") as refused:
            check_name(*texts)
        assert name not in f"{refused.value} {refused.value.hint}"
    assert check_name(name, allow=True) == (f"the name or description holds {what}: allowed by `allow_name=True`",)


@each_case("name, what", TOLD.items())
def test_a_sensitive_name_is_told(name: str, what: str) -> None:
    (note,) = check_name(name)
    assert note == f"the name or description holds {what}: everyone with access to the account can read it"


@each_case("name", PLAIN)
def test_ordinary_names_are_not(name: str) -> None:
    assert find_in_name(name) == ()


def test_all_that_is_found_is_said() -> None:
    allowed, told = check_name("jane@example.com and +4915112345678, voters", "arthritis", allow=True)
    assert allowed == "the name or description holds a phone number and an email address: allowed by `allow_name=True`"
    assert " holds a word of health and a word of political opinion or union membership: everyone" in told
