"""No text of the largest cell, however it is made, takes a rule the square of its length."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import pyarrow as pa
import pytest

from audiencekit.identifiers.countries import find_country
from audiencekit.identifiers.definition import normalize_identifier
from audiencekit.identifiers.kind_table import is_identifier, likely_kind
from audiencekit.identifiers.kinds import Kind
from audiencekit.records.records import codes_of, likely_kinds
from audiencekit.sources.columns.header import compare_key, is_header
from audiencekit.sources.columns.vocabulary import is_showable
from tests.cases import each_case
from tests.shortened import shortened

# A text is a head, a unit again and again, and a tail that spoils it. These are what the patterns consist of.
HEADS = ["", "a", '="', "+", "a@xn--"]
TAILS = ["", "!", "@"]
UNITS = [
    *("a", "0", "0-", "a.", "1,", "1 ", "(", "@", "a@", "<a", "a'", "a ", "/", "=", '"', "_", "#", "1.0", "{0"),
    *("é", "é.", "é@", "ö-", "\u200b", "a\u200b", "１", "\u3002", "\x01", "\t"),
    *("a\u0301", "\u0301\u0327", "\u0315\u0300\u05ae"),  # marks that have an order
]
SHORTER, LONGER = 1_000, 4_000
SQUARE = (LONGER // SHORTER) ** 2
ALLOWED = SQUARE * 5 / 8  # in between: as many times as long takes as many times the time, and some more
UNSEEN_SECONDS = 0.002  # too little for a ratio to say anything; the square of LONGER takes far longer


def _normalize(kind: Kind, text: str) -> object:
    return normalize_identifier(kind, text, country="DE")


def _decide(kind: Kind, text: str) -> object:
    return codes_of(pa.array([text]), kind, pa.array(["DE"]))


RULES: dict[str, Callable[[str], Any]] = {
    **{f"definition-{kind}": partial(_normalize, kind) for kind in Kind},
    **{f"columnar-{kind}": partial(_decide, kind) for kind in Kind},
    "country": find_country,
    "identifier": is_identifier,
    "kind": partial(likely_kind, country="DE"),
    "kinds": lambda text: likely_kinds([(text, "DE")]),
    "header": lambda text: is_header([text], (text,)),
    "name": compare_key,
    "showable": is_showable,
}


def _text(shape: tuple[str, str, str], letters: int) -> str:
    head, unit, tail = shape
    return head + unit * (letters // len(unit)) + tail


Clock = Callable[[], float]


def _seconds(rule: Callable[[str], Any], text: str, clock: Clock = time.thread_time) -> float:
    begun = clock()
    rule(text)
    return clock() - begun


def _is_square(rule: Callable[[str], Any], shape: tuple[str, str, str], clock: Clock = time.thread_time) -> bool:
    longer, shorter = _text(shape, LONGER), _text(shape, SHORTER)

    def takes_too_long() -> bool:
        bound = max(UNSEEN_SECONDS, ALLOWED * min(_seconds(rule, shorter, clock) for _ in range(3)))
        return min(_seconds(rule, longer, clock) for _ in range(3)) > bound

    if _seconds(rule, longer, clock) <= UNSEEN_SECONDS:
        return False
    # The machine does other work beside: the least of several is nearest to the time of the rule alone. A minute may be
    # busier than the next one, so only what is seen in each of several pairs is believed.
    return all(takes_too_long() for _ in range(5))


@pytest.mark.parametrize(
    ("heads", "tails"),
    shortened([(HEADS[:1], TAILS[1:2]), (HEADS[:1], TAILS[::2]), (HEADS[1:], TAILS[1:])], 1),
    ids=["units that are spoiled", "units alone", "behind a head"],
)
@pytest.mark.parametrize("name", RULES)
def test_four_times_the_length_takes_no_sixteen_times_the_time(name: str, heads: list[str], tails: list[str]) -> None:
    """A cell may have 65,536 bytes, and a file a million of them."""
    _seconds(RULES[name], "a")  # what is made at first use
    slow = [shape for shape in product(heads, UNITS, tails) if _is_square(RULES[name], shape)]
    assert slow == []


@each_case("power, is_square", [(1, False), (2, True), (3, True)])
def test_the_square_of_the_length_is_seen(power: int, is_square: bool) -> None:
    """The test of the test, by a clock that goes on as a rule of this power of the length would let it."""
    now = 0.0

    def rule(text: str) -> None:
        nonlocal now
        now += len(text) ** power * 1e-6

    assert _is_square(rule, ("", "a", "!"), lambda: now) is is_square
