"""Hashes between 32 bytes, as they are kept, and 64 lower-case hex digits, as they come and go."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.limits import SHA256_BYTES, SHA256_HEX_LENGTH

HASH_TYPE: Final = pa.binary(SHA256_BYTES)

# One line a hash; SHA256_BYTES or SHA256_HEX_LENGTH wide.
Matrix: TypeAlias = npt.NDArray[np.uint8]

# The two digits of each byte as they stand in memory, the four of each pair of bytes, and back.
_OF_BYTE: Final = np.frombuffer(b"".join(b"%02x" % byte for byte in range(256)), dtype=np.uint16)
_OF_PAIR: Final = _OF_BYTE[np.arange(2**16, dtype=np.uint16).view(np.uint8)].view(np.uint32)
_BYTES: Final = np.zeros(2**16, dtype=np.uint8)
_BYTES[_OF_BYTE] = np.arange(256, dtype=np.uint8)


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
    """An Arrow array of HASH_TYPE: the first `count` hashes that stand in `buffer`, without a copy."""
    return pa.Array.from_buffers(HASH_TYPE, count, [None, buffer], null_count=0)


def hex_digits(matrix: Matrix) -> Matrix:
    """The lower-case digits of each hash."""
    # Every index is within the table: clipping asks for nothing, and is twice as fast as the check.
    return np.take(_OF_PAIR, matrix.view(np.uint16), mode="clip").view(np.uint8)


def to_hex(hashes: Any) -> Any:
    """Each of `hashes` (HASH_TYPE without nulls) as text (pa.StringArray)."""
    digits = hex_digits(hash_matrix(hashes))
    offsets = np.arange(len(hashes) + 1, dtype=np.int32) * np.int32(SHA256_HEX_LENGTH)
    return pa.StringArray.from_buffers(len(hashes), pa.py_buffer(offsets), pa.py_buffer(digits))


def from_hex(texts: Any) -> Any:
    """Each of `texts` (pa.StringArray without nulls, each of 64 lower-case hex digits) as HASH_TYPE."""
    _, offsets, letters = texts.buffers()
    if not len(texts):
        return pa.array([], HASH_TYPE)
    start = int(np.frombuffer(offsets, dtype=np.int32)[texts.offset])
    digits = np.frombuffer(letters, dtype=np.uint8, count=len(texts) * SHA256_HEX_LENGTH, offset=start)
    return hash_array(np.take(_BYTES, digits.view(np.uint16), mode="clip").reshape(-1, SHA256_BYTES))
