"""Damage that disks, copies and people do to files: bits, bytes, zeros, cuts, and worse."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.moments import PATIENCE_SECONDS

BLOCK: Final = 512
MISPLACED_SHARE: Final = 0.3  # of damages, those that put something else in the place of a file or beside it

# A process that dies while it writes a commit leaves a rollback journal, and a file that is half of each.
KILLED_IN_A_COMMIT: Final = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.executescript("PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN IMMEDIATE")
connection.execute("UPDATE requests SET attempts = attempts + 7, success_count = 1")
connection.executemany("INSERT INTO refused VALUES (?, 1, 'BAD')", [(row,) for row in range(10**6, 10**6 + 3_000)])
os.kill(os.getpid(), 9)
"""


def flip_bit(content: bytes, draw: random.Random) -> bytes:
    """One bit is the other one."""
    place = draw.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << draw.randrange(8)]) + content[place + 1 :]


def change_bytes(content: bytes, draw: random.Random) -> bytes:
    """One byte, or sixteen in a row, are others."""
    place, size = draw.randrange(len(content)), draw.choice((1, 16))
    return content[:place] + draw.randbytes(size) + content[place + size :]


def zero_block(content: bytes, draw: random.Random) -> bytes:
    """A block of the disk is zeros."""
    place = draw.randrange(len(content)) // BLOCK * BLOCK
    size = min(BLOCK, len(content) - place)
    return content[:place] + bytes(size) + content[place + size :]


def cut(content: bytes, draw: random.Random) -> bytes:
    """The end is missing."""
    return content[: draw.randrange(len(content))]


def empty(content: bytes, draw: random.Random) -> bytes:
    """All of it is."""
    return b""


def append(content: bytes, draw: random.Random) -> bytes:
    """Something else comes behind it."""
    return content + draw.randbytes(draw.choice((1, 100, 5_000)))


def remove(content: bytes, draw: random.Random) -> None:
    """There is no file any more."""


KINDS: Final[tuple[Callable[[bytes, random.Random], bytes | None], ...]] = (
    *(flip_bit,) * 4, change_bytes, change_bytes, zero_block, cut, empty, append, remove,
)  # fmt: skip


def do_damage(state_dir: Path, draw: random.Random) -> tuple[Path, str]:
    """Damage one file below `state_dir`, most often a journal or what stands beside one; which, and how."""
    files = sorted(path for path in state_dir.rglob("*") if path.is_file())
    journals = [path for path in files if path.name.startswith("journal.")]
    path = draw.choice(journals if draw.random() < 0.4 else files)
    if draw.random() < MISPLACED_SHARE:
        kind = draw.choice((put_directory, put_other_file, put_rollback_journal))
        return kind(path, [each for each in files if each != path], draw).relative_to(state_dir), kind.__name__
    content = path.read_bytes()
    change = draw.choice(KINDS if content else (append, remove))
    after = change(content, draw)
    if after is None:
        path.unlink()
    else:
        path.write_bytes(after)
    return path.relative_to(state_dir), change.__name__


def put_directory(path: Path, others: list[Path], draw: random.Random) -> Path:
    """A directory, empty or not, has the name of the file."""
    path.unlink()
    path.mkdir()
    if draw.random() < 0.5:
        (path / "something").write_bytes(b"else")
    return path


def put_other_file(path: Path, others: list[Path], draw: random.Random) -> Path:
    """Another file stands there: most often one of the same name, of another run."""
    namesakes = [each for each in others if each.name == path.name]
    path.write_bytes(draw.choice(namesakes if namesakes and draw.random() < 0.8 else others).read_bytes())
    return path


def put_rollback_journal(path: Path, others: list[Path], draw: random.Random) -> Path:
    """A rollback journal that is none stands beside a file: rubbish, something else, a directory."""
    beside = path.with_name(f"{path.name}-journal")
    if draw.random() < 0.2 and not beside.exists():
        beside.mkdir()
    else:
        magic = bytes.fromhex("d9d505f920a163d7") if draw.random() < 0.5 else b""
        content = (
            draw.choice(others).read_bytes() if draw.random() < 0.5 else draw.randbytes(draw.choice((1, 600, 9_000)))
        )
        beside.write_bytes(magic + content)
    return path


def leave_half_a_commit(journal: Path) -> None:
    """Have a process die in the middle of a commit."""
    subprocess.run([sys.executable, "-c", KILLED_IN_A_COMMIT, str(journal)], check=False, timeout=PATIENCE_SECONDS)
