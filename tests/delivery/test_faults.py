"""The fault catalogue, row by row: what shows, and what follows from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from audiencekit.delivery.faults import CLASSES, FAULTS, UNFORESEEN, Fault, Reaction, retry_class
from audiencekit.errors import (
    AudiencekitError,
    Bug,
    CertificateRefused,
    CountMismatch,
    EndlessList,
    ExchangeError,
    HostRefused,
    InputOutputFailed,
    MalformedAnswer,
    NotFinished,
    NotFound,
    Outcome,
    RateLimited,
    Redirected,
    RequestRefused,
    ServiceError,
    TemporarilyUnavailable,
    TransportFailed,
    Unauthorized,
)
from tests.cases import each_case

BAR = Path(__file__).resolve().parents[3] / "shared/reference/reliability.md"


def said(kind: type[ServiceError], status: int, *codes: str) -> ServiceError:
    outcome = Outcome.UNKNOWN if status >= 500 or status in (200, 408, 423) else Outcome.REFUSED
    return kind("no", status=status, codes=codes, outcome=outcome)


def foreign(kind: type[ServiceError], status: int) -> ServiceError:
    """Of what is no answer of the service: a page of a gateway."""
    return kind("no", status=status, outcome=Outcome.UNKNOWN, is_of_service=False)


LOST, UNREACHED = TransportFailed("no answer", sent=True), TransportFailed("refused", sent=False)
SENSELESS, MISCOUNTED = MalformedAnswer("no", status=200), CountMismatch(sent=2, success_count=1, total_count=2)
LIMITED = said(RateLimited, 429, "TOO_MANY_REQUESTS")


def down(status: int, *codes: str) -> ServiceError:
    return said(TemporarilyUnavailable, status, *codes)


def bad(status: int, *codes: str) -> ServiceError:
    return said(RequestRefused, status, *codes)


def denied(status: int, *codes: str) -> ServiceError:
    return said(Unauthorized, status, *codes)


# Fault, what an upload sees of it, the letter that follows, whether the attempt may be applied late.
ROWS: list[tuple[int, AudiencekitError, str, bool]] = [
    (2, LOST, "R", True),
    (3, LOST, "R", True),
    (3, down(503), "R", True),
    (4, LIMITED, "W", False),
    (5, LIMITED, "W", False),
    (6, LIMITED, "W", False),
    (6, foreign(RateLimited, 429), "W", True),
    (7, LIMITED, "W", False),
    (8, down(500), "R", True),
    (8, down(502), "R", True),
    (8, down(504), "R", True),
    (9, down(500, "INTERNAL_ERROR"), "R", True),
    (9, down(504), "R", True),
    (10, down(503, "OVER_CAPACITY"), "R", False),
    (10, down(503, "SERVICE_UNAVAILABLE"), "R", False),
    (10, down(503), "R", True),
    (10, down(503, "INTERNAL_ERROR"), "R", True),
    (10, down(500, "OVER_CAPACITY"), "R", True),
    (10, down(520), "R", True),
    (11, down(408, "CANCELLED_REQUEST"), "R", True),
    (11, down(423, "LOCK_ACQUISITION_TIMEOUT"), "R", False),
    (12, UNREACHED, "R", False),
    (13, LOST, "R", True),
    (15, LOST, "R", True),
    (16, SENSELESS, "R", True),
    (16, LOST, "R", True),
    (17, MISCOUNTED, "R", True),
    (17, SENSELESS, "R", True),
    (18, SENSELESS, "R", True),
    (18, bad(200, "INVALID_PARAMETER"), "I", True),
    (19, bad(400, "INVALID_PARAMETER"), "I", False),
    (19, bad(413), "I", False),
    (19, foreign(RequestRefused, 400), "R", True),
    (19, foreign(RequestRefused, 422), "R", True),
    (20, bad(400, "INVALID_PARAMETER"), "I", False),
    (21, bad(400, "DUPLICATE"), "I", False),
    (22, denied(401, "89"), "H", False),
    (23, denied(401, "135"), "R", False),
    (24, denied(401, "32"), "H", False),
    (24, denied(401, "UNAUTHORIZED_ACCESS"), "H", False),
    (24, denied(401), "H", False),
    (24, foreign(Unauthorized, 403), "H", True),
    (24, denied(403, "ACCOUNT_NOT_FOUND"), "H", False),
    (24, denied(403, "UNAUTHORIZED_CLIENT_APPLICATION"), "H", False),
    (25, said(NotFound, 404, "NOT_FOUND"), "H", False),
    (25, foreign(NotFound, 404), "H", True),
    (25, denied(403, "INSUFFICIENT_USER_AUTHORIZED_PERMISSION"), "H", False),
    (26, UNREACHED, "R", False),
    (27, UNREACHED, "R", False),
    (27, down(503), "R", True),
    (28, LOST, "R", True),
    (29, LOST, "R", True),
    *((30, said(Redirected, status), "F", False) for status in (301, 307, 308)),
    *((30, foreign(Redirected, status), "F", True) for status in (300, 302, 303, 304)),
    (31, LOST, "R", True),
    (32, CertificateRefused("not trusted"), "F", False),
    (33, InputOutputFailed("disk full"), "H", False),
    (34, NotFinished("interrupted"), "H", False),
    (35, bad(407), "F", False),
    (35, foreign(RequestRefused, 407), "F", True),
    (35, UNREACHED, "R", False),
    (37, bad(400), "I", False),
    (38, LOST, "R", True),
    (39, MISCOUNTED, "R", True),
    (40, EndlessList("no end", status=200), "F", True),
    (41, down(504), "R", True),
    (41, LOST, "R", True),
    (42, LOST, "R", True),
]


@each_case("number, error, letter, may_apply_late", ROWS)
def test_every_fault_has_its_answer(number: int, error: AudiencekitError, letter: str, may_apply_late: bool) -> None:
    """Each symptom leads to the letter of the catalogue, by a class that the row of the fault names."""
    answer = retry_class(error)
    assert answer.reaction == letter
    assert answer.may_apply_late(error) is may_apply_late
    assert answer in FAULTS[number - 1].answers


@each_case("fault", FAULTS)
def test_every_class_of_a_fault_is_shown_by_an_example(fault: Fault) -> None:
    """No row names a class that none of the examples above leads to; a row without classes says what meets it."""
    shown = [retry_class(error) for number, error, _, _ in ROWS if number == fault.number]
    assert {id(answer) for answer in shown} == {id(answer) for answer in fault.answers}
    assert fault.answers or fault.met_by


def test_the_catalogue_is_whole() -> None:
    """42 faults, counted from 1; every class that decides belongs to one, or is for unforeseen ones."""
    assert [fault.number for fault in FAULTS] == list(range(1, 43))
    assert {id(answer) for fault in FAULTS for answer in fault.answers} == {id(one) for one in CLASSES} - {
        id(UNFORESEEN)
    }


def letters_of_the_bar() -> dict[int, set[str]]:
    """Number -> the letters in the last column of the reliability bar, section 3."""
    section = BAR.read_text(encoding="utf-8").partition("## 3.")[2].partition("## 4.")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if re.match(r"\| \d+ \|", line)]
    return {int(row[0]): set(re.findall(r"\b[RWIHF]\b", row[3])) for row in rows}


@pytest.mark.skipif(not BAR.exists(), reason="the reliability bar is not here")
def test_letters_are_those_of_the_bar() -> None:
    """Where the bar's row has letters, what follows from the fault is one of them."""
    letters = letters_of_the_bar()
    assert set(letters) == set(range(1, 37))
    # 19 does not know the page of a gateway. 20 names its halt only, and isolates in words. A proxy's refusal to
    # connect cannot be told from any other.
    letters[19].add("R")
    letters[20].add("I")
    letters[35].add("R")
    known = [(number, letter) for number, _, letter, _ in ROWS if letters.get(number)]  # from 37 on it has none
    wrong = [(number, letter) for number, letter in known if letter not in letters[number]]
    assert wrong == []


@each_case(
    "error, reaction",
    [
        (bad(405), Reaction.REFUSE),
        (bad(409), Reaction.REFUSE),
        (bad(415), Reaction.REFUSE),
        (bad(422), Reaction.ISOLATE),
        (denied(403, "135"), Reaction.HALT),  # a clock is refused with 401
        (ServiceError("a status of no class", status=418), Reaction.HALT),
        (HostRefused("not there"), Reaction.HALT),
        (Bug("ours"), Reaction.HALT),
        (MalformedAnswer("status 600", status=600), Reaction.RESEND),
    ],
)
def test_a_fault_that_is_not_in_the_catalogue_stops(error: AudiencekitError, reaction: Reaction) -> None:
    """Whatever has no row of its own is not sent again."""
    assert retry_class(error).reaction is reaction


def leaves(cls: type[ExchangeError]) -> Iterator[type[ExchangeError]]:
    """The classes below `cls` that have none below them."""
    children = [child for child in cls.__subclasses__() if child.__module__ == "audiencekit.errors"]
    yield from [cls] if not children else [leaf for child in children for leaf in leaves(child)]


def test_no_exchange_error_is_forgotten() -> None:
    """Each class of exchange errors, or one above it, has a sign of its own."""
    signs = {answer.sign.error for answer in CLASSES} - {AudiencekitError}
    assert [cls.__name__ for cls in leaves(ExchangeError) if not signs & set(cls.__mro__)] == []


def test_subclass_reacts_as_its_parent() -> None:
    """An error made more precise later keeps the answer of the class above."""

    class Overloaded(TemporarilyUnavailable):
        pass

    assert retry_class(Overloaded("", status=503)) is retry_class(down(503))


def test_doubtful_answers_are_resent_three_times() -> None:
    """Three re-sends; then counts that differ and pages of gateways are searched in parts, anything else halts."""
    page = retry_class(foreign(RequestRefused, 400))
    assert retry_class(MISCOUNTED).at_most == retry_class(SENSELESS).at_most == page.at_most == 3
    assert retry_class(MISCOUNTED).afterwards is page.afterwards is Reaction.ISOLATE
    assert retry_class(SENSELESS).afterwards is Reaction.HALT
