"""The door to the compiled kernels: loops over whole columns that do not hold the interpreter.

They stand in a library of their own beside the package, which an installation without a compiler does not have; the
columnar rules do the same without them, slower. The layouts here are those of `kernels/src/lib.rs`.
"""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from audiencekit.errors import Bug
from audiencekit.identifiers.reasons import Reason
from audiencekit.limits import SHA256_BYTES

from .buffers import Bytes, Places, text_buffers
from .decisions import Codes, code_of
from .hexadecimal import Matrix

LIBRARY: Final = "_audiencekit_kernels"
VERSION: Final = 6  # of the functions and what they take

_DONE: Final = 0

_REASONS: Final = ("empty", "placeholder", "invalid_syntax", "not_possible", "no_country")


def _address(array: npt.NDArray[Any]) -> int:
    """Where the values of `array` begin. Its attribute `ctypes` tells so, too, and takes twenty times as long."""
    address: int = array.__array_interface__["data"][0]
    return address


class _Layout(ctypes.Structure):
    """What the library reads. It points into arrays, and keeps them as long as it lives."""

    _kept: tuple[Any, ...]


class _Slice(_Layout):
    _fields_ = (("data", ctypes.c_void_p), ("count", ctypes.c_size_t))

    @classmethod
    def of(cls, array: npt.NDArray[Any], dtype: npt.DTypeLike) -> _Slice:
        # The library is told of places and counts only: it would read values of another size beyond their end.
        if array.dtype != dtype or not array.flags.c_contiguous or not array.flags.aligned:
            raise ValueError("a kernel takes values of one size that stand one behind the other")
        made = cls(_address(array), array.size)
        made._kept = (array,)
        return made


class _Texts(_Layout):
    _fields_ = (("offsets", _Slice), ("data", _Slice))

    @classmethod
    def of(cls, offsets: Places, data: Bytes) -> _Texts:
        made = cls(_Slice.of(offsets, np.int32), _Slice.of(data, np.uint8))
        made._kept = (offsets, data)
        return made


@dataclass(frozen=True, slots=True)
class Words:
    """A closed list of texts, ascending by their bytes."""

    ends: Places
    content: Bytes

    @classmethod
    def of(cls, words: Iterable[str]) -> Words:
        """Those of `words`, none of them twice."""
        encoded = sorted({word.encode() for word in words})
        ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
        return cls(ends, np.frombuffer(b"".join(encoded), dtype=np.uint8))

    def laid_out(self) -> _Texts:
        """The same as the library reads it."""
        return _Texts.of(self.ends, self.content)


class Reasons(ctypes.Structure):
    """The codes of the reasons that a kernel may give."""

    _fields_ = tuple((name, ctypes.c_int8) for name in _REASONS)

    @classmethod
    def of_all(cls) -> Reasons:
        """As `decisions.py` numbers them."""
        return cls(*(code_of(Reason(name)) for name in _REASONS))


class _Decided(_Layout):
    _fields_ = (("codes", ctypes.c_void_p), ("digests", ctypes.c_void_p), ("reasons", Reasons))

    @classmethod
    def of(cls, codes: Codes, digests: Matrix) -> _Decided:
        made = cls(_address(codes), _address(digests), Reasons.of_all())
        made._kept = (codes, digests)
        return made


class _Slot(_Layout):
    _fields_ = (("begin", ctypes.c_size_t), ("hashes", _Slice), ("chosen", _Slice))


_PLAN_SLICES: Final = {
    "following": np.int32,
    "readings": np.int32,
    "national": np.int32,
    "international": np.int32,
    "calling_codes": np.int16,
    "outcomes": np.int8,
}
_PLAN_TEXTS: Final = ("placeholders", "words")
_PLAN_FLAGS: Final = ("dialled", "writes_plus", "decides_national")


class _Plans(_Layout):
    _fields_ = (
        *((name, _Slice) for name in _PLAN_SLICES),
        *((name, _Texts) for name in _PLAN_TEXTS),
        *((name, ctypes.c_int32) for name in _PLAN_FLAGS),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plans:
    """Compiled numbering plans as a kernel reads them: see `phones.rs`."""

    following: npt.NDArray[np.int32]
    readings: npt.NDArray[np.int32]
    national: npt.NDArray[np.int32]
    international: npt.NDArray[np.int32]
    calling_codes: npt.NDArray[np.int16]
    outcomes: npt.NDArray[np.int8]
    placeholders: Words
    words: Words
    dialled: int
    writes_plus: bool
    decides_national: bool

    def laid_out(self) -> ctypes.Structure:
        """The same as the library reads it."""
        slices = tuple(getattr(self, name) for name in _PLAN_SLICES)
        texts = tuple(getattr(self, name) for name in _PLAN_TEXTS)
        flags = (int(getattr(self, name)) for name in _PLAN_FLAGS)
        made = _Plans(*map(_Slice.of, slices, _PLAN_SLICES.values()), *(one.laid_out() for one in texts), *flags)
        made._kept = (slices, texts)
        return made


class Kernels:
    """The functions of the library. Each may be called in several threads; all hold personal data.

    Texts are pa.StringArray; a null counts as blank. Codes are those of `decisions.py`, and PENDING for what a kernel
    leaves; digests have SHA256_BYTES a row, of no meaning where the code is not VALID.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def hash(self, texts: Any) -> Matrix:
        """The SHA-256 of the UTF-8 bytes of each of `texts`, none of them null."""
        buffers = text_buffers(texts)
        digests = np.empty((len(texts), SHA256_BYTES), dtype=np.uint8)
        _require(self._library.audiencekit_hash(ctypes.byref(_Texts.of(*buffers)), ctypes.c_void_p(_address(digests))))
        return digests

    def decide_emails(
        self, texts: Any, *, words: Words, nobody: Words, doubled: Words, special_use: Words
    ) -> tuple[Codes, Matrix]:
        """Codes and digests of addresses.

        `words` stand for a missing value. The local parts of `nobody` are placeholders at any domain, those of
        `doubled` at one that begins with the same word. Domains that are `special_use`, or below one, are left.
        """
        given = (one.laid_out() for one in (words, nobody, doubled, special_use))
        return self._decided(self._library.audiencekit_emails, texts, *given)

    def decide_phone_numbers(self, texts: Any, *, regions: Places, plans: Plans) -> tuple[Codes, Matrix]:
        """Codes and digests of phone numbers. `regions` are places in `plans.national`, one for each text."""
        if len(regions) != len(texts) or (
            len(regions) and not 0 <= regions.min() <= regions.max() < len(plans.national)
        ):
            raise ValueError("every number has a region")
        return self._decided(self._library.audiencekit_phones, texts, _Slice.of(regions, np.int32), plans.laid_out())

    def count_lines(self, piece: bytes | memoryview) -> int:
        """The lines of a text that are not blank, each with its end."""
        given, found = _Slice.of(np.frombuffer(piece, dtype=np.uint8), np.uint8), ctypes.c_size_t()
        _require(self._library.audiencekit_count_lines(ctypes.byref(given), ctypes.byref(found)))
        return found.value

    def are_plain(self, piece: bytes, *, lines: int, longest: int) -> bool:
        """Whether a text is UTF-8 without NUL, of so many lines that all end in LF or CR LF, none of more bytes."""
        given, found = _Slice.of(np.frombuffer(piece, dtype=np.uint8), np.uint8), ctypes.c_int32()
        bounds = ctypes.c_size_t(lines), ctypes.c_size_t(longest)
        _require(self._library.audiencekit_are_plain(ctypes.byref(given), *bounds, ctypes.byref(found)))
        return bool(found.value)

    def keep_valid(self, codes: Codes, digests: Matrix) -> Matrix:
        """The digests whose code is VALID. They are moved to the front of `digests`, one for each code."""
        if digests.shape != (len(codes), SHA256_BYTES) or digests.dtype != np.uint8 or not digests.flags.carray:
            raise ValueError("there is a digest for each code")
        kept, start = ctypes.c_size_t(), ctypes.c_void_p(_address(digests))
        _require(
            self._library.audiencekit_keep_valid(ctypes.byref(_Slice.of(codes, np.int8)), start, ctypes.byref(kept))
        )
        return digests[: kept.value]

    def write_entries(
        self, body: Bytes, places: npt.NDArray[np.int64], template: bytes, slots: Sequence[tuple[int, Matrix, Any]]
    ) -> None:
        """Put `template` at each of `places` of `body`, with the digits of a hash in each of its `slots`.

        A slot is where in the template the digits begin, hashes, and of each entry which of these it has.
        """
        laid_out = (_Slot * len(slots))(
            *(_Slot(begin, _Slice.of(hashes, np.uint8), _Slice.of(chosen, np.int64)) for begin, hashes, chosen in slots)
        )
        given = (_Slice.of(places, np.int64), _Slice.of(np.frombuffer(template, dtype=np.uint8), np.uint8))
        all_slots = _Slice(ctypes.addressof(laid_out), len(slots))
        arguments = map(ctypes.byref, (*given, all_slots))
        if not body.flags.writeable:
            raise ValueError("a kernel writes only where writing is allowed")
        whole = _Slice.of(body, np.uint8)
        begin, body_bytes = ctypes.c_void_p(whole.data), ctypes.c_size_t(whole.count)
        _require(self._library.audiencekit_entries(begin, body_bytes, *arguments))

    def _decided(self, function: Any, texts: Any, *arguments: ctypes.Structure) -> tuple[Codes, Matrix]:
        buffers = text_buffers(texts.fill_null("") if texts.null_count else texts)
        codes: Codes = np.empty(len(texts), dtype=np.int8)
        digests = np.empty((len(texts), SHA256_BYTES), dtype=np.uint8)
        given = (_Texts.of(*buffers), *arguments, _Decided.of(codes, digests))
        _require(function(*map(ctypes.byref, given)))
        return codes, digests


def _require(result: int) -> None:
    if result != _DONE:
        raise Bug("a kernel stopped at a place that is not there")


@cache
def kernels() -> Kernels | None:
    """The kernels of this installation; None where it has none, those of another version, or what cannot be loaded."""
    spec = importlib.util.find_spec(LIBRARY)
    if spec is None or spec.origin is None:
        return None
    try:
        library = ctypes.CDLL(spec.origin)
        found = library.audiencekit_version()
    except (OSError, AttributeError):  # of another machine, damaged, or something else of that name
        return None
    return Kernels(library) if found == VERSION else None
