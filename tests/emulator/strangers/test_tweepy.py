"""tweepy reads posts and rules of an emulator; it knows one address, in the place of which its session puts ours."""

from __future__ import annotations

from typing import Any

import pytest

from audiencekit.emulator import EmulatorOptions
from audiencekit.testing import RunningEmulator, run_emulator

pytest.importorskip("tweepy")

import requests
import tweepy

pytestmark = pytest.mark.strangers

PUBLIC = "https://api.twitter.com"


class LocalSession(requests.Session):
    """A session that leads to an emulator."""

    def __init__(self, base_url: str) -> None:
        super().__init__()
        self.base_url = base_url

    def request(self, method: Any, url: Any, *rest: Any, **more: Any) -> Any:
        """The same call, at the emulator."""
        return super().request(method, str(url).replace(PUBLIC, self.base_url), *rest, **more)


def _get_bearer(emulator: RunningEmulator) -> str:
    keys = (emulator.env["AUDIENCEKIT_CONSUMER_KEY"], emulator.env["AUDIENCEKIT_CONSUMER_SECRET"])
    answer = requests.post(
        emulator.base_url + "/oauth2/token", auth=keys, data={"grant_type": "client_credentials"}, timeout=10
    )
    return str(answer.json()["access_token"])


def test_it_reads_posts_and_changes_rules() -> None:
    """A post of which nothing is known is among the errors; a rule is made, listed and deleted."""
    with run_emulator(EmulatorOptions(profile="x")) as emulator:
        session, bearer = LocalSession(emulator.base_url), _get_bearer(emulator)
        client, stream = tweepy.Client(bearer), tweepy.StreamingClient(bearer)
        with client.session, stream.session, session:
            client.session = stream.session = session
            found = client.get_tweets(ids=["20"])
            assert (found.data, len(found.errors)) == ([], 1)
            stream.add_rules(tweepy.StreamRule("spring sea", tag="season"))
            listed = stream.get_rules().data
            assert [(rule.value, rule.tag) for rule in listed] == [("spring sea", "season")]
            stream.delete_rules([listed[0].id])
            assert not stream.get_rules().data


def test_it_understands_refusals() -> None:
    """A token that is none is its own error."""
    with run_emulator(EmulatorOptions(profile="x")) as emulator, LocalSession(emulator.base_url) as session:
        client = tweepy.Client("nothing")
        with client.session:
            client.session = session
            with pytest.raises(tweepy.Unauthorized):
                client.get_tweets(ids=["20"])
