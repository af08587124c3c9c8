"""The fault catalogue: which faults an upload can meet, how they show, and how the delivery reacts.

`retry` reads its rules from this table, and nothing else decides. The rows and their letters are those of the
reliability bar, section 3; from 37 on, where answers are hostile, of the security review, section 2. A fault that no
exchange can show names the part that handles it.

Each class answers one question: *does this answer prove whether its request was applied?* An error whose `outcome` is
unknown leaves the attempt in doubt: it may be applied later, so later requests that overrule it wait. Only a proof ends
the doubt.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from audiencekit.errors import (
    AudiencekitError,
    CertificateRefused,
    CountMismatch,
    EndlessList,
    ExchangeError,
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
from audiencekit.limits import DOUBTFUL_RESENDS, RATE_LIMITS_IN_A_ROW


class Reaction(StrEnum):
    """The reaction to an error, in the letters of the catalogue."""

    RESEND = "R"  # the same bytes again, signed anew
    WAIT = "W"  # all workers wait, then the same bytes again; no attempt is counted
    ISOLATE = "I"  # find the records that are bad, send the others
    HALT = "H"  # the run stops and can be resumed
    REFUSE = "F"  # the run stops: the same would be refused again


@dataclass(frozen=True, slots=True)
class Sign:
    """How a fault shows: an error of this class, with one of these statuses or codes where they are given.

    `is_foreign` is for answers that do not have the form in which the service refuses.
    """

    error: type[AudiencekitError]
    statuses: frozenset[int] = frozenset()
    codes: frozenset[str] = frozenset()
    is_foreign: bool = False

    @property
    def conditions(self) -> int:
        """The number of conditions besides the class. The sign with the most conditions decides."""
        return bool(self.codes) + bool(self.statuses) + self.is_foreign

    def fits(self, error: AudiencekitError) -> bool:
        """Whether the conditions hold. `retry_class` compares the class."""
        if not self.conditions:
            return True
        if not isinstance(error, ServiceError) or (self.is_foreign and error.is_of_service):
            return False
        return (not self.statuses or error.status in self.statuses) and (
            not self.codes or not self.codes.isdisjoint(error.codes)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryClass:
    """The reaction to one sign.

    `at_most` bounds the re-sends of one request that errors of this class cause (for W: those in a row); after them
    comes `afterwards`. With `is_outage`, the bound is the attempts of a request; after them the run asks now and then
    whether the service is back. `proof` says why the request was certainly not applied, where the error's `outcome` is
    *refused*; it is NOTHING where there is no such proof. `is_over` says that an attempt of unknown outcome was applied
    by now, or never will be.
    """

    sign: Sign
    reaction: Reaction
    proof: str
    at_most: int = 0
    afterwards: Reaction = Reaction.HALT
    is_outage: bool = False
    is_over: bool = False

    def may_apply_late(self, error: AudiencekitError) -> bool:
        """Whether the attempt that ended in `error` may be applied after a later one was confirmed."""
        return not self.is_over and isinstance(error, ExchangeError) and error.outcome is Outcome.UNKNOWN


NOTHING: Final = ""
OWN_WORDS: Final = "the service refuses it in its own words, on a connection that carried nothing else"

LOST: Final = RetryClass(
    sign=Sign(TransportFailed),
    reaction=Reaction.RESEND,
    proof="no byte of the body was handed to a connection; else nothing",
    is_outage=True,
)
BUSY: Final = RetryClass(
    sign=Sign(
        TemporarilyUnavailable,
        statuses=frozenset({423, 503}),
        codes=frozenset({"LOCK_ACQUISITION_TIMEOUT", "OVER_CAPACITY", "SERVICE_UNAVAILABLE"}),
    ),
    reaction=Reaction.RESEND,
    proof=NOTHING,  # but the service itself has ended it, in its own words
    is_outage=True,
    is_over=True,
)
# Any other of these may come from a balancer in between, or be about a request that goes on: 408, 500, 502, 504, a 503
# that is a page of a balancer.
GATEWAY: Final = RetryClass(sign=Sign(TemporarilyUnavailable), reaction=Reaction.RESEND, proof=NOTHING, is_outage=True)
# A 200 that is not the service's answer: of a gateway or a portal, while the service itself may still be at it.
SENSELESS: Final = RetryClass(
    sign=Sign(MalformedAnswer), reaction=Reaction.RESEND, proof=NOTHING, at_most=DOUBTFUL_RESENDS
)
# All of a list would be asked for again; it changes nothing.
ENDLESS: Final = RetryClass(sign=Sign(EndlessList), reaction=Reaction.REFUSE, proof=NOTHING)
# The counts of another request say nothing of this one, which may still be on its way.
MISCOUNTED: Final = RetryClass(
    sign=Sign(CountMismatch),
    reaction=Reaction.RESEND,
    proof=NOTHING,
    at_most=DOUBTFUL_RESENDS,
    afterwards=Reaction.ISOLATE,
)
LIMITED: Final = RetryClass(
    sign=Sign(RateLimited), reaction=Reaction.WAIT, proof=f"{OWN_WORDS}; else nothing", at_most=RATE_LIMITS_IN_A_ROW
)
BAD_RECORDS: Final = RetryClass(
    sign=Sign(RequestRefused, statuses=frozenset({400, 413, 422})),
    reaction=Reaction.ISOLATE,
    proof=f"{OWN_WORDS}; of a 413, that what lies in between never passes on a part",
)
# Operations are blamed beside a success: what became of the others is not said.
BLAMED: Final = RetryClass(
    sign=Sign(RequestRefused, statuses=frozenset(range(200, 300))), reaction=Reaction.ISOLATE, proof=NOTHING
)
# A page of a gateway. When it stays so, smaller parts may pass; a single record is not refused by such a page.
FOREIGN: Final = RetryClass(
    sign=Sign(RequestRefused, statuses=frozenset({400, 422}), is_foreign=True),
    reaction=Reaction.RESEND,
    proof=NOTHING,
    at_most=DOUBTFUL_RESENDS,
    afterwards=Reaction.ISOLATE,
)
# 405, 407, 409, 415 …
WRONG_CALL: Final = RetryClass(sign=Sign(RequestRefused), reaction=Reaction.REFUSE, proof=f"{OWN_WORDS}; else nothing")
REVOKED: Final = RetryClass(sign=Sign(Unauthorized, codes=frozenset({"89"})), reaction=Reaction.HALT, proof=OWN_WORDS)
# Signed again by the clock of the service, once in RESIGN_SECONDS.
CLOCK_OFF: Final = RetryClass(
    sign=Sign(Unauthorized, statuses=frozenset({401}), codes=frozenset({"135"})),
    reaction=Reaction.RESEND,
    proof=OWN_WORDS,
)
FORBIDDEN: Final = RetryClass(sign=Sign(Unauthorized), reaction=Reaction.HALT, proof=f"{OWN_WORDS}; else nothing")
GONE: Final = RetryClass(sign=Sign(NotFound), reaction=Reaction.HALT, proof=f"{OWN_WORDS}; else nothing")
ELSEWHERE: Final = RetryClass(
    sign=Sign(Redirected),
    reaction=Reaction.REFUSE,
    proof="301, 307 and 308 ask to send the request to another place; else nothing",
)
UNTRUSTED: Final = RetryClass(
    sign=Sign(CertificateRefused), reaction=Reaction.REFUSE, proof="nothing leaves before the handshake is over"
)
NO_RECORD: Final = RetryClass(
    sign=Sign(InputOutputFailed), reaction=Reaction.HALT, proof="the journal is written before a byte leaves"
)
INTERRUPTED: Final = RetryClass(sign=Sign(NotFinished), reaction=Reaction.HALT, proof=NOTHING)
UNFORESEEN: Final = RetryClass(sign=Sign(AudiencekitError), reaction=Reaction.HALT, proof=NOTHING)


@dataclass(frozen=True, slots=True)
class Fault:
    """One row of the catalogue.

    With several `answers` the sign decides; there are none when `met_by` prevents the fault.
    """

    number: int
    name: str
    answers: tuple[RetryClass, ...] = ()
    met_by: str = ""


FAULTS: Final[tuple[Fault, ...]] = (
    Fault(1, "slow answers, one slow batch", met_by="patience beyond the slowest answer; workers of their own"),
    Fault(2, "answer after the read timeout, applied", (LOST,)),
    Fault(3, "applied after the re-send was confirmed", (LOST, GATEWAY), met_by="later waves wait SETTLE_SECONDS"),
    Fault(4, "429 with the account's reset", (LIMITED,)),
    Fault(5, "429 with the user's reset, or both", (LIMITED,)),
    Fault(6, "429 with no reset, or an absurd one, or of a gateway", (LIMITED,)),
    Fault(7, "429 again and again, or below our own limit", (LIMITED,), met_by="a limiter that slows down"),
    Fault(8, "500, 502, 504 before apply", (GATEWAY,)),
    Fault(9, "500, 502, 504 after apply", (GATEWAY,)),
    Fault(10, "503, with or without Retry-After, of the service or of another", (BUSY, GATEWAY)),
    Fault(11, "408, 423", (GATEWAY, BUSY)),
    Fault(12, "reset before any byte, refused, TLS handshake fails once", (LOST,)),
    Fault(13, "reset after the body", (LOST,)),
    Fault(14, "kept connection closed by the peer meanwhile", met_by="no connection is kept"),
    Fault(15, "truncated or undecodable answer", (LOST,)),
    Fault(16, "200 with anything but the answer, or too long", (SENSELESS, LOST)),
    Fault(17, "counts that are not those of the body", (MISCOUNTED, SENSELESS)),
    Fault(18, "200 that carries errors", (SENSELESS, BLAMED)),
    Fault(19, "400 without operations named, or of a gateway; 413", (BAD_RECORDS, FOREIGN)),
    Fault(20, "400 with operation_errors", (BAD_RECORDS,)),
    Fault(21, "a duplicate within the body refused", (BAD_RECORDS,), met_by="duplicates are not sent"),
    Fault(22, "401 with code 89", (REVOKED,)),
    Fault(23, "401 with code 135, clocks that differ or jump", (CLOCK_OFF,), met_by="ServiceClock; monotonic waits"),
    Fault(24, "401 with code 32, 403", (FORBIDDEN,)),
    Fault(25, "404 of the audience, 403 of the permission", (GONE, FORBIDDEN)),
    Fault(26, "no address, or another one", (LOST,)),
    Fault(27, "restart of the service", (LOST, GATEWAY)),
    Fault(28, "connection that never answers", (LOST,)),
    Fault(29, "an answer or an upload of a byte a second", (LOST,), met_by="a deadline for each attempt"),
    Fault(30, "3xx", (ELSEWHERE,)),
    Fault(31, "odd HTTP: 1xx, 1.0, huge headers", (LOST,), met_by="read where HTTP allows it"),
    Fault(32, "certificate that proves nothing", (UNTRUSTED,)),
    Fault(33, "disk full under the journal", (NO_RECORD,)),
    Fault(34, "signals, kills, sleep", (INTERRUPTED,), met_by="drain and journal"),
    Fault(35, "proxies", (WRONG_CALL, LOST), met_by="only the proxy of AUDIENCEKIT_PROXY is used"),
    Fault(36, "create whose answer is lost", met_by="uploads create nothing"),
    Fault(37, "texts that act, or quote the request", (BAD_RECORDS,), met_by="escapes; no word of the service is kept"),
    Fault(38, "an answer that does not end, or inflates", (LOST,)),
    Fault(39, "the answer to another request", (MISCOUNTED,), met_by="an audience is asked for by its id"),
    Fault(40, "a list whose pages do not end", (ENDLESS,)),
    Fault(
        41,
        "an answer twice, also in one packet; a late one behind a 504; any on an idle connection",
        (GATEWAY, LOST),
        met_by="no connection is kept",
    ),
    Fault(42, "a success before the body has left", (LOST,)),
)
CLASSES: Final = (
    LOST, BUSY, GATEWAY, SENSELESS, ENDLESS, MISCOUNTED, LIMITED, BAD_RECORDS, BLAMED, FOREIGN, WRONG_CALL, REVOKED,
    CLOCK_OFF, FORBIDDEN, GONE, ELSEWHERE, UNTRUSTED, NO_RECORD, INTERRUPTED, UNFORESEEN,
)  # fmt: skip


def retry_class(error: AudiencekitError) -> RetryClass:
    """Return the reaction to `error`: of its nearest class, and there of the sign with the most conditions."""
    for cls in type(error).__mro__:
        fitting = [one for one in CLASSES if one.sign.error is cls and one.sign.fits(error)]
        if fitting:
            return max(fitting, key=lambda one: one.sign.conditions)
    return UNFORESEEN
