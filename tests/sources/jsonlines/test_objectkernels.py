"""The kernels read lines of objects as the definition does, or leave them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.kernels.library import find_library, kernels
from audiencekit.sources.jsonlines.jsonobjects import read_object, texts_of
from audiencekit.sources.jsonlines.objectkernels import ObjectKernels
from tests.examples import examples
from tests.sources.jsonlines.drawnlines import CHANGED, LINE, PARTS


@pytest.mark.skipif(find_library() is None, reason="this installation has no kernels of this version")
@settings(max_examples=examples(500), deadline=None)
@given(
    lines=st.lists(
        (LINE | CHANGED | PARTS | PARTS.map("{{{}}}".format)).map(str.encode)
        | st.tuples(LINE.map(str.encode), st.integers(0, 30), st.binary(max_size=3)).map(
            lambda drawn: drawn[0][: drawn[1]] + drawn[2] + drawn[0][drawn[1] :]
        ),
        min_size=1,
        max_size=6,
    )
)
def test_kernels_read_objects_as_python_reads_them(lines: list[bytes]) -> None:
    """Whatever stands in a line; the lines of plain objects are not apart."""
    lines = [line.replace(b"\n", b"") for line in lines]
    compiled = kernels(ObjectKernels)
    assert compiled is not None
    columns, apart = compiled.read_objects(lines, ["email", "y"])
    texts = [column.to_pylist() for column in columns]
    for column in columns:
        column.validate(full=True)
    for number, line in enumerate(lines):
        found = read_object(line)
        if not apart[number]:
            assert isinstance(found, dict)
            assert [texts_of(found, key, line) for key in ("email", "y")] == [column[number] for column in texts]
        elif isinstance(found, dict) and b"\\" not in line:
            values = [value for value in found.values() if not isinstance(value, str | None)]
            assert values
