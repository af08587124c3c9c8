"""The logs of requests and of operations."""

from __future__ import annotations

import json
from dataclasses import dataclass

from audiencekit.emulator.journal import OperationLog, RequestLog


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
