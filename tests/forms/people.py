"""Invented people, the same in every form."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

HEADER = ("email", "phone")


def row(number: int) -> tuple[str, str]:
    """The cells of a person."""
    return f"canary{number}@example.com", f"+4930{number + 20_000_000:08d}"


def rows(count: int) -> Iterator[tuple[str, str]]:
    """All people of a list."""
    return map(row, range(count))


def as_csv(count: int) -> bytes:
    """The list as delimited text."""
    return "".join(",".join(cells) + "\n" for cells in (HEADER, *rows(count))).encode()


def canaries(count: int) -> list[bytes]:
    """All that must stand in no file: the first and the last person, in the clear and hashed, in letters and bytes."""
    found = [b"canary", b"+49302"]
    for number in (0, count // 2, count - 1):
        for cell in row(number):
            digest = hashlib.sha256(cell.encode())
            found += [cell.encode(), digest.digest(), digest.hexdigest().encode()]
    return found
