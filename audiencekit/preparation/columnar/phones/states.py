"""Rows of states by digit, equal ones once: what the numbering plan of one calling code is compiled into."""

from __future__ import annotations

import zlib
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

DIGITS: Final = 10

Numbers: TypeAlias = npt.NDArray[np.int32]
Readings: TypeAlias = npt.NDArray[np.int64]
_Key: TypeAlias = tuple[int, tuple[int, ...]]

_ROW_ITEM: Final = np.dtype("<i4")
_READING_ITEM: Final = np.dtype("<i8")
_STATE_BYTES: Final = DIGITS * _ROW_ITEM.itemsize + _READING_ITEM.itemsize


class StateRows:
    """Rows of states by number, each with a number that says what digits are that end there, and ten that follow it.

    `rows` (ten a line) and `readings` are those of an earlier process, which are not looked into before another comes.
    """

    def __init__(self, rows: Numbers | None = None, readings: Readings | None = None) -> None:
        self._earlier_rows = np.zeros((0, DIGITS), dtype=np.int32) if rows is None else rows
        self._earlier_readings = np.zeros(0, dtype=np.int64) if readings is None else readings
        self._rows: list[tuple[int, ...]] = []
        self._readings: list[int] = []
        self._numbers: dict[_Key, int] = {}

    @classmethod
    def unpacked(cls, content: bytes, count: int) -> StateRows:
        """The `count` states that `packed` wrote; ValueError for anything else."""
        try:
            planes = zlib.decompress(content)
        except zlib.error as error:
            raise ValueError("these are no packed states") from error
        if len(planes) != count * _STATE_BYTES:
            raise ValueError("these are not as many states as their head says")
        rows_end = count * DIGITS * _ROW_ITEM.itemsize
        steps = _of_planes(planes[:rows_end], _ROW_ITEM).astype(np.int32).reshape(count, DIGITS)
        rows = steps + np.arange(count, dtype=np.int32)[:, None]
        if count and not 0 <= rows.min() <= rows.max() < count:
            raise ValueError("a state leads to one that is not there")
        return cls(rows, _of_planes(planes[rows_end:], _READING_ITEM).astype(np.int64))

    def packed(self) -> bytes:
        """The states as a file holds them.

        Bytes of the same weight stand together, those of what follows a state as the distance from it: most are zero.
        """
        rows, readings = self.arrays()
        steps = (rows - np.arange(len(rows), dtype=np.int32)[:, None]).astype(_ROW_ITEM)
        return zlib.compress(_planes(steps) + _planes(readings.astype(_READING_ITEM)), level=9)

    def __len__(self) -> int:
        return len(self._earlier_readings) + len(self._readings)

    def intern(self, reading: int, following: tuple[int, ...]) -> int:
        """The number of the state that has these; with nothing following it stays where it is."""
        if not self._numbers:
            self._learn_earlier()
        key = (reading, following)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self)
            self._rows.append(following or (number,) * DIGITS)
            self._readings.append(reading)
        return number

    def _learn_earlier(self) -> None:
        rows = map(tuple, self._earlier_rows.tolist())
        for number, (reading, row) in enumerate(zip(self._earlier_readings.tolist(), rows, strict=True)):
            self._numbers[reading, () if row == (number,) * DIGITS else row] = number

    def arrays(self) -> tuple[Numbers, Readings]:
        """The states that follow each (ten a line), and the kind that it says."""
        if self._rows:
            rows = np.array(self._rows, dtype=np.int32)
            readings = np.array(self._readings, dtype=np.int64)
            self._earlier_rows = np.concatenate([self._earlier_rows, rows])
            self._earlier_readings = np.concatenate([self._earlier_readings, readings])
            self._rows, self._readings = [], []
        return self._earlier_rows, self._earlier_readings


def _planes(items: npt.NDArray[Any]) -> bytes:
    """The lowest byte of each of `items`, then the next one of each."""
    return np.ascontiguousarray(items.reshape(-1, 1).view(np.uint8).T).tobytes()


def _of_planes(planes: bytes, item: np.dtype[Any]) -> npt.NDArray[Any]:
    parts = np.frombuffer(planes, dtype=np.uint8).reshape(item.itemsize, -1)
    return np.ascontiguousarray(parts.T).view(item).reshape(-1)
