"""Hashes that columns hold as bytes, as the digits that stand for them."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.limits import SHA256_BYTES
from audiencekit.records.chunks import value_counts
from audiencekit.records.columns.arrays import HASH_TYPE, hash_matrix, list_array
from audiencekit.records.columns.hashes import to_hex
from audiencekit.sources.arrow.types import is_list, plain

_LARGEST_ASCII: Final = 0x7F
_PRINTABLE: Final = frozenset(range(0x20, _LARGEST_ASCII))


def as_digits(array: Any) -> Any:
    """Bytes (see `parquettypes.is_bytes`) as text: two digits a byte, and printable ASCII as it stands.

    For the bytes of a hash to be printable there is less than one chance in 10**13; those of a raw value are.
    """
    array = plain(array)
    return list_array(value_counts(array), _written(array.flatten())) if is_list(array.type) else _written(array)


def _written(values: Any) -> Any:
    present = values.drop_null()
    texts = _of_hashes(present)
    if texts is None:
        texts = pa.array([_text_of(value) for value in present.to_pylist()], pa.string())
    if not values.null_count:
        return texts
    are_valid = values.is_valid()
    places = pc.subtract(pc.cumulative_sum(are_valid.cast(pa.int32())), 1)
    return texts.take(pc.if_else(are_valid, places, None))


def _of_hashes(values: Any) -> Any | None:
    """`values` as texts, when each is as long as a hash and none can be read; None otherwise."""
    if not pc.all(pc.equal(pc.binary_length(values), SHA256_BYTES)).as_py():
        return None
    hashes = values.cast(HASH_TYPE)
    are_ascii = (hash_matrix(hashes) <= _LARGEST_ASCII).all(axis=1)
    return None if are_ascii.any() else to_hex(hashes)


def _text_of(value: bytes) -> str:
    return value.decode("ascii") if _PRINTABLE.issuperset(value) else value.hex()
