"""One call of each export of the kernels, with what it should have answered where that is quickly known otherwise.

Each function draws its arguments, calls, and gives a Called. The library is told the truth of how many values a buffer
has, and nothing else is sure: that is what `kernels/src/door.rs` promises to bear.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.kernelfuzz import comparing, deciding, reading, tagging, writing
from tests.kernelfuzz.drawing import Draw
from tests.kernelfuzz.layouts import Called, Library

CALLS: Final[dict[str, Callable[[Draw, Library], Called]]] = {
    call.__name__: call
    for call in (
        deciding.hash, deciding.longest, deciding.emails, deciding.phones, deciding.number, deciding.keep_valid,
        reading.index_cells, reading.copy_cells, reading.read_objects,
        tagging.halves, tagging.add_up, tagging.count, tagging.listed_slots, tagging.sort,
        tagging.spread, tagging.repeated, tagging.likely,
        comparing.find_marks, comparing.prepare, comparing.find_tags, comparing.compare,
        writing.operations, writing.entry_sizes, writing.hex_lists,
    )
}  # fmt: skip
