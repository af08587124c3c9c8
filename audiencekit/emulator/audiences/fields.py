"""The fields of a user entry, and the keys that their values make (specification part 2, section 4.4).

A key is a field and one value, as bytes: a tag and 32 bytes of digest; or, for the one field that is not
hashed, a tag, the length of the text in 4 bytes, and the text. A key set is its keys, sorted, end to end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from types import MappingProxyType
from typing import Final

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
    """Return the key of one value that was found good."""
    if tag != PARTNER_USER_ID:
        return tag + bytes.fromhex(text)
    raw = text.encode()
    return tag + len(raw).to_bytes(_LENGTH_BYTES, "big") + raw


def make_key_set(keys: Iterable[bytes]) -> bytes:
    """Return the key set of some keys, in whatever order and however often they are given."""
    return b"".join(sorted(set(keys)))


def is_one_hash(key_set: bytes) -> bool:
    """Return whether a key set is one key, that of a hashed value: most are."""
    return len(key_set) == HASHED_KEY_BYTES and key_set[:1] != PARTNER_USER_ID


def are_hashes(key_sets: Sequence[bytes]) -> bool:
    """Return whether each of many key sets is one key, that of a hashed value."""
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
