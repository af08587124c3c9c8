"""Clients of Python whose hosts are built in, led to an emulator by name alone."""

from __future__ import annotations

import pytest

from tests.emulator.strangers.leading import run_in_their_place
from tests.moments import PATIENCE_SECONDS

pytest.importorskip("requests_oauthlib")
pytest.importorskip("twitter_ads")

import requests
from requests_oauthlib import OAuth1Session
from twitter_ads.client import Client
from twitter_ads.error import Forbidden
from twitter_ads.http import Request

pytestmark = pytest.mark.integrations
NAMES = ("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")


def test_the_official_client_is_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    """It finds its account at its own host, and makes one at that of the sandbox."""
    with run_in_their_place(monkeypatch) as emulator:
        client = Client(*(emulator.env[f"AUDIENCEKIT_{name}"] for name in NAMES))
        assert [account.id for account in client.accounts()] == [emulator.account_id]
        with pytest.raises(Forbidden):
            client.accounts("nothing")
        client.sandbox = True
        (made,) = Request(client, "post", "/12/accounts").perform().body["data"]
        assert made["id"] != emulator.account_id
        assert {account.id for account in client.accounts()} == {emulator.account_id, made["id"]}


def test_requests_believes_the_authority_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the certificate is refused; with it a signed call is answered."""
    with (
        run_in_their_place(monkeypatch) as emulator,
        OAuth1Session(*(emulator.env[f"AUDIENCEKIT_{name}"] for name in NAMES)) as session,
    ):
        assert session.get("https://ads-api.x.com/12/accounts").status_code == 200
        monkeypatch.delenv("REQUESTS_CA_BUNDLE")
        with pytest.raises(requests.exceptions.SSLError):
            requests.get("https://ads-api.x.com/12/accounts", timeout=PATIENCE_SECONDS)
