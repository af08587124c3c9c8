"""The values of several columns of one kind -> one list a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.preparation.columnar.buffers import arrow_array, lists_between, offsets_of
from audiencekit.preparation.normalisation import ColumnResult


def value_lists(results: list[ColumnResult], rows: int, value_type: Any) -> Any:
    """list<value_type>, one a row: the distinct values of all columns of one kind, sorted; null where there is none."""
    results = [result for result in results if len(result.value_rows)]
    if not results:
        return pa.nulls(rows, pa.list_(value_type))
    if len(results) == 1 and bool((results[0].value_rows[1:] > results[0].value_rows[:-1]).all()):
        return _of_single_values(results[0], rows)
    owners = np.concatenate([result.value_rows for result in results])
    values = pa.concat_arrays([result.values for result in results])
    ranks = _ranks(values)
    order = np.lexsort((ranks, owners))
    owners, ranks = owners[order], ranks[order]
    fresh = np.ones(len(owners), dtype=bool)
    fresh[1:] = (owners[1:] != owners[:-1]) | (ranks[1:] != ranks[:-1])
    return list_array(np.bincount(owners[fresh], minlength=rows), values.take(arrow_array(order[fresh])))


def _of_single_values(result: ColumnResult, rows: int) -> Any:
    counts = np.zeros(rows, dtype=np.int32)
    counts[result.value_rows] = 1
    return list_array(counts, result.values)


def _ranks(values: Any) -> npt.NDArray[np.int64]:
    """Equal numbers for equal values, in the order of their bytes."""
    encoded = values.dictionary_encode()
    rank = pc.rank(encoded.dictionary).to_numpy(zero_copy_only=False).astype(np.int64)
    ranks: npt.NDArray[np.int64] = rank[encoded.indices.to_numpy(zero_copy_only=False)]
    return ranks


def list_array(counts: npt.NDArray[Any], values: Any) -> Any:
    """Lists of `counts` values each, one after the other in `values`; null for none."""
    return lists_between(offsets_of(counts), values)
