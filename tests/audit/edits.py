"""Logs with invented entries, and a table of the changes that others could make to them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from audiencekit.audit.chain import hash_of, parse_line, sign_line
from audiencekit.audit.log import AuditLog
from audiencekit.state.keys import StateKey
from audiencekit.state.signing import signing_key

KEY: Final = StateKey(b"\x01" * 32)
STRANGER: Final = StateKey(b"\x02" * 32)

Lines: TypeAlias = list[bytes]
Edit: TypeAlias = Callable[[Lines, random.Random], Lines]


def write_log(directory: Path, entries: int, key: StateKey = KEY) -> AuditLog:
    """A log with so many entries of one run after the other."""
    log = AuditLog(directory, key)
    for number in range(entries):
        log.append("upload", "begun" if number % 2 == 0 else "ended", of=f"20260101-00000{number // 2}", records=number)
    return log


def lines_of(log: AuditLog) -> Lines:
    return log.path.read_bytes().splitlines(keepends=True)


def _swap(lines: Lines, draw: random.Random) -> Lines:
    one, other = draw.sample(range(len(lines)), 2)
    lines[one], lines[other] = lines[other], lines[one]
    return lines


def _change_byte(lines: Lines, draw: random.Random) -> Lines:
    """One byte, anywhere but for the end of the last line, without which it is torn."""
    content = bytearray(b"".join(lines))
    content[draw.randrange(len(content) - 1)] ^= 1 << draw.randrange(7)
    return bytes(content).splitlines(keepends=True)


def _change_number(lines: Lines, draw: random.Random) -> Lines:
    place = draw.randrange(1, len(lines))
    lines[place] = lines[place].replace(b'"records":', b'"records":1')
    return lines


def _take_out(lines: Lines, draw: random.Random) -> Lines:
    del lines[draw.randrange(len(lines) - 1)]
    return lines


def _repeat(lines: Lines, draw: random.Random) -> Lines:
    place = draw.randrange(len(lines))
    return [*lines[: place + 1], *lines[draw.randrange(len(lines)) :]] if place < len(lines) - 1 else lines + lines[-1:]


def _sign_as_stranger(lines: Lines, draw: random.Random) -> Lines:
    """The chain from one entry on, made anew without the key."""
    first = draw.randrange(1, len(lines))
    for place in range(first, len(lines)):
        facts = parse_line(lines[place])
        assert facts is not None
        del facts["signature"], facts["key"]
        facts |= {"records": 7, "previous": hash_of(lines[place - 1]) if place > 1 else facts["previous"]}
        lines[place] = sign_line(facts, signing_key(STRANGER))
    return lines


def _cut_begin(lines: Lines, draw: random.Random) -> Lines:
    return lines[draw.randrange(1, len(lines)) :]


def _cut_behind_opening(lines: Lines, draw: random.Random) -> Lines:
    return [lines[0], *lines[draw.randrange(2, len(lines)) :]]


def _shift_end(lines: Lines, draw: random.Random) -> Lines:
    """A line break at another place: two lines of one, or one of two."""
    place = draw.randrange(len(lines) - 1)
    lines[place] = lines[place].rstrip(b"\n")
    return b"".join(lines).splitlines(keepends=True)


# Found by the log alone.
EDITS: Final[dict[str, Edit]] = {
    "two lines change places": _swap,
    "a byte is changed": _change_byte,
    "a count is changed": _change_number,
    "a line is taken out": _take_out,
    "lines are repeated": _repeat,
    "the chain is made anew by another key": _sign_as_stranger,
    "the beginning is cut off": _cut_begin,
    "the first entries are cut off": _cut_behind_opening,
    "a line break is taken away": _shift_end,
}


def _cut_end(lines: Lines, draw: random.Random) -> Lines:
    return lines[: draw.randrange(1, len(lines))]


def _tear_end(lines: Lines, draw: random.Random) -> Lines:
    """As a kill would leave it."""
    return [*lines[:-1], lines[-1][: draw.randrange(1, len(lines[-1]))]]


# Found only by a head that was kept.
CUTS: Final[dict[str, Edit]] = {"the end is cut off": _cut_end, "the last line is torn": _tear_end}


def edited(lines: Sequence[bytes], edit: Edit, draw: random.Random) -> Lines:
    """The lines after an edit that has changed them."""
    while (changed := edit(list(lines), draw)) == list(lines):
        pass
    return changed
