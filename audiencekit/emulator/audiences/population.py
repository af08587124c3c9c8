"""The people of the platform: which identifiers belong to a user who was active lately."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from audiencekit.emulator.audiences.entries import Span
from audiencekit.emulator.audiences.fields import split_key_set


class Population:
    """For every key a seed decides whether it belongs to a user; `match_rate` is the share of the keys that do."""

    def __init__(self, seed: int, match_rate: float) -> None:
        self.salt = zlib.crc32(str(seed).encode())
        self._threshold = match_rate * 2**32

    def matched(self, entries: Iterable[tuple[bytes, Span]]) -> Iterator[bytes]:
        """Return the key sets in which at least one key belongs to a user: more identifiers, more matches."""
        salt, threshold = self.salt, self._threshold
        for key_set, _ in entries:
            if any(zlib.crc32(key, salt) < threshold for key in split_key_set(key_set)):
                yield key_set

    def count(self, entries: Iterable[tuple[bytes, Span]]) -> int:
        """Return how many of some entries are matched."""
        return sum(1 for _ in self.matched(entries))
