"""A public library for the three legs of OAuth 1.0a works against the emulator, unchanged."""

from __future__ import annotations

import asyncio
import time
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.emulator.conftest import Opener

pytest.importorskip("requests_oauthlib")

import requests
from requests_oauthlib import OAuth1Session

pytestmark = pytest.mark.integrations
CALLBACK = "http://127.0.0.1:8/done"


async def test_it_gets_a_token_that_works(open_emulator: Opener) -> None:
    """Request token, the page where a person says yes, access token, and a call that is signed with it."""
    async with open_emulator(clock=time.time) as caller:
        token = await asyncio.to_thread(_log_in, caller.emulator.base_url, caller.emulator.env)
        assert token["screen_name"] == "local_user"
        status = await asyncio.to_thread(_call, caller.emulator.ads_url + caller.account, caller.emulator.env, token)
        assert status == 200


def _keys(env: dict[str, str]) -> dict[str, str]:
    return {"client_key": env["AUDIENCEKIT_CONSUMER_KEY"], "client_secret": env["AUDIENCEKIT_CONSUMER_SECRET"]}


def _log_in(base_url: str, env: dict[str, str]) -> dict[str, str]:
    with OAuth1Session(**_keys(env), callback_uri=CALLBACK) as session, requests.Session() as browser:
        session.fetch_request_token(base_url + "/oauth/request_token")
        page = session.authorization_url(base_url + "/oauth/authorize")
        assert browser.get(page).status_code == 200
        form = {"oauth_token": parse_qs(urlsplit(page).query)["oauth_token"][0], "decision": "approve"}
        said_yes = browser.post(base_url + "/oauth/authorize", data=form, allow_redirects=False)
        session.parse_authorization_response(said_yes.headers["Location"])
        return dict(session.fetch_access_token(base_url + "/oauth/access_token"))


def _call(url: str, env: dict[str, str], token: dict[str, str]) -> int:
    owner = {"resource_owner_key": token["oauth_token"], "resource_owner_secret": token["oauth_token_secret"]}
    with OAuth1Session(**_keys(env), **owner) as session:
        return int(session.get(url).status_code)
