"""The fault catalogue: what can go wrong with an upload, how it shows, and what follows from it.

`retry` reads its rules here, so this table decides; nothing else does. Source of the rows and their letters:
the reliability bar, section 3; from 37 on, where answers mean harm, the security review, section 2. Faults that no
exchange can show name what meets them.
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
    StaleConnection,
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
    """How a fault shows: an error of this class, and where given with one of these statuses or codes."""

    error: type[AudiencekitError]
    statuses: frozenset[int] = frozenset()
    codes: frozenset[str] = frozenset()

    def fits(self, error: AudiencekitError) -> bool:
        """Whether statuses and codes fit; the class is looked at by `retry_class`."""
        if self.statuses and not (isinstance(error, ServiceError) and error.status in self.statuses):
            return False
        return not self.codes or (isinstance(error, ServiceError) and not self.codes.isdisjoint(error.codes))


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryClass:
    """The right answer to one sign.

    `at_most` bounds the re-sends of one request that errors of this class cause, for W those in a row; then comes
    `afterwards`. With `is_outage` the attempts of a request are the bound, and beyond them the run asks now and then
    whether the service is back. With `is_late` an attempt of unknown outcome may still be applied while the next
    ones go on.
    """

    sign: Sign
    reaction: Reaction
    at_most: int = 0
    afterwards: Reaction = Reaction.HALT
    is_outage: bool = False
    is_late: bool = False

    def may_come_late(self, error: AudiencekitError) -> bool:
        """Whether the attempt that ended in `error` may be applied after a later one was confirmed."""
        return self.is_late and isinstance(error, ExchangeError) and error.outcome is Outcome.UNKNOWN


LOST: Final = RetryClass(sign=Sign(TransportFailed), reaction=Reaction.RESEND, is_outage=True, is_late=True)
# The first of a request is free: most are connections that the peer closed while they were idle. But one that broke
# after the body left looks the same from here, and a balancer may have passed the request on.
STALE: Final = RetryClass(sign=Sign(StaleConnection), reaction=Reaction.RESEND, is_outage=True, is_late=True)
# The service itself did not take the request, in its own words.
BUSY: Final = RetryClass(
    sign=Sign(
        TemporarilyUnavailable,
        statuses=frozenset({423, 503}),
        codes=frozenset({"LOCK_ACQUISITION_TIMEOUT", "OVER_CAPACITY", "SERVICE_UNAVAILABLE"}),
    ),
    reaction=Reaction.RESEND,
    is_outage=True,
)
# Any other of these may come from a balancer in between, or be about a request that goes on: 408, 500, 502, 504, a 503
# that is a page of a balancer.
GATEWAY: Final = RetryClass(sign=Sign(TemporarilyUnavailable), reaction=Reaction.RESEND, is_outage=True, is_late=True)
# A 200 that is not the service's answer: of a gateway or a portal, while the service itself may still be at it.
SENSELESS: Final = RetryClass(
    sign=Sign(MalformedAnswer), reaction=Reaction.RESEND, at_most=DOUBTFUL_RESENDS, is_late=True
)
ENDLESS: Final = RetryClass(sign=Sign(EndlessList), reaction=Reaction.REFUSE)  # all of it would be asked for again
MISCOUNTED: Final = RetryClass(
    sign=Sign(CountMismatch), reaction=Reaction.RESEND, at_most=DOUBTFUL_RESENDS, afterwards=Reaction.ISOLATE
)
LIMITED: Final = RetryClass(sign=Sign(RateLimited), reaction=Reaction.WAIT, at_most=RATE_LIMITS_IN_A_ROW)
BAD_RECORDS: Final = RetryClass(
    sign=Sign(RequestRefused, statuses=frozenset({*range(200, 300), 400, 413, 422})), reaction=Reaction.ISOLATE
)
WRONG_CALL: Final = RetryClass(sign=Sign(RequestRefused), reaction=Reaction.REFUSE)  # 405, 407, 409, 415 …
REVOKED: Final = RetryClass(sign=Sign(Unauthorized, codes=frozenset({"89"})), reaction=Reaction.HALT)
# Signed again by the clock of the service, once in RESIGN_SECONDS.
CLOCK_OFF: Final = RetryClass(
    sign=Sign(Unauthorized, statuses=frozenset({401}), codes=frozenset({"135"})), reaction=Reaction.RESEND
)
FORBIDDEN: Final = RetryClass(sign=Sign(Unauthorized), reaction=Reaction.HALT)
GONE: Final = RetryClass(sign=Sign(NotFound), reaction=Reaction.HALT)
ELSEWHERE: Final = RetryClass(sign=Sign(Redirected), reaction=Reaction.REFUSE)
UNTRUSTED: Final = RetryClass(sign=Sign(CertificateRefused), reaction=Reaction.REFUSE)
NO_RECORD: Final = RetryClass(sign=Sign(InputOutputFailed), reaction=Reaction.HALT)
INTERRUPTED: Final = RetryClass(sign=Sign(NotFinished), reaction=Reaction.HALT)
UNFORESEEN: Final = RetryClass(sign=Sign(AudiencekitError), reaction=Reaction.HALT)


@dataclass(frozen=True, slots=True)
class Fault:
    """One row of the catalogue. `answers` may be several: what shows decides; none when `met_by` prevents it."""

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
    Fault(6, "429 with no reset, or an absurd one", (LIMITED,)),
    Fault(7, "429 again and again, or below our own limit", (LIMITED,), met_by="a limiter that slows down"),
    Fault(8, "500, 502, 504 before apply", (GATEWAY,)),
    Fault(9, "500, 502, 504 after apply", (GATEWAY,)),
    Fault(10, "503, with or without Retry-After, of the service or of another", (BUSY, GATEWAY)),
    Fault(11, "408, 423", (GATEWAY, BUSY)),
    Fault(12, "reset before any byte, refused, TLS handshake fails once", (LOST,)),
    Fault(13, "reset after the body", (LOST,)),
    Fault(14, "kept connection closed by the peer meanwhile", (STALE,)),
    Fault(15, "truncated or undecodable answer", (LOST,)),
    Fault(16, "200 with anything but the answer, or too long", (SENSELESS, LOST)),
    Fault(17, "counts that are not those of the body", (MISCOUNTED, SENSELESS)),
    Fault(18, "200 that carries errors", (SENSELESS, BAD_RECORDS)),
    Fault(19, "400 without operations named, 413", (BAD_RECORDS,)),
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
)
CLASSES: Final = (
    LOST, STALE, BUSY, GATEWAY, SENSELESS, ENDLESS, MISCOUNTED, LIMITED, BAD_RECORDS, WRONG_CALL, REVOKED, CLOCK_OFF,
    FORBIDDEN, GONE, ELSEWHERE, UNTRUSTED, NO_RECORD, INTERRUPTED, UNFORESEEN,
)  # fmt: skip


def retry_class(error: AudiencekitError) -> RetryClass:
    """The right answer to `error`: of its nearest class; signs with statuses or codes come before those without."""
    for cls in type(error).__mro__:
        fitting = [one for one in CLASSES if one.sign.error is cls and one.sign.fits(error)]
        if fitting:
            return max(fitting, key=lambda one: bool(one.sign.codes) + bool(one.sign.statuses))
    return UNFORESEEN
