"""Numbers, texts, lists and hashes where numpy or Arrow holds them, without a copy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.kinds import Reason
from audiencekit.limits import SHA256_BYTES

Bools: TypeAlias = npt.NDArray[np.bool_]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Places: TypeAlias = npt.NDArray[np.int32]
Matrix: TypeAlias = npt.NDArray[np.uint8]  # one line a hash: its SHA256_BYTES, or its SHA256_HEX_LENGTH digits

HASH_TYPE: Final = pa.binary(SHA256_BYTES)


def arrow_array(values: npt.NDArray[Any]) -> Any:
    """Return `values`, numbers or booleans, as an Arrow array of their type. Contiguous numbers are not copied.

    `pa.array` does so, too, and imports `numpy.ma` at its first time (12 ms), to ask whether they are masked. Raises
    ValueError for what is no row of values as this machine writes them.
    """
    if values.ndim != 1 or not values.dtype.isnative:
        raise ValueError("an array of Arrow is one row of native values")
    if values.dtype == np.bool_:
        return pa.Array.from_buffers(pa.bool_(), len(values), [None, pa.py_buffer(_bits(values))], null_count=0)
    held = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, held], null_count=0)


def text_buffers(texts: Any) -> tuple[Places, Bytes]:
    """Offsets that begin with 0, one more than there are texts, and the bytes of all `texts` (pa.StringArray).

    Raises ValueError for texts of another layout, whose offsets would be read as something else.
    """
    if not (pa.types.is_string(texts.type) or pa.types.is_binary(texts.type)):
        raise ValueError("texts are a pa.StringArray")
    _, offsets_buffer, data_buffer = texts.buffers()
    if not len(texts) or offsets_buffer is None:
        return np.zeros(len(texts) + 1, dtype=np.int32), np.zeros(0, dtype=np.uint8)
    size = texts.offset + len(texts) + 1
    offsets = np.frombuffer(offsets_buffer, dtype=np.int32, count=size)[texts.offset :]
    data = np.frombuffer(data_buffer, dtype=np.uint8) if data_buffer is not None else np.zeros(0, dtype=np.uint8)
    first, last = int(offsets[0]), int(offsets[-1])
    # Bytes that came from elsewhere may begin between the places of offsets, which no kernel reads.
    stand_as_they_are = not first and offsets.flags.aligned
    return offsets if stand_as_they_are else offsets - offsets[0], data[first:last]


def code_points(texts: Any) -> tuple[Places, npt.NDArray[np.uint32]]:
    """Where the characters of each of `texts` (pa.StringArray) begin and the last ones end, and all of them."""
    offsets, data = text_buffers(texts)
    begins = np.concatenate([[0], np.cumsum((data & 0xC0) != 0x80)])[offsets].astype(np.int32)
    return begins, np.frombuffer(data.tobytes().decode().encode("utf-32-le"), dtype=np.dtype("<u4"))


def list_offsets(lists: Any) -> Places:
    """Where each of `lists` begins in its `values`, and where the last one ends.

    Those of a null list are the same: it holds nothing, as in every batch of ours.
    """
    offsets: Places = lists.offsets.to_numpy()
    return offsets


def lists_between(offsets: Places, values: Any) -> Any:
    """The lists that begin and end in `values` at `offsets`, which begin with 0; null for those without a value."""
    lists, are_there = len(offsets) - 1, offsets[1:] > offsets[:-1]
    buffers = [pa.py_buffer(_bits(are_there)), pa.py_buffer(offsets)]
    nulls = lists - int(np.count_nonzero(are_there))
    return pa.Array.from_buffers(pa.list_(values.type), lists, buffers, null_count=nulls, children=[values])


def list_array(counts: npt.NDArray[Any], values: Any) -> Any:
    """Lists of `counts` values each, one after the other in `values`; null for none."""
    return lists_between(offsets_of(counts), values)


def offsets_of(counts: npt.NDArray[Any]) -> Places:
    """Where the values of each begin, and where the last ones end."""
    offsets = np.zeros(len(counts) + 1, dtype=np.int32)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def hash_matrix(hashes: Any) -> Matrix:
    """The bytes of each of `hashes` (HASH_TYPE without nulls), without a copy."""
    buffer = hashes.buffers()[1]
    flat = np.frombuffer(buffer, dtype=np.uint8) if buffer else np.zeros(0, dtype=np.uint8)
    start = hashes.offset * SHA256_BYTES
    return flat[start : start + len(hashes) * SHA256_BYTES].reshape(-1, SHA256_BYTES)


def hash_array(matrix: Matrix) -> Any:
    """The lines of `matrix` as an Arrow array of HASH_TYPE, without a copy."""
    return hashes_in(pa.py_buffer(np.ascontiguousarray(matrix)), len(matrix))


def hashes_in(buffer: Any, count: int) -> Any:
    """Return an Arrow array of HASH_TYPE with the first `count` hashes of `buffer`, without a copy."""
    return pa.Array.from_buffers(HASH_TYPE, count, [None, buffer], null_count=0)


def _bits(truths: Bools) -> Bytes:
    """Pack one bit for each value, as Arrow stores booleans."""
    bits: Bytes = np.packbits(truths, bitorder="little")
    return bits


__all__ = ["FEW_ROWS", "PENDING", "REASONS", "UNDECIDED", "VALID", "Codes", "Decisions", "code_of", "put"]

FEW_ROWS: Final = 100  # so many texts of a column are put between slices of it sooner than all are taken anew

UNDECIDED: Final = -1
PENDING: Final = -2  # while a column is decided only: what comes last decides all
VALID: Final = 0

# A code above zero is an index into this table; the place of VALID holds None.
REASONS: Final[tuple[Reason | None, ...]] = (None, *Reason)

Codes = npt.NDArray[np.int8]

_CODES: Final = {reason: code for code, reason in enumerate(REASONS) if reason is not None}


def code_of(reason: Reason) -> int:
    """The code of `reason` in `Decisions.reasons`: its index in REASONS."""
    return _CODES[reason]


def put(texts: Any, rows: npt.NDArray[np.int64], others: Any) -> Any:
    """`texts` with `others` at `rows`, which ascend."""
    if len(rows) <= FEW_ROWS:
        return pa.concat_arrays(_spliced(texts, rows.tolist(), others)) if len(rows) else texts
    places = np.arange(len(texts), dtype=np.int32)
    places[rows] = np.arange(len(texts), len(texts) + len(rows), dtype=np.int32)
    return pa.concat_arrays([texts, others]).take(arrow_array(places))


def _spliced(texts: Any, rows: list[int], others: Any) -> Iterator[Any]:
    begin = 0
    for place, row in enumerate(rows):
        yield texts.slice(begin, row - begin)
        yield others.slice(place, 1)
        begin = row + 1
    yield texts.slice(begin)


@dataclass(frozen=True, slots=True, repr=False)
class Decisions:
    """Normalised texts and codes of one column, both of the length of the input.

    `normalized`: pa.StringArray, null unless decided valid. `reasons`: pa.Int8Array without nulls: UNDECIDED, VALID,
    or the index of a Reason in REASONS. Blank cells (null, and what the definition calls EMPTY) are decided EMPTY.
    Holds raw values: the repr shows none, and it refuses to be pickled.
    """

    normalized: Any
    reasons: Any

    @classmethod
    def of(cls, normalized: Any, codes: Codes) -> Decisions:
        """Decisions whose `normalized` is null wherever `codes` is not VALID, whatever `normalized` holds there."""
        if codes.size and codes.min() < UNDECIDED:
            raise ValueError("a value was neither decided nor left to the definition")
        kept = pc.if_else(arrow_array(codes == VALID), normalized, pa.scalar(None, pa.string()))
        return cls(kept, arrow_array(codes))

    @property
    def codes(self) -> Codes:
        """`reasons` as numpy sees it, without a copy."""
        codes: Codes = self.reasons.to_numpy(zero_copy_only=True)
        return codes

    @property
    def undecided(self) -> npt.NDArray[np.int64]:
        """The indices of the values that the definition has to decide."""
        return np.flatnonzero(self.codes == UNDECIDED)

    def __len__(self) -> int:
        return len(self.reasons)

    def __repr__(self) -> str:
        return f"<Decisions: {len(self)} values>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("decisions hold personal data and are not pickled")
