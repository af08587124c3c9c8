"""The oracle itself: it must see each kind of damage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.reckoning import Members, Verdict, compare, read_applied, read_expected

A, B, C = "a1" * 32, "b2" * 32, "c3" * 32
EXPIRY = "2027-12-01T00:00:00Z"
SOURCE = f"email,phone_number\n{A},{B}\n{C},\n"


def _line(seq: int, *users: Any, **changes: Any) -> str:
    entry = {
        "seq": seq,
        "time": 1.0,
        "list_id": "l1",
        "operation_type": "Update",
        "effective_at": "2026-11-21T00:00:00Z",
        "expires_at": EXPIRY,
        "users": list(users),
        **changes,
    }
    return json.dumps(entry)


def _expected(tmp_path: Path, text: str, **options: Any) -> Members:
    path = tmp_path / "hashed.csv"
    path.write_text(text)
    return read_expected(path, expires_at=EXPIRY, **options)


BOTH = ({"phone_number": [B], "email": [A]}, {"email": [C]})


@pytest.mark.parametrize(
    ("log", "verdict"),
    [
        ([_line(1, *BOTH)], Verdict(0, 0, 0)),
        ([_line(1, *BOTH), _line(2, *BOTH)], Verdict(0, 0, 0)),
        ([_line(1, BOTH[1]), _line(2, BOTH[0])], Verdict(0, 0, 0)),
        ([_line(1, BOTH[0])], Verdict(1, 0, 0)),
        ([], Verdict(2, 0, 0)),
        ([_line(1, *BOTH, {"handle": [C]})], Verdict(0, 1, 0)),
        ([_line(1, {"email": [A]}, BOTH[1])], Verdict(1, 1, 0)),
        ([_line(1, *BOTH, expires_at="2028-01-01T00:00:00Z")], Verdict(0, 0, 2)),
        ([_line(1, *BOTH), _line(2, {"phone_number": [B]}, operation_type="Delete")], Verdict(1, 0, 0)),
        ([_line(1, *BOTH), _line(2, {"email": [B]}, operation_type="Delete")], Verdict(0, 0, 0)),
        ([_line(1, {"phone_number": [B]}, operation_type="Delete"), _line(2, *BOTH)], Verdict(0, 0, 0)),
        ([_line(1, *BOTH, list_id="l2")], Verdict(2, 0, 0)),
    ],
)
def test_each_kind_of_damage_is_seen(tmp_path: Path, log: list[str], verdict: Verdict) -> None:
    """Repetition and order among Updates are none; a Delete by any shared key is one."""
    found = compare(_expected(tmp_path, SOURCE), read_applied(log, "l1"))
    assert found == verdict
    assert found.exact is (verdict == Verdict(0, 0, 0))


def test_rows_take_effect_in_their_order(tmp_path: Path) -> None:
    """An update after a delete stays; a delete after an update does not leave the person."""
    text = f"operation,email,handle\nupdate,{A},\ndelete,{A},\nupdate,{B},{C}\ndelete,,{C}\nDELETE,{C},\nUpdate,{C},\n"
    assert set(_expected(tmp_path, text).times) == {frozenset({("email", C)})}


def test_times_of_a_row_are_meant(tmp_path: Path) -> None:
    """`effective_at` only where the source gave one."""
    given = f"email,effective_at,expires_at\n{A},2026-12-01T00:00:00Z,2027-01-01T00:00:00Z\n{B},,\n"
    assert list(_expected(tmp_path, given).times.values()) == [
        ("2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        (None, EXPIRY),
    ]


def test_refused_rows_and_empty_ones_are_left_out(tmp_path: Path) -> None:
    """By their number, from 1."""
    members = _expected(tmp_path, f"email\n{A}\n{B}\n{C}\n", skip_rows=[2])
    assert set(members.times) == {frozenset({("email", A)}), frozenset({("email", C)})}
    assert len(_expected(tmp_path, "email,handle\n,\n").times) == 0


def test_several_values_make_one_person(tmp_path: Path) -> None:
    """With a space between; the public name of a field is the same field."""
    expected = _expected(tmp_path, f"email,platform_id\n{A} {B},{C}\n")
    assert compare(expected, read_applied([_line(1, {"twitter_id": [C], "email": [B, A]})], "l1")).exact


def test_a_log_out_of_order_is_no_witness() -> None:
    """Nor is an operation of an unknown type."""
    with pytest.raises(ValueError, match="order"):
        read_applied([_line(2), _line(1)], "l1")
    with pytest.raises(ValueError, match="Update or Delete"):
        read_applied([_line(1, BOTH[0], operation_type="Replace")], "l1")


def test_no_person_is_named() -> None:
    """A list of people has no hashes in what it prints."""
    assert A not in repr(read_applied([_line(1, *BOTH)], "l1"))
