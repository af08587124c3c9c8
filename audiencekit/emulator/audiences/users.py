"""User entries: checked, and turned into key sets (specification part 2, section 4.4).

Two ways to one end. Most operations are good, and many at once: `read_key_sets` looks at all their values
together and says only whether anything is wrong. `find_problems` then looks at each value, to say what.
"""

from __future__ import annotations

import string
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Any, Final

from audiencekit.emulator.audiences.fields import FIELDS, PARTNER_USER_ID, make_key, make_key_set
from audiencekit.emulator.envelope import Problem, problem
from audiencekit.limits import SHA256_HEX_LENGTH

_LOWER: Final = b"0123456789abcdef"
_DIGEST_BYTES: Final = 32

Shape = tuple[str, ...]  # the fields of a user, in the order of its JSON


@dataclass(frozen=True, slots=True)
class UserRules:
    """The fields that an entry may have, with their tags, and whether hashes may be upper-case."""

    fields: Mapping[str, bytes]
    upper_case: bool = False

    @classmethod
    def of(cls, profile: str, *, upper_case: bool = False) -> UserRules:
        """Return the rules of a profile."""
        return cls(FIELDS[profile], upper_case)

    def only(self, names: Collection[str]) -> UserRules:
        """Return these rules for entries that may have no other fields."""
        return UserRules({name: tag for name, tag in self.fields.items() if name in names}, self.upper_case)

    @property
    def digits(self) -> bytes:
        """The characters of a hash."""
        return string.hexdigits.encode() if self.upper_case else _LOWER

    def is_hash(self, text: str) -> bool:
        """Return whether `text` is a SHA-256 hash in hexadecimal digits."""
        return len(text) == SHA256_HEX_LENGTH and not text.encode().translate(None, self.digits)


def read_key_sets(users: list[Any], rules: UserRules) -> list[bytes] | None:
    """Return the key set of each user, in order; None when anything about any of them is wrong."""
    if set(map(type, users)) != {dict} or not all(users):
        return None
    shapes: set[Shape] = set(map(tuple, users))
    names = set(chain.from_iterable(shapes))
    values: list[Any] = list(chain.from_iterable(map(dict.values, users)))
    if not names <= rules.fields.keys() or set(map(type, values)) != {list} or not all(values):
        return None
    texts: list[Any] = list(chain.from_iterable(values))
    if set(map(type, texts)) != {str} or not all(texts):
        return None
    if any(rules.fields[name] == PARTNER_USER_ID for name in names):
        return _read_mixed(users, rules)
    digests = _read_digests(texts, rules)
    return None if digests is None else _arrange(users, shapes, digests, rules)


def _read_digests(texts: list[str], rules: UserRules) -> bytes | None:
    joined = "".join(texts)
    if set(map(len, texts)) != {SHA256_HEX_LENGTH} or joined.encode().translate(None, rules.digits):
        return None
    return bytes.fromhex(joined)


def _arrange(users: list[dict[str, list[str]]], shapes: set[Shape], digests: bytes, rules: UserRules) -> list[bytes]:
    shape = next(iter(shapes))
    if len(shapes) == 1 and len(digests) == len(users) * len(shape) * _DIGEST_BYTES:
        return _arrange_alike(shape, digests, rules)
    starts = range(0, len(digests), _DIGEST_BYTES)
    tags = [rules.fields[name] for user in users for name, texts in user.items() for _ in texts]
    keys = [tag + digests[start : start + _DIGEST_BYTES] for tag, start in zip(tags, starts, strict=True)]
    ends = accumulate((sum(map(len, user.values())) for user in users), initial=0)
    return [make_key_set(keys[first:last]) for first, last in pairwise(ends)]


def _arrange_alike(shape: Shape, digests: bytes, rules: UserRules) -> list[bytes]:
    """Return key sets of users that have the same fields, with one value each: tags alone decide their order."""
    width = len(shape) * _DIGEST_BYTES
    columns = [
        [tag + digests[start : start + _DIGEST_BYTES] for start in range(place, len(digests), width)]
        for tag, place in sorted((rules.fields[name], _DIGEST_BYTES * at) for at, name in enumerate(shape))
    ]
    return list(map(b"".join, zip(*columns, strict=True)))


def _read_mixed(users: list[dict[str, list[str]]], rules: UserRules) -> list[bytes] | None:
    key_sets = []
    for user in users:
        pairs = [(rules.fields[name], text) for name, texts in user.items() for text in texts]
        if not all(tag == PARTNER_USER_ID or rules.is_hash(text) for tag, text in pairs):
            return None
        key_sets.append(make_key_set(make_key(tag, text) for tag, text in pairs))
    return key_sets


def find_problems(users: object, rules: UserRules) -> list[Problem]:
    """Return the problems, each kind of fault in each field once; empty when there is none. No value is quoted."""
    if not isinstance(users, list):
        return [problem("INVALID_PARAMETER", "Expected array for users", "users")]
    if not users:
        return [problem("INVALID_PARAMETER", "At least one user must be provided", "users")]
    found: dict[tuple[str, ...], Problem] = {}
    for user in users:
        for fault in _user_problems(user, rules):
            found.setdefault(tuple(fault.values()), fault)
    return list(found.values())


def _user_problems(user: object, rules: UserRules) -> Iterator[Problem]:
    if not isinstance(user, dict):
        yield problem("INVALID_PARAMETER", "Expected array of objects for users", "users")
        return
    if not user:
        yield problem("MISSING_PARAMETER", "At least one user identifier must be provided", "users")
    for name, texts in user.items():
        if name not in rules.fields:
            yield problem("INVALID_PARAMETER", "A user has a field that is not known", "users")
        elif not isinstance(texts, list) or not texts:
            yield problem("INVALID_PARAMETER", f"Expected non-empty array of strings for {name}", name)
        else:
            yield from _text_problems(name, texts, rules)


def _text_problems(name: str, texts: list[object], rules: UserRules) -> Iterator[Problem]:
    for text in texts:
        if not isinstance(text, str) or not text:
            yield problem("INVALID_PARAMETER", f"Expected non-empty array of strings for {name}", name)
        elif rules.fields[name] != PARTNER_USER_ID and not rules.is_hash(text):
            yield problem("INVALID_PARAMETER", f"{name} is not a valid SHA-256 hash", name)
