"""Arguments of kernels: buffers of any bytes, columns of texts, and offsets that may lie."""

from __future__ import annotations

import ctypes
import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tests.kernelfuzz.memory import Memory

# Integers that are wrong wherever there are limits.
_EDGES: Final = (0, 1, -1, 2, 7, 63, 64, 65, 255, 2**31 - 1, -(2**31), 2**32 - 1, 2**63 - 1, -(2**63), 2**64 - 1)
_SIZES: Final = {"b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8, "Q": 8}
_PLAIN: Final = b"abcdefghijklmnopqrstuvwxyz0123456789.-@_+ "
_PHONES: Final = b"0123456789+-() ./x"
_LETTERS: Final = "aeiou\u00e4\u00f6\u00fc\u00df\u0131\u03c3\u4e2d\u200d\ud7ff\U0001f600@.-"
_USUAL: Final = (b"", b" ", b"n/a", b"0", b"+49 151 23456789", b"(201) 555-0123", b"bea@canarymail.com", b"a@b.co")


class Slice(ctypes.Structure):
    """Values and how many there are, as door.rs has it."""

    _fields_ = (("data", ctypes.c_void_p), ("count", ctypes.c_size_t))


class Texts(ctypes.Structure):
    _fields_ = (("offsets", Slice), ("data", Slice))


@dataclass(frozen=True)
class Column:
    """Texts as a kernel takes them. `values` is None where their offsets lie; `others` stand before and behind them."""

    texts: Texts
    rows: int
    values: list[bytes] | None
    others: tuple[bytes, bytes]


class Draw:
    """Everything that one call is made of, drawn from one seed."""

    def __init__(self, chance: random.Random, memory: Memory) -> None:
        self.chance, self.memory = chance, memory

    def often(self, share: float) -> bool:
        return self.chance.random() < share

    def count(self) -> int:
        """Mostly few; sometimes none, or around the sizes that loops take at once."""
        return self.chance.choice((0, 1, 2, 3, 5, 8, 9, 16, 17, 31, 64, 65, 100, 130, self.chance.randrange(400)))

    def bytes(self, size: int | None = None) -> bytes:
        """Any bytes; so many, or however many."""
        return self.chance.randbytes(self.count() if size is None else size)

    def number(self, kind: str, most: int) -> int:
        """One of `kind` (a letter of `struct`), mostly from 0 to `most`, sometimes anything."""
        drawn = (
            self.chance.choice((*_EDGES, most, most + 1, -most))
            if self.often(0.1)
            else self.chance.randint(0, max(most, 0))
        )
        bits = 8 * _SIZES[kind]
        return (drawn + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) if kind.islower() else drawn % 2**bits

    def slice(self, content: bytes, each: int = 1) -> Slice:
        """`content` to be read, as values of so many bytes."""
        return Slice(self.memory.given(content, align=min(each & -each, 8)), len(content) // each)

    def numbers(self, kind: str, values: Sequence[int]) -> Slice:
        """Numbers to be read, of a `kind` of `struct`."""
        return self.slice(struct.pack(f"={len(values)}{kind}", *values), _SIZES[kind])

    def drawn(self, kind: str, count: int, most: int) -> Slice:
        """So many numbers of `kind`, mostly from 0 to `most`."""
        values = [int(self.chance.random() * (max(most, 0) + 1)) for _ in range(count)]
        for _ in range(self.chance.choice((0, 0, 1, 5)) if count else 0):
            values[self.chance.randrange(count)] = self.number(kind, most)
        return self.numbers(kind, values)

    def room(self, kind: str, count: int) -> int:
        """Where so many numbers of `kind` can be written."""
        return self.memory.room(count * _SIZES[kind], align=_SIZES[kind])

    def read(self, kind: str, place: int, count: int) -> tuple[int, ...]:
        """Return the numbers at the place."""
        return struct.unpack(f"={count}{kind}", ctypes.string_at(place, count * _SIZES[kind])) if count else ()

    def offsets(self, sizes: Sequence[int], first: int = 0) -> tuple[list[int], bool]:
        """Where things of these sizes begin, and where the last ends; and whether that is true. Some lie: they descend,
        are negative, lead beyond the end, or are one too few or too many."""
        made = [first]
        for size in sizes:
            made.append(made[-1] + size)
        if self.often(0.75):
            return made, True
        for _ in range(self.chance.choice((1, 1, 2, 9))):
            made[self.chance.randrange(len(made))] = self.number("i", made[-1])
        if self.often(0.2):
            made = [self.number("i", first) for _ in made]
        return made, False

    def text(self) -> bytes:
        """Of one of the sorts that rules tell apart, or any bytes."""
        size, sort = self.chance.choice((1, 3, 8, 12, 20, 33, 62, 63, 64, 65, 80)), self.chance.randrange(9)
        if sort == 8:
            return self.bytes(size) * self.chance.choice((1, 2, 60))
        if sort < 2:
            return self.chance.choice(_USUAL)
        if sort < 6:
            letters = (_PLAIN, _PHONES, b"0123456789abcdef", bytes(range(256)))[sort - 2]
            return bytes(self.chance.choices(letters, k=size))
        if sort == 6:
            return "".join(self.chance.choices(_LETTERS, k=size)).encode("utf-8", "surrogatepass")
        local, domain = (bytes(self.chance.choices(_PLAIN[:36], k=self.chance.randint(1, 30))) for _ in "ab")
        return local + b"@" + domain + b".com"

    def column(self, rows: int | None = None) -> Column:
        """Texts, others before and behind them."""
        values = [self.text() for _ in range(self.count() if rows is None else rows)]
        before, behind = (self.bytes(self.chance.choice((0, 0, 1, 64))) for _ in "ab")
        offsets, is_true = self.offsets(list(map(len, values)), len(before))
        if self.often(0.02):
            offsets, values, is_true = [], [], True
        if self.often(0.1):  # nothing is there
            before, behind, data = b"", b"", b""
        else:
            data = before + b"".join(values) + behind
        is_true = is_true and (not offsets or offsets[-1] <= len(data))
        laid_out = Texts(self.numbers("i", offsets), self.slice(data))
        return Column(laid_out, max(len(offsets) - 1, 0), values if is_true else None, (before, behind))

    def words(self) -> Texts:
        """A closed list: short texts that ascend, or do not."""
        values = sorted({self.text()[:12] for _ in range(self.chance.randrange(6))}, reverse=self.often(0.1))
        offsets, _ = self.offsets(list(map(len, values)))
        return Texts(self.numbers("i", offsets), self.slice(b"".join(values)))
