"""Bodies of answers."""

from __future__ import annotations

import json

from audiencekit.emulator.envelope import RefusalError, problem, refuse, success


def test_a_success_echoes_and_carries() -> None:
    """The envelope of a success: the echo of the parameters, the data, and what else there is."""
    answer = success({"account_id": "a"}, [1], next_cursor=None)
    assert answer.status == 200
    assert isinstance(answer.body, bytes)
    assert json.loads(answer.body) == {"request": {"params": {"account_id": "a"}}, "next_cursor": None, "data": [1]}


def test_a_problem_names_a_parameter_only_when_there_is_one() -> None:
    """`parameter` is left out, not null."""
    assert problem("A", "b") == {"code": "A", "message": "b"}
    assert problem("A", "b", "c") == {"code": "A", "message": "b", "parameter": "c"}


def test_a_refusal_has_errors_and_an_echo() -> None:
    """The envelope of a request-level problem."""
    refusal = refuse(404, "NOT_FOUND", "No such thing", "id", params={"id": "x"}, headers={"Allow": "GET"})
    assert isinstance(refusal, RefusalError)
    assert (refusal.answer.status, refusal.answer.headers) == (404, {"Allow": "GET"})
    assert isinstance(refusal.answer.body, bytes)
    assert json.loads(refusal.answer.body) == {
        "errors": [{"code": "NOT_FOUND", "message": "No such thing", "parameter": "id"}],
        "request": {"params": {"id": "x"}},
    }
