"""Operations on a list: the body of a users request, read as a whole or refused as a whole.

Request-level problems stand under `errors`, problems of items under `operation_errors` (specification part 1,
section 4.0); the shape of the latter, a list of lists, is that of a public client's model. Messages never quote
a value.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise, repeat
from typing import Any, Final

from audiencekit.emulator.audiences.entries import Span
from audiencekit.emulator.audiences.users import UserRules, find_problems, read_key_sets
from audiencekit.emulator.envelope import Problem, problem, refuse, refuse_items
from audiencekit.emulator.times import add_months, parse_time
from audiencekit.limits import EXPIRY_MONTHS, MAX_OPERATIONS

OPERATION_TYPES: Final = ("Update", "Delete")

Echo = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Terms:
    """Which times the operations of a list take, and whether an expiry may be 13 months away or more."""

    times: tuple[str, ...] = ("effective_at", "expires_at")
    caps_expiry: bool = False


AUDIENCE_TERMS: Final = Terms()


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation that was found good, its defaults filled in."""

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
    document: object, rules: UserRules, now: float, ids: Mapping[str, str], terms: Terms = AUDIENCE_TERMS
) -> list[Operation]:
    """Return the operations of a body; `ids` are those of the path. Raises RefusalError (400) for any fault in it."""
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
    """Return the items of a body. Raises RefusalError when it is no array, or one of no items or too many."""
    if not isinstance(document, list):
        raise refuse(400, "INVALID_PARAMETER", "Expected a JSON array of operations", params=ids)
    if not document:
        raise refuse(400, "INVALID_PARAMETER", "At least one operation must be provided", params=ids)
    if len(document) > most:
        raise refuse(400, "REQUEST_TOO_COMPLEX", f"A request has at most {most} operations", params=ids)
    return document


def echo_item(item: object, ids: Mapping[str, str], types: Collection[str] = OPERATION_TYPES) -> Echo:
    """Return the echo of an item that may be wrong: the ids of the path, and its type when there is such a type."""
    operation_type = item.get("operation_type") if isinstance(item, dict) else None
    known = isinstance(operation_type, str) and operation_type in types
    return {"params": dict(ids), "operation_type": operation_type if known else None}


def _read_alike(items: Sequence[Any], rules: UserRules) -> list[list[bytes]] | None:
    """Return the key sets of every operation when all users have the same fields, and are good; else None."""
    lists = [users_of(item) for item in items]
    users = list(chain.from_iterable(lists))
    if not all(lists) or set(map(type, users)) != {dict} or len(set(map(tuple, users))) != 1:
        return None
    key_sets = read_key_sets(users, rules)
    if key_sets is None:
        return None
    return [key_sets[first:last] for first, last in pairwise(accumulate(map(len, lists), initial=0))]


def users_of(item: object) -> list[Any]:
    """Return the users of an operation; none when it is not plainly one."""
    params = item.get("params") if isinstance(item, dict) else None
    users = params.get("users") if isinstance(params, dict) else None
    return users if isinstance(users, list) else []


class _Reader:
    """Reads the operations of one request; operations with the same times share one span."""

    def __init__(self, rules: UserRules, now: float, terms: Terms) -> None:
        self._rules, self._now, self._terms = rules, now, terms
        self._default_expiry = add_months(now, EXPIRY_MONTHS)
        self._spans: dict[Span, Span] = {}

    def read(self, item: object, key_sets: list[bytes] | None) -> Operation | list[Problem]:
        """An operation, or what is wrong with it; `key_sets` are those of its users, if they were read already."""
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
    """Return the one problem of a document that has members it must not have; their names are not quoted."""
    if given.keys() <= known:
        return []
    return [problem("INVALID_PARAMETER", f"There is a parameter that is not known in {where}", where)]


def missing(name: str) -> Problem:
    """Return the problem of a parameter that must be given."""
    return problem("MISSING_PARAMETER", f'"{name}" is a required parameter', name)
