"""The shapes of records, and the length of a user by its shape."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings, strategies as st

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.planning.recordshapes import LengthsOfShapes, Shapes
from audiencekit.preparation.recordbits import Indices
from tests.examples import examples

LINES = st.lists(
    st.lists(st.sampled_from([0, 0, 1, 1, 2, 7, 1_023, 1_024, 5_000]), min_size=len(Kind), max_size=len(Kind)),
    max_size=8,
)


@settings(max_examples=examples(100), deadline=None)
@given(LINES)
def test_lines_are_told_apart(lines: list[list[int]]) -> None:
    """However many values a record has."""
    shapes = Shapes.of(np.array(lines, dtype=np.int64).reshape(-1, len(Kind)))
    assert [shapes.distinct[place].tolist() for place in shapes.which] == lines
    seen = Counter(map(tuple, lines))
    found = zip(map(tuple, shapes.distinct.tolist()), shapes.records.tolist(), strict=True)
    assert dict(found) == seen
    kinds = [sum(1 << place for place, count in enumerate(shape) if count) for shape in shapes.distinct.tolist()]
    assert shapes.kinds() == kinds


def test_each_shape_is_measured_once() -> None:
    """By a record that has as many values of each kind."""
    measured = []

    def measure(records: HashedRecords) -> Indices:
        columns = [records.unwrap().column(kind.value).to_pylist() for kind in Kind]
        sizes = [[len(lists[row] or ()) for lists in columns] for row in range(records.unwrap().num_rows)]
        measured.extend(sizes)
        return np.array([sum(place * size for place, size in enumerate(each, 1)) for each in sizes])

    lengths, other = LengthsOfShapes(measure), [0] * (len(Kind) - 2)
    lines = np.array([[1, 1, *other], [0, 2, *other], [1, 1, *other]])
    assert lengths.of(Shapes.of(lines)).tolist() == [3, 4, 3]
    assert lengths.of(Shapes.of(lines[:2])).tolist() == [3, 4]
    assert sorted(measured) == sorted(lines[:2].tolist())
    assert not len(lengths.of(Shapes.of(lines[:0])))
