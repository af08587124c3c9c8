"""Find personal information in the names of audiences: identifiers, and traits that need special protection.

A name is visible to everyone with access to the ads account, is in its history, reports and logs, and says what all
members have in common. The traits are those of the General Data Protection Regulation, articles 9 and 10, and those by
which platforms do not allow targeting: money troubles, addiction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from audiencekit.errors import PlanRefused
from audiencekit.identifiers.bare_numbers import LARGE_COUNTRIES
from audiencekit.identifiers.kind_table import likely_kind
from audiencekit.identifiers.kinds import Kind

_IN_WORDS: Final = {
    Kind.EMAIL: "an email address",
    Kind.PHONE_NUMBER: "a phone number",
    Kind.DEVICE_ID: "a device id",
    Kind.HANDLE: "a handle",
}
_REFUSED: Final = frozenset({Kind.EMAIL, Kind.PHONE_NUMBER, Kind.DEVICE_ID})
_AROUND: Final = ".,;:!?\"'<>()[]{}|"
_NUMBER: Final = re.compile(r"(?<![\w.])[+(]?[0-9][0-9 ()./\-]{5,}[0-9](?![\w])")
_DATES: Final = re.compile(r"(?:19|20)\d\d([-./ ]?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])(?!\d{7})")
_DATE_SPAN: Final = re.compile(
    rf"{_DATES.pattern}|\d{{1,2}}[-./]\d{{1,2}}[-./]\d{{2,4}}|(?:19|20)\d\d ?[-/] ?(?:19|20)\d\d"
)

# Beginnings of words in English, German, French and Spanish; a space behind one ends the word.
_TRAITS: Final = {
    "health": (
        "patient|diagnos|disease|illness|krank|malad|enferm|cancer|krebs |diabet|arthrit|asthma|epilep|dementia|demenz"
        "|alzheimer|hiv |aids |depress|anxiety|bipolar|schizo|psychi|pregnan|schwanger|enceinte|embaraz|abort|infertil"
        "|disab|behindert|handicap|discapac|obes|insulin|chemo|rehab |therap"
    ),
    "sexual orientation or sex life": "gay |gays |lesb|bisexual|transgender|transsex|lgbt|queer |schwul|homosex",
    "religion or belief": (
        "muslim|moslem|islam|jew |jews |jewish|judai|jude |juden |jüdisch|juif|judío|catholic|katholi|protestant"
        "|evangelical|hindu|buddhis|atheis|church member|kirchenmitglied"
    ),
    "political opinion or union membership": (
        "republican|democrats |voter|wähler|électeur|votante|conservatives |socialist|communist"
        "|trade union|gewerkschaft|syndicat|sindicat"
    ),
    "ethnic origin": (
        "ethnic|african american|black people|latino|latina|hispanic|asian american|migrant|immigrant|refugee"
        "|flüchtling|réfugié|refugiad|roma people"
    ),
    "crime": "convict|felon|prisoner|offender|straftäter|häftling|criminal record|vorbestraft",
    "money troubles or addiction": (
        "bankrup|insolven|in debt|debtor|overdue|payday|schulden|schuldner|endeudad|low income|poverty|gambl|spielsucht"
        "|alcohol|alkohol|addict|süchtig"
    ),
}
_WORDS: Final = {
    trait: re.compile(
        "|".join(rf"\b{each.strip()}" + (r"\b" if each.endswith(" ") else "") for each in words.split("|"))
    )
    for trait, words in _TRAITS.items()
}


@dataclass(frozen=True, slots=True)
class NameFinding:
    """Information about people in a name, in words that do not repeat it; `is_refused` if it identifies a person."""

    what: str
    is_refused: bool


def find_in_name(*texts: str | None) -> tuple[NameFinding, ...]:
    """Return the findings in a name and a description, each once, those that identify a person first."""
    found = {finding for text in texts if text for finding in _findings(text)}
    return tuple(sorted(found, key=lambda finding: (not finding.is_refused, finding.what)))


def check_name(*texts: str | None, place: str = "the name or description", allow: bool = False) -> tuple[str, ...]:
    """Return notes on a name and a description; `place` says in words where they are.

    Raises PlanRefused when they identify a person, unless `allow` is True.
    """
    found = find_in_name(*texts)
    refused = " and ".join(finding.what for finding in found if finding.is_refused)
    warned = " and ".join(finding.what for finding in found if not finding.is_refused)
    if refused and not allow:
        message = f"{place} holds {refused}, and everyone with access to the account can read it"
        raise PlanRefused(f"{message}: nothing was created", hint="choose another name, or say `allow_name=True`")
    notes = [f"{place} holds {refused}: allowed by `allow_name=True`"] * bool(refused)
    return (*notes, *[f"{place} holds {warned}: everyone with access to the account can read it"] * bool(warned))


def _findings(text: str) -> Iterator[NameFinding]:
    for word in text.split():
        kind = likely_kind(word.strip(_AROUND))
        if kind is not None and kind is not Kind.PHONE_NUMBER:
            yield NameFinding(_IN_WORDS[kind], kind in _REFUSED)
    for number in _NUMBER.findall(_DATE_SPAN.sub(" ", text)):
        if _is_written_number(number.strip(" ./-")):
            yield NameFinding(_IN_WORDS[Kind.PHONE_NUMBER], is_refused=True)
    folded = text.casefold()
    for trait, words in _WORDS.items():
        if words.search(folded):
            yield NameFinding(f"a word of {trait}", is_refused=False)


def _is_written_number(text: str) -> bool:
    """Whether it is written like a phone number: bare digits are more likely ids."""
    return any(likely_kind(text, country=country) is Kind.PHONE_NUMBER for country in (None, *LARGE_COUNTRIES))
