"""The sizes of user entries as bytes and back: pass one writes them, the plan reads them."""

from __future__ import annotations

from typing import Final

import numpy as np

from audiencekit.destinations.requests.requestplan import Sizes

# The first byte says how many bytes each size has.
_TYPES: Final = {width: np.dtype(f"<u{width}") for width in (1, 2, 4)}


def sizes_to_bytes(sizes: Sizes) -> bytes:
    """As narrow as the largest of them allows."""
    width = np.min_scalar_type(int(sizes.max(initial=0))).itemsize
    return bytes([width]) + sizes.astype(_TYPES[width]).tobytes()


def sizes_from_bytes(content: bytes | memoryview) -> Sizes:
    """The sizes that `sizes_to_bytes` was given, as narrow as it is kept."""
    return np.frombuffer(content, dtype=_TYPES[content[0]], offset=1)
