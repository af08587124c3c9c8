"""One HTTP body between the two passes: packing makes it, delivery sends it, and neither knows the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from audiencekit.personal import Personal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class RequestBody(Personal[bytes | memoryview]):
    """The JSON of one request. Hashes are personal data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedRequest:
    """One request ready to be sent, or a part of one, which bears its number and wave.

    `number` counts from 1 in the plan. Every request of a lower `wave` is confirmed before this one is sent. `rows` are
    the source rows of its `records`, in the order of the body.
    """

    number: int
    wave: int
    body: RequestBody
    body_bytes: int
    operations: int
    records: int
    rows: npt.NDArray[np.int64] = field(repr=False)
