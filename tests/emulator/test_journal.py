"""The logs of requests and of operations."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

import pytest
from cryptography.exceptions import InvalidTag
from hypothesis import given, strategies as st

from audiencekit.emulator.journal import OperationLog, Place, RequestLog, SealedFile

# --- The logs of requests and of operations ---


@dataclass
class Done:
    """An operation that was applied."""

    operation_type: str
    effective_at: float
    expires_at: float


def test_operations_are_logged_in_order_with_their_users() -> None:
    """One line an operation, numbered through, users as they were received."""
    log = OperationLog()
    first = b'[{"params":{"users":[{"email":["A"]}]}},{"params":{"users":[{"handle":["b"]},{"email":["c"]}]}}]'
    log.append(5.5, "list1", first, [Done("Update", 0.0, 86_400.0), Done("Delete", 3.9, 86_400.0)])
    log.append(6.0, "list2", b'[ {"params": {"users": [{}]}} ]', [Done("Update", 6.0, 7.0)])
    lines = list(log.lines())
    assert len(log) == 3
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    assert [json.loads(line) for line in lines] == [
        {
            "seq": 1,
            "time": 5.5,
            "list_id": "list1",
            "operation_type": "Update",
            "effective_at": "1970-01-01T00:00:00Z",
            "expires_at": "1970-01-02T00:00:00Z",
            "users": [{"email": ["A"]}],
        },
        {
            "seq": 2,
            "time": 5.5,
            "list_id": "list1",
            "operation_type": "Delete",
            "effective_at": "1970-01-01T00:00:03Z",
            "expires_at": "1970-01-02T00:00:00Z",
            "users": [{"handle": ["b"]}, {"email": ["c"]}],
        },
        {
            "seq": 3,
            "time": 6.0,
            "list_id": "list2",
            "operation_type": "Update",
            "effective_at": "1970-01-01T00:00:06Z",
            "expires_at": "1970-01-01T00:00:07Z",
            "users": [{}],
        },
    ]


def test_a_fault_is_told_of_its_own_request() -> None:
    """The operations of that request and no others; the last fault is the one that is told."""
    log = OperationLog()
    body = b'[{"params":{"users":[{"email":["a"]}]}},{"params":{"users":[{"email":["b"]}]}}]'
    for _ in range(3):
        log.append(1.0, "list1", body, [Done("Update", 0.0, 1.0)] * 2)
    log.attribute(2, 4, 9)
    log.attribute(2, 4, 13)
    assert [json.loads(line).get("fault") for line in log.lines()] == [None, None, 13, 13, None, None]


def test_requests_are_numbered_by_arrival() -> None:
    """A request that is not answered yet has no status."""
    log = RequestLog()
    first, _ = log.open(1.25, "GET", "/a"), log.open(1.5, "POST", "/b")
    first.status, first.bytes = 200, 7
    assert log.documents() == [
        {"seq": 1, "arrival": 1.25, "method": "GET", "path": "/a", "bytes": 7, "status": 200},
        {"seq": 2, "arrival": 1.5, "method": "POST", "path": "/b", "bytes": 0, "status": None},
    ]


# --- Bodies that are kept out of memory ---


@given(st.lists(st.binary(max_size=200), max_size=10))
def test_a_sealed_text_is_given_back(contents: list[bytes]) -> None:
    """In any order, empty texts too, each as often as it is asked for."""
    sealed = SealedFile()
    places = [sealed.add(content) for content in contents]
    assert [sealed.read(place) for place in reversed(places)] == contents[::-1]
    assert [sealed.read(place) for place in places] == contents


def test_the_file_has_no_name_and_shows_nothing() -> None:
    """Two texts that are alike are not alike there."""
    sealed, content = SealedFile(), b"ab" * 500
    places = [sealed.add(content) for _ in range(2)]
    shown = [os.pread(sealed._descriptor, place.size, place.start) for place in places]
    assert content not in shown[0] + shown[1]
    assert shown[0] != shown[1]
    assert os.fstat(sealed._descriptor).st_nlink == 0


def test_a_changed_text_is_not_given_back() -> None:
    """Nor what stands at another place."""
    sealed = SealedFile()
    place = sealed.add(b"people")
    with pytest.raises(InvalidTag):
        sealed.read(Place(place.start, place.size - 1))
    os.pwrite(sealed._descriptor, b"\x00", place.start)
    with pytest.raises(InvalidTag):
        sealed.read(place)


def test_no_room_is_told_and_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next value is written in the place of the one that failed."""
    sealed = SealedFile()

    def refuse(*given: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", refuse)
        with pytest.raises(OSError, match="No space"):
            sealed.add(b"people")
    assert sealed.add(b"others").start == 0
