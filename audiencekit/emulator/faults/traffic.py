"""Faults of connections, of time and of the way there."""

from __future__ import annotations

import ssl

from audiencekit.emulator.faults.effects import (
    Cut,
    Detour,
    Handshake,
    Hold,
    Late,
    Outage,
    Place,
    Reply,
    Situation,
    Skew,
    Strike,
    Throttle,
    Unannounced,
    Wait,
)
from audiencekit.emulator.faults.replies import plain_status

_PROXY_STATUSES = {"auth": 407, "refused": 403, "unreachable": 502, "mitm": None}


def delay(strike: Strike) -> Wait:
    """1 and 2: a pause of `delay_seconds`, and up to `jitter_seconds` more."""
    return Wait(strike["delay_seconds"] + strike.chance.random() * strike["jitter_seconds"])


def apply_late(strike: Strike) -> Late:
    """3: applied after the client gave up, and meanwhile nothing, a reset, or a status."""
    meanwhile = strike["meanwhile"]
    reply = plain_status(strike["status"], strike["body"]) if meanwhile == "status" else None
    return Late(strike["delay_seconds"], reply, cut=meanwhile == "reset")


def fail_to_connect(strike: Strike) -> Cut | Outage | Handshake:
    """12: reset before a byte was read, refused for a while, or a handshake that fails."""
    if strike["kind"] == "refused":
        return Outage(strike["delay_seconds"])
    if strike["kind"] == "tls":
        return Handshake(alert=ssl.AlertDescription.ALERT_DESCRIPTION_INTERNAL_ERROR)
    return Cut()


def reset(strike: Strike) -> Cut:
    """13: a reset, in the body after `after_bytes` of it."""
    return Cut(strike["after_bytes"])


def close_stale(strike: Strike) -> Cut:
    """14, when the next request came on a connection that has been idle: it is gone."""
    return Cut()


def is_on_used_connection(situation: Situation) -> bool:
    """Return whether the connection served a request before; after the answer, every one has."""
    return situation.place is not Place.HEADERS or situation.served > 0


def skew(strike: Strike) -> Skew:
    """23: another `Date`, and 401 with code 135 for timestamps far from it."""
    return Skew(strike["skew_seconds"])


def lose_address(strike: Strike) -> Outage:
    """26: no process listens for `delay_seconds`."""
    return Outage(strike["delay_seconds"])


def restart(strike: Strike) -> Outage:
    """27: as 26, and the lists may come back empty."""
    return Outage(strike["delay_seconds"], lost=strike["state"] == "lost")


def black_hole(strike: Strike) -> Hold:
    """28: silence."""
    return Hold(strike["delay_seconds"], strike["after_bytes"])


def throttle(strike: Strike) -> Throttle:
    """29, in the body."""
    return Throttle(strike["bytes_per_second"])


def leave_unannounced(strike: Strike) -> Unannounced:
    """31: the 100 Continue that never comes."""
    return Unannounced()


def spoil_handshake(strike: Strike) -> Handshake:
    """32: a certificate that must not be trusted, or a protocol that is too old."""
    if strike["kind"] == "old_tls":
        return Handshake(alert=ssl.AlertDescription.ALERT_DESCRIPTION_PROTOCOL_VERSION)
    return Handshake(certificate=strike["kind"])


def obstruct(strike: Strike) -> Detour:
    """35: what the proxy answers, or that it reads along."""
    return Detour(_PROXY_STATUSES[strike["kind"]])


def lose_creation(strike: Strike) -> Cut | Hold | Reply:
    """36: the object is created, and the client gets no answer."""
    if strike["meanwhile"] == "hold":
        return Hold(strike["delay_seconds"])
    return Reply(plain_status(504, "html")) if strike["meanwhile"] == "status" else Cut()
