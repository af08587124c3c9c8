"""Faults of connections, of time and of the network path."""

from __future__ import annotations

import ssl

from audiencekit.emulator.faults.effects import (
    Cut,
    Detour,
    Handshake,
    Hold,
    Injection,
    Late,
    Outage,
    Place,
    Reply,
    Situation,
    Wait,
)
from audiencekit.emulator.faults.replies import plain_status

_PROXY_STATUSES = {"auth": 407, "refused": 403, "unreachable": 502, "mitm": None}


def delay(injection: Injection) -> Wait:
    """1 and 2: a pause of `delay_seconds`, and up to `jitter_seconds` more."""
    return Wait(injection["delay_seconds"] + injection.chance.random() * injection["jitter_seconds"])


def apply_late(injection: Injection) -> Late:
    """3: applied after the client gave up; before that nothing, a reset, or a status is sent."""
    meanwhile = injection["meanwhile"]
    reply = plain_status(injection["status"], injection["body"]) if meanwhile == "status" else None
    return Late(injection["delay_seconds"], reply, cut=meanwhile == "reset")


def fail_to_connect(injection: Injection) -> Cut | Outage | Handshake:
    """12: reset before a byte was read, refused for a while, or a handshake that fails."""
    if injection["kind"] == "refused":
        return Outage(injection["delay_seconds"])
    if injection["kind"] == "tls":
        return Handshake(alert=ssl.AlertDescription.ALERT_DESCRIPTION_INTERNAL_ERROR)
    return Cut()


def is_on_used_connection(situation: Situation) -> bool:
    """Whether the connection served a request before; after the answer, every one has."""
    return situation.place is not Place.HEADERS or situation.served > 0


def spoil_handshake(injection: Injection) -> Handshake:
    """32: a certificate that must not be trusted, or a protocol that is too old."""
    if injection["kind"] == "old_tls":
        return Handshake(alert=ssl.AlertDescription.ALERT_DESCRIPTION_PROTOCOL_VERSION)
    return Handshake(certificate=injection["kind"])


def obstruct(injection: Injection) -> Detour:
    """35: the answer of the proxy, or that it reads the traffic."""
    return Detour(_PROXY_STATUSES[injection["kind"]])


def lose_creation(injection: Injection) -> Cut | Hold | Reply:
    """36: the object is created, and the client gets no answer."""
    if injection["meanwhile"] == "hold":
        return Hold(injection["delay_seconds"])
    return Reply(plain_status(504, "html")) if injection["meanwhile"] == "status" else Cut()
