"""Operators of rules over tweets that are there: the partner's four."""

from __future__ import annotations

from typing import Any

import pytest

from audiencekit.emulator.streamrules.facts import read_post
from audiencekit.emulator.streamrules.matching import read_rule
from audiencekit.emulator.tweets.kinds import TWEETS
from tests.emulator.tweets.builder import write


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
