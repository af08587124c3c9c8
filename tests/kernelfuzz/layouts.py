"""The arguments of the exports, as `kernels/src/door` has them, and what a call came to."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Final

from tests.kernelfuzz.drawing import Draw, Slice, Texts

DONE, STOPPED = 0, -1
DIGEST_BYTES, TAG_BYTES, ENTRY_BYTES = 32, 16, 20
REASONS: Final = tuple(range(11, 23))
VALID, UNDECIDED, PENDING = 0, -1, -2

Library = ctypes.CDLL
Pointer = ctypes.c_void_p
Size = ctypes.c_size_t


@dataclass(frozen=True)
class Called:
    """The result of a call: `right` is None where that is not known; `texts` is how many texts or values it had."""

    code: int
    texts: int
    right: bool | None = None

    @property
    def is_sound(self) -> bool:
        """Whether it ended as a kernel may, and where the answer is known, with that."""
        return self.code in (DONE, STOPPED) if self.right is None else self.code == DONE and self.right


def _struct(name: str, **fields: Any) -> Any:
    return type(name, (ctypes.Structure,), {"_fields_": tuple(fields.items())})


I8, U8, I32, I64 = ctypes.c_int8, ctypes.c_uint8, ctypes.c_int32, ctypes.c_int64
Decided = _struct("Decided", codes=Pointer, digests=Pointer, reasons=I8 * len(REASONS))
Letters = _struct("Letters", signs=Slice, local=Slice, domain=Slice, folds=Slice)
Plans = _struct(
    "Plans",
    **dict.fromkeys(("following", "readings", "national", "international", "calling_codes", "outcomes"), Slice),
    **dict.fromkeys(("placeholders", "words"), Texts),
    signs=Slice,
    **dict.fromkeys(("dialled", "writes_plus", "decides_national"), I32),
)
Shape = _struct("Shape", delimiter=U8, width=Size, least=Size, wanted=Size, longest=Size)
Lines = _struct("Lines", count=Size, cells=Size, apart=Size, bytes=Size, quotes=I32)
Places = _struct(
    "Places", begins=Pointer, begin_count=Size, ends=Pointer, end_count=Size, apart=Pointer, apart_count=Size
)
ReadColumn = _struct("ReadColumn", position=Size, offsets=Pointer, offset_count=Size, data=Pointer, data_bytes=Size)
Values = _struct(
    "Values", offsets=Pointer, offset_count=Size, filled=Pointer, filled_count=Size, data=Pointer, data_bytes=Size
)
Tagged = _struct("Tagged", tags=Slice, records=Slice, first=I64)
Buffers = _struct("Buffers", entries=Pointer, room=Size, filled=Pointer, parts=Size)
PartOfSlots = _struct("PartOfSlots", bits=ctypes.c_uint32, number=ctypes.c_uint32)
Listed = _struct("Listed", slots=Slice, marks=Slice, begins=Slice)
Ordered = _struct("Ordered", high=Slice, low=Slice)
Members = _struct("Members", marks=Ordered, days=Slice)
Horizon = _struct("Horizon", **dict.fromkeys(("lapsed", "renewed", "doubtful", "dropped"), I64), everyone=ctypes.c_bool)
Counts = _struct("Counts", **dict.fromkeys(("wanted", "additions", "sent", "gone"), Size))
Field = _struct("Field", opening=Slice, lists=Slice, values=Slice, ends=Slice)
Part = _struct("Part", places=Slice, fields=Slice)


def slice_of(draw: Draw, structures: list[Any]) -> Slice:
    """A slice of structures, which themselves stand between guard pages."""
    each = ctypes.sizeof(structures[0]) if structures else 8
    return draw.slice(b"".join(map(bytes, structures)), each)


def is_utf8(text: bytes) -> bool:
    """Whether `text` can be decoded."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
