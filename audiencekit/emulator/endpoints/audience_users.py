"""Users that are added to audiences or removed (specification part 2, section 4.4)."""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise, repeat
from typing import TYPE_CHECKING, Any, Final

import orjson

from audiencekit.emulator.answers import Answer, Problem, add_months, parse_time, problem, refuse, refuse_items, success
from audiencekit.emulator.bodies import collector_paused
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.accounts import Account
from audiencekit.emulator.endpoints.audience_members import FIELDS, PARTNER_USER_ID, Span, make_key, make_key_set
from audiencekit.emulator.endpoints.custom_audiences import Audience, find_audience
from audiencekit.emulator.parameters import check_body, read_document
from audiencekit.limits import EXPIRY_MONTHS, MAX_OPERATIONS, SHA256_HEX_LENGTH

if TYPE_CHECKING:
    from audiencekit.emulator.endpoints.do_not_reach import DoNotReachList

# --- `POST …/custom_audiences/:custom_audience_id/users`: all of a request is applied, or nothing of it
# (specification part 2, section 4.4) ---


def upload_users(call: Call) -> Answer:
    """Return the number of users received, over all operations, twice."""
    audience = find_audience(call, to_write=True)
    check_body(call)
    if audience.segments is not None:
        raise call.refuse(400, "INVALID_PARAMETER", "A flexible audience has no users of its own", "custom_audience_id")
    rules = UserRules.of(call.options.profile, upper_case=call.options.accept_upper_case)
    users = count_users(call.body, rules) if call.options.sink else None
    if users is None:
        with collector_paused():
            users = _read_and_apply(call, audience, rules)
    return success(call.ids, {"success_count": users, "total_count": users})


def _read_and_apply(call: Call, audience: Audience, rules: UserRules) -> int:
    operations = read_operations(read_document(call), rules, call.now, call.ids)
    if not call.options.sink:
        apply_operations(call, call.store.accounts[audience.account_id], audience, operations)
    return sum(len(operation.key_sets) for operation in operations)


# --- Operations on a list: the body of a users request, read as a whole or refused as a whole ---
#
# Request-level problems stand under `errors`, problems of items under `operation_errors` (specification part 1, section
# 4.0); the shape of the latter, a list of lists, is that of a public client's model. Messages never quote a value.

OPERATION_TYPES: Final = ("Update", "Delete")

Echo = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TimeRules:
    """The times that operations of a list may have, and whether an expiry may be 13 months away or more."""

    times: tuple[str, ...] = ("effective_at", "expires_at")
    caps_expiry: bool = False


AUDIENCE_TERMS: Final = TimeRules()


@dataclass(frozen=True, slots=True)
class Operation:
    """One valid operation, with its defaults."""

    operation_type: str
    span: Span
    key_sets: list[bytes] = field(repr=False)

    @property
    def effective_at(self) -> float:
        """Epoch seconds."""
        return self.span.effective_at

    @property
    def expires_at(self) -> float:
        """Epoch seconds."""
        return self.span.expires_at


def read_operations(
    document: object, rules: UserRules, now: float, ids: Mapping[str, str], terms: TimeRules = AUDIENCE_TERMS
) -> list[Operation]:
    """Return the operations of a body; `ids` are those of the path. Raises RefusalError (400) for any problem."""
    items = check_array(document, ids)
    reader = _Reader(rules, now, terms)
    alike = _read_alike(items, rules) or repeat(None)
    read = [reader.read(item, key_sets) for item, key_sets in zip(items, alike, strict=False)]
    operations = [operation for operation in read if isinstance(operation, Operation)]
    if len(operations) < len(read):
        problems = [[] if isinstance(found, Operation) else found for found in read]
        raise refuse_items(problems, [echo_item(item, ids) for item in items])
    return operations


def check_array(document: object, ids: Mapping[str, str], *, most: int = MAX_OPERATIONS) -> list[Any]:
    """Return the items of a body. Raises RefusalError unless it is an array with a valid number of items."""
    if not isinstance(document, list):
        raise refuse(400, "INVALID_PARAMETER", "Expected a JSON array of operations", params=ids)
    if not document:
        raise refuse(400, "INVALID_PARAMETER", "At least one operation must be provided", params=ids)
    if len(document) > most:
        raise refuse(400, "REQUEST_TOO_COMPLEX", f"A request has at most {most} operations", params=ids)
    return document


def echo_item(item: object, ids: Mapping[str, str], types: Collection[str] = OPERATION_TYPES) -> Echo:
    """Return the echo of an item, which may be invalid: the ids of the path, and its type if that is known."""
    operation_type = item.get("operation_type") if isinstance(item, dict) else None
    known = isinstance(operation_type, str) and operation_type in types
    return {"params": dict(ids), "operation_type": operation_type if known else None}


def _read_alike(items: Sequence[Any], rules: UserRules) -> list[list[bytes]] | None:
    """Return the key sets of every operation if all users have the same fields and are valid; otherwise None."""
    lists = [users_of(item) for item in items]
    users = list(chain.from_iterable(lists))
    if not all(lists) or set(map(type, users)) != {dict} or len(set(map(tuple, users))) != 1:
        return None
    key_sets = read_key_sets(users, rules)
    if key_sets is None:
        return None
    return [key_sets[first:last] for first, last in pairwise(accumulate(map(len, lists), initial=0))]


def users_of(item: object) -> list[Any]:
    """Return the users of an operation; none if it is not clearly one."""
    params = item.get("params") if isinstance(item, dict) else None
    users = params.get("users") if isinstance(params, dict) else None
    return users if isinstance(users, list) else []


class _Reader:
    """Reads the operations of one request; operations with the same times share one span."""

    def __init__(self, rules: UserRules, now: float, terms: TimeRules) -> None:
        self._rules, self._now, self._terms = rules, now, terms
        self._default_expiry = add_months(now, EXPIRY_MONTHS)
        self._spans: dict[Span, Span] = {}

    def read(self, item: object, key_sets: list[bytes] | None) -> Operation | list[Problem]:
        """Return an operation, or its problems; `key_sets` are those of its users if they were read already."""
        if not isinstance(item, dict):
            return [problem("INVALID_PARAMETER", "Expected object for operation", "operation")]
        problems = item_problems(item, OPERATION_TYPES)
        params = item.get("params")
        if not isinstance(params, dict):
            return problems
        span, time_problems = self._span(params)
        key_sets, user_problems = self._users(params) if key_sets is None else (key_sets, [])
        problems += [*unknown(params, {"users", *self._terms.times}, "params"), *time_problems, *user_problems]
        if problems:
            return problems
        return Operation(item["operation_type"], self._spans.setdefault(span, span), key_sets)

    def _users(self, params: Mapping[str, Any]) -> tuple[list[bytes], list[Problem]]:
        if "users" not in params:
            return [], [missing("users")]
        users = params["users"]
        key_sets = read_key_sets(users, self._rules) if isinstance(users, list) and users else None
        if key_sets is not None:
            return key_sets, []
        problems = find_problems(users, self._rules)
        if not problems:
            raise RuntimeError("users were refused for no reason")
        return [], problems

    def _span(self, params: Mapping[str, Any]) -> tuple[Span, list[Problem]]:
        given = {name: parse_time(params[name]) for name in self._terms.times if name in params}
        problems = [
            problem("INVALID_PARAMETER", f"Expected time for {name}", name)
            for name, moment in given.items()
            if moment is None
        ]
        effective_at = given.get("effective_at")
        expires_at = given.get("expires_at")
        span = Span(
            self._now if effective_at is None else effective_at,
            self._default_expiry if expires_at is None else expires_at,
        )
        if not problems and span.expires_at <= span.effective_at:
            earlier = "effective_at" if "effective_at" in self._terms.times else "now"
            message = f"expires_at must be later than {earlier}"
            problems.append(problem("INVALID_PARAMETER", message, "expires_at"))
        if expires_at is not None and self._terms.caps_expiry and expires_at >= self._default_expiry:
            message = f"expires_at must be less than {EXPIRY_MONTHS} months away"
            problems.append(problem("INVALID_PARAMETER", message, "expires_at"))
        return span, problems


def item_problems(item: Mapping[str, Any], types: Sequence[str]) -> list[Problem]:
    """Return the problems of an item outside its `params`."""
    problems = unknown(item, {"operation_type", "params"}, "operation")
    if "operation_type" not in item:
        problems.append(missing("operation_type"))
    elif item["operation_type"] not in types:
        message = f"Expected {', '.join(types[:-1])} or {types[-1]} for operation_type"
        problems.append(problem("INVALID_PARAMETER", message, "operation_type"))
    if "params" not in item:
        problems.append(missing("params"))
    elif not isinstance(item["params"], dict):
        problems.append(problem("INVALID_PARAMETER", "Expected object for params", "params"))
    return problems


def unknown(given: Mapping[str, Any], known: Set[str], where: str) -> list[Problem]:
    """Return the one problem of a document with unknown members; their names are not quoted."""
    if given.keys() <= known:
        return []
    return [problem("INVALID_PARAMETER", f"There is a parameter that is not known in {where}", where)]


def missing(name: str) -> Problem:
    """Return the problem of a parameter that must be given."""
    return problem("MISSING_PARAMETER", f'"{name}" is a required parameter', name)


# --- Applying the operations of a request to a list, and writing them down ---


def apply_operations(
    call: Call, owner: Account, changed: Audience | DoNotReachList, operations: Sequence[Operation]
) -> None:
    """Change the members of a list of `owner`; counts that are due use the members from before."""
    call.store.catch_up(owner, call.now)
    # First, since it is what can fail: then nothing has changed.
    call.store.operations.append(call.now, changed.id, call.body, operations)
    for operation in operations:
        apply = changed.members.update if operation.operation_type == "Update" else changed.members.delete
        apply(operation.key_sets, operation.span, call.now)
    changed.processing.has_changed = True


# --- Counting the users of a body without looking at each: for benchmarks, which the emulator must not slow down ---
#
# The hashes are cut out of the text, so that all users with the same fields look the same; each of the few looks is
# then replaced by a digit. What is left is a small JSON text with the shape of the body, and is parsed as one. Hashes
# are not checked, and digits where none belong may go unseen.

_HASH_DIGITS: Final = b"0123456789abcdef"
_MAX_LOOKS: Final = 32


def count_users(body: bytes, rules: UserRules) -> int | None:
    """Return how many users a body has; None if it is not clearly valid."""
    pattern = _user_pattern(rules.fields)
    shape = body.translate(None, _HASH_DIGITS)
    for _ in range(_MAX_LOOKS):
        user = pattern.search(shape)
        if user is None:
            break
        shape = shape.replace(user.group(), b"0")
    try:
        return sum(map(_count, _operations(orjson.loads(shape))))
    except (ValueError, TypeError, KeyError):
        return None


def _user_pattern(names: Iterable[str]) -> re.Pattern[bytes]:
    name = b'"(?:' + b"|".join(map(_bare, names)) + b')"'
    field = name + rb':\[""(?:,"")*\]'
    return re.compile(rb"\{" + field + rb"(?:," + field + rb")*\}")


def _bare(word: str) -> bytes:
    return word.encode().translate(None, _HASH_DIGITS)


def _operations(document: Any) -> list[Any]:
    if not isinstance(document, list) or not 0 < len(document) <= MAX_OPERATIONS:
        raise ValueError
    return document


def _count(operation: dict[str, Any]) -> int:
    users = operation[_bare("params").decode()][_bare("users").decode()]
    known = operation[_bare("operation_type").decode()] in [_bare(word).decode() for word in OPERATION_TYPES]
    if not known or not isinstance(users, list) or not users:
        raise ValueError
    return len(users)


# --- User entries: checked, and turned into key sets (specification part 2, section 4.4) ---
#
# Two ways to one end. Most operations are good, and many at once: `read_key_sets` looks at all their values together
# and says only whether anything is wrong. `find_problems` then looks at each value, to say what.

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
        """Return these rules, limited to entries with some fields."""
        return UserRules({name: tag for name, tag in self.fields.items() if name in names}, self.upper_case)

    @property
    def digits(self) -> bytes:
        """The characters of a hash."""
        return string.hexdigits.encode() if self.upper_case else _LOWER

    def is_hash(self, text: str) -> bool:
        """Whether `text` is a SHA-256 hash in hexadecimal digits."""
        return len(text) == SHA256_HEX_LENGTH and not text.encode().translate(None, self.digits)


def read_key_sets(users: list[Any], rules: UserRules) -> list[bytes] | None:
    """Return the key set of each user, in order; None if any of them is invalid."""
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
    """Return key sets of users with the same fields and one value each: their order follows from the tags alone."""
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
    """Return the problems, each kind once for each field; empty without any. Values are not quoted."""
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
