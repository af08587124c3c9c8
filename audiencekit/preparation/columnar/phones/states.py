"""Rows of states by digit, equal ones once: what numbering plans are compiled into."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

DIGITS: Final = 10

Numbers: TypeAlias = npt.NDArray[np.int32]
Readings: TypeAlias = npt.NDArray[np.int64]
_Key: TypeAlias = tuple[int, tuple[int, ...]]


class StateRows:
    """Rows of states by number, each with a number that says what digits are that end there, and ten that follow it.

    `rows` (ten a line) and `readings` are those of an earlier process, which are not looked into before another comes.
    """

    def __init__(self, rows: Numbers | None = None, readings: Readings | None = None) -> None:
        self._kept_rows = np.zeros((0, DIGITS), dtype=np.int32) if rows is None else rows
        self._kept_readings = np.zeros(0, dtype=np.int64) if readings is None else readings
        self._rows: list[tuple[int, ...]] = []
        self._readings: list[int] = []
        self._numbers: dict[_Key, int] = {}

    def __len__(self) -> int:
        return len(self._kept_readings) + len(self._readings)

    def intern(self, reading: int, following: tuple[int, ...]) -> int:
        """The number of the state that has these; with nothing following it stays where it is."""
        if not self._numbers:
            self._learn_kept()
        key = (reading, following)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self)
            self._rows.append(following or (number,) * DIGITS)
            self._readings.append(reading)
        return number

    def _learn_kept(self) -> None:
        rows = map(tuple, self._kept_rows.tolist())
        for number, (reading, row) in enumerate(zip(self._kept_readings.tolist(), rows, strict=True)):
            self._numbers[reading, () if row == (number,) * DIGITS else row] = number

    def arrays(self) -> tuple[Numbers, Readings]:
        """The states that follow each (ten a line), and the kind that it says."""
        rows = np.array(self._rows, dtype=np.int32).reshape(-1, DIGITS)
        readings = np.array(self._readings, dtype=np.int64)
        return np.concatenate([self._kept_rows, rows]), np.concatenate([self._kept_readings, readings])
