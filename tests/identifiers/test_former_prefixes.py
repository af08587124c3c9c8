"""Abolished prefixes are recognised by country, by their digits and by how many follow."""

from __future__ import annotations

import pytest

from audiencekit.identifiers.former_prefixes import behind_former_prefix

NUMBER = "5512345678"


@pytest.mark.parametrize("prefix", ["01", "044", "045"])
@pytest.mark.parametrize("has_code", [True, False])
def test_national_prefixes_of_mexico_come_off(prefix: str, has_code: bool) -> None:
    """With the calling code before them and without it."""
    assert behind_former_prefix(52, prefix + NUMBER, has_code=has_code) == NUMBER


def test_a_1_comes_off_behind_the_calling_code_only() -> None:
    """Alone it can be the calling code of North America."""
    assert behind_former_prefix(52, "1" + NUMBER, has_code=True) == NUMBER
    assert behind_former_prefix(52, "1" + NUMBER, has_code=False) is None


@pytest.mark.parametrize(
    ("calling_code", "digits"),
    [(52, NUMBER), (52, f"1{NUMBER}0"), (52, "15512345"), (52, f"02{NUMBER}"), (57, f"1{NUMBER}")],
)
def test_other_digits_stay(calling_code: int, digits: str) -> None:
    """Those of another length, behind another prefix, or of another country."""
    assert behind_former_prefix(calling_code, digits, has_code=True) is None
