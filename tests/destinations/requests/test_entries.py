"""Both implementations of the loops over entries write what `json` writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.destinations.requests.entries import Chosen
from audiencekit.destinations.requests.entry_kernels import EntryKernels
from audiencekit.destinations.requests.plain_entries import PlainEntries
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.profile import SPEC, Profile, X
from tests.examples import examples
from tests.kernels.installed import both

Make = Callable[..., HashedRecords]
Loops = Callable[[], Any]

PEOPLE = st.dictionaries(
    st.sampled_from(list(Kind)),
    st.lists(st.text(st.characters(codec="utf-8"), max_size=5), min_size=1, max_size=4, unique=True),
    min_size=1,
)
each = both(EntryKernels, PlainEntries)


def _written(loops: Any, parts: list[Chosen], operations: int) -> bytes:
    body = np.full(100_000, ord("."), dtype=np.uint8)
    written = loops.write_operations(body, b"<", b">", operations, parts)
    assert not (body[written:] != ord(".")).any()
    return body[:written].tobytes()


def _entry(batch: Any, place: int, profile: Profile) -> str:
    lists = {kind: batch.column(kind.value)[place].as_py() for kind in Kind}
    texts = {
        profile.wire_name(kind.value): [one if isinstance(one, str) else one.hex() for one in values]
        for kind, values in lists.items()
        if values
    }
    return json.dumps(texts, separators=(",", ":"), ensure_ascii=False)


@each
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), people=st.lists(PEOPLE, min_size=1, max_size=20), profile=st.sampled_from([SPEC, X]))
def test_entries_are_compact_json(
    loops: Loops, hashed_records: Make, data: st.DataObject, people: list[object], profile: Profile
) -> None:
    """Whatever records are chosen of which parts of a batch, and over however many operations they are spread."""
    batch = hashed_records(*(("Update", person) for person in people)).unwrap()
    parts = []
    for _ in range(data.draw(st.integers(1, 3))):
        part = batch.slice(data.draw(st.integers(0, len(people) - 1)))
        places = data.draw(st.lists(st.integers(0, part.num_rows - 1), max_size=20, unique=True).map(sorted))
        parts.append(Chosen(part, np.array(places, dtype=np.int64), profile))
    entries = [_entry(part.batch, place, profile) for part in parts for place in part.places.tolist()]
    operations = data.draw(st.integers(min(len(entries), 1), len(entries)))
    cuts = [number * len(entries) // max(operations, 1) for number in range(operations + 1)]
    spread = (",".join(entries[begin:end]) for begin, end in pairwise(cuts))
    assert _written(loops(), parts, operations).decode() == "".join(f"<{own}>," for own in spread)
    for part in parts:
        expected = [len(_entry(part.batch, place, profile).encode()) for place in range(part.batch.num_rows)]
        assert loops().measure_entries(part.batch, profile).tolist() == expected


@each
def test_no_records_have_no_entries(loops: Loops, hashed_records: Make) -> None:
    """Without parts, and of a batch without records."""
    none_chosen = Chosen(hashed_records().unwrap(), np.zeros(0, dtype=np.int64), SPEC)
    assert _written(loops(), [], 0) == _written(loops(), [none_chosen], 0) == b""
    assert loops().measure_entries(none_chosen.batch, SPEC).tolist() == []
