"""Kinds of values for the differential test: how one is drawn, and how both paths decide it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from phonenumbers import PhoneNumber, is_valid_number

from audiencekit.identifiers.definition import normalize_identifier
from audiencekit.identifiers.kinds import DEFAULT_RULES, Kind, Reason, Rules, accept_hashed
from audiencekit.records.columns import certain_values
from audiencekit.records.columns.arrays import Codes, Decisions, Matrix
from audiencekit.records.columns.hashes import TEXT_LOOPS, decide_hashed
from audiencekit.records.columns.odd_addresses import decide_one
from audiencekit.records.columns.plain_emails import decide_emails
from audiencekit.records.columns.small_kinds import (
    decide_device_ids,
    decide_handles,
    decide_partner_user_ids,
    decide_platform_ids,
)
from audiencekit.records.columns.text_kernels import TextKernels
from audiencekit.records.phones.plain_numbers import decide_phone_numbers
from benchmarks.values import device_ids, emails, handles, hashed, partner_user_ids, platform_ids
from benchmarks.values.dirt import DIRTY_ADDRESSES, DIRTY_NUMBERS
from benchmarks.values.fragments import draw_cell
from benchmarks.values.phone_numbers import REGIONS, Numbers, Row
from benchmarks.values.spellings import EMAIL_SPELLINGS, PHONE_SPELLINGS, Spell, draw_number

Draw: TypeAlias = Callable[[random.Random], Row]
Plain: TypeAlias = Callable[[Any, Any], tuple[Codes, Matrix] | None]

AROUND: Final = (" ", "\t", "\n", "\v", "\xa0", "\x85", "\ufeff", "\u200b", "\x1c", "\x00")
_OF_EXAMPLES: Final = 0.75  # of the numbers in spellings; the others may be of any area
_TRIED: Final = 4  # numbers of any area, for a valid one
_RULES: Final = {
    "phone_number": DEFAULT_RULES,
    "phone_number, possible": Rules(phone_validity="possible", default_country="US"),
    "phone_number, digits": Rules(phone_form="digits", default_country="DE"),
}


@dataclass(frozen=True, slots=True)
class ValueKind:
    """A kind of values under one set of rules.

    `draws` makes what draws values from one generator of random numbers; `decide` is the columnar path (texts,
    countries), `define` the definition (text, country), `plain` what the kernels do at first sight (None: they are not
    there, or have no such kind), `alone` what is done with single ones behind them. `weight` is its part of all values.
    """

    name: str
    draws: Callable[[random.Random], Callable[[], Row]]
    decide: Callable[[Any, Any], Decisions]
    define: Callable[[str, str | None], str | Reason]
    weight: int
    plain: Plain = lambda texts, countries: None
    alone: Callable[[str], str | Reason | None] = lambda text: None

    def rows(self, seed: int, block: int, size: int) -> list[Row]:
        """The texts and countries of one block; seed, name and number of the block decide them."""
        chance = random.Random(f"{seed} {self.name} {block}")
        draw = self.draws(chance)
        return [_noised(draw(), chance) if chance.random() < 0.05 else draw() for _ in range(size)]


def _noised(row: Row, chance: random.Random) -> Row:
    """`row` with one character of Unicode, whichever, put somewhere or in the place of another."""
    text, country = row
    code = chance.choice([chance.randrange(0x80), chance.randrange(0x80, 0x3000), chance.randrange(0x110000)])
    sign = chr(code) if not 0xD800 <= code < 0xE000 else "\ufffd"
    at = chance.randrange(len(text) + 1)
    return text[:at] + sign + text[at + chance.randrange(2) :], country


def _assembled(parts: Sequence[str], odd: Sequence[str]) -> Callable[[random.Random], Callable[[], Row]]:
    """Draws of a few of `parts` in a row, some framed or in capitals; now and then one of `odd`."""

    def draw(chance: random.Random) -> Row:
        if chance.random() < 0.05:
            return chance.choice(odd), None
        text = "".join(chance.choices(parts, k=chance.choice((1, 2, 2, 3, 3, 4, 5, 7))))
        if chance.random() < 0.1:
            text = chance.choice(AROUND) + text + chance.choice(AROUND)
        return (text.upper() if chance.random() < 0.2 else text), None

    return lambda chance: lambda: draw(chance)


def _addresses(chance: random.Random) -> Callable[[], Row]:
    assembled = _assembled(emails.PARTS, emails.ODD)(chance)
    return lambda: (emails.draw_address(chance), None) if chance.random() < 0.5 else assembled()


def _of_kind(kind: Kind, rules: Rules = DEFAULT_RULES) -> Callable[[str, str | None], str | Reason]:
    return lambda text, country: normalize_identifier(kind, text, country=country, rules=rules)


def _plain(kind: Kind, rules: Rules = DEFAULT_RULES) -> Plain:
    return lambda texts, countries: decide_at_sight(texts, kind, countries, rules)


def decide_at_sight(texts: Any, kind: Kind, countries: Any | None, rules: Rules) -> tuple[Codes, Matrix] | None:
    """Codes and hashes as the kernels decide them; None without kernels, and for kinds that have none."""
    if not isinstance(TEXT_LOOPS, TextKernels) or kind not in (Kind.EMAIL, Kind.PHONE_NUMBER):
        return None
    if kind is Kind.EMAIL:
        return certain_values.decide_emails(texts, TEXT_LOOPS)
    return certain_values.decide_phone_numbers(texts, countries, rules, TEXT_LOOPS)


def _phone_kind(name: str, rules: Rules, weight: int) -> ValueKind:
    return ValueKind(
        name,
        lambda chance: Numbers(chance, REGIONS).row,
        lambda texts, countries: decide_phone_numbers(texts, countries, rules),
        _of_kind(Kind.PHONE_NUMBER, rules),
        weight,
        _plain(Kind.PHONE_NUMBER, rules),
    )


def _small_kind(kind: Kind, values: Any, decide: Callable[[Any], Decisions]) -> ValueKind:
    draws = _assembled(values.PARTS, values.ODD)
    return ValueKind(kind.value, draws, lambda texts, _: decide(texts), _of_kind(kind), 4)


def _of_any_area(chance: random.Random, region: str) -> PhoneNumber | None:
    """A number of `region`, of some that are drawn the first valid one, if any is."""
    drawn = [draw_number(chance, region, kept=0) for _ in range(_TRIED)]
    return next((number for number in drawn if number is not None and is_valid_number(number)), drawn[0])


def _spelled_number(spell: Spell, chance: random.Random) -> Row:
    """A number in one spelling, now and then with a digit too few; mostly in a row of its own country."""
    region = chance.choice(REGIONS)
    # Where a number is of another area than the examples, its digits may be read in two ways: 0055 51 … in Brazil.
    number = draw_number(chance, region) if chance.random() < _OF_EXAMPLES else _of_any_area(chance, region)
    text = "" if number is None else spell(chance, number)
    if chance.random() < 0.1:
        at = chance.randrange(len(text) + 1)
        text = text[:at] + text[at + 1 :]
    return text, region if chance.random() < 0.8 else chance.choice([*REGIONS, None])


def _spellings() -> tuple[ValueKind, ...]:
    """A kind for each spelling and each dirt of real exports, by its name."""
    numbers, addresses = Kind.PHONE_NUMBER, Kind.EMAIL
    return (
        *(
            ValueKind(
                f"{SPELLED}phone_number, {name}",
                lambda chance, spell=spell: lambda: _spelled_number(spell, chance),  # type: ignore[misc]
                lambda texts, countries: decide_phone_numbers(texts, countries, DEFAULT_RULES),
                _of_kind(numbers),
                1,
                _plain(numbers),
            )
            for name, spell in {**PHONE_SPELLINGS, **DIRTY_NUMBERS}.items()
        ),
        *(
            ValueKind(
                f"{SPELLED}email, {name}",
                lambda chance, draw=draw: lambda: (draw(chance), None),  # type: ignore[misc]
                lambda texts, _: decide_emails(texts),
                _of_kind(addresses),
                1,
                _plain(addresses),
                decide_one,
            )
            for name, draw in {**EMAIL_SPELLINGS, **DIRTY_ADDRESSES}.items()
        ),
    )


def _in_fragments() -> tuple[ValueKind, ...]:
    """Each kind of identifier that has a rule for whole columns: cells that know of none."""
    decide: dict[Kind, Callable[[Any, Any], Decisions]] = {
        Kind.EMAIL: lambda texts, _: decide_emails(texts),
        Kind.PHONE_NUMBER: lambda texts, countries: decide_phone_numbers(texts, countries, DEFAULT_RULES),
        Kind.DEVICE_ID: lambda texts, _: decide_device_ids(texts),
        Kind.HANDLE: lambda texts, _: decide_handles(texts),
        Kind.PLATFORM_ID: lambda texts, _: decide_platform_ids(texts),
        Kind.PARTNER_USER_ID: lambda texts, _: decide_partner_user_ids(texts),
    }
    return tuple(
        ValueKind(
            f"{FRAGMENTS}{kind.value}",
            lambda chance: lambda: (draw_cell(chance), chance.choice([*REGIONS, None])),
            in_bulk,
            _of_kind(kind),
            1,
            _plain(kind),
            decide_one if kind is Kind.EMAIL else lambda text: None,
        )
        for kind, in_bulk in decide.items()
    )


SPELLED: Final = "spelled: "
FRAGMENTS: Final = "fragments: "

KINDS: Final = (
    ValueKind(
        "email",
        _addresses,
        lambda texts, _: decide_emails(texts),
        _of_kind(Kind.EMAIL),
        6,
        _plain(Kind.EMAIL),
        decide_one,
    ),
    *(_phone_kind(name, rules, 4 if rules is DEFAULT_RULES else 1) for name, rules in _RULES.items()),
    _small_kind(Kind.DEVICE_ID, device_ids, decide_device_ids),
    _small_kind(Kind.HANDLE, handles, decide_handles),
    _small_kind(Kind.PLATFORM_ID, platform_ids, decide_platform_ids),
    _small_kind(Kind.PARTNER_USER_ID, partner_user_ids, decide_partner_user_ids),
    ValueKind(
        "hashed",
        _assembled(hashed.PARTS, hashed.ODD),
        lambda texts, _: decide_hashed(texts),
        lambda text, _: accept_hashed(text),
        4,
    ),
    *_spellings(),
    *_in_fragments(),
)
