"""`rejections.csv`: row, column, reason. Never a value."""

from __future__ import annotations

import csv
import io
import os
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.errors import InputOutputFailed, UsageError
from audiencekit.identifiers.kinds import Reason
from audiencekit.records.columns.arrays import text_buffers
from audiencekit.state.files import NEW_FILE, hint_for

HEADER = ("row", "column", "reason")


def refuse_other_file(path: Path) -> None:
    """Raise UsageError when `path` is a file that is not a file of rejections, such as a list."""
    beginning = ",".join(HEADER).encode()
    try:
        if not path.is_file():  # what is no file is refused when it would be written
            return
        with path.open("rb") as file:
            if file.read(len(beginning)) in (b"", beginning):
                return
    except OSError:
        pass  # what cannot be read is not known to be rejections
    raise UsageError(f"{str(path)!r} is another file than rejections, and stays", hint="give the name of a new file")


_ELSEWHERE: Final = "name a file in a directory that exists, and that this user may write to"


class RejectionsFile:
    """Write rejections as they come, for the owner only. The file gets its name when it is complete."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._partial = path.with_name(f".{path.name}.{os.getpid()}.partial")

    def __enter__(self) -> Self:
        self._check_target()
        try:
            self._partial.unlink(missing_ok=True)
            self._file = os.fdopen(os.open(self._partial, NEW_FILE, 0o600), "w", encoding="utf-8", newline="")
        except OSError as error:
            raise self._failure(error) from None
        self._writer = csv.writer(self._file, lineterminator="\n")
        self._writer.writerow(HEADER)
        return self

    def _check_target(self) -> None:
        """Refuse to replace a file that is not ours: a link, device, pipe or directory."""
        try:
            mode = self.path.lstat().st_mode
        except OSError:
            return
        if not stat.S_ISREG(mode):
            raise UsageError(f"{str(self.path)!r} is not a regular file", hint="give the name of a file to be written")

    def add(self, rejections: Any) -> None:
        """Append a RecordBatch of REJECTION_SCHEMA. Raises InputOutputFailed when the disk does."""
        try:
            self._file.flush()
            self._file.buffer.write(_lines(rejections))
        except OSError as error:
            raise self._failure(error) from None

    def add_rows(self, rows: Iterable[tuple[int, str | None, str]]) -> None:
        """Append rows one by one: row, column, reason. Raises InputOutputFailed when the disk does."""
        try:
            self._writer.writerows((row, _as_text(column), reason) for row, column, reason in rows)
        except OSError as error:
            raise self._failure(error) from None

    def copy_old(self) -> None:
        """Copy the rows of the existing file first, without its header."""
        try:
            self._file.flush()
            with open(self.path, "rb") as old:
                old.readline()
                shutil.copyfileobj(old, self._file.buffer)
        except OSError as error:
            raise self._failure(error) from None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            with self._file:
                self._file.flush()
                os.fsync(self._file.fileno())
            if kind is None:
                self._partial.replace(self.path)
            else:
                self._partial.unlink(missing_ok=True)
        except OSError as failure:
            raise self._failure(failure) from None

    def _failure(self, error: OSError) -> InputOutputFailed:
        return InputOutputFailed(
            f"{str(self.path)!r} cannot be written: {error.strerror}", hint=hint_for(error.errno, _ELSEWHERE)
        )


def append_refused(path: Path, rows: Iterable[int]) -> None:
    """Append `rows`, which the service refused, to the file at `path`, which stays complete at every moment."""
    with RejectionsFile(path) as file:
        file.copy_old()
        file.add_rows((row, None, Reason.REFUSED_BY_SERVICE.value) for row in rows)


def _lines(rejections: Any) -> bytes:
    """Return the rows as CSV: only columns need quotes, and there are few of them."""
    rows, columns, reasons = rejections.columns
    names = columns.dictionary_encode(null_encoding="encode")
    cells = pa.array([_cell(name) for name in names.dictionary.to_pylist()], pa.string()).take(names.indices)
    ends = pc.binary_join_element_wise(reasons, "\n", "")
    _, content = text_buffers(pc.binary_join_element_wise(rows.cast(pa.string()), cells, ends, ","))
    return content.tobytes()


def _cell(column: str | None) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow((_as_text(column), ""))
    return line.getvalue().removesuffix(",\n")


def _as_text(column: str | None) -> str:
    """Return a name that a spreadsheet does not run as a formula."""
    return f"'{column}" if column and column[0] in "=+-@\t\r" else column or ""
