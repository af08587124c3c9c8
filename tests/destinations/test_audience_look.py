"""A look at an audience before anything is read."""

from __future__ import annotations

import random
from typing import Any

import pytest

from audiencekit.api.answers import Answer
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.destinations.audience_look import look_at_audience
from audiencekit.errors import (
    AudiencekitError,
    CertificateRefused,
    CredentialsRefused,
    MalformedAnswer,
    NotFound,
    Outcome,
    PlanRefused,
    Redirected,
    Refused,
    RequestRefused,
    ServiceUnavailable,
    TemporarilyUnavailable,
    TransportFailed,
    Unauthorized,
)
from tests.cases import each_case
from tests.destinations.oneaudience import OneAudience
from tests.virtualtime import EPOCH, VirtualClock, run_virtually

ID = "1a2b"
AWAY = TemporarilyUnavailable("not now", status=503, outcome=Outcome.UNKNOWN)


def _look(service: OneAudience) -> None:
    policy = RetryPolicy(clock=VirtualClock(), randomness=random.Random(1))
    run_virtually(look_at_audience(service, "acc7", ID, policy, service.told.append))  # type: ignore[arg-type]


@each_case(
    "audience, told",
    [
        ({"name": "Spring"}, ["audience 1a2b: Spring"]),
        ({}, []),
        ({"name": "Two\nlines", "audience_type": "CRM"}, ["audience 1a2b: Two\\nlines"]),
        ({"name": "Lent", "permission_level": "READ_WRITE", "is_owner": False}, ["audience 1a2b: Lent"]),
    ],
)
def test_an_audience_of_ours(audience: dict[str, Any], told: list[str]) -> None:
    """Its name is told."""
    service = OneAudience(audience)
    _look(service)
    assert (service.told, service.calls) == (told, ["get", "access"])


@each_case(
    "audience, error, words",
    [
        ({"deleted": True}, PlanRefused, "account acc7 has no audience"),
        ({"audience_type": "FLEXIBLE"}, PlanRefused, "flexible"),
        ({"audience_type": "WEB"}, PlanRefused, "visitors of a website"),
        ({"audience_type": "MOBILE"}, PlanRefused, "users of an app"),
        ({"permission_level": "READ_ONLY"}, CredentialsRefused, "may only be read"),
    ],
)
def test_an_audience_that_takes_no_people(audience: dict[str, Any], error: type[Exception], words: str) -> None:
    """It is refused, with nothing told."""
    service = OneAudience(audience)
    with pytest.raises(error, match=words):
        _look(service)
    assert service.told == []


@each_case(
    "raised, error",
    [
        (NotFound("not there", status=404), PlanRefused),
        (Unauthorized("who", status=401), CredentialsRefused),
        (Unauthorized("not you", status=403), CredentialsRefused),
        (Redirected("elsewhere", status=301), Refused),
        (CertificateRefused("of another host"), Refused),
    ],
)
def test_a_final_refusal_is_asked_for_once(raised: AudiencekitError, error: type[Exception]) -> None:
    """Asked once; nothing was read."""
    service = OneAudience({}, raised)
    with pytest.raises(error, match="nothing was read"):
        _look(service)
    assert len(service.calls) == 1


def test_a_name_that_reads_as_an_id_is_refused_with_its_id() -> None:
    service = OneAudience({}, NotFound("not there", status=404))
    service.named = [{"id": "h7", "name": ID}, {"id": "h8", "name": ID + "x"}]
    with pytest.raises(PlanRefused) as refused:
        _look(service)
    assert refused.value.hint == "'1a2b' reads as an id; it is the name of h7: give that id"


def test_a_service_that_comes_back() -> None:
    """It is asked again, as a request would be sent again."""
    service = OneAudience({"name": "Spring"}, AWAY, TransportFailed("lost", sent=True))
    _look(service)
    assert service.told == [f"{AWAY}; asking again", "audience 1a2b: Spring"]
    assert service.calls == ["get"] * 3 + ["access"]


def test_a_service_that_stays_away() -> None:
    """The run is not begun."""
    service = OneAudience({}, *[AWAY] * 100)
    with pytest.raises(ServiceUnavailable, match="nothing was read"):
        _look(service)
    assert 1 < len(service.calls) < 100


@each_case(
    "raised, told",
    [
        (RequestRefused("no such call", status=405), []),
        (MalformedAnswer("what is this", status=200), ["what is this; asking again"]),
        (TemporarilyUnavailable("not here", status=501, outcome=Outcome.UNKNOWN), []),
    ],
)
def test_a_service_that_does_not_say(raised: AudiencekitError, told: list[str]) -> None:
    """One that has uploads and not this call holds no run back."""
    service = OneAudience({}, raised)
    _look(service)
    assert service.told == told


@each_case(
    "permissions, words",
    [(["ANALYST"], "may only look at account acc7 .ANALYST"), (["CAMPAIGN_ANALYST", "ANALYST"], "CAMPAIGN_ANALYST, A")],
)
def test_a_user_who_may_only_look(permissions: list[str], words: str) -> None:
    """The permissions are in words of the service; the remedy names the command that shows them."""
    service = OneAudience({"name": "Spring"})
    service.access = {"permissions": permissions}
    with pytest.raises(CredentialsRefused, match=words) as refused:
        _look(service)
    assert (service.told, "whoami" in refused.value.hint) == ([], True)


@each_case(
    "access",
    [
        {"permissions": ["ANALYST", "AD_MANAGER"]},
        {"permissions": ["ANALYST", {}]},
        {"permissions": []},
        {"permissions": "ANALYST"},
        {},
        [],
        Unauthorized("not for you", status=403),
        RequestRefused("no such call", status=404),
        AWAY,
    ],
)
def test_a_service_that_does_not_tell_permissions(access: Any) -> None:
    """It holds no run back, and is asked once."""
    service = OneAudience({"name": "Spring"})
    service.access = access
    _look(service)
    assert (service.told, service.calls) == (["audience 1a2b: Spring"], ["get", "access"])


def test_a_token_that_may_only_read() -> None:
    """The answer says so: the first upload would be refused."""
    service = OneAudience({"name": "Spring"})
    service.answered = Answer(status=200, access_level="read")
    with pytest.raises(CredentialsRefused, match="the token may only read: nothing was read"):
        _look(service)


@each_case("seconds, words", [(0, None), (20, None), (400, "400 s behind"), (-400, "400 s ahead of")])
def test_a_clock_that_is_off(seconds: int, words: str | None) -> None:
    """It is told, and holds no run back: signatures are corrected."""
    service = OneAudience({})
    service.answered = Answer(status=200, access_level="read-write", answered_at=round(EPOCH) + seconds)
    _look(service)
    assert [words in told for told in service.told] == ([] if words is None else [True])
