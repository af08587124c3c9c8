"""The fields of a user entry, and the keys that their values make (specification part 2, section 4.4).

A key is a field and one value, as bytes: a tag and 32 bytes of digest; or, for the one field that is not
hashed, a tag, the length of the text in 4 bytes, and the text. A key set is its keys, sorted, end to end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from types import MappingProxyType
from typing import Final, NamedTuple

# --- Fields, keys and key sets ---

# The field that is not hashed has the lowest tag, so that a key set shows by its first byte whether it has one.
PARTNER_USER_ID, EMAIL, DEVICE_ID, HANDLE, PLATFORM_ID, PHONE_NUMBER = (bytes((tag,)) for tag in range(1, 7))

HASHED_KEY_BYTES: Final = 33
_LENGTH_BYTES: Final = 4

# The public service calls platform_id twitter_id (public documentation, audiences reference).
FIELDS: Final[Mapping[str, Mapping[str, bytes]]] = MappingProxyType(
    {
        profile: MappingProxyType(
            {
                "email": EMAIL,
                "device_id": DEVICE_ID,
                "handle": HANDLE,
                platform_id: PLATFORM_ID,
                "phone_number": PHONE_NUMBER,
                "partner_user_id": PARTNER_USER_ID,
            }
        )
        for profile, platform_id in (("spec", "platform_id"), ("x", "twitter_id"))
    }
)


def make_key(tag: bytes, text: str) -> bytes:
    """Return the key of one valid value."""
    if tag != PARTNER_USER_ID:
        return tag + bytes.fromhex(text)
    raw = text.encode()
    return tag + len(raw).to_bytes(_LENGTH_BYTES, "big") + raw


def make_key_set(keys: Iterable[bytes]) -> bytes:
    """Return the key set of some keys, in any order, with or without repetitions."""
    return b"".join(sorted(set(keys)))


def is_one_hash(key_set: bytes) -> bool:
    """Whether a key set is a single key of a hashed value: most are."""
    return len(key_set) == HASHED_KEY_BYTES and key_set[:1] != PARTNER_USER_ID


def are_hashes(key_sets: Sequence[bytes]) -> bool:
    """Return for each of many key sets whether it is a single key of a hashed value."""
    return set(map(len, key_sets)) == {HASHED_KEY_BYTES} and PARTNER_USER_ID[0] not in set(map(itemgetter(0), key_sets))


def split_key_set(key_set: bytes) -> list[bytes]:
    """Return the keys of a key set."""
    texts = []
    start = 0
    while key_set[start : start + 1] == PARTNER_USER_ID:
        text_start = start + 1 + _LENGTH_BYTES
        end = text_start + int.from_bytes(key_set[start + 1 : text_start], "big")
        texts.append(key_set[start:end])
        start = end
    return texts + [key_set[at : at + HASHED_KEY_BYTES] for at in range(start, len(key_set), HASHED_KEY_BYTES)]


def name_tags(profile: str) -> Mapping[bytes, str]:
    """Return the field names of a profile, by their tags."""
    return {tag: name for name, tag in FIELDS[profile].items()}


def show_key_set(key_set: bytes, names: Mapping[bytes, str]) -> dict[str, list[str]]:
    """Return a key set as a user entry: fields and their values, hashes in lower case."""
    shown: dict[str, list[str]] = {}
    for key in split_key_set(key_set):
        text = key[1 + _LENGTH_BYTES :].decode() if key[:1] == PARTNER_USER_ID else key[1:].hex()
        shown.setdefault(names[key[:1]], []).append(text)
    return shown


# --- Entries of a list: which key sets it holds, and for how long each ---


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
        """Add entries; a key set that exists already gets this span."""
        for key_set in () if are_hashes(key_sets) else key_sets:
            if not is_one_hash(key_set) and key_set not in self._spans:
                for key in split_key_set(key_set):
                    if self._holders.setdefault(key, key_set) != key_set:
                        self._share(key, key_set)
        self._spans.update(dict.fromkeys(key_sets, span))

    def remove(self, keys: Iterable[bytes]) -> None:
        """Remove every entry with any of `keys`."""
        for key in keys:
            self._spans.pop(key, None)
            held = self._holders.get(key, b"")
            for key_set in list(held) if isinstance(held, set) else [held] * bool(held):
                self._spans.pop(key_set, None)
                self._release(key_set)

    def take_over(self, other: Entries) -> None:
        """Add every entry of `other`."""
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


# --- The people on a list, and from when: operations take effect at their `effective_at` ---
#
# The rule, where the specification is short (part 2, sections 3 and 4.4): an operation whose `effective_at` lies ahead
# waits, and what takes effect at one moment does so in order of arrival. A Delete also strikes what arrived before it
# and still waits, for its own moment or a later one: who says "take her out" means the entry announced for Monday, too.


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
