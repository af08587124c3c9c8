"""Rules of the filtered stream, managed at `/2/tweets/search/stream/rules` (specification part 0, sections 6 and 8).

The specification does not show methods and bodies: they are those of the public service. Number and length of the rules
are limited as in the specification.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import orjson

from audiencekit.emulator.answers import Answer, format_time, show_problem
from audiencekit.emulator.bodies import parse_json
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.account_records import Account
from audiencekit.emulator.endpoints.activity import Query, invalid
from audiencekit.emulator.endpoints.data_api import show_post
from audiencekit.emulator.endpoints.media import MEDIA
from audiencekit.emulator.endpoints.stream_rules import TRACKS, Matcher, Post, Rule, read_rule
from audiencekit.emulator.endpoints.tweet_records import TWEETS, name_author
from audiencekit.emulator.records import Record

# --- Rules of the filtered stream (specification part 0, sections 6 and 8), managed at
# `/2/tweets/search/stream/rules` ---
#
# Methods and bodies are not shown: they are the public service's. Their number and length are those of the track.

_MAX_TAG: Final = 512
_DUPLICATE: Final = "https://api.x.com/2/problems/duplicate-rules"


def list_rules(call: Call) -> Answer:
    """Answer `GET /2/tweets/search/stream/rules`: all of them, or those with some ids."""
    query = Query(call.query)
    ids = query.words("ids")
    query.finish()
    rules = [rule for rule in call.store.stream_rules.rules.values() if not ids or rule.id in ids]
    meta = {"sent": format_time(call.now), "result_count": len(rules)}
    return Answer(200, orjson.dumps({"data": [rule.document() for rule in rules], "meta": meta}))


def change_rules(call: Call) -> Answer:
    """Answer `POST /2/tweets/search/stream/rules`: add rules, or delete them by id or text; `dry_run` only checks."""
    query = Query(call.query)
    dry_run = query.text("dry_run")
    query.finish()
    if dry_run not in (None, "true", "false"):
        raise invalid("Expected true or false for the query parameter [dry_run]")
    match _read(call.body):
        case {"add": list(entries), **rest} if not rest and entries:
            return _add(call, entries, is_tried=dry_run == "true")
        case {"delete": dict(which), **rest} if not rest and len(which) == 1 and which.keys() <= {"ids", "values"}:
            return _delete(call, *next(iter(which.items())), is_tried=dry_run == "true")
    raise invalid('Expected {"add": [{"value": …, "tag": …}]} or {"delete": {"ids": […]}}')


def _read(body: bytes) -> Any:
    try:
        return parse_json(body)
    except ValueError:
        raise invalid("The body is not valid JSON, or repeats a key") from None


def _add(call: Call, entries: list[Any], *, is_tried: bool) -> Answer:
    rules, (most, longest) = call.store.stream_rules.rules, TRACKS[call.options.track]
    read = [_read_entry(entry, longest) for entry in entries]
    known = {rule.value for rule in rules.values()}
    fresh = {value: (tag, matcher) for value, tag, matcher in read if value not in known}
    if most is not None and len(rules) + len(fresh) > most:
        raise invalid(f"The track {call.options.track} has at most {most} rules")
    made = [Rule(call.store.make_long_id(call.now), value, *rest) for value, rest in fresh.items()]
    if not is_tried:
        rules.update({rule.id: rule for rule in made})
    problems = [*_duplicates(read, known)]
    summary = {"created": len(made), "not_created": len(problems), "valid": len(made), "invalid": len(problems)}
    document: dict[str, Any] = {"data": [rule.document() for rule in made]}
    document |= {"meta": {"sent": format_time(call.now), "summary": summary}}
    document |= {"errors": problems} if problems else {}
    return Answer(201 if made else 200, orjson.dumps(document))


def _read_entry(entry: Any, longest: int) -> tuple[str, str | None, Matcher]:
    if not isinstance(entry, dict) or not entry.keys() <= {"value", "tag"} or not isinstance(entry.get("value"), str):
        raise invalid("Expected value, and a tag if need be, as texts for each rule")
    value, tag = entry["value"], entry.get("tag")
    if tag is not None and (not isinstance(tag, str) or len(tag) > _MAX_TAG):
        raise invalid(f"Expected a text of up to {_MAX_TAG} characters for [tag]")
    if not 1 <= len(value) <= longest:
        raise invalid(f"Expected a rule of 1 to {longest} characters for [value]")
    try:
        return value, tag, read_rule(value)
    except ValueError as error:
        raise invalid(f"Expected a rule for [value]: {error}") from None


def _duplicates(read: list[tuple[str, str | None, Matcher]], known: set[str]) -> Iterator[dict[str, Any]]:
    seen = set(known)
    for value, _, _ in read:
        if value in seen:
            yield show_problem(400, "DuplicateRule", "A rule with this value is there already", _DUPLICATE)
        seen.add(value)


def _delete(call: Call, name: str, given: Any, *, is_tried: bool) -> Answer:
    if not isinstance(given, list) or not given or not all(isinstance(each, str) for each in given):
        raise invalid(f"Expected a list of texts for [{name}]")
    rules = call.store.stream_rules.rules
    gone = [rule.id for rule in rules.values() if (rule.id if name == "ids" else rule.value) in given]
    for rule_id in () if is_tried else gone:
        del rules[rule_id]
    summary = {"deleted": len(gone), "not_deleted": len(set(given)) - len(gone)}
    return Answer(200, orjson.dumps({"meta": {"sent": format_time(call.now), "summary": summary}}))


# --- Facts about a post that the operators of rules ask for, each in the form of its operator: `is:retweet`,
# `lang:en` ---

_REFERENCES: Final = {"retweeted": "is:retweet", "replied_to": "is:reply", "quoted": "is:quote"}
_ENTITIES: Final = {"hashtags": "has:hashtags", "mentions": "has:mentions", "urls": "has:links"}
_MEDIA: Final = {"IMAGE": "has:images", "VIDEO": "has:videos"}


def read_post(account: Account, tweet: Record, own_user_id: str) -> Post:
    """Return a tweet of an account in the form that rules need."""
    return Post(tweet.fields["text"], frozenset(fact.casefold() for fact in _facts(account, tweet, own_user_id)))


def _facts(account: Account, tweet: Record, own_user_id: str) -> Iterator[str]:
    shown = show_post(tweet, ())
    yield from _names("from", own_user_id, tweet.fields["user_id"])
    yield f"lang:{shown['lang']}"
    yield f"conversation_id:{shown['conversation_id']}"
    if tweet.fields["nullcast"]:
        yield "is:nullcast"
    if shown["in_reply_to_user_id"]:
        yield from _names("to", own_user_id, shown["in_reply_to_user_id"])
    for reference in shown["referenced_tweets"] or ():
        yield _REFERENCES[reference["type"]]
        if reference["type"] == "retweeted":
            yield from _names("retweets_of", own_user_id, TWEETS.of(account)[reference["id"]].fields["user_id"])
    yield from (fact for name, fact in _ENTITIES.items() if name in (shown["entities"] or {}))
    yield from _media_facts(account, shown)


def _names(operator: str, own_user_id: str, user_id: str) -> Iterator[str]:
    yield f"{operator}:{user_id}"
    yield f"{operator}:{name_author(own_user_id, user_id)[1]}"


def _media_facts(account: Account, shown: dict[str, Any]) -> Iterator[str]:
    keys = (shown["attachments"] or {}).get("media_keys", ())
    if keys:
        yield "has:media"
    for key in keys:
        kind = MEDIA.of(account)[key].fields["media_type"]
        if kind in _MEDIA:
            yield _MEDIA[kind]
