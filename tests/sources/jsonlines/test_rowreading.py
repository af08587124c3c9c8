"""Rows of objects are the same in each of the ways in which they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.identifiers.kinds import Kind
from audiencekit.sources.jsonlines import jsonlinesfile as jsonlines, rowreading
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.sourceopening import open_source
from tests.sources.jsonlines.drawnlines import LINE


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(LINE, max_size=12), batch_rows=st.integers(1, 5))
def test_whole_columns_and_single_cells_give_the_same_rows(tmp_path: Path, lines: list[str], batch_rows: int) -> None:
    """Whatever stands in a line; also across batches."""
    path = tmp_path / "people.jsonl"
    path.write_text("\n".join(['{"email":"a@example.com","y":"u1"}', *lines]))
    columns = ((Kind.EMAIL, "email"), (Kind.PARTNER_USER_ID, "y"))

    def read() -> tuple[list[Any], list[Any]]:
        source = open_source(path, SourceOptions(columns=columns))
        batches = list(source.batches())
        rows = [row for batch in batches for row in batch.columns.unwrap().to_pylist()]
        # Within a batch single values become lists beside a list.
        single = [
            [cell[0] if isinstance(cell, list) and len(cell) == 1 else cell for cell in row.values()] for row in rows
        ]
        return single, [fault for batch in batches for fault in batch.faults.to_pylist()]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("audiencekit.sources.unreadablerows.tolerated_fault_rows", lambda rows: rows)
        expected = read()
        patch.setattr(jsonlines, "BATCH_ROWS", batch_rows)
        assert read() == expected
        patch.setattr(jsonlines, "PIECE_LINES", 2)
        assert read() == expected
        patch.setattr(rowreading, "kernels", lambda _: None)
        assert read() == expected
        patch.setattr(rowreading.RowReader, "_texts", lambda _, lines: ({}, np.ones(len(lines), dtype=bool)))
        assert read() == expected
