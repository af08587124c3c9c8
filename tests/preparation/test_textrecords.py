"""The prepared format."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.preparation import textrecords
from audiencekit.preparation.textrecords import PREPARED_SCHEMA, to_prepared


@pytest.mark.parametrize("by", ["kernel", "columns"])
def test_hashes_are_text_on_disk(
    hashed_records: Callable[..., HashedRecords],
    sha256: Callable[[str], str],
    by: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Lower-case hex; what is not hashed stays as it is; a kind without a value is null."""
    if by == "columns":
        monkeypatch.setattr(textrecords, "kernels", lambda _: None)
    records = hashed_records(
        ("Update", {Kind.EMAIL: ["a", "b"]}),
        ("Update", {Kind.HANDLE: ["left out"]}),
        ("Delete", {Kind.HANDLE: ["c"], Kind.PARTNER_USER_ID: ["Crm-1"]}),
    )
    batch = to_prepared(records, np.array([0, 2])).unwrap()
    nothing = dict.fromkeys((kind.value for kind in Kind), None)
    assert batch.schema == PREPARED_SCHEMA
    assert batch.to_pylist() == [
        {"row": 1, "operation": "Update", **nothing, "email": sorted([sha256("a"), sha256("b")])},
        {"row": 3, "operation": "Delete", **nothing, "handle": [sha256("c")], "partner_user_id": ["Crm-1"]},
    ]


PEOPLE = st.dictionaries(
    st.sampled_from(list(Kind)), st.lists(st.text(max_size=2), min_size=1, max_size=3, unique=True), max_size=3
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), people=st.lists(PEOPLE, min_size=1, max_size=12))
def test_kernels_write_what_columns_give(
    hashed_records: Callable[..., HashedRecords], data: st.DataObject, people: list[object]
) -> None:
    """The same records, whichever are chosen of a part of a batch."""
    batch = hashed_records(*(("Update", person) for person in people)).unwrap()
    part = HashedRecords(batch.slice(start := data.draw(st.integers(0, len(people) - 1))))
    within = st.integers(0, len(people) - start - 1)
    places = np.array(data.draw(st.lists(within, unique=True).map(sorted)), dtype=np.int64)
    prepared = to_prepared(part, places).unwrap()
    prepared.validate(full=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(textrecords, "kernels", lambda _: None)
        assert prepared.equals(to_prepared(part, places).unwrap())
