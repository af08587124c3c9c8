"""`audiencekit.audiences.readiness`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from audiencekit.api.answers import Answer
from audiencekit.audiences.readiness import Readiness, explain, read_readiness, wait_until_targetable
from audiencekit.errors import AudiencekitError, NotFinished, NotFound, Refused, TemporarilyUnavailable, TransportFailed
from tests.audiences.stepclock import StepClock

PROCESSING = {"targetable": False, "reasons_not_targetable": ["PROCESSING", "TOO_SMALL"], "audience_size": None}
READY = {"targetable": True, "reasons_not_targetable": [], "audience_size": 61_204}


class Service:
    """Gives the answers it was made with, one a call; the last one for ever. An error is raised."""

    def __init__(self, *answers: dict[str, Any] | AudiencekitError) -> None:
        self._answers: Iterator[dict[str, Any] | AudiencekitError] = iter(answers)
        self._last: dict[str, Any] | AudiencekitError = answers[-1]
        self.calls = 0

    async def get_custom_audience(self, audience_id: str, *, with_deleted: bool | None = None) -> Answer:
        self.calls += 1
        answer = next(self._answers, self._last)
        if isinstance(answer, AudiencekitError):
            raise answer
        return Answer(status=200, data={"id": audience_id, "deleted": False, **answer})


def _wait(service: Service, clock: StepClock, **keywords: Any) -> Readiness:
    return asyncio.run(wait_until_targetable(service, "abc1", clock=clock, **keywords))


def test_waiting_ends_with_the_first_answer_that_says_targetable() -> None:
    """Every answer is told, at the interval that was asked for."""
    told: list[Readiness] = []
    clock = StepClock()
    service = Service(PROCESSING, PROCESSING, READY)
    ready = _wait(service, clock, interval=timedelta(minutes=5), on_state=told.append)
    assert ready.is_targetable
    assert [one.is_targetable for one in told] == [False, False, True]
    assert clock.slept == [300.0, 300.0]


def test_waiting_ends_when_its_time_is_over() -> None:
    """After one last look at the very end, as something that can go on."""
    clock = StepClock()
    with pytest.raises(NotFinished, match="abc1"):
        _wait(Service(PROCESSING), clock, interval=timedelta(minutes=4), timeout=timedelta(minutes=10))
    assert clock.slept == [240.0, 240.0, 120.0]


def test_a_service_that_is_away_for_a_while_is_asked_again() -> None:
    """And one that stays away is not asked for ever."""
    away: list[AudiencekitError] = [TransportFailed("gone", sent=False), TemporarilyUnavailable("busy", status=503)]
    assert _wait(Service(*away, *away, READY), StepClock()).is_targetable
    service = Service(TransportFailed("gone", sent=False))
    with pytest.raises(TransportFailed):
        _wait(service, StepClock())
    assert service.calls == 6


def test_other_errors_end_the_wait_at_once() -> None:
    """An audience that does not exist will not come to exist."""
    service = Service(NotFound("not there", status=404))
    with pytest.raises(NotFound):
        _wait(service, StepClock())
    assert service.calls == 1


def test_a_deleted_audience_is_not_waited_for() -> None:
    """It says so."""
    with pytest.raises(Refused, match="deleted"):
        asyncio.run(read_readiness(Service({**PROCESSING, "deleted": True}), "abc1"))


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (61_204, "; 61,204 users active in 90 days"),
        (None, "the service does not say how many users are active"),
        ("61204", "the service does not say how many users are active"),
    ],
)
def test_the_size_is_told_in_words_of_the_service(size: Any, words: str) -> None:
    """A number that is none is not told."""
    readiness = asyncio.run(read_readiness(Service({**READY, "audience_size": size}), "abc1"))
    assert readiness.to_text().endswith(words)
    assert readiness.to_json()["audience_size"] == (size if isinstance(size, int) else None)


@pytest.mark.parametrize(
    ("reason", "word"), [("PROCESSING", "hours"), ("TOO_SMALL", "100"), ("SOMETHING_NEW", "SOMETHING_NEW")]
)
def test_reasons_are_explained(reason: str, word: str) -> None:
    """One that is not known is repeated."""
    assert word in explain(reason)


def test_words_of_the_service_are_harmless_in_a_log() -> None:
    """The line goes to terminals and to logs of Airflow: nothing in it acts, or begins another line."""
    hostile = "\x1b]0;x\x07\r\nstate: complete\u202e"
    answer = Service({**READY, "targetable": False, "reasons_not_targetable": [hostile]})
    readiness = asyncio.run(read_readiness(answer, "abc1"))
    assert readiness.to_text().isprintable()
    assert readiness.to_json()["reasons_not_targetable"] == [hostile]
