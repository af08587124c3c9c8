"""The records of delimited text: `csv` reads them, an independent counter counts them, and the two must agree."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from audiencekit.errors import SourceRefused
from audiencekit.limits import MAX_LINE_BYTES
from audiencekit.sources.delimited.counting import RecordCounter

FIELD_LIMIT: Final = 131_072  # letters of a cell; the default of `csv`, where it belongs to the whole process
_REPAIR: Final = "look at the quotes of this row, and say `delimiter=` if the columns were divided wrongly"


class CountedText(io.RawIOBase):
    """UTF-8 blocks for a text reader; the counter sees every one of them first."""

    def __init__(self, blocks: Iterator[bytes], counter: RecordCounter) -> None:
        self._blocks, self._counter, self._rest = blocks, counter, b""

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fills `buffer`; 0 at the end."""
        if not self._rest:
            self._rest = next(self._blocks, b"")
            self._counter.feed(self._rest)
        taken, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)

    def drain(self) -> None:
        """Shows the rest to the counter."""
        for block in self._blocks:
            self._counter.feed(block)


class Records:
    """The non-blank records of UTF-8 blocks, as lists of cells. A broken byte is a lone surrogate.

    The first `leading` ones are no rows; `before` rows of the file came before them and are counted along in what is
    said. `read` is how many were read. Iterating raises SourceRefused where `csv` and
    the rules of quotes part, for a cell or a record without end, and at the end when the counter counted another
    number.
    """

    def __init__(self, blocks: Iterator[bytes], delimiter: str, *, leading: int, before: int = 0) -> None:
        self.read = 0
        self._delimiter, self._leading, self._before = delimiter, leading, before
        self._counter = RecordCounter(delimiter)
        self._bytes = CountedText(blocks, self._counter)
        self._letters = 0  # of the record that is being read

    def __iter__(self) -> Iterator[list[str]]:
        # newline="" leaves every line end as it is, and ends lines at \r, \n and \r\n alike.
        buffered = io.BufferedReader(self._bytes, 65_536)
        with io.TextIOWrapper(buffered, "utf-8", "surrogateescape", newline="") as text:
            reader = csv.reader(self._lines(text), delimiter=self._delimiter, strict=True)
            while (cells := self._next(reader)) is not None:
                if self._letters > FIELD_LIMIT and max(map(len, cells)) > FIELD_LIMIT:
                    self._refuse("larger")
                self._letters = 0
                if cells:
                    self.read += 1
                    yield cells
            self._agree()

    def _lines(self, text: io.TextIOWrapper) -> Iterator[str]:
        for line in text:
            self._letters += len(line)
            if self._letters > MAX_LINE_BYTES:
                self._refuse("larger")
            yield line

    def _next(self, reader: Iterator[list[str]]) -> list[str] | None:
        failure = ""
        try:
            return next(reader, None)
        except csv.Error as error:
            failure = str(error)  # looked at for its kind only, since it quotes
        self._refuse(failure)
        return None

    def _refuse(self, failure: str) -> None:
        place = self._place(self.read + 1)
        self._bytes.drain()
        self._counter.finish()
        if self._counter.open_quote or self._counter.overlong or "end of data" in failure:
            message, hint = f"a quote is opened in {place} or later and never closed", _REPAIR
        elif "larger" in failure:
            message, hint = f"{place} has a cell of more than {FIELD_LIMIT:,} letters, or no end", _REPAIR
        else:
            message, hint = f"{place} has letters after a closing quote", _REPAIR
        raise SourceRefused(
            message,
            row=self._before + max(self.read + 1 - self._leading, 1),
            rows_read=self._rows(self._counter.records),
            hint=hint,
        )

    def _place(self, record: int) -> str:
        return "the header" if record <= self._leading else f"row {self._before + record - self._leading}"

    def _agree(self) -> None:
        self._counter.finish()
        if self._counter.overlong or self._counter.open_quote or self._counter.records != self.read:
            raise SourceRefused(
                f"the reader found {self._rows(self.read)} rows and the counter {self._rows(self._counter.records)}: "
                "the quotes of this file have more than one reading",
                rows_read=self._rows(self.read),
                hint=_REPAIR,
            )

    def _rows(self, records: int) -> int:
        return self._before + max(records - self._leading, 0)


@contextmanager
def field_limit() -> Iterator[None]:
    """At least FIELD_LIMIT while it lasts; what the process had before stands again after."""
    before = csv.field_size_limit()
    csv.field_size_limit(max(before, FIELD_LIMIT))
    try:
        yield
    finally:
        csv.field_size_limit(before)
