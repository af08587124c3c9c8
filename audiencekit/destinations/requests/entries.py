"""Records -> user entries as they are written in a body (specification part 2, section 4.4).

An entry is compact JSON with the kinds in the order of `Kind`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.kinds import Kind
from audiencekit.profile import Profile
from audiencekit.records.chunks import Counts

Octets: TypeAlias = npt.NDArray[np.uint8]

_ESCAPED: Final = r'["\\\x00-\x1f]'  # what JSON does not take as it is


@dataclass(frozen=True, slots=True, repr=False)
class Chosen:
    """The records at `places` of `batch` (RECORD_SCHEMA). `profile` names their kinds."""

    batch: Any
    places: Counts
    profile: Profile


def kinds_of(batch: Any) -> list[Kind]:
    """The kinds that some record of `batch` has."""
    return [kind for kind in Kind if batch.column(kind.value).null_count < batch.num_rows]


def opening_of(kind: Kind, profile: Profile) -> str:
    """The name of `kind` as an entry has it, up to the bracket of its values."""
    return f'"{profile.wire_name(kind.value)}":['


def json_strings(texts: Any) -> Any:
    """Each of `texts` as JSON writes it, with its quotation marks."""
    escaped = pc.match_substring_regex(texts, _ESCAPED)
    quoted = pc.binary_join_element_wise('"', texts, '"', "")
    if not pc.any(escaped).as_py():
        return quoted
    written = [orjson.dumps(text).decode() for text in texts.filter(escaped).to_pylist()]
    return pc.replace_with_mask(quoted, escaped, pa.array(written, pa.string()))
