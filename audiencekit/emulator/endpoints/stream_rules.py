"""Rules of the filtered stream, and the posts that they match (specification part 0, sections 6 and 8)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from audiencekit.emulator.answers import Answer, format_time, show_problem
from audiencekit.emulator.bodies import parse_json
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.accounts import Account
from audiencekit.emulator.endpoints.data_api import Query, invalid, show_post
from audiencekit.emulator.endpoints.media import MEDIA
from audiencekit.emulator.endpoints.tweets import TWEETS, find_entities, name_author
from audiencekit.emulator.resources import Record

# --- Which posts a rule of the filtered stream matches ---
#
# The specification does not show the language of rules. This is the public service's, as far as posts here support it:
# a keyword, a "phrase", #hashtag, @mention, and the operators of `OPERATORS`, each also after a minus. Adjacent terms
# must all match; OR and parentheses combine them.

_TOKEN: Final = re.compile(r'\s*(-?(?:"[^"]+"|\(|[a-z_]+:@?[\w-]+|[#@]\w+|[\w\'.&]+)|\))', re.IGNORECASE)
# The values that an operator knows; None for any.
OPERATORS: Final[Mapping[str, frozenset[str] | None]] = {
    "from": None,
    "to": None,
    "retweets_of": None,
    "conversation_id": None,
    "lang": None,
    "is": frozenset({"retweet", "reply", "quote", "nullcast"}),
    "has": frozenset({"hashtags", "mentions", "links", "media", "images", "videos"}),
}
# Alone they would match nearly everything: the rule must have another term beside them.
_NEVER_ALONE: Final = frozenset({"is", "has", "lang"})
_MAX_DEPTH: Final = 20


@dataclass(frozen=True, slots=True)
class Post:
    """The part of a post that rules use: its text, and facts such as `from:local_user`, without case."""

    text: str
    facts: frozenset[str]

    def words(self) -> frozenset[str]:
        """Return the words of the text, without case."""
        return frozenset(re.findall(r"[\w']+", self.text.casefold()))


Matcher = Callable[[Post], bool]


def read_rule(value: str) -> Matcher:
    """Return a function that says whether a post matches the rule. Raises ValueError for an invalid rule."""
    tokens = list(_tokens(value))
    matcher, rest = _read_any(tokens, 0)
    if rest:
        raise ValueError("a parenthesis is closed that was not opened")
    if not any(map(_stands_alone, tokens)):
        raise ValueError(
            "a rule needs a word, a phrase, a hashtag, a mention or a person beside is:, has:, lang: and minus"
        )
    return matcher


def _stands_alone(term: str) -> bool:
    return term[0] not in "-()" and term != "OR" and term.partition(":")[0].casefold() not in _NEVER_ALONE


def _tokens(value: str) -> Iterator[str]:
    place = 0
    while value[place:].strip():
        found = _TOKEN.match(value, place)
        if found is None:
            raise ValueError("a word of the rule cannot be read")
        yield found[1]
        place = found.end()


def _read_any(tokens: list[str], depth: int) -> tuple[Matcher, list[str]]:
    """Return alternatives, up to a closing parenthesis or the end."""
    if depth > _MAX_DEPTH:
        raise ValueError("the parentheses are nested too deeply")
    choices: list[Matcher] = []
    while True:
        choice, tokens = _read_all(tokens, depth)
        choices.append(choice)
        if not tokens or tokens[0] == ")":
            return (lambda post: any(matches(post) for matches in choices)), tokens
        tokens = tokens[1:]  # OR


def _read_all(tokens: list[str], depth: int) -> tuple[Matcher, list[str]]:
    """Return terms that must all match, up to OR, a closing parenthesis or the end."""
    terms: list[Matcher] = []
    while tokens and tokens[0] not in (")", "OR"):
        first, tokens = tokens[0], tokens[1:]
        if first.removeprefix("-") == "(":
            inner, tokens = _read_any(tokens, depth + 1)
            if not tokens:
                raise ValueError("a parenthesis is not closed")
            tokens = tokens[1:]
            term = inner
        else:
            term = _read_term(first.removeprefix("-"))
        terms.append(_negated(term) if first.startswith("-") else term)
    if not terms:
        raise ValueError("a rule has words on both sides of OR, and in parentheses")
    return (lambda post: all(matches(post) for matches in terms)), tokens


def _negated(term: Matcher) -> Matcher:
    return lambda post: not term(post)


def _read_term(token: str) -> Matcher:
    word = token.casefold()
    name, colon, value = word.partition(":")
    if colon and word[0] != '"':
        return _read_operator(name, value.removeprefix("@"))
    if word[0] in "#@":
        kind = "hashtag" if word[0] == "#" else "mention"
        return lambda post: any(
            entity.kind == kind and entity.word.casefold() == word[1:] for entity in find_entities(post.text)
        )
    if word[0] == '"':
        phrase = word.strip('"')
        return lambda post: phrase in post.text.casefold()
    return lambda post: word in post.words()


def _read_operator(name: str, value: str) -> Matcher:
    if name not in OPERATORS:
        raise ValueError(f"the operators are {', '.join(OPERATORS)}")
    known = OPERATORS[name]
    if known is not None and value not in known:
        raise ValueError(f"{name}: takes {', '.join(sorted(known))}")
    fact = f"{name}:{value}"
    return lambda post: fact in post.facts


# --- The present rules of the filtered stream (specification part 0, sections 6 and 8) ---

# Rules at the same time, None for any number, and characters of a rule; section 8.
TRACKS: Final[Mapping[str, tuple[int | None, int]]] = {
    "standard": (25, 512),
    "academic": (1_000, 1_024),
    "enterprise": (None, 2_048),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; `tag` is a word that the caller chose for it."""

    id: str
    value: str
    tag: str | None
    matches: Matcher = field(repr=False, compare=False)

    def document(self) -> dict[str, str]:
        """Return the rule as the service shows it."""
        return {"id": self.id, "value": self.value, **({} if self.tag is None else {"tag": self.tag})}


class StreamRules:
    """All rules, by their ids."""

    def __init__(self) -> None:
        self.rules: dict[str, Rule] = {}

    def matching(self, post: Post) -> list[Rule]:
        """Return the rules that match a post."""
        return [rule for rule in self.rules.values() if rule.matches(post)]


# --- Rules of the filtered stream: shown, added, deleted ---
#
# The specification does not show methods and bodies: they are those of the public service. Number and length of the
# rules are limited as in the specification.

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
