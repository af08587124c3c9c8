"""The prepared format."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.preparation.textrecords import PREPARED_SCHEMA, to_prepared


def test_hashes_are_text_on_disk(hashed_records: Callable[..., HashedRecords], sha256: Callable[[str], str]) -> None:
    """Lower-case hex; what is not hashed stays as it is; a kind without a value is null."""
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
