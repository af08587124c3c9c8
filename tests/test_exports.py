"""Exports of nine tools: the people that the service gets are those that other libraries read in the file."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path
from typing import Any

import aiohttp
import phonenumbers
import pytest
from email_validator import EmailNotValidError, validate_email

from audiencekit.emulator import Emulator
from audiencekit.pipeline import check, upload_async
from audiencekit.settings import load_settings
from tests.cases import each_case

SAMPLES = Path(__file__).resolve().parents[1] / "samples" / "exports"
NAMES = {"United States": "US", "United Kingdom": "GB", "Germany": "DE", "France": "FR", "Canada": "CA"}
# Of each tool the columns of addresses, of numbers, and of the country.
TOOLS: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "mailchimp": (("Email Address",), ("Phone Number",), "CC"),
    "hubspot": (("Email",), ("Phone Number",), "Country/Region"),
    "shopify": (("Email",), ("Phone", "Default Address Phone"), "Default Address Country Code"),
    "salesforce": (("Email",), ("Phone", "Mobile"), "Mailing Country"),
    "klaviyo": (("Email",), ("Phone Number",), "Country"),
    "google-contacts": (("E-mail 1 - Value",), ("Phone 1 - Value",), "Address 1 - Country"),
    "outlook": (
        ("E-mail Address", "E-mail 2 Address"), ("Home Phone", "Mobile Phone", "Business Phone"), "Home Country/Region",
    ),
    "stripe": (("Email",), (), "Shipping Address Country"),
    "woocommerce": (("Email", "Billing Email"), ("Billing Phone",), "Billing Country"),
}  # fmt: skip
Person = frozenset[tuple[str, str]]


def _read_otherwise(tool: str) -> set[Person]:
    """The people of a sample, by libraries that know nothing of ours."""
    emails, phones, country = TOOLS[tool]
    people = set()
    with (SAMPLES / f"{tool}.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            keys = {("email", _address(value)) for name in emails for value in row[name].split(" ::: ")}
            region = NAMES.get(row[country], row[country])
            keys |= {("phone_number", _number(value, region)) for name in phones for value in row[name].split(" ::: ")}
            people.add(frozenset((kind, hashlib.sha256(text.encode()).hexdigest()) for kind, text in keys if text))
    return people - {frozenset()}


def _address(text: str) -> str:
    try:
        return validate_email(text, check_deliverability=False, test_environment=True).normalized.lower()
    except EmailNotValidError:
        return ""


def _number(text: str, region: str) -> str:
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return ""
    e164 = phonenumbers.PhoneNumberFormat.E164
    return phonenumbers.format_number(number, e164) if phonenumbers.is_valid_number(number) else ""


def test_every_sample_has_its_tool() -> None:
    """None is left out, here or in the page about them."""
    page = (SAMPLES.parents[1] / "docs" / "exports.md").read_text("utf-8")
    assert sorted(path.stem for path in SAMPLES.iterdir()) == sorted(TOOLS)
    assert [tool for tool in TOOLS if f"samples/exports/{tool}.csv" not in page] == []


@each_case("tool", TOOLS)
def test_no_one_is_lost(tmp_path: Path, tool: str) -> None:
    """Without an option nothing is rejected but what stands for a missing value; those who refuse are told."""
    plan = check(SAMPLES / f"{tool}.csv", settings=load_settings({}, directory=tmp_path))
    assert plan.refusals == ()
    assert {warning.code for warning in plan.warnings} == ({"consent"} if tool in ("klaviyo", "shopify") else set())
    assert set(plan.rejections) <= {"placeholder", "no_identifier"}
    assert plan.records == len(_read_otherwise(tool)) >= 10


@pytest.mark.parametrize("tool", TOOLS)
async def test_the_service_has_the_same_people(tmp_path: Path, tool: str) -> None:
    """Member by member, with all their identifiers."""
    async with Emulator() as emulator:
        settings = load_settings(emulator.env, directory=tmp_path, state_dir=tmp_path / "state")
        await upload_async(SAMPLES / f"{tool}.csv", audience=emulator.audience_id, settings=settings)
        address = f"{emulator.ads_url}/__members/{emulator.audience_id}"
        async with aiohttp.ClientSession() as session, session.get(address) as answer:
            members = {_keys(member) for member in (await answer.json())["members"]}
    assert members == _read_otherwise(tool)


def _keys(member: Any) -> Person:
    return frozenset((kind, value) for kind, values in member["keys"].items() for value in values)
