"""The effect of each fault of the catalogue on one exchange: whether the request is applied, and the answer."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from audiencekit.api.exchange import ApiResponse
from audiencekit.errors import AudiencekitError, CertificateRefused, TransportFailed

if TYPE_CHECKING:
    from tests.simulator.service import Answer, Service

Apply = Literal["soon", "late", "never"]
DISK, PROCESS = 33, 34  # not of an exchange: what happens to the client meanwhile, see `run`
SECONDS_TO_TIMEOUT = 60.0
OF_ANOTHER = 10_000  # records of another request: more than any here has


@dataclass(frozen=True)
class Effect:
    """One form of a fault. Without arguments it is no fault: the request is applied and answered."""

    apply: Apply = "soon"
    said: Callable[[Service, Answer], ApiResponse] | None = None
    raised: Callable[[], AudiencekitError] | None = None
    wait: tuple[float, float] = (0.5, 0.8)

    def seconds(self, chance: random.Random) -> float:
        """How long the client waits; what is applied soon is applied before."""
        return chance.uniform(*self.wait)

    def answer(self, service: Service, answer: Answer) -> ApiResponse:
        """Return or raise the client's side of the exchange."""
        if self.raised is not None:
            raise self.raised()
        if self.said is not None:
            return self.said(service, answer)
        return service.response(*answer)


def deliver(chance: random.Random, effect: Effect, apply: Callable[[], Answer]) -> asyncio.Future[Answer]:
    """Apply a request soon, late or never, whether or not the client still waits for the answer."""
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[Answer] = loop.create_future()
    if effect.apply == "never":
        answered.set_result((200, {}, None))
        return answered

    def apply_soon() -> None:
        answer = apply()
        if not answered.done():
            answered.set_result(answer)

    loop.call_later(chance.uniform(0.02, 0.5), apply_soon)
    if effect.apply == "late":
        answered.set_result((200, {}, None))
        loop.call_later(chance.uniform(1, 890), apply)
    return answered


def lost() -> AudiencekitError:
    return TransportFailed("no whole answer came in time", sent=True)


def unreached() -> AudiencekitError:
    return TransportFailed("the connection could not be opened", sent=False)


def status(code: int, *codes: Any, body: bytes | None = None, **headers: str) -> Callable[..., ApiResponse]:
    document = body if body is not None else {"errors": [{"code": one, "message": "no"} for one in codes]}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda service, answer: service.response(code, named, document)


def limited(*, account: float | None = None, user: float | None = None, text: str | None = None) -> Any:
    """A 429 whose resets are so many seconds ahead, or `text` in place of a number."""

    def say(service: Service, answer: Answer) -> ApiResponse:
        now, headers = int(service.clock.now()), {}
        for name, ahead in (("x-account-rate-limit-reset", account), ("x-rate-limit-reset", user)):
            if ahead is not None:
                headers[name] = text or str(int(now + ahead))
        return service.response(429, headers, {"errors": [{"code": "TOO_MANY_REQUESTS"}]})

    return say


def counted(change: Callable[[int], tuple[Any, Any]]) -> Any:
    """An answer whose counts are `change` of the true one; a refusal stays what it is."""

    def say(service: Service, answer: Answer) -> ApiResponse:
        if answer[0] != 200:
            return service.response(*answer)
        if answer[2] is None:  # applied later, or never: the answer to another request comes in its place
            success, total = change(OF_ANOTHER)
        else:
            success, total = change(answer[2]["data"]["total_count"])
        return service.response(200, {}, {"data": {"success_count": success, "total_count": total}})

    return say


def blaming(code: int, errors: Any) -> Callable[..., ApiResponse]:
    return lambda service, answer: service.response(code, {}, {"data": {}, "operation_errors": errors})


def everywhen(said: Any) -> list[Effect]:
    """An answer that says nothing of its request, whenever that is applied."""
    return [Effect(apply, said) for apply in ("never", "soon", "late")]


def unanswered(seconds: float) -> list[Effect]:
    """No answer after so long: of what became of the request it says nothing."""
    return [Effect(apply, raised=lost, wait=(seconds, seconds)) for apply in ("never", "soon", "late")]


def both(said: Any, **options: Any) -> list[Effect]:
    return [Effect("soon", said, **options), Effect("never", said, **options)]


# An answer that was lost says nothing of what becomes of its request: each such fault has all three forms.
TIMEOUT = (SECONDS_TO_TIMEOUT, SECONDS_TO_TIMEOUT)
GATEWAY = [status(502, body=b"<html>bad</html>"), status(504, body=b"")]
# Of a proxy, or of a service that lost sight of a part of itself: the request may be under way still.
PASSED_ON = [
    *GATEWAY, status(500), status(500, "INTERNAL_ERROR"), status(500, body=b"<html>"), status(520, body=b"error 520"),
    *(status(503, body=body) for body in (b"", b"<html>", b'{"message": "Service Unavailable"}')), status(503),
]  # fmt: skip
PAGES = [b"", b"<html>", b'{"message": "no"}', b'{"errors": []}', b'{"operation_errors": [[]]}']
SENSELESS = [b"", b"null", b"<html>", b'{"data": {"success_count": 1', b'{"data": NaN}', b"[" * 5000, b'{"a":1,"a":2}']

EFFECTS: dict[int, list[Effect]] = {
    1: [Effect(wait=(5, 30))],
    2: [Effect("soon", raised=lost, wait=TIMEOUT)],
    3: [Effect("late", raised=lost, wait=TIMEOUT)],
    4: [Effect("never", limited(account=30)), Effect("never", limited(account=300))],
    5: [Effect("never", limited(user=20)), Effect("never", limited(account=20, user=900))],
    6: [
        Effect("never", limited()), Effect("never", limited(user=-500)), Effect("never", limited(user=1e9)),
        *(Effect("never", limited(user=1, text=text)) for text in ("soon", "-3", "1e9", "1795000000.5", "9" * 13)),
        *(effect for body in PAGES for effect in everywhen(status(429, body=body))),
    ],
    7: [Effect("never", limited(user=1))],
    8: [Effect(apply, say) for say in PASSED_ON for apply in ("never", "late")],
    9: [Effect("soon", say) for say in PASSED_ON],
    10: both(status(503, "OVER_CAPACITY")) + both(status(503, "SERVICE_UNAVAILABLE", retry_after="40")),
    11: [
        *both(status(408, "CANCELLED_REQUEST")), *both(status(423, "LOCK_ACQUISITION_TIMEOUT")),
        Effect("late", status(408, "CANCELLED_REQUEST")),
    ],
    12: [Effect("never", raised=unreached)],
    13: unanswered(0.5),
    14: [Effect()],  # no connection is kept
    15: [Effect("soon", raised=lost)],
    16: [Effect(apply, status(200, body=body)) for body in SENSELESS for apply in ("never", "soon", "late")],
    17: [
        *everywhen(lambda service, _: service.response(200, {}, {"data": {"success_count": 3, "total_count": 4}})),
        *(
            effect
            for change in (
                lambda n: (n - 1, n), lambda n: (n - 1, n - 1), lambda n: (n + 1, n + 1), lambda n: (str(n), n),
                lambda n: (None, n), lambda n: (0, 0),
            )
            for effect in everywhen(counted(change))
        ),
        Effect("soon", counted(lambda n: (1, 1) if n > 1 else (0, 0))),
    ],
    18: everywhen(status(200, "INVALID_PARAMETER")) + everywhen(blaming(200, [[{"code": "INVALID"}]])),
    19: [
        Effect("never", status(400, "INVALID_PARAMETER")), Effect("never", status(413, body=b"<html>")),
        *(effect for code in (400, 422) for body in PAGES for effect in everywhen(status(code, body=body))),
    ],
    20: [
        Effect("never", blaming(400, errors))
        for errors in ([[{"code": "INVALID"}]], [[], [{"code": "INVALID"}]], [[]] * 99 + [[{"code": "INVALID"}]], "x")
    ],
    21: [Effect("never", status(400, "DUPLICATE_USER"))],
    22: [Effect("never", status(401, 89))],
    23: [Effect("never", status(401, 135))],
    24: [
        Effect("never", status(401, 32)), Effect("never", status(403, "ACCOUNT_NOT_FOUND")),
        *everywhen(status(403, body=b"<html>")),
    ],
    25: [
        Effect("never", status(404, "NOT_FOUND")), Effect("never", status(403, "UNAUTHORIZED_CLIENT_APPLICATION")),
        *everywhen(status(404, body=b"<html>")),
    ],
    26: [Effect("never", raised=unreached, wait=(0, 10))],
    27: [Effect("never", raised=unreached), *unanswered(0.5), Effect("never", status(503))],
    28: unanswered(60),
    29: unanswered(120),
    30: [Effect("never", status(code)) for code in (301, 307, 308)] + everywhen(status(302)) + everywhen(status(303)),
    31: [Effect(wait=(1, 3)), *unanswered(1)],
    32: [Effect("never", raised=lambda: CertificateRefused("not trusted"))],
    DISK: [Effect()],
    PROCESS: [Effect(), Effect("late", raised=lost, wait=TIMEOUT)],
    35: [*everywhen(status(407, body=b"<html>")), Effect("never", raised=unreached)],
    36: [Effect()],  # uploads create nothing
    37: [Effect(), Effect("never", status(400, "INVALID_PARAMETER"))],
    38: unanswered(2),
    39: everywhen(counted(lambda n: (2 * n, 2 * n))),
    41: [effect for code in (504, 408) for effect in everywhen(status(code, body=b""))],
    42: unanswered(0.1),
}  # fmt: skip
BLAMING = frozenset({18, 19, 20, 21, 37})  # refuse records that are good
