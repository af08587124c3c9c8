"""tweepy reads posts and rules of an emulator; it calls the host that is built into it."""

from __future__ import annotations

import pytest

from audiencekit.testing import RunningEmulator
from tests.emulator.strangers.leading import run_in_their_place
from tests.moments import PATIENCE_SECONDS

pytest.importorskip("tweepy")

import requests
import tweepy

pytestmark = pytest.mark.integrations


def _get_bearer(emulator: RunningEmulator) -> str:
    keys = (emulator.env["AUDIENCEKIT_CONSUMER_KEY"], emulator.env["AUDIENCEKIT_CONSUMER_SECRET"])
    answer = requests.post(
        "https://api.twitter.com/oauth2/token",
        auth=keys,
        data={"grant_type": "client_credentials"},
        timeout=PATIENCE_SECONDS,
    )
    return str(answer.json()["access_token"])


def test_it_reads_posts_and_changes_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """A post of which nothing is known is among the errors; a rule is made, listed and deleted."""
    with run_in_their_place(monkeypatch) as emulator:
        bearer = _get_bearer(emulator)
        client, stream = tweepy.Client(bearer), tweepy.StreamingClient(bearer)
        with client.session, stream.session:
            found = client.get_tweets(ids=["20"])
            assert (found.data, len(found.errors)) == ([], 1)
            stream.add_rules(tweepy.StreamRule("spring -is:retweet has:images lang:en", tag="season"))
            listed = stream.get_rules().data
            assert [(rule.value, rule.tag) for rule in listed] == [("spring -is:retweet has:images lang:en", "season")]
            stream.delete_rules([listed[0].id])
            assert not stream.get_rules().data


def test_it_understands_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    """A token that is none is its own error."""
    with run_in_their_place(monkeypatch):
        client = tweepy.Client("nothing")
        with client.session, pytest.raises(tweepy.Unauthorized):
            client.get_tweets(ids=["20"])
