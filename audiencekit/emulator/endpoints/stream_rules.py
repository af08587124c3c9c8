"""Which posts a rule of the filtered stream matches.

The specification does not show the language of rules. This is the public service's, as far as posts here support it: a
keyword, a "phrase", #hashtag, @mention, and the operators of `OPERATORS`, each also after a minus. Adjacent terms must
all match; OR and parentheses combine them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from audiencekit.emulator.endpoints.tweet_entities import find_entities

# --- Which posts a rule of the filtered stream matches ---
#
# The specification does not show the language of rules. This is the public service's, as far as posts here can answer
# it: a keyword, a "phrase", #hashtag, @mention, and the operators of `OPERATORS`, each also after a minus. Terms side
# by side must all hold; OR and parentheses combine them.

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
