"""The language of rules: which posts each matches."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from audiencekit.emulator.endpoints.stream_rules import Post, read_rule
from tests.cases import each_case

POST = Post(
    "Spring has come to the #harbour, says @friend_1",
    frozenset({"from:7", "from:local_user", "is:reply", "has:links", "lang:en"}),
)


@each_case(
    "rule, is_matched",
    [
        ("spring", True),
        ("SPRING harbour", True),
        ("spring autumn", False),
        ("spring OR autumn", True),
        ("autumn OR winter", False),
        ('"come to"', True),
        ('"to come"', False),
        ("#harbour", True),
        ("#spring", False),
        ("@friend_1", True),
        ("@friend", False),
        ("from:local_user", True),
        ("from:@local_user", True),
        ("from:7", True),
        ("from:8", False),
        ("spring -autumn", True),
        ("harbour -spring", False),
        ("spring -is:retweet", True),
        ("Spring -IS:Reply", False),
        ("spring is:reply has:links lang:en", True),
        ("spring has:images", False),
        ("spring lang:de", False),
        ("to:local_user", False),
        ("(is:retweet OR is:reply) spring", True),
        ('"says @friend"', True),
        ("spring -(autumn OR winter)", True),
        ("spring -(autumn OR harbour)", False),
        ("(autumn OR spring) (#harbour OR #ship)", True),
        ("spr", False),
        ("or", False),
    ],
)
def test_a_rule_matches_what_it_says(rule: str, is_matched: bool) -> None:
    """Words side by side all hold; OR is written large."""
    assert read_rule(rule)(POST) is is_matched


@each_case(
    "rule",
    [
        "",
        " ",
        "OR",
        "spring OR",
        "OR spring",
        "(spring",
        "spring)",
        "()",
        '"',
        "-",
        "~",
        "(" * 30,
        "-spring",
        "is:retweet",
        "lang:en has:media",
        "spring is:nothing",
        "spring place:here",
    ],
)
def test_an_invalid_rule_is_refused(rule: str) -> None:
    """With words that say what is wrong."""
    with pytest.raises(ValueError, match=r"\w"):
        read_rule(rule)


@given(st.text(alphabet='ab "()-#@OR:', max_size=60))
def test_no_text_is_too_strange(rule: str) -> None:
    """It is a rule, or it is refused."""
    try:
        matcher = read_rule(rule)
    except ValueError:
        return
    assert matcher(POST) in (True, False)
