"""SHA-256 of whole columns: by a kernel, which does not hold the interpreter; without kernels one by one."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pyarrow as pa

from audiencekit.kernels.library import kernels
from audiencekit.preparation.columnar.buffers import HASH_TYPE, hash_array, hashes_in
from audiencekit.preparation.columnar.textkernels import TextKernels


def sha256_of(normalized: Any) -> Any:
    """The SHA-256 of the UTF-8 bytes of each text (pa.StringArray without nulls), as HASH_TYPE.

    Holds personal data: to be called from a guarded function only.
    """
    if not len(normalized):
        return pa.array([], HASH_TYPE)
    compiled = kernels(TextKernels)
    if compiled:
        return hash_array(compiled.hash(normalized))
    hashes = [sha256(text).digest() for text in normalized.cast(pa.binary()).to_pylist()]
    return hashes_in(pa.py_buffer(b"".join(hashes)), len(hashes))
