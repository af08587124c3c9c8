"""What disks, copies and hands do to files: bits, bytes, zeros, cuts, and worse."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

BLOCK: Final = 512

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
    """Damage one file below `state_dir`, most often one of a run that was killed; which, and how."""
    files = sorted(path for path in state_dir.rglob("*") if path.is_file())
    journals = [path for path in files if path.name.startswith("journal.")]
    path = draw.choice(journals if draw.random() < 0.4 else files)
    content = path.read_bytes()
    kind = draw.choice(KINDS if content else (append, remove))
    after = kind(content, draw)
    if after is None:
        path.unlink()
    else:
        path.write_bytes(after)
    return path.relative_to(state_dir), kind.__name__


def leave_half_a_commit(journal: Path) -> None:
    """Have a process die in the middle of a commit."""
    subprocess.run([sys.executable, "-c", KILLED_IN_A_COMMIT, str(journal)], check=False, timeout=60)
