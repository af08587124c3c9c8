"""The people on a list, and from when: operations take effect at their `effective_at`.

The rule, where the specification is short (part 2, sections 3 and 4.4): an operation whose `effective_at` lies
ahead waits, and what takes effect at one moment does so in order of arrival. A Delete also strikes what arrived
before it and still waits, for its own moment or a later one: who says "take her out" means the entry announced
for Monday, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from audiencekit.emulator.audiences.entries import Entries, Span
from audiencekit.emulator.audiences.fields import split_key_set


@dataclass(slots=True)
class _Scheduled:
    """Changes that take effect at one moment: first the removals, then the entries."""

    removals: set[bytes] = field(default_factory=set)
    entries: Entries = field(default_factory=Entries)


class Membership:
    """The entries of one list. All times in epoch seconds."""

    def __init__(self) -> None:
        self._current = Entries()
        self._scheduled: dict[float, _Scheduled] = {}

    def update(self, key_sets: Sequence[bytes], span: Span, now: float) -> None:
        """Add or renew entries."""
        self._take_effect(now)
        if span.effective_at <= now:
            self._current.put(key_sets, span)
        else:
            self._at(span.effective_at).entries.put(key_sets, span)

    def delete(self, key_sets: Iterable[bytes], span: Span, now: float) -> None:
        """Remove every entry that shares a key with any of `key_sets`."""
        self._take_effect(now)
        keys = [key for key_set in key_sets for key in split_key_set(key_set)]
        if span.effective_at <= now:
            self._current.remove(keys)
        else:
            self._at(span.effective_at).removals.update(keys)
        for moment, scheduled in self._scheduled.items():
            if moment >= span.effective_at:
                scheduled.entries.remove(keys)

    def members(self, now: float) -> Iterator[tuple[bytes, Span]]:
        """Return the key sets that are on the list now, with their spans."""
        self._take_effect(now)
        for key_set, span in self._current:
            if span.effective_at <= now < span.expires_at:
                yield key_set, span

    def _at(self, moment: float) -> _Scheduled:
        return self._scheduled.setdefault(moment, _Scheduled())

    def _take_effect(self, now: float) -> None:
        for moment in sorted(moment for moment in self._scheduled if moment <= now):
            scheduled = self._scheduled.pop(moment)
            self._current.remove(scheduled.removals)
            self._current.take_over(scheduled.entries)
