"""Parts of a request: some of its records, each byte as it stood in the whole."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pytest
from hypothesis import given, strategies as st

from audiencekit.destinations.requests.operations_body import OperationsBody
from audiencekit.errors import Bug
from audiencekit.personal import Personal
from tests.cases import each_case

MARKER = "marker-of-a-person"


@dataclass(frozen=True, slots=True)
class Packed:
    """A request whose body was written by hand."""

    records: int
    body: Personal[bytes]
    rows: npt.NDArray[np.int64] = field(repr=False)
    number: int = 7
    wave: int = 3

    @property
    def body_bytes(self) -> int:
        return len(self.body.unwrap())


def packed(operations: list[dict[str, Any]]) -> Packed:
    records = sum(len(operation["params"]["users"]) for operation in operations)
    return Packed(records, Personal(orjson.dumps(operations)), np.arange(records) * 10 + 1)


def operation(verb: str, users: list[Any], **times: str) -> dict[str, Any]:
    return {"operation_type": verb, "params": {**times, "users": users}}


USERS = st.lists(
    st.fixed_dictionaries(
        {"email": st.lists(st.text("0123456789abcdef", min_size=4, max_size=6), min_size=1, max_size=2)},
        optional={"partner_user_id": st.lists(st.text(max_size=6), min_size=1, max_size=2)},
    ),
    min_size=1,
    max_size=5,
)
OPERATIONS = st.lists(
    st.builds(
        lambda verb, users, effective: operation(
            verb, users, **({"effective_at": "2026-11-21T00:00:00Z"} if effective else {}), expires_at="2027-01-01"
        ),
        st.sampled_from(["Update", "Delete"]),
        USERS,
        st.booleans(),
    ),
    min_size=1,
    max_size=6,
)


@given(OPERATIONS, st.data())
def test_part_is_the_whole_without_the_others(operations: list[dict[str, Any]], data: st.DataObject) -> None:
    """Verbs, times and users stay byte for byte; operations without records are left out; rows follow."""
    request = packed(operations)
    opened = OperationsBody(request)
    chosen = sorted(data.draw(st.sets(st.integers(0, request.records - 1), min_size=1)))
    part = opened.part(np.array(chosen))
    expected, start = [], 0
    for given_operation in operations:
        users = given_operation["params"]["users"]
        kept = [user for place, user in enumerate(users, start) if place in chosen]
        start += len(users)
        if kept:
            expected.append(given_operation | {"params": given_operation["params"] | {"users": kept}})
    assert part.body.unwrap() == orjson.dumps(expected)
    assert part.rows.tolist() == [place * 10 + 1 for place in chosen]
    assert (part.records, part.number, part.wave) == (len(chosen), 7, 3)
    assert part.body_bytes == len(part.body.unwrap())


def test_operations_of_records() -> None:
    """Each record knows its operation, counted from 0 as the service counts."""
    user = {"email": ["ab"]}
    opened = OperationsBody(packed([operation("Update", [user] * 2), operation("Delete", [user])]))
    assert opened.operation_of.tolist() == [0, 0, 1]


def test_full_body_is_opened() -> None:
    """60,000 records in 2,500 operations: one of them is taken out, the rest stays."""
    users = [{"email": [f"{number:064x}"]} for number in range(60_000)]
    whole = packed([operation("Update", users[start : start + 24]) for start in range(0, 60_000, 24)])
    part = OperationsBody(whole).part(np.delete(np.arange(60_000), 31_337))
    body = part.body.unwrap()
    assert len(body) == whole.body_bytes - len(orjson.dumps(users[31_337])) - 1
    assert orjson.dumps(users[31_337]) not in body
    assert part.records == 59_999


@each_case(
    "body",
    [
        b"",
        b"[",
        b'{"a":"%s"}' % MARKER.encode(),
        b'[{"operation_type":"Update","params":{"users":[{"email":["%s"]}]}} ]' % MARKER.encode(),
        b'[{"operation_type":"Update","params":{"users":[{"email":["%s"]}],"x":1}}]' % MARKER.encode(),
        b'[{"operation_type":"Update","params":{}}]',
        b'[{"operation_type":"Update","params":{"users":[{"email":["a"]},{"email":["b"]}]}}]',
    ],
)
def test_body_of_another_make_is_a_bug(body: bytes) -> None:
    """A body that we did not pack is not cut up, and no frame or message shows its content."""
    with pytest.raises(Bug) as caught:
        OperationsBody(Packed(1, Personal(body), np.array([1])))
    shown = "".join(traceback.format_exception(caught.value)) + str(caught.value)
    frames = [repr(frame.f_locals) for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
    library = [text for text in frames if "Packed(" not in text]
    assert MARKER not in shown + "".join(library)


def test_nothing_is_shown() -> None:
    """Neither a part nor an opened body shows a hash."""
    opened = OperationsBody(packed([operation("Update", [{"email": [MARKER]}])]))
    assert MARKER not in repr(opened) + repr(opened.part(np.array([0]))) + repr(vars(opened))
