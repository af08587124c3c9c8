"""Entries of a list: which key sets it holds, and for how long each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from audiencekit.emulator.audiences.fields import are_hashes, is_one_hash, split_key_set


class Span(NamedTuple):
    """When an entry takes effect and when it expires, in epoch seconds."""

    effective_at: float
    expires_at: float


class Entries:
    """Key sets with their spans, in order of arrival; found by the key set, or by any key in it."""

    def __init__(self) -> None:
        self._spans: dict[bytes, Span] = {}
        # Key to the key sets that hold it and more; a key set of one key needs no index, it is its key.
        # A lone key set stands for itself: a set around each would triple the room of a million members.
        self._holders: dict[bytes, bytes | set[bytes]] = {}

    def __len__(self) -> int:
        return len(self._spans)

    def __iter__(self) -> Iterator[tuple[bytes, Span]]:
        return iter(self._spans.items())

    def put(self, key_sets: Sequence[bytes], span: Span) -> None:
        """Add entries; a key set that is there already is renewed: it has this span from now on."""
        for key_set in () if are_hashes(key_sets) else key_sets:
            if not is_one_hash(key_set) and key_set not in self._spans:
                for key in split_key_set(key_set):
                    if self._holders.setdefault(key, key_set) != key_set:
                        self._share(key, key_set)
        self._spans.update(dict.fromkeys(key_sets, span))

    def remove(self, keys: Iterable[bytes]) -> None:
        """Remove every entry that holds any of `keys`."""
        for key in keys:
            self._spans.pop(key, None)
            held = self._holders.get(key, b"")
            for key_set in list(held) if isinstance(held, set) else [held] * bool(held):
                self._spans.pop(key_set, None)
                self._release(key_set)

    def take_over(self, other: Entries) -> None:
        """Put every entry of `other`."""
        for key_set, span in other:
            self.put((key_set,), span)

    def _share(self, key: bytes, key_set: bytes) -> None:
        held = self._holders[key]
        if isinstance(held, set):
            held.add(key_set)
        else:
            self._holders[key] = {held, key_set}

    def _release(self, key_set: bytes) -> None:
        for key in split_key_set(key_set):
            held = self._holders[key]
            if isinstance(held, set) and len(held) > 1:
                held.discard(key_set)
            else:
                del self._holders[key]
