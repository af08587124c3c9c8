"""Consent that no option names: it is noticed, and a list in which all refuse is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from audiencekit.errors import MappingRefused
from audiencekit.sources.source import Source
from tests.cases import each_case

Open = Callable[..., Source]


def _list(name: str, *cells: str) -> bytes:
    return "\n".join([f"Email,{name}", *(f"p{n}@example.com,{cell}" for n, cell in enumerate(cells)), ""]).encode()


@each_case(
    "name, yes, no",
    [
        ("Accepts Email Marketing", "yes", "no"),
        ("Email Marketing Consent", "SUBSCRIBED", "NEVER_SUBSCRIBED"),
        ("unsubscribed", "false", "true"),
        ("HasOptedOutOfEmail", "0", "1"),
        ("Do Not Contact", "No", "Yes"),
        ("marketing_consent", "TRUE", "FALSE"),
        ("Status", "subscribed", "unsubscribed"),
        ("Einwilligung", "ja", "nein"),
        ("Abgemeldet", "nein", "ja"),
        ("Consentement", "oui", "non"),
        ("Consentimiento", "sí", "no"),
        ("Consenso marketing", "si", "no"),
        ("Consentimento", "sim", "não"),
        ("Toestemming", "ja", "nee"),
        ("Einverständnis", "ja", "nein"),
        ("Einverstanden mit Werbung", "Ja", "Nein"),
        ("Werbeerlaubnis", "1", "0"),
        ("Datenschutz akzeptiert", "ja", "nein"),
        ("Autorisation", "oui", "non"),
        ("Autoriza publicidad", "sí", "no"),
        ("Samtycke", "ja", "nej"),
        ("Souhlas", "ano", "ne"),
        ("Privacy accepted", "yes", "no"),
    ],
)
def test_people_who_refuse_are_told(open_bytes: Open, name: str, yes: str, no: str) -> None:
    """With their count and the exact option."""
    data = _list(name, *[yes] * 7, *[no] * 3)
    source = open_bytes(data, puts_in=True)
    (warning,) = source.warnings
    assert (warning.code, warning.count) == ("consent", 3)
    assert f"={yes}'`" in (warning.remedy or "")
    assert warning.column is not None
    assert open_bytes(data).warnings == ()
    assert open_bytes(data, puts_in=True, ignore=(name,)).warnings == ()
    assert open_bytes(data, puts_in=True, consent_column=name).warnings == ()
    with pytest.raises(MappingRefused, match="10 of the first 10 people refuse") as caught:
        open_bytes(_list(name, *[no] * 10), puts_in=True)
    assert "`ignore=" in caught.value.hint
    assert open_bytes(_list(name, *[no] * 10)).mapping.columns


def test_a_mark_of_those_who_refuse(open_bytes: Open) -> None:
    """The others are blank, and no value says that they agree."""
    (warning,) = open_bytes(_list("Opted Out", "x", "", "", "x", ""), puts_in=True).warnings
    assert warning.count == 2
    assert "consent_column" not in (warning.remedy or "")


@each_case(
    "name, cells",
    [
        ("Accepts Email Marketing", ["yes", "yes"]),
        ("Tax Exempt", ["no", "yes"]),
        ("Order Status", ["pending", "confirmed"]),
        ("Status", ["customer", "lead"]),
        ("Consent Date", ["0", "1"]),
        ("Newsletter", ["Spring", "no"]),
    ],
)
def test_other_columns_say_nothing(open_bytes: Open, name: str, cells: list[str]) -> None:
    """Nor does one in which each person agrees."""
    assert open_bytes(_list(name, *cells * 5), puts_in=True).warnings == ()


def test_one_that_some_accept_is_enough(open_bytes: Open) -> None:
    """Shops ask for mail and messages apart."""
    data = b"Email,Accepts Email Marketing,Accepts SMS Marketing\n" + b"a@example.com,yes,no\nb@example.com,no,no\n" * 5
    assert [warning.count for warning in open_bytes(data, puts_in=True).warnings] == [5, 10]


def test_no_newsletter_is_no_refusal(open_bytes: Open) -> None:
    """A list in which no person has one is warned of, and read."""
    (warning,) = open_bytes(_list("has_newsletter", *["false"] * 5), puts_in=True).warnings
    assert warning.count == 5
