"""Conversion of hashes between 32 bytes, as stored, and 64 lower-case hex digits, as read and sent."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.kinds import PLACEHOLDER_HASHES, Reason
from audiencekit.kernels.library import choose
from audiencekit.limits import SHA256_BYTES, SHA256_HEX_LENGTH
from audiencekit.records.columns.arrays import (
    HASH_TYPE,
    Decisions,
    Matrix,
    arrow_array,
    code_of,
    hash_array,
    hash_matrix,
)
from audiencekit.records.columns.checks import (
    ALWAYS,
    BLANK,
    ENCODED,
    HASHED,
    WORD,
    Check,
    begin_codes,
    decide_in_order,
    matches,
    trim_texts,
)
from audiencekit.records.columns.plain_texts import PlainTexts
from audiencekit.records.columns.text_kernels import TextKernels

TEXT_LOOPS: Final = choose(TextKernels, PlainTexts)

# The two digits of each byte as they stand in memory, and back.
_OF_BYTE: Final = np.frombuffer(b"".join(b"%02x" % byte for byte in range(256)), dtype=np.uint16)
_BYTES: Final = np.zeros(2**16, dtype=np.uint8)
_BYTES[_OF_BYTE] = np.arange(256, dtype=np.uint8)
_IS_DIGIT: Final = np.isin(np.arange(256), np.frombuffer(b"0123456789abcdef", dtype=np.uint8))


@cache
def _of_pair() -> npt.NDArray[np.uint32]:
    """The four digits of each pair of bytes, as they stand in memory. A list that is only checked needs none."""
    return _OF_BYTE[np.arange(2**16, dtype=np.uint16).view(np.uint8)].view(np.uint32)


def hex_digits(matrix: Matrix) -> Matrix:
    """The lower-case digits of each hash."""
    # Every index is within the table: clipping asks for nothing, and is twice as fast as the check.
    return np.take(_of_pair(), matrix.view(np.uint16), mode="clip").view(np.uint8)


def to_hex(hashes: Any) -> Any:
    """Each of `hashes` (HASH_TYPE without nulls) as text (pa.StringArray)."""
    return hex_texts(hex_digits(hash_matrix(hashes)), len(hashes))


def hex_texts(digits: Matrix, count: int) -> Any:
    """Return the first `count` hashes in `digits` as texts (pa.StringArray), without a copy."""
    offsets = np.arange(count + 1, dtype=np.int32) * np.int32(SHA256_HEX_LENGTH)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(digits))


def are_hashes(texts: Any) -> npt.NDArray[np.bool_]:
    """Return for each of `texts` (pa.StringArray without nulls) whether it is 64 lower-case hex digits."""
    long_enough: npt.NDArray[np.bool_] = pc.equal(pc.binary_length(texts), SHA256_HEX_LENGTH).to_numpy(
        zero_copy_only=False
    )
    if not long_enough.all():
        hashes = long_enough.copy()
        hashes[long_enough] = are_hashes(texts.filter(arrow_array(long_enough)))
        return hashes
    if not len(texts):
        return long_enough
    are_digits = _IS_DIGIT[_digits_of(texts)].reshape(-1, SHA256_HEX_LENGTH)
    return np.asarray(are_digits.all(axis=1), dtype=np.bool_)


def from_hex(texts: Any) -> Any:
    """Each of `texts` (pa.StringArray without nulls, each of 64 lower-case hex digits) as HASH_TYPE."""
    if not len(texts):
        return pa.array([], HASH_TYPE)
    digits = _digits_of(texts)
    return hash_array(np.take(_BYTES, digits.view(np.uint16), mode="clip").reshape(-1, SHA256_BYTES))


def _digits_of(texts: Any) -> npt.NDArray[np.uint8]:
    """The letters of `texts`, of which there is at least one, each of them SHA256_HEX_LENGTH bytes long."""
    _, offsets, letters = texts.buffers()
    start = int(np.frombuffer(offsets, dtype=np.int32)[texts.offset])
    return np.frombuffer(letters, dtype=np.uint8, count=len(texts) * SHA256_HEX_LENGTH, offset=start)


_CHECKS: Final = (
    BLANK,
    WORD,
    ENCODED,
    Check(HASHED.pattern, code_of(Reason.WRONG_HASH), holds=False),
    Check(r"\A0+\z", code_of(Reason.ZEROED)),
    # A value with the form of a hash that reaches this check is the hash of a placeholder.
    Check(ALWAYS, code_of(Reason.HASH_OF_PLACEHOLDER)),
)
_ZEROS: Final = "0" * SHA256_HEX_LENGTH
_REFUSED: Final = pa.array([_ZEROS, *sorted(PLACEHOLDER_HASHES)])


def decide_hashed(texts: Any) -> Decisions:
    """The certain ones of `texts` (pa.StringArray): the hash in lower case, or the definition's reason.

    Holds personal data: to be called from a guarded function only.
    """
    lowered = pc.ascii_lower(trim_texts(texts))
    known = pc.is_in(lowered, value_set=_REFUSED).to_numpy(zero_copy_only=False)
    codes = begin_codes(matches(lowered, HASHED.pattern) & ~known)
    decide_in_order(lowered, codes, _CHECKS)
    return Decisions.of(lowered, codes)


def sha256_of(normalized: Any) -> Any:
    """The SHA-256 of the UTF-8 bytes of each text (pa.StringArray without nulls), as HASH_TYPE.

    Holds personal data: to be called from a guarded function only.
    """
    if not len(normalized):
        return pa.array([], HASH_TYPE)
    return hash_array(TEXT_LOOPS.hash(normalized))
