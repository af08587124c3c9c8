"""The language of rules: which posts each matches."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from audiencekit.emulator.endpoints.stream_rules import Post, read_post, read_rule
from audiencekit.emulator.endpoints.tweets import TWEETS
from tests.cases import each_case
from tests.emulator.endpoints.data_api_builder import ask, is_invalid
from tests.emulator.endpoints.tweets_builder import write

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


# --- Rules of the filtered stream over the wire, up to the bounds of each track ---

PATH = "/tweets/search/stream/rules"


async def change(caller: Any, query: Any = None, **order: Any) -> Any:
    """The answer to a change of rules."""
    return await ask(caller, "POST", PATH, query, data=json.dumps(order).encode())


async def test_rules_are_added_listed_and_deleted(caller: Any) -> None:
    """By number or by text; one that is there already is told as a problem."""
    made = await change(caller, add=[{"value": "spring", "tag": "season"}, {"value": "autumn"}])
    assert (made.status, [rule.get("tag") for rule in made.body["data"]]) == (201, ["season", None])
    listed = (await ask(caller, "GET", PATH)).body
    assert (listed["data"], listed["meta"]["result_count"]) == (made.body["data"], 2)
    again = (await change(caller, add=[{"value": "spring"}, {"value": "winter"}])).body
    assert [rule["value"] for rule in again["data"]] == ["winter"]
    assert [problem["title"] for problem in again["errors"]] == ["DuplicateRule"]
    ids = [made.body["data"][0]["id"]]
    assert (await ask(caller, "GET", PATH, {"ids": ids[0]})).body["data"] == made.body["data"][:1]
    assert (await change(caller, delete={"ids": [*ids, "7"]})).body["meta"]["summary"] == {
        "deleted": 1,
        "not_deleted": 1,
    }
    await change(caller, delete={"values": ["autumn"]})
    assert [rule["value"] for rule in (await ask(caller, "GET", PATH)).body["data"]] == ["winter"]


async def test_a_try_changes_nothing(caller: Any) -> None:
    """With `dry_run`."""
    assert (await change(caller, {"dry_run": "true"}, add=[{"value": "spring"}])).status == 201
    assert (await ask(caller, "GET", PATH)).body["data"] == []


@each_case("track, most, longest", [("standard", 25, 512), ("academic", 1_000, 1_024), ("enterprise", None, 2_048)])
async def test_a_track_has_its_bounds(open_emulator: Any, track: str, most: int | None, longest: int) -> None:
    """Number and length of rules (specification part 0, section 8)."""
    async with open_emulator(track=track) as caller:
        assert (await change(caller, add=[{"value": "a" * longest}])).status == 201
        assert is_invalid(await change(caller, add=[{"value": "a" * (longest + 1)}]))
        rest = [{"value": f"word{number}"} for number in range((most or 1_500) - 1)]
        assert (await change(caller, add=rest)).status == 201
        more = await change(caller, add=[{"value": "another"}])
        assert is_invalid(more) if most else more.status == 201


@each_case(
    "order",
    [
        {},
        {"add": []},
        {"add": [{"value": "a"}], "delete": {"ids": ["1"]}},
        {"add": [{"value": 1}]},
        {"add": [{"value": "a", "more": "b"}]},
        {"add": [{"value": "a", "tag": 1}]},
        {"add": [{"value": "(a"}]},
        {"add": ["a"]},
        {"delete": {}},
        {"delete": {"ids": "1"}},
        {"delete": {"ids": []}},
        {"delete": {"ids": ["1"], "values": ["a"]}},
    ],
)
async def test_faulty_changes_are_problems(caller: Any, order: Any) -> None:
    """And change nothing."""
    assert is_invalid(await change(caller, **order))
    assert is_invalid(await ask(caller, "POST", PATH, data=b"{"))
    assert (await ask(caller, "GET", PATH)).body["data"] == []


# --- Operators of rules over tweets that are there: the partner's four ---


@pytest.mark.parametrize(
    ("rule", "texts"),
    [
        ("from:local_partner lang:en", ["Spring has", "The harbour", "@local_partner", "Every Sunday"]),
        ("from:local_partner is:reply", ["@local_partner"]),
        ("to:local_partner has:links has:hashtags has:mentions", ["@local_partner"]),
        ("from:local_partner -is:reply -is:quote", ["Spring has", "The harbour"]),
        ("from:local_partner has:videos has:media -has:images", ["Every Sunday"]),
        ("from:local_user", ["Mine"]),
        ("mine -is:nullcast", []),
    ],
)
async def test_an_operator_asks_for_a_fact(caller: Any, rule: str, texts: list[str]) -> None:
    """Texts are told by their beginnings."""
    assert (await write(caller, "tweet", text="Mine")).status == 200
    store = caller.emulator.store
    account, own = store.accounts[caller.emulator.account_id], store.origin.user_id
    matches = read_rule(rule)
    found = [tweet.fields["text"] for tweet in TWEETS.of(account).values() if matches(read_post(account, tweet, own))]
    assert [text[: len(begin)] for text, begin in zip(found, texts, strict=True)] == texts
