"""The catalogue: each kind of fault, and the address at which its faults take effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from audiencekit.emulator.faults import late_answers, replies, settings, traffic
from audiencekit.emulator.faults.effects import (
    Cut,
    Effect,
    Fault,
    Hold,
    Injection,
    Outage,
    Place,
    Situation,
    Skew,
    Throttle,
    Unannounced,
)
from audiencekit.emulator.faults.settings import Setting

# --- Rows of the catalogue: a kind of fault, and the address at which its faults take effect ---

Act = Callable[[Injection], Effect]
Condition = Callable[[Fault, Situation], bool]


@dataclass(frozen=True, slots=True)
class Kind:
    """One row. The first of `places` is the default; `acts` has other acts for some places.

    A fault with `outside` is not caused by a server: the text says how to cause it.
    """

    name: str
    does: str
    places: tuple[Place, ...] = ()
    act: Act | None = None
    acts: Mapping[Place, Act] = field(default_factory=dict)
    settings: Mapping[str, Setting] = field(default_factory=dict)
    when: Condition | None = None
    times: int | None = 1
    outside: str | None = None

    def inject(self, injection: Injection) -> Effect:
        """Return the effect of the fault at its place."""
        act = self.acts.get(injection.fault.place, self.act)
        if act is None:
            raise RuntimeError("a fault without an act was let in")
        return act(injection)


class Site(StrEnum):
    """The addresses at which faults take effect. Two of them are opened when they are needed."""

    PLAIN = "plain"
    HTTPS = "https"
    PROXY = "proxy"


def site_of(fault: Fault) -> Site:
    """Return the address at which a fault takes effect."""
    if fault.number == 32 or (fault.number == 12 and fault.settings["kind"] == "tls"):
        return Site.HTTPS
    return Site.PROXY if fault.number == 35 else Site.PLAIN


# --- The catalogue: the 40 faults, the effect of each, its places and its settings ---

_CONNECT, _HEADERS, _BODY = Place.CONNECT, Place.HEADERS, Place.BODY
_BEFORE, _LATE, _AFTER = Place.BEFORE_APPLY, Place.LATE_APPLY, Place.AFTER_APPLY
_EVERY: Final = None  # times: for ever

_BODIES: Final = settings.choice("json", "html", "empty")
_SHAPE: Final = settings.choice("nested", "flat", "errors")
_DELAY: Final = {"delay_seconds": settings.seconds(1.0), "jitter_seconds": settings.seconds(0.0)}
_RESET: Final = {
    "reset": settings.reset(2),
    "account_reset": Setting(
        None, "as reset, or null", lambda given: given is None or settings.reset(0).accepts(given)
    ),
}

_KINDS: Final = {
    1: Kind(
        "latency",
        "the answer comes `delay_seconds` later, and up to `jitter_seconds` more",
        (_BEFORE, _HEADERS, _AFTER),
        act=traffic.delay,
        settings=_DELAY,
    ),
    2: Kind(
        "answer after the timeout",
        "applied at once, answered `delay_seconds` later",
        (_AFTER,),
        act=traffic.delay,
        settings={**_DELAY, "delay_seconds": settings.seconds(60.0)},
    ),
    3: Kind(
        "zombie",
        "applied `delay_seconds` later on the emulator's clock; meanwhile silence, a reset, or `status`",
        (_LATE,),
        act=traffic.apply_late,
        settings={
            "delay_seconds": settings.seconds(60.0),
            "meanwhile": settings.choice("hold", "reset", "status"),
            "status": settings.choice(504, 408, 500, 502, 503),
            "body": settings.choice("html", "json", "empty"),
        },
    ),
    4: Kind(
        "429 of the account",
        "429 with `x-account-rate-limit-reset`",
        (_BEFORE, _HEADERS),
        act=replies.limit_account,
        settings={"reset": settings.reset(2), "body": _BODIES},
    ),
    5: Kind(
        "429 of the token",
        "429 with `x-rate-limit-reset`; with `account_reset` also that of the account, which differs",
        (_BEFORE, _HEADERS),
        act=replies.limit_token,
        settings={**_RESET, "body": _BODIES},
    ),
    6: Kind(
        "429 with a wrong reset",
        "429 whose `reset` is missing, past, far_future, text, negative, float, milliseconds or huge",
        (_BEFORE, _HEADERS),
        act=replies.limit_token,
        settings={**_RESET, "reset": settings.reset("missing"), "body": _BODIES},
    ),
    7: Kind(
        "429 burst",
        "429 ten times running, whatever the rate",
        (_BEFORE, _HEADERS),
        act=replies.limit_token,
        settings={**_RESET, "body": _BODIES},
        times=10,
    ),
    8: Kind(
        "5xx before it is applied",
        "500, 502 or 504 as JSON, HTML or nothing; nothing applied",
        (_BEFORE, _HEADERS),
        act=replies.fail,
        settings={"status": settings.choice(500, 502, 504), "body": _BODIES},
    ),
    9: Kind(
        "5xx after it was applied",
        "the same, applied",
        (_AFTER,),
        act=replies.fail,
        settings={"status": settings.choice(500, 502, 504), "body": _BODIES},
    ),
    10: Kind(
        "503",
        "503 with `code`, and `retry_after` in seconds, as a date, as no number, or missing",
        (_BEFORE, _HEADERS, _AFTER),
        act=replies.overload,
        settings={
            "code": settings.choice("OVER_CAPACITY", "SERVICE_UNAVAILABLE"),
            "retry_after": settings.retry_after(),
            "body": _BODIES,
        },
    ),
    11: Kind(
        "408 and 423",
        "408 CANCELLED_REQUEST or 423 LOCK_ACQUISITION_TIMEOUT",
        (_BEFORE, _HEADERS, _AFTER),
        act=replies.fail,
        settings={"status": settings.choice(408, 423), "body": _BODIES},
    ),
    12: Kind(
        "no connection",
        "a reset before a byte was read; refused for `delay_seconds`; or a TLS handshake that fails",
        (_CONNECT,),
        act=traffic.fail_to_connect,
        settings={"kind": settings.choice("reset", "refused", "tls"), "delay_seconds": settings.seconds(1.0, 3_600)},
    ),
    13: Kind(
        "reset",
        "a reset: in the body after `after_bytes` of it, before or after it is applied",
        (_BEFORE, _HEADERS, _BODY, _AFTER),
        act=lambda injection: Cut(injection["after_bytes"]),
        settings={"after_bytes": settings.whole(0, 100_000_000)},
    ),
    14: Kind(
        "stale connection",
        "closed `delay_seconds` after an answer that promised more; at `headers`, when the next request is there",
        (_AFTER, _HEADERS),
        act=late_answers.close_idle,
        acts={_HEADERS: lambda injection: Cut()},
        settings={"delay_seconds": settings.seconds(0.0)},
        when=lambda fault, situation: traffic.is_on_used_connection(situation),
    ),
    15: Kind(
        "broken answer",
        "truncated, a wrong Content-Length, a bad chunk, or bad gzip",
        (_AFTER, _BEFORE),
        act=late_answers.mutilate,
        settings={"kind": settings.choice("truncated", "content_length_long", "content_length_short", "chunk", "gzip")},
    ),
    16: Kind(
        "200 that is no answer",
        "invalid JSON, HTML, nothing, null, a repeated key, NaN, `bytes` of it, nested `depth` deep, or a list that "
        "leads astray",
        (_AFTER, _BEFORE),
        act=replies.garble,
        settings={
            "kind": settings.choice(*replies.GARBLINGS),
            "bytes": settings.whole(50_000_000, 200_000_000),
            "depth": settings.whole(100_000, 10_000_000, 1),
        },
        when=replies.can_be_garbled,
    ),
    17: Kind(
        "wrong counts",
        "counts too short, too long, of operations, strings, fractions, booleans, negative, huge, null or missing",
        (_AFTER, _BEFORE),
        act=replies.miscount,
        settings={
            "kind": settings.choice(
                "success_short",
                "both_short",
                "both_long",
                "success_long",
                "operations",
                "strings",
                "floats",
                "negative",
                "booleans",
                "huge",
                "null",
                "missing",
            )
        },
        when=lambda fault, situation: replies.has_counts(situation),
    ),
    18: Kind(
        "200 with errors",
        "a success that also has `errors` or `operation_errors`",
        (_AFTER, _BEFORE),
        act=replies.contradict,
        settings={"kind": settings.choice("errors", "operation_errors")},
        when=lambda fault, situation: replies.is_document(situation),
    ),
    19: Kind(
        "too large",
        "400 or 413 with `errors` only for what is over one of the sizes; without any, for all",
        (_BEFORE,),
        act=replies.refuse_size,
        settings={
            "status": settings.choice(400, 413),
            "most_operations": settings.whole(None, 2_500),
            "most_records": settings.whole(None, 100_000),
            "most_bytes": settings.whole(None, 5_000_000),
        },
        when=replies.is_too_large,
        times=_EVERY,
    ),
    20: Kind(
        "bad operations",
        "400 with `operation_errors` (`shape`: nested, flat) or `errors`; `bad`: indexes, all, out_of_range, "
        "wrong_type, or records by prefix of a hash or by a share of them",
        (_BEFORE,),
        act=replies.refuse_operations,
        settings={"bad": settings.bad_operations(), "shape": _SHAPE},
        when=replies.has_bad_operations,
        times=_EVERY,
    ),
    21: Kind(
        "duplicate refused",
        "as 20, for a user that a request has twice",
        (_BEFORE,),
        act=replies.refuse_duplicates,
        settings={"shape": _SHAPE},
        when=lambda fault, situation: replies.has_duplicates(situation),
        times=_EVERY,
    ),
    22: Kind("token revoked", "401 with code 89, from then on", (_HEADERS,), act=replies.revoke_token, times=_EVERY),
    23: Kind(
        "clocks apart",
        "`Date`, resets and the check of timestamps are `skew_seconds` off: 401 with code 135 beyond 300",
        (_HEADERS,),
        act=lambda injection: Skew(injection["skew_seconds"]),
        settings={"skew_seconds": settings.skew(600)},
        times=_EVERY,
    ),
    24: Kind(
        "denied",
        "401 with code 32, or 403 for the account or the application",
        (_HEADERS,),
        act=replies.deny,
        settings={"kind": settings.choice("signature", "account", "application")},
        times=_EVERY,
    ),
    25: Kind(
        "audience gone",
        "404 for the audience, or 403 for the permission, from then on",
        (_BEFORE, _HEADERS),
        act=replies.lose_audience,
        settings={"kind": settings.choice("deleted", "permission")},
        times=_EVERY,
    ),
    26: Kind(
        "address gone",
        "connections are reset and refused for `delay_seconds`: what a name that leads nowhere comes to",
        (_HEADERS, _CONNECT),
        act=lambda injection: Outage(injection["delay_seconds"]),
        settings={"delay_seconds": settings.seconds(1.0, 3_600)},
    ),
    27: Kind(
        "restart",
        "as 26; with `state` lost every list is empty afterwards",
        (_BEFORE, _CONNECT, _HEADERS, _AFTER),
        act=lambda injection: Outage(injection["delay_seconds"], lost=injection["state"] == "lost"),
        settings={"delay_seconds": settings.seconds(5.0, 3_600), "state": settings.choice("kept", "lost")},
    ),
    28: Kind(
        "black hole",
        "taken in, at `body` so many `after_bytes`, and never answered; reset after `delay_seconds`, if any",
        (_HEADERS, _CONNECT, _BODY, _BEFORE, _AFTER),
        act=lambda injection: Hold(injection["delay_seconds"], injection["after_bytes"]),
        settings={"delay_seconds": settings.seconds(None), "after_bytes": settings.whole(0, 100_000_000)},
    ),
    29: Kind(
        "slow",
        "the answer, or at `body` the request, goes at `bytes_per_second`",
        (_AFTER, _BEFORE, _BODY),
        act=late_answers.drip,
        acts={_BODY: lambda injection: Throttle(injection["bytes_per_second"])},
        settings={"bytes_per_second": settings.rate(1.0)},
    ),
    30: Kind(
        "redirect",
        "301, 302, 303, 307 or 308 to `location`",
        (_BEFORE, _HEADERS),
        act=replies.redirect,
        settings={
            "status": settings.choice(307, 301, 302, 303, 308),
            "location": settings.address("http://127.0.0.1:9/elsewhere"),
        },
    ),
    31: Kind(
        "rare HTTP",
        "extra 1xx, HTTP/1.0, headers of `bytes`, headers without end; at `headers`, no 100 Continue",
        (_AFTER, _BEFORE, _HEADERS),
        act=late_answers.speak_oddly,
        acts={_HEADERS: lambda injection: Unannounced()},
        settings={
            "kind": settings.choice("extra_1xx", "http_1_0", "huge_headers", "endless_headers"),
            "bytes": settings.whole(1_000_000, 50_000_000),
        },
    ),
    32: Kind(
        "bad certificate",
        "at the https address: expired, wrong_host, self_signed, or a TLS that is too old",
        (_CONNECT,),
        act=traffic.spoil_handshake,
        settings={"kind": settings.choice("expired", "wrong_host", "self_signed", "old_tls")},
        times=_EVERY,
    ),
    33: Kind(
        "client's disk full",
        "nothing: it is the client's disk",
        outside="the client's tests fill the disk under its journal",
    ),
    34: Kind(
        "signals",
        "nothing: it is the client's process",
        outside="the client's tests send the signals to real processes",
    ),
    35: Kind(
        "proxy",
        "at the proxy's address: 407 (auth), 403 (refused), 502 (unreachable), or a certificate of its own (mitm)",
        (_CONNECT,),
        act=traffic.obstruct,
        settings={"kind": settings.choice("auth", "refused", "unreachable", "mitm")},
        times=_EVERY,
    ),
    36: Kind(
        "creation lost",
        "an audience is made, and its maker hears nothing: a reset, silence, or 504",
        (_AFTER,),
        act=traffic.lose_creation,
        settings={"meanwhile": settings.choice("reset", "hold", "status"), "delay_seconds": settings.seconds(None)},
        when=lambda fault, situation: situation.method == "POST" and situation.path.endswith("/custom_audiences"),
    ),
    37: Kind(
        "texts that act",
        "escapes, marks of direction and forged lines behind every text of the answer, whatever its status; or a "
        "refusal that quotes the request",
        (_HEADERS,),
        act=replies.reword,
        settings={"kind": settings.choice("shown", "all", "echo")},
        times=_EVERY,
    ),
    38: Kind(
        "bomb",
        "the answer, and behind it `bytes` that came packed, or bytes without end",
        (_AFTER, _BEFORE),
        act=late_answers.bomb,
        settings={"kind": settings.choice("gzip", "endless"), "bytes": settings.whole(2_000_000_000, 100_000_000_000)},
    ),
    39: Kind(
        "another's answer",
        "the answer to another request: other ids, or one where several were asked for and the other way round",
        (_AFTER, _BEFORE),
        act=replies.confuse,
        settings={"kind": settings.choice("ids", "shape")},
        when=lambda fault, situation: replies.is_document(situation),
    ),
    # 40, a list without end, is a `kind` of 16.
    41: Kind(
        "answer too many",
        "on a connection that stays open: the answer `twice`, 504 and then the `late` answer, the answer and then an "
        "`unasked` `status`, each `delay_seconds` later; or the answer twice in one `packet`",
        (_AFTER, _BEFORE),
        act=late_answers.answer_again,
        settings={
            "kind": settings.choice("twice", "late", "unasked", "packet"),
            "delay_seconds": settings.seconds(0.05),
            "status": settings.choice(400, 401, 408, 429),
        },
    ),
}

CATALOGUE: Final[Mapping[int, Kind]] = MappingProxyType(_KINDS)
