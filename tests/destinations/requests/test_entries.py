"""Entries are the same bytes with kernels and without."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.destinations.requests import entries
from audiencekit.destinations.requests.entries import Chosen, measure_entries, write_operations
from audiencekit.identifiers.kinds import Kind
from audiencekit.kernels.library import find_library
from audiencekit.personal import HashedRecords
from audiencekit.profile import SPEC, X
from tests.examples import examples

Make = Callable[..., HashedRecords]

PEOPLE = st.dictionaries(
    st.sampled_from(list(Kind)),
    st.lists(st.text(st.characters(codec="utf-8"), max_size=5), min_size=1, max_size=4, unique=True),
    min_size=1,
)


def _written(parts: list[Chosen], operations: int) -> bytes:
    body = np.full(100_000, ord("."), dtype=np.uint8)
    written = write_operations(body, b"<", b">", operations, parts)
    assert not (body[written:] != ord(".")).any()
    return body[:written].tobytes()


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), people=st.lists(PEOPLE, min_size=1, max_size=20), profile=st.sampled_from([SPEC, X]))
def test_kernels_write_what_arrow_joins(
    hashed_records: Make, data: st.DataObject, people: list[object], profile: object
) -> None:
    """Whatever records are chosen of which parts of a batch, and over however many operations they are spread."""
    if find_library() is None:
        pytest.skip("this installation has no kernels of this version")
    batch = hashed_records(*(("Update", person) for person in people)).unwrap()
    parts = []
    for _ in range(data.draw(st.integers(1, 3))):
        part = batch.slice(data.draw(st.integers(0, len(people) - 1)))
        places = data.draw(st.lists(st.integers(0, part.num_rows - 1), max_size=20, unique=True).map(sorted))
        parts.append(Chosen(part, np.array(places, dtype=np.int64), profile))
    users = sum(len(part.places) for part in parts)
    operations = data.draw(st.integers(min(users, 1), users))
    by_kernel = _written(parts, operations), [measure_entries(part.batch, profile).tolist() for part in parts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entries, "kernels", lambda _: None)
        assert by_kernel == (
            _written(parts, operations),
            [measure_entries(part.batch, profile).tolist() for part in parts],
        )


@pytest.mark.parametrize("by", ["kernel", "columns"])
def test_users_stand_in_their_operations(
    hashed_records: Make, sha256: Callable[[str], str], by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Evenly spread, in the order of the parts, each operation with a comma behind it; nothing else is touched."""
    if by == "columns":
        monkeypatch.setattr(entries, "kernels", lambda _: None)
    batch = hashed_records(*(("Update", {Kind.EMAIL: [f"p{number}"]}) for number in range(6))).unwrap()
    parts = [Chosen(batch, np.array(places), SPEC) for places in ([0, 3], [5], [1, 2])]
    one = {number: json.dumps({"email": [sha256(f"p{number}")]}, separators=(",", ":")) for number in range(6)}
    assert _written(parts, 2).decode() == f"<{one[0]},{one[3]}>,<{one[5]},{one[1]},{one[2]}>,"


@pytest.mark.parametrize("by", ["kernel", "columns"])
def test_no_records_have_no_entries(hashed_records: Make, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without parts, and of a batch without records."""
    if by == "columns":
        monkeypatch.setattr(entries, "kernels", lambda _: None)
    none_chosen = Chosen(hashed_records().unwrap(), np.zeros(0, dtype=np.int64), SPEC)
    assert _written([], 0) == _written([none_chosen], 0) == b""
    assert measure_entries(none_chosen.batch, SPEC).tolist() == []
