"""Addresses that reach no one, or no person."""

from __future__ import annotations

import random
import string

import pytest

from audiencekit.identifiers.dubiousemails import PROVIDERS, distance, meant_provider

SLIPS = 500
ENDS = ["con", "cmo", "cm", "om", "comm", "vom", "ocm", "xom", "cpm"]
MOST_MEANT = ["gmail.com", "yahoo.com", "hotmail.com", "outlook.com", "icloud.com", "googlemail.com", "comcast.net"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("gamil.com", "gmail.com"),
        ("gmial.com", "gmail.com"),
        ("gmail.con", "gmail.com"),
        ("gmail.co", "gmail.com"),
        ("gmai.com", "gmail.com"),
        ("hotmal.con", "hotmail.com"),
        ("yahooo.com", "yahoo.com"),
        ("outlok.com", "outlook.com"),
        ("comcats.net", "comcast.net"),
        ("t-onlin.de", "t-online.de"),
    ],
)
def test_typing_errors(typed: str, meant: str) -> None:
    """The provider that is meant."""
    assert meant_provider(typed) == meant


@pytest.mark.parametrize(
    "domain",
    [
        *PROVIDERS,
        *("mail.com", "email.com", "gmx.com", "gmx.at", "hotmail.ch", "yahoo.ca", "live.nl", "outlook.es", "proton.me"),
        *(
            "example.com",
            "northwind.de",
            "orange.es",
            "aol.de",
            "web.com",
            "verizon.com",
            "t-mobile.de",
            "localhost",
            "",
        ),
    ],
)
def test_domains_that_are_what_they_are(domain: str) -> None:
    """Providers, and companies that are called much like one."""
    assert meant_provider(domain) is None


def test_most_slips_are_found() -> None:
    """Of keys that were missed, doubled, left out or exchanged, in the name or at the end; at least 95 of a hundred."""
    draw = random.Random(20_261_123)
    typed = [_slip(draw, draw.choice(MOST_MEANT)) for _ in range(SLIPS)]
    named = [domain for domain, _ in typed if meant_provider(domain) is not None]
    assert len(named) >= 0.95 * SLIPS
    wrong = [domain for domain, meant in typed if meant_provider(domain) not in (meant, None)]
    assert len(wrong) <= 0.02 * SLIPS


def _slip(draw: random.Random, meant: str) -> tuple[str, str]:
    """Return a misspelling of the domain `meant`, and the domain that it is misspelled from."""
    name, _, end = meant.partition(".")
    while True:
        place, letter = draw.randrange(len(name)), draw.choice(string.ascii_lowercase)
        typed = draw.choice(
            [
                name[:place] + name[place + 1 :],
                name[: place + 1] + name[place:],
                name[:place] + name[place + 1 : place + 2] + name[place : place + 1] + name[place + 2 :],
                name[:place] + letter + name[place + 1 :] if place else name,
            ]
        )
        own_end = draw.choice(ENDS) if end == "com" and (typed == name or draw.random() < 0.2) else end
        domain = f"{typed}.{own_end}"
        if domain not in PROVIDERS and domain not in ("mail.com", "email.com", "gmal.com"):
            return domain, meant


@pytest.mark.parametrize(
    ("one", "other", "steps"),
    [("gmail", "gmail", 0), ("gmial", "gmail", 1), ("gail", "gmail", 1), ("ggmail", "gmail", 1), ("abc", "xyz", 3)],
)
def test_steps_between_two_words(one: str, other: str, steps: int) -> None:
    """Two letters that changed places are one step; beyond the most it is one more than that."""
    assert distance(one, other, 2) == min(steps, 3)
