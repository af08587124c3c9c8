"""The cells of a country column, as codes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pyarrow as pa

from audiencekit.identifiers.countries import find_country
from audiencekit.kernels.library import kernels
from audiencekit.preparation.columnar.buffers import arrow_array
from audiencekit.preparation.columnar.textkernels import TextKernels


def resolve_countries(texts: Any) -> Any:
    """The country code of every cell of a country column, null where it names none: a pa.DictionaryArray of texts."""
    numbers, distinct = _numbered(texts)
    codes = [_resolve_country(text) if text else None for text in distinct.to_pylist()]
    return pa.DictionaryArray.from_arrays(numbers, pa.array(codes, pa.string()))


def _numbered(texts: Any) -> tuple[Any, Any]:
    """Which distinct text each of `texts` is, and these."""
    compiled = kernels(TextKernels)
    if compiled is not None and (found := compiled.number(texts)) is not None:
        numbers, firsts = found
        return arrow_array(numbers), texts.take(arrow_array(firsts))
    encoded = texts.dictionary_encode()
    return encoded.indices, encoded.dictionary


@lru_cache(maxsize=4096)
def _resolve_country(text: str) -> str | None:
    return find_country(text)
