"""How many records there are, counted without the reader: two that agree are believed, two that differ refuse the file.

The rules are those of `csv` (RFC 4180 and lone carriage returns): a quote means something only where a field starts, a
doubled quote is a letter, `\\r`, `\\n` and `\\r\\n` end a record outside quotes, a record of nothing is blank.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from audiencekit.kernels.library import kernels
from audiencekit.limits import MAX_LINE_BYTES
from audiencekit.sources.delimited.cellkernels import CellKernels

SCAN_BYTES: Final = 65_536


class RecordCounter:
    """Counts the non-blank records of UTF-8 blocks. Feed every block, then `finish()`.

    `records` are the ones seen to their end. `open_quote` is True after `finish()` when the last record is inside
    quotes. `overlong` is True when a record passed MAX_LINE_BYTES; nothing is counted after that.
    """

    def __init__(self, delimiter: str, *, scan_bytes: int = SCAN_BYTES) -> None:
        self.records = 0
        self.open_quote = self.overlong = False
        self._patterns = Patterns(delimiter)
        self._carry = b""  # the beginning of a record whose end has not come
        self._waiting: list[bytes] = []
        self._waiting_bytes, self._scan_bytes = 0, scan_bytes

    def feed(self, block: bytes) -> None:
        """Counts the records that end in `block`, now or when enough has come to be worth a scan."""
        if self.overlong:
            return
        self._waiting.append(block)
        self._waiting_bytes += len(block)
        # Carried bytes are scanned again: so as many must have come, or a file of tiny blocks would take for ever.
        if self._waiting_bytes >= max(self._scan_bytes, len(self._carry)):
            self._scan()

    def finish(self) -> None:
        """Counts the last record when no line end follows it."""
        self._scan()
        last = self._carry.strip(b"\r\n") if not self.overlong else b""
        self._carry = b""
        self.open_quote = bool(last) and self._patterns.unfinished_record.fullmatch(last) is None
        self.records += bool(last) and not self.open_quote

    def _scan(self) -> None:
        data = b"".join((self._carry, *self._waiting))
        self._waiting, self._waiting_bytes = [], 0
        records, self._carry, _ = cut(data, self._patterns)
        self.records += records
        self.overlong = len(self._carry) > MAX_LINE_BYTES


def cut(data: bytes, patterns: Patterns) -> tuple[int, bytes, bool]:
    """How many whole non-blank records `data` begins with, what follows them, and whether they are plain."""
    end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
    if b'"' not in data or patterns.plain_records.fullmatch(data, 0, end):
        return count_lines(memoryview(data)[:end]), data[end:], True
    # Each find is group 1: empty for a whole record, and at the end what is left, if anything is.
    found = patterns.one_record.findall(data)
    carry: bytes = found[-1] if found else b""
    # The line feed of a carriage return that ended the last record belongs to that record.
    return len(found) - bool(carry), carry.lstrip(b"\r\n"), False


def count_lines(data: bytes | memoryview) -> int:
    """Non-blank lines of `data`, each with its end. No line end in `data` is inside quotes."""
    if compiled := kernels(CellKernels):
        return compiled.count_lines(data)
    letters = np.frombuffer(data, dtype=np.uint8)
    ends = (letters == ord("\n")) | (letters == ord("\r"))
    return int(np.count_nonzero(ends[1:] > ends[:-1]))


class Patterns:
    """One whole record, or group 1: all that is left and not whole; a last record without its line end; and records
    that are plain: no line end inside quotes, no letter after a closing one."""

    def __init__(self, delimiter: str) -> None:
        mark = re.escape(delimiter.encode())
        # A closing quote is one that no other quote follows: so a failed match cannot read a doubled quote as an end.
        quoted = rb'"[^"]*+(?:""[^"]*+)*"(?!")'
        field = rb'(?:%b|(?!"))[^%b\r\n]*+' % (quoted, mark)
        record = rb"(?=[^\r\n])(?:%b%b)*%b" % (field, mark, field)
        self.one_record = re.compile(rb"[\r\n]*+%b[\r\n]|([\s\S]+)\Z" % record)
        self.unfinished_record = re.compile(record)
        plain = rb'(?:"[^"\r\n]*+(?:""[^"\r\n]*+)*+"|(?!")[^%b\r\n]*+)' % mark
        self.plain_records = re.compile(rb"(?:%b(?:%b%b)*+[\r\n]++)*+" % (plain, mark, plain))
