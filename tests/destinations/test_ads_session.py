"""An upload to an audience that may be under sync."""

from __future__ import annotations

import random

import pytest

from audiencekit.api.answers import Answer
from audiencekit.api.stamps import REMOVAL, UPLOAD, Stamp
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.destinations.ads_session import mark_upload
from audiencekit.errors import (
    AudiencekitError,
    CredentialsRefused,
    NotFound,
    Outcome,
    RequestRefused,
    ServiceUnavailable,
    TemporarilyUnavailable,
    TransportFailed,
    Unauthorized,
)
from tests.cases import each_case
from tests.destinations.oneaudience import OneAudience
from tests.virtualtime import VirtualClock, run_virtually

AUDIENCE = "1a2b"
STAMP = Stamp(AUDIENCE, "0123456789abcdef")
AWAY = TemporarilyUnavailable("not now", status=503, outcome=Outcome.UNKNOWN)


class Service(OneAudience):
    """Whose audience has a description."""

    def __init__(self, description: str | None, *errors: AudiencekitError) -> None:
        super().__init__({"description": description}, *errors)

    @property
    def description(self) -> str | None:
        found: str | None = self.audience["description"]
        return found

    async def update_custom_audience(self, audience_id: str, *, description: str) -> Answer:
        self.audience["description"] = description
        return self.answer("put", audience_id)

    def overtake(self, *, removes: bool) -> Service:
        """After an upload has asked."""
        policy = RetryPolicy(clock=VirtualClock(), randomness=random.Random(1))
        run_virtually(mark_upload(self, AUDIENCE, policy, self.told.append, removes=removes))  # type: ignore[arg-type]
        return self


@each_case("removes, what", [(False, UPLOAD), (True, REMOVAL)])
def test_the_stamp_says_what_came_after_it(removes: bool, what: str) -> None:
    """Once; and people are told what the next sync makes of it."""
    service = Service(f"Customers {STAMP}").overtake(removes=removes)
    assert service.description == f"Customers {STAMP.followed_by(what)}"
    assert ("is refused" in service.told[0]) == removes
    assert service.calls == ["get", "put"]
    assert service.overtake(removes=removes).calls[2:] == ["get"]


@each_case("description", [None, "", "Customers"])
def test_an_audience_without_a_stamp_is_left_alone(description: str | None) -> None:
    """One exchange, and no word."""
    service = Service(description).overtake(removes=True)
    assert (service.calls, service.told, service.description) == (["get"], [], description)


@each_case("failed", [1, 3])
def test_a_question_that_was_not_answered_is_asked_again(failed: int) -> None:
    """A service that is away for a moment is no reason to leave the next sync in the dark."""
    lost = TransportFailed("the answer was lost", sent=True)
    service = Service(str(STAMP), lost, *[AWAY] * (failed - 1)).overtake(removes=True)
    assert service.description == str(STAMP.followed_by(REMOVAL))
    assert len(service.told) == 1


@each_case(
    "error",
    [
        NotFound("none", status=404),
        RequestRefused("no such call", status=405),
        TemporarilyUnavailable("not implemented", status=501, outcome=Outcome.UNKNOWN),
        Unauthorized("not allowed", status=403),
    ],
)
def test_a_service_without_the_call_keeps_no_upload_back(error: AudiencekitError) -> None:
    """Nothing is said, nor asked again: the upload says what there is to say."""
    service = Service(str(STAMP), error).overtake(removes=True)
    assert (service.calls, service.told) == (["get"], [])


@each_case("error, ending", [(AWAY, ServiceUnavailable), (Unauthorized("no", status=401), CredentialsRefused)])
def test_a_service_that_does_not_answer_keeps_it_back(error: AudiencekitError, ending: type[AudiencekitError]) -> None:
    """As the first request would, which it would answer no better."""
    with pytest.raises(ending, match="nothing was sent"):
        Service(str(STAMP), *[error] * 1_000).overtake(removes=True)
