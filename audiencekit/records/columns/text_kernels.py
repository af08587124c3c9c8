"""Kernels that decide and hash whole columns of texts."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from audiencekit.identifiers.kinds import Reason
from audiencekit.kernels.layouts import KernelStructure, Slice, Texts, Words, address, require
from audiencekit.limits import SHA256_BYTES
from audiencekit.records.columns.arrays import Bytes, Codes, Matrix, Places, arrow_array, code_of, text_buffers

MOST_DISTINCT: Final = 1_024  # texts of a column that a kernel numbers

_REASONS: Final = (
    *("empty", "placeholder", "invalid_syntax", "not_possible", "no_country"),
    *("invisible_character", "too_long", "excel_mangled", "already_hashed"),
    *("extension", "display_name", "special_use_domain"),
)


class Reasons(ctypes.Structure):
    """The codes of the reasons that a kernel may give."""

    _fields_ = tuple((name, ctypes.c_int8) for name in _REASONS)

    @classmethod
    def of_all(cls) -> Reasons:
        """The numbers of reasons as in `arrays.py`."""
        return cls(*(code_of(Reason(name)) for name in _REASONS))


class _Decided(KernelStructure):
    _fields_ = (("codes", ctypes.c_void_p), ("digests", ctypes.c_void_p), ("reasons", Reasons))

    @classmethod
    def of(cls, codes: Codes, digests: Matrix) -> _Decided:
        made = cls(address(codes), address(digests), Reasons.of_all())
        made._kept = (codes, digests)
        return made


_PLAN_SLICES: Final = {
    "following": np.int32,
    "readings": np.int64,
    "national": np.int32,
    "international": np.int32,
    "calling_codes": np.int16,
    "outcomes": np.int8,
}
_PLAN_TEXTS: Final = ("placeholders", "words")
_PLAN_SIGNS: Final = "signs"
_PLAN_FLAGS: Final = ("dialled", "writes_plus", "decides_national")


class _Plans(KernelStructure):
    _fields_ = (
        *((name, Slice) for name in _PLAN_SLICES),
        *((name, Texts) for name in _PLAN_TEXTS),
        (_PLAN_SIGNS, Slice),
        *((name, ctypes.c_int32) for name in _PLAN_FLAGS),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plans:
    """Compiled numbering plans as a kernel reads them: see `phones.rs`."""

    following: npt.NDArray[np.int32]
    readings: npt.NDArray[np.int64]
    national: npt.NDArray[np.int32]
    international: npt.NDArray[np.int32]
    calling_codes: npt.NDArray[np.int16]
    outcomes: npt.NDArray[np.int8]
    placeholders: Words
    words: Words
    signs: Bytes
    dialled: int
    writes_plus: bool
    decides_national: bool

    def to_structure(self) -> ctypes.Structure:
        """The same as the library reads it."""
        slices = tuple(getattr(self, name) for name in _PLAN_SLICES)
        texts = tuple(getattr(self, name) for name in _PLAN_TEXTS)
        flags = (int(getattr(self, name)) for name in _PLAN_FLAGS)
        lists = (one.to_structure() for one in texts)
        made = _Plans(*map(Slice.of, slices, _PLAN_SLICES.values()), *lists, Slice.of(self.signs, np.uint8), *flags)
        made._kept = (slices, texts, self.signs)
        return made


class _Letters(KernelStructure):
    _fields_ = tuple((name, Slice) for name in ("signs", "local", "domain", "folds"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Letters:
    """The meaning of characters in an address.

    `signs` are those of `records/columns/checks.py`, the others those of `records/columns/letters.py`. `local` and
    `domain` have a byte a code point.
    """

    signs: Bytes
    local: Bytes
    domain: Bytes
    folds: npt.NDArray[np.int64]

    def to_structure(self) -> ctypes.Structure:
        """The same as the library reads it."""
        tables = (Slice.of(table, np.uint8) for table in (self.signs, self.local, self.domain))
        made = _Letters(*tables, Slice.of(self.folds, np.int64))
        made._kept = (self.signs, self.local, self.domain, self.folds)
        return made


class TextKernels:
    """Texts are pa.StringArray; a null counts as blank. Codes are those of `arrays.py`, and PENDING for what is left
    to others; digests have SHA256_BYTES a row, of no meaning where the code is not VALID."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def hash(self, texts: Any) -> Matrix:
        """The SHA-256 of the UTF-8 bytes of each of `texts`, none of them null."""
        buffers = text_buffers(texts)
        digests = np.empty((len(texts), SHA256_BYTES), dtype=np.uint8)
        require(self._library.audiencekit_hash(ctypes.byref(Texts.of(*buffers)), ctypes.c_void_p(address(digests))))
        return digests

    def encode(self, texts: Any) -> tuple[Any, Any]:
        """Return for each of `texts` the number of its distinct text, null for null; and the distinct texts, in the
        order of their first use."""
        if (found := self.number(texts)) is not None:
            numbers, firsts = found
            return arrow_array(numbers), texts.take(arrow_array(firsts))
        encoded = texts.dictionary_encode()
        return encoded.indices, encoded.dictionary

    def number(self, texts: Any) -> tuple[Places, npt.NDArray[np.uint32]] | None:
        """Return for each of `texts` the number of its distinct text, and the row of the first use of each.

        None when they are more than MOST_DISTINCT, or any is null.
        """
        if texts.null_count:
            return None
        buffers, count = text_buffers(texts), ctypes.c_ssize_t()
        numbers: Places = np.empty(len(texts), dtype=np.int32)
        firsts = np.empty(MOST_DISTINCT, dtype=np.uint32)
        room = ctypes.c_void_p(address(numbers)), ctypes.c_void_p(address(firsts)), ctypes.c_size_t(len(firsts))
        require(self._library.audiencekit_number(ctypes.byref(Texts.of(*buffers)), *room, ctypes.byref(count)))
        return None if count.value < 0 else (numbers, firsts[: count.value])

    def longest(self, texts: Any) -> int | None:
        """The bytes of the longest of `texts`; None where one is not UTF-8, or where they are not in their order.

        What stands under a null counts, too.
        """
        longest, are_utf8 = ctypes.c_size_t(), ctypes.c_int32()
        given = (Texts.of(*text_buffers(texts)), longest, are_utf8)
        require(self._library.audiencekit_longest(*map(ctypes.byref, given)))
        return longest.value if are_utf8.value else None

    def decide_emails(
        self,
        texts: Any,
        *,
        words: Words,
        no_addresses: Words,
        doubled: Words,
        carriers: Words,
        special_use: Words,
        letters: Letters,
    ) -> tuple[Codes, Matrix]:
        """Codes and digests of addresses.

        `words` stand for a missing value. The local parts of `no_addresses` are placeholders at any domain, those of
        `doubled` at one that begins with the same word. Domains that are `special_use`, or below one, are left.
        Dots may stand anywhere but in front at the domains of `carriers`.
        """
        given = (one.to_structure() for one in (words, no_addresses, doubled, carriers, special_use))
        return self._decided(self._library.audiencekit_emails, texts, *given, letters.to_structure())

    def decide_phone_numbers(self, texts: Any, *, regions: Places, plans: Plans) -> tuple[Codes, Matrix]:
        """Codes and digests of phone numbers. `regions` are places in `plans.national`, one for each text."""
        if len(regions) != len(texts) or (
            len(regions) and not 0 <= regions.min() <= regions.max() < len(plans.national)
        ):
            raise ValueError("every number has a region")
        return self._decided(self._library.audiencekit_phones, texts, Slice.of(regions, np.int32), plans.to_structure())

    def keep_valid(self, codes: Codes, digests: Matrix) -> Matrix:
        """The digests whose code is VALID. They are moved to the front of `digests`, one for each code."""
        if digests.shape != (len(codes), SHA256_BYTES) or digests.dtype != np.uint8 or not digests.flags.carray:
            raise ValueError("there is a digest for each code")
        kept, start = ctypes.c_size_t(), ctypes.c_void_p(address(digests))
        require(self._library.audiencekit_keep_valid(ctypes.byref(Slice.of(codes, np.int8)), start, ctypes.byref(kept)))
        return digests[: kept.value]

    def _decided(self, function: Any, texts: Any, *arguments: ctypes.Structure) -> tuple[Codes, Matrix]:
        buffers = text_buffers(texts.fill_null("") if texts.null_count else texts)
        codes: Codes = np.empty(len(texts), dtype=np.int8)
        digests = np.empty((len(texts), SHA256_BYTES), dtype=np.uint8)
        given = (Texts.of(*buffers), *arguments, _Decided.of(codes, digests))
        require(function(*map(ctypes.byref, given)))
        return codes, digests
