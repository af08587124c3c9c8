"""The loops over columns of texts where there are no kernels: Arrow, numpy and `hashlib`."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.limits import SHA256_BYTES
from audiencekit.records.columns.arrays import VALID, Codes, Matrix


class PlainTexts:
    """The functions of `TextKernels`, which describes them, with the same results; but it decides no values."""

    def hash(self, texts: Any) -> Matrix:
        hashes = [sha256(text).digest() for text in texts.cast(pa.binary()).to_pylist()]
        return np.frombuffer(b"".join(hashes), dtype=np.uint8).reshape(-1, SHA256_BYTES)

    def encode(self, texts: Any) -> tuple[Any, Any]:
        encoded = texts.dictionary_encode()
        return encoded.indices, encoded.dictionary

    def longest(self, texts: Any) -> int | None:
        try:
            texts.validate(full=True)
        except pa.ArrowInvalid:
            return None  # it could quote
        return pc.max(pc.binary_length(texts)).as_py() or 0

    def keep_valid(self, codes: Codes, digests: Matrix) -> Matrix:
        kept: Matrix = digests[codes == VALID]
        return kept
